/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * config.h - what the command line says.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>

/* The maximum number of --listen, and of sockets that a server before this one hands on. */
#define CONFIG_LISTEN_MAX 16

/**
 * struct config - options; times are in seconds
 * @root:	     directory of the files
 * @index:	     name of the file that is sent for a directory
 * @log:	     file of the access log; NULL: none
 * @types:	     file of MIME types
 * @user:	     user whose rights the workers have; NULL: those of the server
 * @listen:	     addresses
 * @listens:	     their number
 * @workers:	     processes
 * @connections:     maximum of one worker
 * @header_size:     maximum of a request's header, in bytes
 * @requests:	     maximum of one connection
 * @rate:	     maximum requests of a client's address in a second; 0: any number
 * @header_timeout:  for a request's header, from its first byte
 * @idle_timeout:    without a request
 * @send_timeout:    during which a client takes nothing
 * @drain_timeout:   for requests that are being answered when a worker is to end
 * @start_timeout:   for workers that are started until they serve
 * @chroot:	     workers see nothing but @root
 */
struct config {
	const char *root, *index, *log, *types, *user;
	const char *listen[CONFIG_LISTEN_MAX];
	unsigned int listens;
	unsigned int workers, connections, header_size, requests, rate;
	unsigned int header_timeout, idle_timeout, send_timeout, drain_timeout, start_timeout;
	bool chroot;
};

/** config - the options; they do not change once main() has read them */
extern struct config config;

#endif /* CONFIG_H */
