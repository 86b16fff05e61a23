// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * echo.c - a server that sends back what it receives, in three versions.
 *
 * Compare by-epoll.c, by-uring.c and by-entries.c.
 */
#include "../common/address.h"
#include "../common/output.h"
#include "../common/usage.h"
#include "server.h"

#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const struct {
	const char *name;
	void (*serve)(struct server *server);
} versions[] = {
	{ "entries", serve_by_entries },
	{ "epoll", serve_by_epoll },
	{ "io_uring", serve_by_uring },
};

static const unsigned int nversions = sizeof(versions) / sizeof(*versions);

static void print_help(void)
{
	printf("Usage: %s [OPTION]... ADDRESS\n", program_invocation_name);
	fputs("Listen on ADDRESS, and send back to each client what it sends.\n"
	      ADDRESS_HELP
	      "\n"
	      "      --by=WAY     entries (the default): operations of cosy/async.h\n"
	      "                   epoll: calls that do not block, and epoll\n"
	      "                   io_uring: operations of io_uring\n"
	      "      --help       print this and exit\n"
	      "      --version    print the version and exit\n"
	      "\n"
	      "SIGINT and SIGTERM close all connections. Then the numbers of connections and\n"
	      "bytes are printed. COSY_EXECUTOR=user or kernel says who makes the calls of\n"
	      "entries; see cosy-async(7).\n"
	      "\n"
	      "Exit status: 0 after a signal, 1 if it cannot serve, or wrong usage.\n",
	      stdout);
}

static unsigned int parse_version(const char *name)
{
	for (unsigned int version = 0; version < nversions; version++)
		if (strcmp(name, versions[version].name) == 0)
			return version;
	error(0, 0, "invalid argument '%s' for '--by': use entries, epoll or io_uring",
	      name);
	fail_usage();
}

/* A connection needs a descriptor, so raise the usual limit of 1024 if possible. */
static void raise_limit(void)
{
	const rlim_t wanted = 30000;
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
	enum { HELP = 256, BY, VERSION };
	static const struct option longs[] = {
		{ "by", required_argument, NULL, BY },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	struct address address;
	struct server server = { 0 };
	unsigned int version = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (option) {
		case BY:
			version = parse_version(optarg);
			break;
		case HELP:
			print_help();
			output_finish(0, 1);
		case VERSION:
			puts("echo (Cosy examples) " COSY_EXAMPLES_VERSION);
			output_finish(0, 1);
		default:
			fail_usage();
		}
	}
	if (argc - optind != 1) {
		error(0, 0, "one ADDRESS is needed");
		fail_usage();
	}
	sigemptyset(&server.signals);
	sigaddset(&server.signals, SIGINT);
	sigaddset(&server.signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &server.signals, NULL);
	raise_limit();
	address_parse(&address, argv[optind]);
	server.listener = address_listen(&address);
	versions[version].serve(&server);
	address_close(&address, server.listener);
	printf("%" PRIu64 " connections, %" PRIu64 " bytes\n", server.connections,
	       server.bytes);
	output_finish(0, 1);
}
