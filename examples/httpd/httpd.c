// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * httpd.c - serve the files of a directory by HTTP/1.1: options.
 */
#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/address.h"
#include "../common/output.h"
#include "../common/usage.h"
#include "config.h"
#include "master.h"

struct config config = {
	.index = "index.html",
	.types = "/etc/mime.types",
	.connections = 4096,
	.header_size = 8192,
	.requests = 1000,
	.header_timeout = 10,
	.idle_timeout = 30,
	.send_timeout = 60,
	.drain_timeout = 30,
	.start_timeout = 60,
};

/* Options whose argument is a number. */
static const struct number {
	const char *name;
	unsigned int *value, min, max;
} numbers[] = {
	{ "workers", &config.workers, 1, 1024 },
	{ "connections", &config.connections, 1, 400000 },
	{ "header-size", &config.header_size, 256, 65536 },
	{ "requests", &config.requests, 1, 1000000000 },
	{ "rate", &config.rate, 0, 1000000 },
	{ "header-timeout", &config.header_timeout, 1, 86400 },
	{ "idle-timeout", &config.idle_timeout, 1, 86400 },
	{ "send-timeout", &config.send_timeout, 1, 86400 },
	{ "drain-timeout", &config.drain_timeout, 1, 86400 },
	{ "start-timeout", &config.start_timeout, 1, 86400 },
};

static void print_help(void)
{
	printf("Usage: %s [OPTION]... DIRECTORY\n", program_invocation_name);
	fputs("Serve the files of DIRECTORY by HTTP/1.1.\n"
	      "\n"
	      "      --listen=ADDRESS      where to listen; may be repeated (8080)\n"
	      "      --user=NAME           workers have the rights of this user; needed by root\n"
	      "      --no-chroot           root's workers see all files, too, and refuse names that\n"
	      "                            lead out of DIRECTORY, as those of other users do\n"
	      "      --index=NAME          the file that is sent for a directory (index.html)\n"
	      "      --types=FILE          MIME types (/etc/mime.types)\n"
	      "      --access-log=FILE     append a line for each request\n"
	      "      --workers=N           processes (one for each processor)\n"
	      "      --connections=N       of a worker (4096); others wait\n"
	      "      --requests=N          of a connection (1000); then it is closed\n"
	      "      --rate=N              requests of an address in a second, for each worker (0:\n"
	      "                            any number); others are answered with 429\n"
	      "      --header-size=BYTES   of a request (8192); longer ones: 431\n"
	      "      --header-timeout=S    seconds from the first byte of a request to its end (10)\n"
	      "      --idle-timeout=S      seconds between requests (30)\n"
	      "      --send-timeout=S      seconds during which a client takes nothing (60)\n"
	      "      --drain-timeout=S     seconds for requests that run when a worker ends (30)\n"
	      "      --start-timeout=S     seconds until new workers serve (60); then the old ones go on\n"
	      "      --help                print this and exit\n"
	      "      --version             print the version and exit\n"
	      "\n"
	      ADDRESS_HELP
	      "\n"
	      "SIGTERM and SIGINT end the server after the requests that run; a second one ends it\n"
	      "at once. SIGHUP starts workers that open DIRECTORY, the log and the types again.\n"
	      "SIGUSR2 starts the program again, with the same sockets and options.\n"
	      "\n"
	      "Exit status: 0 after a signal, 1 if it cannot serve, or wrong usage.\n",
	      stdout);
}

static void add_listen(const char *address)
{
	if (config.listens == CONFIG_LISTEN_MAX)
		error(1, 0, "more than %d addresses", CONFIG_LISTEN_MAX);
	config.listen[config.listens++] = address;
}

static void check_options(void)
{
	if (!config.listens)
		add_listen("8080");
	if (!config.workers)
		config.workers = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	if (!geteuid() && !config.user) {
		error(0, 0, "workers must not have the rights of root: --user=NAME is needed");
		fail_usage();
	}
	if (geteuid())
		config.chroot = false;
	if (geteuid() && config.user)
		error(1, 0, "--user needs root");
	if (!*config.index || strchr(config.index, '/'))
		error(1, 0, "--index=%s: the name of a file is needed, without a slash", config.index);
}

int main(int argc, char **argv)
{
	enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };
	enum { LISTEN = 256, USER, NO_CHROOT, INDEX, TYPES, LOG, HELP, VERSION, NUMBER };
	struct option longs[NUMBERS + 9] = {
		{ "listen", required_argument, NULL, LISTEN },
		{ "user", required_argument, NULL, USER },
		{ "no-chroot", no_argument, NULL, NO_CHROOT },
		{ "index", required_argument, NULL, INDEX },
		{ "types", required_argument, NULL, TYPES },
		{ "access-log", required_argument, NULL, LOG },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
	};
	const struct number *number;
	int option;

	for (int i = 0; i < NUMBERS; i++)
		longs[8 + i] = (struct option){ numbers[i].name, required_argument, NULL, NUMBER + i };
	config.chroot = true;
	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (option) {
		case LISTEN:
			add_listen(optarg);
			break;
		case USER:
			config.user = optarg;
			break;
		case NO_CHROOT:
			config.chroot = false;
			break;
		case INDEX:
			config.index = optarg;
			break;
		case TYPES:
			config.types = optarg;
			break;
		case LOG:
			config.log = optarg;
			break;
		case HELP:
			print_help();
			output_finish(0, 1);
		case VERSION:
			puts("httpd (Cosy examples) " COSY_EXAMPLES_VERSION);
			output_finish(0, 1);
		case '?':
			fail_usage();
		default:
			number = &numbers[option - NUMBER];
			*number->value = usage_number(optarg, number->name, number->min, number->max);
			break;
		}
	}
	if (argc - optind != 1) {
		error(0, 0, "one DIRECTORY is needed");
		fail_usage();
	}
	config.root = argv[optind];
	check_options();
	return master_run(argv);
}
