/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watch.h - tools that show something again and again, until they are told to end.
 */
#ifndef COSY_TOOLS_WATCH_H
#define COSY_TOOLS_WATCH_H

#include <stdbool.h>

/** What the options of all these tools do, for people; -t and --help have lines of their own. */
#define WATCH_USAGE                                                            \
	"  -b          batch: do not clear the screen\n"                       \
	"  -d SECONDS  the time between two updates (default 1)\n"             \
	"  -n COUNT    end after COUNT updates\n"

/**
 * struct watch - how often something is shown
 * @command: the command, for messages
 * @totals:  totals are shown, instead of what is new
 * @batch:   the screen is not cleared
 * @delay:   seconds in between
 * @left:    so often it is shown again; may be infinite
 * @signals: a descriptor that is readable when it is to end
 * @ended:   it is shown for the last time
 */
struct watch {
	const char *command;
	bool totals;
	bool batch;
	double delay;
	double left;
	int signals;
	bool ended;
};

/** watch_die() - say what does not work, why, and (or NULL) what helps; exit with 1 */
__attribute__((noreturn)) void watch_die(const struct watch *watch, const char *what,
					 const char *why, const char *hint);

/**
 * watch_init() - every second, until a signal comes
 * @watch:   set
 * @command: "cosy top", for messages
 */
void watch_init(struct watch *watch, const char *command);

/**
 * watch_next_option() - read the options that all these tools have
 * @watch:   set
 * @argc: @argv: the tool's
 * @own:     the tool's own options, as for getopt(3)
 * @usage:   its help text
 *
 * Exits for --help, for --version and if something is wrong.
 *
 * Return: an option of @own, with its argument in optarg; -1 after the last one.
 */
int watch_next_option(struct watch *watch, int argc, char **argv, const char *own,
		      const char *usage);

/**
 * watch_begin() - from now on SIGINT, SIGTERM and SIGHUP end it
 * @watch: with all its options
 */
void watch_begin(struct watch *watch);

/**
 * watch_wait() - wait until it is time to show it again
 *
 * Return: false if that is over. A signal does not end it at once: it is shown once more.
 */
bool watch_wait(struct watch *watch);

/** watch_clear() - clear the screen, unless there is none */
void watch_clear(const struct watch *watch);

/** watch_flush() - write what is shown; exits if the output's reader is gone */
void watch_flush(void);

/** watch_lines() - lines below the line of names; unlimited with -b and without a terminal */
unsigned int watch_lines(const struct watch *watch);

#endif /* COSY_TOOLS_WATCH_H */
