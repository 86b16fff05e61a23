// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * watch.c - the common part of tools that show data repeatedly, until a signal ends them.
 */
#include "watch.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

void watch_die(const struct watch *watch, const char *what, const char *why, const char *hint)
{
	fprintf(stderr, "%s: %s: %s\n", watch->command, what, why);
	if (hint)
		fprintf(stderr, "  HINT: %s\n", hint);
	exit(1);
}

void watch_wrong(const struct watch *watch, const char *option, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n  HINT: %s --help\n", watch->command, option, why,
		watch->command);
	exit(2);
}

void watch_require_module(const struct watch *watch)
{
	if (access("/sys/module/cosy", F_OK)) {
		fprintf(stderr, "%s: cannot open /dev/cosy: module not loaded"
			" (try: sudo modprobe cosy; see cosy(4))\n", watch->command);
		exit(1);
	}
}

void watch_init(struct watch *watch, const char *command)
{
	*watch = (struct watch){
		.command = command,
		.batch = !isatty(STDOUT_FILENO),
		.delay = 1,
		.left = INFINITY,
	};
}

static double number(const struct watch *watch, const char *option, const char *text, double max)
{
	char *end;
	double value = strtod(text, &end);

	if (end != text && !*end && value > 0 && value <= max)
		return value;
	watch_wrong(watch, option, "is not a number in the range of this option");
}

static __attribute__((noreturn)) void wrong_usage(const char *usage)
{
	fputs(usage, stderr);
	exit(2);
}

int watch_next_option(struct watch *watch, int argc, char **argv, const char *own,
		      const char *usage)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	char all[32];
	int option;

	/* getopt() begins its messages with it. */
	argv[0] = (char *)watch->command;
	snprintf(all, sizeof(all), "bd:hn:t%s", own);
	while ((option = getopt_long(argc, argv, all, options, NULL)) != -1) {
		switch (option) {
		case 'b':
			watch->batch = true;
			break;
		case 'd':
			watch->delay = number(watch, "-d", optarg, INT_MAX / 1000);
			break;
		case 'n':
			watch->left = floor(number(watch, "-n", optarg, 1e15));
			break;
		case 't':
			watch->totals = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 'V':
			puts("cosy " COSY_RELEASE);
			exit(0);
		case '?':
			wrong_usage(usage);
		default:
			return option;
		}
	}
	if (optind < argc)
		wrong_usage(usage);
	return -1;
}

void watch_begin(struct watch *watch)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	watch->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (watch->signals < 0)
		watch_die(watch, "signalfd", strerror(errno), NULL);
}

bool watch_wait(struct watch *watch)
{
	struct pollfd signals = { .fd = watch->signals, .events = POLLIN };

	if (watch->ended || watch->left-- <= 0)
		return false;
	watch->ended = poll(&signals, 1, (int)(watch->delay * 1000)) != 0;
	return true;
}

void watch_clear(const struct watch *watch)
{
	if (!watch->batch)
		fputs("\033[H\033[2J", stdout);
}

void watch_flush(const struct watch *watch)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return;
	/* As for other programs, a closed pipe is no error. */
	if (errno == EPIPE)
		exit(1);
	/* What was lost before has left no reason. */
	watch_die(watch, "standard output", errno ? strerror(errno) : "write error", NULL);
}

unsigned int watch_lines(const struct watch *watch)
{
	struct winsize size;

	if (watch->batch || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 3)
		return UINT_MAX;
	return size.ws_row - 2u;
}
