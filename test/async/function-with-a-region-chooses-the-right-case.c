/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * In a COSY_ASYNC function with a region, code that leaves scopes goes straight to where it leads. What the
 * program chooses by variables of its own stays as it is, also if they are written by members of a union.
 */
// RUN: %async-compile -O0 -fplugin-arg-cosy-Wno-cosy-few-calls
// RUN: %everywhere
// RUN: %async-compile -O2 -fplugin-arg-cosy-Wno-cosy-few-calls
// RUN: %everywhere
#include <cosy.h>

#include "functions.h"

union number {
	unsigned long all;
	long all_signed;
	int low;
};

/* Written as a whole, and read in part. */
COSY_ASYNC static int part_of_a_number(int fd)
{
	union number u;
	int result = 0;
	char byte;

	EQUAL(read(fd, &byte, 1), 1);
	COSY_START;
	result += access("/", F_OK);
	COSY_END;
	u.all_signed = 0x500000002;
	switch (u.low) {
	case 2:
		return result + 20;
	case 5:
		return result + 50;
	default:
		return result + 1000;
	}
}

/* Written in part, and read as a whole. */
COSY_ASYNC static int whole_number(int fd)
{
	union number u;
	char byte;
	int result;

	EQUAL(read(fd, &byte, 1), 1);
	COSY_START;
	result = access("/", F_OK);
	COSY_END;
	u.all_signed = -1;
	u.low = 5;
	switch (u.all) {
	case 5:
		return result + 10;
	case 0xffffffff00000005:
		return result + 20;
	default:
		return result + 40;
	}
}

static int calls;

/* Two ends of a scope, which the code after the region shares. */
__attribute__((always_inline)) static inline void count(bool twice)
{
	if (twice) {
		calls += 2;
		return;
	}
	calls++;
}

COSY_ASYNC static int value_of_a_choice(int fd, bool counts, bool twice, int state)
{
	int result;
	char byte;

	EQUAL(read(fd, &byte, 1), 1);
	COSY_START;
	access("/", F_OK);
	access("/", F_OK);
	COSY_END;
	state = 1;
	result = counts ? (count(twice), 7) : 2;
	switch (state) {
	case 1:
		return result + 100;
	case 2:
		return result + 200;
	default:
		return result + 300;
	}
}

int main(void)
{
	int fds[2];

	loop = make_loop();
	open_pair(fds);
	EQUAL(write(fds[1], "12345", 5), 5);
	EQUAL(RESULT(part_of_a_number(fds[0])), 20);
	EQUAL(RESULT(whole_number(fds[0])), 20);
	EQUAL(RESULT(value_of_a_choice(fds[0], false, true, 5)), 102);
	EQUAL(calls, 0);
	EQUAL(RESULT(value_of_a_choice(fds[0], true, true, 5)), 107);
	EQUAL(calls, 2);
	EQUAL(RESULT(value_of_a_choice(fds[0], true, false, 5)), 107);
	EQUAL(calls, 3);
	close(fds[0]);
	close(fds[1]);
	cosy_loop_destroy(loop);
	return 0;
}
