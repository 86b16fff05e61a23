// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cryptserve.c - a server of files that encrypts what it sends, on several processors.
 */
#include "../common/acceptor.h"
#include "../common/address.h"
#include "../common/output.h"
#include "../common/usage.h"
#include "session.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct sessions sessions = { .maximum = 256 };

static void print_help(void)
{
	printf("Usage: %s [OPTION]... KEY ADDRESS DIRECTORY\n", program_invocation_name);
	fputs("Send the files of DIRECTORY to cryptget, encrypted and authenticated by the key in the\n"
	      "file KEY.\n"
	      ADDRESS_HELP
	      "\n"
	      "      --make-key      make the file KEY, print its public key, and exit\n"
	      "      --threads=N     threads that encrypt (one for each processor)\n"
	      "      --sessions=N    clients at once (256); others are disconnected\n"
	      "      --request-timeout=S\n"
	      "                      seconds until a client has sent its request (10)\n"
	      "      --timeout=S     seconds for a client (300)\n"
	      "      --help          print this and exit\n"
	      "      --version       print the version and exit\n"
	      "\n"
	      "SIGINT and SIGTERM end it. Then the number of files is printed.\n"
	      "\n"
	      "Exit status: 0 after a signal, 1 if it cannot serve, or wrong usage.\n",
	      stdout);
}

static _Noreturn void make_key(const char *name)
{
	char hex[2 * sizeof(sessions.public_key) + 1];
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	crypto_kx_keypair(sessions.public_key, sessions.secret_key);
	if (fd < 0 || write(fd, sessions.secret_key, sizeof(sessions.secret_key)) !=
			      sizeof(sessions.secret_key) || close(fd))
		error(1, errno, "cannot make %s", name);
	puts(sodium_bin2hex(hex, sizeof(hex), sessions.public_key, sizeof(sessions.public_key)));
	output_finish(0, 1);
}

static void read_key(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		error(1, errno, "cannot read %s (--make-key makes one)", name);
	if (st.st_mode & 077)
		error(1, 0, "%s: others may read it; chmod 600 it", name);
	if (read(fd, sessions.secret_key, sizeof(sessions.secret_key)) !=
	    sizeof(sessions.secret_key))
		error(1, 0, "%s is not a key", name);
	close(fd);
	crypto_scalarmult_base(sessions.public_key, sessions.secret_key);
}

static void accepted(int fd)
{
	session_start(&sessions, fd);
}

/* On the worker whose loop accepts. */
static void begin_accepting(void *arg)
{
	struct acceptor *acceptor = arg;

	acceptor->loop = cosy_team_loop();
	acceptor_start(acceptor);
}

static void serve(const char *text, unsigned int threads)
{
	const struct cosy_loop_options loop = {
		.size = sizeof(loop),
		/* Of a session: the operation, the timer, and a close. */
		.entries = 3 * sessions.maximum + 2 * ACCEPTOR_OPERATIONS,
	};
	const struct cosy_team_options options = {
		.size = sizeof(options),
		.workers = threads,
		.loop = &loop,
	};
	struct acceptor acceptor = { .accepted = accepted };
	struct address address;
	sigset_t signals;
	int err, signal;

	/* The workers inherit it, so that only sigwait() takes them. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	address_parse(&address, text);
	acceptor.listener = address_listen(&address);
	err = cosy_team_create(&sessions.team, &options);
	if (!err)
		err = cosy_team_call(sessions.team, 0, begin_accepting, &acceptor);
	if (err)
		error(1, -err, "cannot begin");
	sigwait(&signals, &signal);
	cosy_team_destroy(sessions.team);
	address_close(&address, acceptor.listener);
}

int main(int argc, char **argv)
{
	enum { MAKE_KEY = 256, THREADS, SESSIONS, REQUEST_TIMEOUT, TIMEOUT, HELP, VERSION };
	static const struct option longs[] = {
		{ "make-key", no_argument, NULL, MAKE_KEY },
		{ "threads", required_argument, NULL, THREADS },
		{ "sessions", required_argument, NULL, SESSIONS },
		{ "request-timeout", required_argument, NULL, REQUEST_TIMEOUT },
		{ "timeout", required_argument, NULL, TIMEOUT },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	unsigned int threads = 0, request = 10, timeout = 300;
	bool make = false;
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (option) {
		case MAKE_KEY:
			make = true;
			break;
		case THREADS:
			threads = usage_number(optarg, "threads", 1, 256);
			break;
		case SESSIONS:
			sessions.maximum = usage_number(optarg, "sessions", 1, 100000);
			break;
		case REQUEST_TIMEOUT:
			request = usage_number(optarg, "request-timeout", 1, 1000000);
			break;
		case TIMEOUT:
			timeout = usage_number(optarg, "timeout", 1, 1000000);
			break;
		case HELP:
			print_help();
			output_finish(0, 1);
		case VERSION:
			puts("cryptserve (Cosy examples) " COSY_EXAMPLES_VERSION);
			output_finish(0, 1);
		default:
			fail_usage();
		}
	}
	if (argc - optind != (make ? 1 : 3)) {
		error(0, 0, make ? "KEY is needed" : "KEY, ADDRESS and DIRECTORY are needed");
		fail_usage();
	}
	if (request > timeout)
		request = timeout;
	sessions.request_time.tv_sec = request;
	sessions.answer_time.tv_sec = timeout - request;
	if (sodium_init() < 0)
		error(1, 0, "libsodium cannot be used");
	if (make)
		make_key(argv[optind]);
	read_key(argv[optind]);
	sessions.root = open(argv[optind + 2], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (sessions.root < 0)
		error(1, errno, "cannot open %s", argv[optind + 2]);
	serve(argv[optind + 1], threads);
	printf("%lu files\n", atomic_load(&sessions.served));
	output_finish(0, 1);
}
