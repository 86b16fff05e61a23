// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * proxy.c - forward connections to a server, by operations of cosy-async(7).
 */
#include "../common/acceptor.h"
#include "../common/address.h"
#include "../common/output.h"
#include "../common/usage.h"
#include "session.h"

#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static struct sessions sessions = { .idle.tv_sec = 60 };

static void print_help(void)
{
	printf("Usage: %s [OPTION]... ADDRESS SERVER\n", program_invocation_name);
	fputs("Listen on ADDRESS, connect each client with SERVER, and pass on what they send.\n"
	      ADDRESS_HELP
	      "\n"
	      "      --idle=SECONDS  break a connection off if nothing passes for so long\n"
	      "                      (60; fractions are allowed)\n"
	      "      --help          print this and exit\n"
	      "      --version       print the version and exit\n"
	      "\n"
	      "SIGINT and SIGTERM close all connections. Then the numbers of clients and bytes\n"
	      "are printed. COSY_EXECUTOR=user or kernel says who makes the calls; see\n"
	      "cosy-async(7).\n"
	      "\n"
	      "Exit status: 0 after a signal, 1 if it cannot serve, or wrong usage.\n",
	      stdout);
}

static struct timespec parse_idle(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !(seconds > 0 && seconds < 1e9)) {
		error(0, 0, "invalid argument '%s' for '--idle': use seconds", text);
		fail_usage();
	}
	return (struct timespec){
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9),
	};
}

static void accepted(int fd)
{
	session_start(&sessions, fd);
}

static void stop(struct cosy_async *op)
{
	(void)op;
	cosy_loop_stop(sessions.loop);
}

/* A session has two descriptors and three operations. Other operations accept. */
static unsigned int count_operations(void)
{
	const rlim_t most = 1 << 20;
	struct rlimit limit;
	rlim_t count;

	getrlimit(RLIMIT_NOFILE, &limit);
	count = limit.rlim_cur < most ? 2 * limit.rlim_cur + 2 * ACCEPTOR_OPERATIONS : most;
	return count < most ? count : most;
}

static void serve(const struct address *address)
{
	const struct cosy_loop_options options = {
		.size = sizeof(options),
		.entries = count_operations(),
	};
	struct cosy_async signal_op = { .done = stop };
	struct acceptor acceptor = { .accepted = accepted };
	sigset_t signals;
	int err;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	err = cosy_loop_create(&sessions.loop, &options);
	if (err)
		error(1, -err, "cannot begin");
	err = cosy_async_signal(sessions.loop, &signal_op, &signals, NULL);
	if (err)
		error(1, -err, "cannot wait for signals");
	acceptor.loop = sessions.loop;
	acceptor.listener = address_listen(address);
	acceptor_start(&acceptor);
	cosy_loop_run(sessions.loop);
	/*
	 * Waiting operations complete with ECANCELED now, and their callbacks close all
	 * connections.
	 */
	while (cosy_loop_destroy(sessions.loop) == -EBUSY)
		cosy_wait(sessions.loop, 1, NULL);
	address_close(address, acceptor.listener);
}

int main(int argc, char **argv)
{
	enum { HELP = 256, IDLE, VERSION };
	static const struct option longs[] = {
		{ "help", no_argument, NULL, HELP },
		{ "idle", required_argument, NULL, IDLE },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	struct address address;
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (option) {
		case IDLE:
			sessions.idle = parse_idle(optarg);
			break;
		case HELP:
			print_help();
			output_finish(0, 1);
		case VERSION:
			puts("proxy (Cosy examples) " COSY_EXAMPLES_VERSION);
			output_finish(0, 1);
		default:
			fail_usage();
		}
	}
	if (argc - optind != 2) {
		error(0, 0, "ADDRESS and SERVER are needed");
		fail_usage();
	}
	address_parse(&address, argv[optind]);
	address_parse(&sessions.upstream, argv[optind + 1]);
	serve(&address);
	printf("%" PRIu64 " clients, %" PRIu64 " bytes\n", sessions.count, sessions.bytes);
	output_finish(0, 1);
}
