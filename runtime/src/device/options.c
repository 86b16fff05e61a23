/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * options.c - the options of libcosy in the environment.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "device/message.h"
#include "device/options.h"

/* The options in one word, so that no lock is needed; 0 before they are read. */
#define OPTIONS_READ	(1u << 31)
#define OPTIONS_STATS	(1u << 8)
#define OPTIONS_DEBUG	(1u << 9)
#define OPTIONS_PLAIN	(1u << 10)
#define OPTIONS_EXECUTOR 0xffu
#define OPTIONS_FUNCTIONS_SHIFT 16
#define OPTIONS_FUNCTIONS 0xffu

static uint32_t options;

/* The values of the environment variables; NULL for those that are not set. */
struct variables {
	const char *debug;
	const char *executor;
	const char *fast;
	const char *functions;
	const char *stats;
};

/* The value, if @variable is NAME=VALUE with this name. */
static const char *value_of(const char *variable, const char *name)
{
	while (*name && *variable == *name) {
		variable++;
		name++;
	}
	return !*name && *variable == '=' ? variable + 1 : NULL;
}

/* The first of a name counts, as for getenv(). */
static void take(const char **value, const char *variable, const char *name)
{
	if (!*value)
		*value = value_of(variable, name);
}

/*
 * Search the environment once, without getenv(): each function of libc that is called when
 * a program starts costs a symbol lookup. Most processes have none of these variables.
 */
static struct variables find_variables(void)
{
	struct variables found = { .debug = NULL };

	for (char **at = __environ; at && *at; at++) {
		const char *variable = *at;

		if (variable[0] != 'C' || variable[1] != 'O')
			continue;
		take(&found.debug, variable, "COSY_DEBUG");
		take(&found.executor, variable, "COSY_EXECUTOR");
		take(&found.fast, variable, "COSY_FAST");
		take(&found.functions, variable, "COSY_FUNCTIONS");
		take(&found.stats, variable, "COSY_STATS");
	}
	return found;
}

static bool is_off(const char *value)
{
	return value && !strcmp(value, "0");
}

static bool is_on(const char *value)
{
	return value && *value && strcmp(value, "0");
}

/* By enum cosy_executor and enum cosy_functions; both begin with "auto". */
static const char *const executors[] = {
	[COSY_EXECUTOR_AUTO] = "auto",
	[COSY_EXECUTOR_KERNEL] = "kernel",
	[COSY_EXECUTOR_USER] = "user",
	[COSY_EXECUTOR_NATIVE] = "native",
	NULL
};
static const char *const functions[] = {
	[COSY_FUNCTIONS_AUTO] = "auto",
	[COSY_FUNCTIONS_KERNEL] = "kernel",
	[COSY_FUNCTIONS_NATIVE] = "native",
	NULL
};

/* The place of @name in @names; 0, and false, if it is unknown. */
static bool by_name(const char *name, const char *const *names, uint32_t *place)
{
	*place = 0;
	if (!name || !*name)
		return true;
	for (uint32_t i = 0; names[i]; i++) {
		if (!strcmp(name, names[i])) {
			*place = i;
			return true;
		}
	}
	return false;
}

static uint32_t read_environment(void)
{
	bool secure = getauxval(AT_SECURE);
	struct variables variables = secure ? (struct variables){ .debug = NULL } :
					      find_variables();
	uint32_t executor, function, found, expected = 0;
	bool known = by_name(variables.executor, executors, &executor);
	bool known_where = by_name(variables.functions, functions, &function);

	/* The process has more privileges than its caller: open nothing. */
	if (secure)
		executor = COSY_EXECUTOR_NATIVE;
	/* Functions run in the kernel only if compounds do. */
	if (executor == COSY_EXECUTOR_USER || executor == COSY_EXECUTOR_NATIVE)
		function = COSY_FUNCTIONS_NATIVE;
	found = OPTIONS_READ | executor | function << OPTIONS_FUNCTIONS_SHIFT;
	if (is_on(variables.stats))
		found |= OPTIONS_STATS;
	if (is_on(variables.debug))
		found |= OPTIONS_DEBUG;
	if (is_off(variables.fast))
		found |= OPTIONS_PLAIN;

	if (!__atomic_compare_exchange_n(&options, &expected, found, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return expected;
	/* Only the thread that stored the options reports errors in them. */
	if (!known)
		cosy_message("COSY_EXECUTOR=", variables.executor,
			     " is unknown (known: auto, kernel, user, native);"
			     " using auto", NULL);
	if (is_on(variables.fast) && strcmp(variables.fast, "1"))
		cosy_message("COSY_FAST=", variables.fast,
			     " is unknown (known: 0, 1); using 1", NULL);
	if (!known_where)
		cosy_message("COSY_FUNCTIONS=", variables.functions,
			     " is unknown (known: auto, kernel, native);"
			     " using auto", NULL);
	return found;
}

struct cosy_options cosy_options(void)
{
	uint32_t word = __atomic_load_n(&options, __ATOMIC_RELAXED);

	if (!word)
		word = read_environment();
	return (struct cosy_options){
		.executor = (enum cosy_executor)(word & OPTIONS_EXECUTOR),
		.functions = (enum cosy_functions)
			(word >> OPTIONS_FUNCTIONS_SHIFT & OPTIONS_FUNCTIONS),
		.stats = word & OPTIONS_STATS,
		.debug = word & OPTIONS_DEBUG,
		.plain = word & OPTIONS_PLAIN,
	};
}

const char *cosy_options_stats_file(void)
{
	const char *value = secure_getenv("COSY_STATS");

	return value && strcmp(value, "1") ? value : NULL;
}
