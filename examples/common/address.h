/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * address.h - addresses of stream sockets, in textual form.
 *
 *	PORT		of 127.0.0.1
 *	HOST:PORT	HOST is a name or an address; an IPv6 address is in brackets
 *	PATH		of a unix socket; contains a slash
 *
 * Thread-safe. A function that fails ends the program with a message and status 1.
 */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <sys/socket.h>

/** ADDRESS_HELP - the three forms, for --help */
#define ADDRESS_HELP                                                              \
	"An ADDRESS is PORT (of 127.0.0.1), HOST:PORT, or the PATH of a unix socket,\n" \
	"which contains a slash.\n"

/**
 * struct address - an address
 * @text: its text
 * @size: of @socket
 * @socket: for bind(2) and connect(2)
 */
struct address {
	const char *text;
	socklen_t size;
	struct sockaddr_storage socket;
};

/**
 * address_parse() - parse an address; of a name with several addresses, it is the first one
 * @address: out: the address
 * @text:    PORT, HOST:PORT or PATH; kept, not copied
 */
void address_parse(struct address *address, const char *text);

/**
 * address_connect() - connect to an address
 * @text: PORT, HOST:PORT or PATH; the addresses of a name are tried in turn
 *
 * Return: the descriptor, close-on-exec.
 */
int address_connect(const char *text);

/**
 * address_listen() - listen at an address, and print "listening on ADDRESS"
 * @address: the address; port 0 is a free port, which is printed
 *
 * Return: the descriptor, close-on-exec; address_close() closes it.
 */
int address_listen(const struct address *address);

/** address_close() - close what address_listen() returned, and remove its path */
void address_close(const struct address *address, int listener);

#endif /* ADDRESS_H */
