/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watch.h - the common part of tools that show data repeatedly, until a signal ends them.
 */
#ifndef COSY_TOOLS_WATCH_H
#define COSY_TOOLS_WATCH_H

#include <stdbool.h>

/** Help for the options of all these tools, except -t and --help. */
#define WATCH_USAGE                                                            \
	"  -b          batch: do not clear the screen\n"                       \
	"  -d SECONDS  the time between two updates (default 1)\n"             \
	"  -n COUNT    end after COUNT updates\n"

/**
 * struct watch - the options and the state of a tool
 * @command: the command, for messages
 * @totals:  show totals, instead of changes since the last update
 * @batch:   do not clear the screen
 * @delay:   seconds between two updates
 * @left:    number of updates that are left; may be infinite
 * @signals: a descriptor that is readable after a signal that ends the tool
 * @ended:   the current update is the last one
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

/** watch_die() - print what failed, why, and a hint (or NULL); exit with status 1 */
__attribute__((noreturn)) void watch_die(const struct watch *watch, const char *what,
					 const char *why, const char *hint);

/** watch_wrong() - print what is wrong with an option's argument; exit with status 2 */
__attribute__((noreturn)) void watch_wrong(const struct watch *watch, const char *option,
					   const char *why);

/**
 * watch_init() - set the defaults: an update every second, until a signal
 * @watch:   out: the defaults
 * @command: the command for messages, such as "cosy top"
 */
void watch_init(struct watch *watch, const char *command);

/**
 * watch_next_option() - read the options of all these tools
 * @watch:   the options are stored here
 * @argc: @argv: the tool's arguments
 * @own:     the tool's own options, as for getopt(3)
 * @usage:   its help text
 *
 * Exits for --help, for --version and after wrong usage.
 *
 * Return: an option of @own, with its argument in optarg; -1 after the last one.
 */
int watch_next_option(struct watch *watch, int argc, char **argv, const char *own,
		      const char *usage);

/** watch_require_module() - exit with status 1 and a message if the module is not loaded */
void watch_require_module(const struct watch *watch);

/**
 * watch_begin() - let SIGINT, SIGTERM and SIGHUP end the tool from now on
 * @watch: all options were read
 */
void watch_begin(struct watch *watch);

/**
 * watch_wait() - wait for the next update
 *
 * A signal ends the wait early, and the next update is the last one.
 *
 * Return: false after the last update.
 */
bool watch_wait(struct watch *watch);

/** watch_clear() - clear the screen, unless @batch */
void watch_clear(const struct watch *watch);

/** watch_flush() - write the update; exits with a message if the output cannot be written */
void watch_flush(const struct watch *watch);

/** watch_lines() - return the lines below the heading; unlimited with -b and without a terminal */
unsigned int watch_lines(const struct watch *watch);

#endif /* COSY_TOOLS_WATCH_H */
