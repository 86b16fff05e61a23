// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A user function in the kernel is left for signals, like native code, and resumes at
 * the same place.
 */
// RUN: %clang -O2 -Wall -Werror -pthread %s -o %t -L%lib -l:libcosy.a
// RUN: %t > %t.native
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out && %FileCheck %s < %t.err
// RUN: %vm env COSY_FUNCTIONS=auto %t > %t.out 2> %t.err
// RUN: diff %t.native %t.out
//
// A function that has written cannot be restarted by a child.
// RUN: %t fork > %t.native
// RUN: %vm env COSY_FUNCTIONS=kernel %t fork > %t.out 2> %t.err
// RUN: diff %t.native %t.out
// RUN: %vm env COSY_FUNCTIONS=kernel %t fork-late > %t.out 2> %t.err; cat %t.out >> %t.err
// RUN: %FileCheck --check-prefix=FORK %s < %t.err
//
// CHECK-DAG: function count: executor=kernel upcalls=2{{$}}
// CHECK-DAG: function histogram: executor=kernel upcalls=1{{$}}
// While this one is being loaded, the handler runs it natively.
// CHECK-DAG: function look: executor=kernel upcalls={{[1-9][0-9]*$}}
// CHECK-DAG: function forever: executor=kernel upcalls={{[1-9][0-9]*}}
// FORK: function count: was suspended and cannot resume: its segment was destroyed, the descriptor of its loop was closed, or this is a child process
// FORK: child SIGXCPU
#include <cosy.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static uint64_t *volatile fork_words;
static int fork_late;
static pid_t child = -1;
static sigjmp_buf out;

/* Writes from the first iteration on. */
COSY_FUNCTION
static uint64_t count(uint64_t *rounds, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		rounds[i % 8] += i;
		if (i % 3 == 0)
			rounds[8] ^= rounds[i % 7];
	}
	return rounds[8];
}

COSY_FUNCTION
static uint64_t look(const uint64_t *p, uint64_t n)
{
	uint64_t sum = 1;

	for (uint64_t i = 0; i < n; i++)
		sum = sum * 31 + p[i % 8];
	return sum;
}

/* Has a stack, which remains separate when a handler runs the same function. */
COSY_FUNCTION
static uint64_t histogram(const unsigned char *p, size_t n, uint32_t rounds)
{
	uint32_t counts[64] = { 0 };
	uint64_t sum = 0;

	for (uint32_t r = 0; r < rounds; r++)
		for (size_t i = 0; i < n; i++)
			counts[(p[i] + r) % 64]++;
	for (int i = 0; i < 64; i++)
		sum = sum * 31 + counts[i];
	return sum;
}

COSY_FUNCTION
static int forever(volatile uint64_t *p)
{
	uint32_t local[4] = { 0 };

	while (p[0] != 1)
		local[p[1]++ % 4]++;
	return (int)local[0];
}

static unsigned char *bytes;
static uint64_t *looked;
static volatile uint64_t in_handler;

static uint64_t sums(const unsigned char *p, uint32_t rounds)
{
	uint64_t sum;

	COSY_START;
	getppid();
	sum = histogram(p, 4096, rounds);
	COSY_END;
	return sum;
}

static uint64_t looks(const uint64_t *p, uint64_t n)
{
	uint64_t sum;

	COSY_START;
	getppid();
	sum = look(p, n);
	COSY_END;
	return sum;
}

static void on_alarm(int signal)
{
	(void)signal;
	ticks++;
	if (looked)
		in_handler = looks(looked, 8);
	if (bytes)
		in_handler = sums(bytes, 1);
	if (fork_words && (!fork_late || fork_words[1])) {
		fork_words = NULL;
		child = fork();
		if (!child)
			alarm(0);
	}
}

static void leave(int signal)
{
	siglongjmp(out, signal);
}

static void every(int signal, void (*handler)(int), long us)
{
	struct itimerval timer = { { 0, us }, { 0, us } };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigaction(signal, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void *in_thread(void *arg)
{
	*(uint64_t *)arg = sums(bytes, 1500);
	return NULL;
}

/* The handler forks; the child returns from it into the function. */
static void test_fork(uint64_t *words)
{
	uint64_t r = 0;
	int status = 1;

	for (int i = 0; i < 2; i++) {
		if (i) {
			fork_words = words;
			every(SIGALRM, on_alarm, 5000);
		}
		if (fork_late) {
			COSY_START;
			getppid();
			r = count(words, i ? 100000000 : 1);
			COSY_END;
		} else {
			r = looks(words, i ? 100000000 : 1);
		}
	}
	every(SIGALRM, SIG_IGN, 0);
	printf("%llx\n", (unsigned long long)r);
	fflush(stdout);
	if (!child)
		_exit(0);
	waitpid(child, &status, 0);
	printf("child %s\n", WIFEXITED(status) ? "has ended" :
	       WTERMSIG(status) == SIGXCPU ? "SIGXCPU" : "has died");
}

int main(int argc, char **argv)
{
	uint64_t *words = cosy_calloc(16, sizeof(*words));
	unsigned char *memory = cosy_malloc(4096);
	uint64_t r, results[4];
	pthread_t threads[4];
	volatile int left = 0;
	int before;

	if (argc > 1) {
		fork_late = !strcmp(argv[1], "fork-late");
		test_fork(words);
		return 0;
	}
	for (int i = 0; i < 4096; i++)
		memory[i] = (unsigned char)(i * 7 + i / 64);
	/* Once, so that they are loaded in the kernel. */
	COSY_START;
	getppid();
	r = count(words, 1);
	COSY_END;
	sums(memory, 1);
	every(SIGALRM, on_alarm, 10000);
	before = ticks;
	COSY_START;
	getppid();
	r = count(words, 30000000);
	COSY_END;
	printf("%llx, %s\n", (unsigned long long)r,
	       ticks > before ? "handlers have run" : "no handler has run");

	/* The handler calls the function that it has interrupted. */
	bytes = memory;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, in_thread, &results[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		printf("%llx\n", (unsigned long long)results[i]);
	}
	/* Natively the threads may end between two ticks. */
	while (!in_handler)
		sums(bytes, 1);
	printf("%llx\n", (unsigned long long)in_handler);
	bytes = NULL;

	/* The handler calls the function that is being loaded. */
	in_handler = 0;
	looked = words;
	every(SIGALRM, on_alarm, 500);
	printf("%llx\n", (unsigned long long)looks(words, 30));
	while (!in_handler)
		looks(words, 8);
	printf("%llx\n", (unsigned long long)in_handler);
	looked = NULL;

	/* A handler repeatedly leaves a function that never ends. */
	for (int i = 0; i < 12; i++) {
		every(SIGALRM, SIG_IGN, 0);
		if (sigsetjmp(out, 1)) {
			left++;
			continue;
		}
		words[0] = 0;
		every(SIGALRM, leave, 20000);
		COSY_START;
		getppid();
		forever(words);
		COSY_END;
	}
	every(SIGALRM, SIG_IGN, 0);
	printf("left %d times\n", left);
	return 0;
}
