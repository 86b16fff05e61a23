/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * options.c - what the environment asks of libcosy.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "options.h"

/* The options in one word, so that no lock is needed; 0 before they are read. */
#define OPTIONS_READ	(1u << 31)
#define OPTIONS_STATS	(1u << 8)
#define OPTIONS_DEBUG	(1u << 9)
#define OPTIONS_PLAIN	(1u << 10)
#define OPTIONS_EXECUTOR 0xffu

static uint32_t options;

static bool is_off(const char *name)
{
	const char *value = secure_getenv(name);

	return value && !strcmp(value, "0");
}

static bool is_on(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value && strcmp(value, "0");
}

/* Return: false if @name is no executor. */
static bool executor_by_name(const char *name, enum cosy_executor *executor)
{
	static const char *const names[] = {
		[COSY_EXECUTOR_AUTO] = "auto",
		[COSY_EXECUTOR_KERNEL] = "kernel",
		[COSY_EXECUTOR_USER] = "user",
		[COSY_EXECUTOR_NATIVE] = "native",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i])) {
			*executor = (enum cosy_executor)i;
			return true;
		}
	}
	return false;
}

static uint32_t read_environment(void)
{
	const char *name = secure_getenv("COSY_EXECUTOR");
	enum cosy_executor executor = COSY_EXECUTOR_AUTO;
	bool known = !name || !*name || executor_by_name(name, &executor);
	uint32_t found = OPTIONS_READ | executor;
	uint32_t expected = 0;

	if (is_on("COSY_STATS"))
		found |= OPTIONS_STATS;
	if (is_on("COSY_DEBUG"))
		found |= OPTIONS_DEBUG;
	if (is_off("COSY_FAST"))
		found |= OPTIONS_PLAIN;

	if (!__atomic_compare_exchange_n(&options, &expected, found, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return expected;
	/* The thread that stored the options is the one that speaks of them. */
	if (!known)
		cosy_message("COSY_EXECUTOR=", name,
			     " is unknown (known: auto, kernel, user, native);"
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
		.stats = word & OPTIONS_STATS,
		.debug = word & OPTIONS_DEBUG,
		.plain = word & OPTIONS_PLAIN,
	};
}
