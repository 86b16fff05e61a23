/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * batch.h - the interface between the programs of a batch and batch.c, which runs them.
 */
#ifndef COSY_TEST_BATCH_H
#define COSY_TEST_BATCH_H

#include <errno.h>

/** struct program - one of a batch; the last one has no main */
struct program {
	int seed;
	int (*main)(int argc, char *argv[]);
};

extern const struct program programs[];

#define TRACE_ENTRIES	5000

/**
 * struct trace - what a program says it has done, in memory shared with batch.c,
 * so that it survives the program
 * @count:   how often note() was called
 * @sum:     of all values, also of those for which there are no entries
 * @entries: the first ones
 */
struct trace {
	unsigned long count, sum;
	struct {
		int line, error;
		long value;
	} entries[TRACE_ENTRIES];
};

extern struct trace *trace;

/**
 * note_at() - record a result, also inside a region
 * @line:  the source line
 * @value: the result
 *
 * Return: the result.
 */
static inline long note_at(int line, long value)
{
	unsigned long n = trace->count++;
	int error = value == -1 ? errno : 0;

	trace->sum = trace->sum * 31 + value * 7 + error;
	if (n < TRACE_ENTRIES) {
		trace->entries[n].line = line;
		trace->entries[n].error = error;
		trace->entries[n].value = value;
	}
	return value;
}

#define note(value) note_at(__LINE__, value)

#endif /* COSY_TEST_BATCH_H */
