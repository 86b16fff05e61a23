// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The check of COSY_BATCH looks at what handlers access, too. They interrupt the program's malloc() and the
// check itself, which then neither crash nor hang. Called as the plugin's code calls it.
// RUN: %clang -O1 -Wall -Wextra -Werror -D_GNU_SOURCE %s -o %t -L%lib -l:libcosy.a
// RUN: %bounded %t %seconds
#include <cosy/batch-check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "../../Inputs/check.h"

#define BYTES	(1 << 20)

static char memory[BYTES];
static volatile sig_atomic_t handled;

static void handle(int nr)
{
	static unsigned int last;

	(void)nr;
	handled++;
	/* Each time another line. */
	for (int i = 0; i < 8; i++)
		cosy_batch_write(&memory[last++ * 64 % BYTES], 4, "handler");
}

static void run_batch(void)
{
	for (uint64_t i = 0; i < 64; i++) {
		char *block = malloc(200 + 50 * i);

		CHECK(block);
		cosy_batch_at(COSY_BATCH_COLLECT, i);
		cosy_batch_new(block, 200 + 50 * i);
		cosy_batch_write(block, 200 + 50 * i, "loop");
		free(block);
	}
	cosy_batch_next();
}

int main(int argc, char **argv)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } };
	const time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };

	EQUAL(setenv("COSY_BATCH_CHECK", "report", 1), 0);
	EQUAL(sigaction(SIGALRM, &action, NULL), 0);
	EQUAL(setitimer(ITIMER_REAL, &often, NULL), 0);
	while (time(NULL) < end) {
		cosy_batch_enter("here");
		for (int i = 0; i < 20; i++)
			run_batch();
		cosy_batch_leave();
	}
	CHECK(handled > 100);
	return 0;
}
