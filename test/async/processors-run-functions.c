/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads on other processors run the compounds of COSY_ASYNC functions. Up-calls and callbacks are
 * made by the thread that waits, and functions behave as without processors. They end with their loop.
 */
// RUN: %async-compile -O0
// RUN: %everywhere
// RUN: %async-compile -O2
// RUN: %everywhere
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "functions-on-cpus.h"

static bool module_runs(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.kernel;
}

/* Return how many calls like read() a thread has made; 0 if it has ended. */
static unsigned long reads_of(const char *thread)
{
	char path[300], line[64];
	unsigned long reads = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/io", thread);
	file = fopen(path, "r");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		sscanf(line, "syscr: %lu", &reads);
	fclose(file);
	return reads;
}

/* The calls like read() of other threads, by the only processor on which each may run. */
static void count_reads(unsigned long reads[MAX_CPUS])
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	cpu_set_t set;

	memset(reads, 0, MAX_CPUS * sizeof(*reads));
	CHECK(dir);
	while ((entry = readdir(dir))) {
		pid_t thread = atoi(entry->d_name);

		if (!thread || thread == gettid() ||
		    sched_getaffinity(thread, sizeof(set), &set) || CPU_COUNT(&set) != 1)
			continue;
		for (unsigned int i = 0; i < ncpus; i++)
			if (CPU_ISSET(cpus[i], &set))
				reads[i] += reads_of(entry->d_name);
	}
	closedir(dir);
}

/*
 * Where functions run.
 */

COSY_ASYNC static long add_up(int fd)
{
	unsigned char byte;
	long sum = 0;

	while (read(fd, &byte, 1) == 1)
		sum += byte;
	return sum;
}

/* The compounds of a function run on the processor that is named for it. */
static void named(void)
{
	enum { BYTES = 200 };
	unsigned long before[MAX_CPUS], after[MAX_CPUS];
	struct cosy_async op = { 0 };
	unsigned char byte = 3;
	int fds[2];

	new_loop();
	for (unsigned int i = 0; i < ncpus; i++) {
		open_pair(fds);
		EQUAL(COSY_SPAWN(loop, add_up(fds[0]), .op = cosy_async_on(&op, cpus[i])), 0);
		settle();
		count_reads(before);
		for (int n = 0; n < BYTES; n++) {
			EQUAL(write(fds[1], &byte, 1), 1);
			CHECK(cosy_wait(loop, 0, NULL) >= 0);
		}
		EQUAL(close(fds[1]), 0);
		EQUAL(result_of(loop, &op), 3 * BYTES);
		count_reads(after);
		for (unsigned int k = 0; module_runs() && k < ncpus; k++)
			if (k == i)
				CHECK(after[k] - before[k] >= BYTES);
			else
				CHECK(after[k] - before[k] < BYTES / 2);
		close_fd(fds[0]);
	}
	EQUAL(COSY_SPAWN(loop, add_up(-1), .op = cosy_async_on(&op, 1023)), -EINVAL);
	EQUAL(cosy_async_pending(&op), false);
	EQUAL(cosy_loop_destroy(loop), 0);
}

/* Functions that the loop distributes use all processors. */
static void distributed(void)
{
	enum { N = 32, BYTES = 50 };
	unsigned long before[MAX_CPUS], after[MAX_CPUS];
	struct cosy_async ops[N] = { 0 };
	int fds[N][2];

	new_loop();
	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		EQUAL(COSY_SPAWN(loop, add_up(fds[i][0]), .op = &ops[i]), 0);
	}
	settle();
	count_reads(before);
	for (int n = 0; n < BYTES; n++) {
		for (int i = 0; i < N; i++) {
			unsigned char byte = (unsigned char)i;

			EQUAL(write(fds[i][1], &byte, 1), 1);
		}
		CHECK(cosy_wait(loop, 0, NULL) >= 0);
	}
	for (int i = 0; i < N; i++) {
		EQUAL(close(fds[i][1]), 0);
		EQUAL(result_of(loop, &ops[i]), i * BYTES);
		close_fd(fds[i][0]);
	}
	count_reads(after);
	for (unsigned int k = 0; module_runs() && k < ncpus; k++)
		CHECK(after[k] > before[k]);
	EQUAL(cosy_loop_destroy(loop), 0);
}

/*
 * What functions do in the thread that waits.
 */

static pthread_t waits;
static unsigned int upcalls;

__attribute__((noinline)) static int check_thread(int value)
{
	EQUAL(pthread_equal(pthread_self(), waits) != 0, true);
	EQUAL(errno, value);
	upcalls++;
	errno = value + 1;
	return value;
}

COSY_ASYNC static int calls_up(int fd, int rounds)
{
	char byte;

	errno = 0;
	for (int i = 0; i < rounds; i++) {
		if (recv(fd, &byte, 1, 0) != 1)
			return -1;
		if (check_thread(i) != byte)
			return -2;
		if (send(fd, &byte, 1, 0) != 1)
			return -3;
	}
	return errno;
}

COSY_ASYNC static long own_thread(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0) != 1)
		return -1;
	return syscall(SYS_gettid);
}

static void called(struct cosy_async *op)
{
	EQUAL(pthread_equal(pthread_self(), waits) != 0, true);
	*(bool *)op->data = true;
}

static void in_this_thread(void)
{
	enum { N = 10, ROUNDS = 20 };
	struct cosy_async ops[N] = { 0 }, op = { 0 };
	bool ended[N] = { false };
	int fds[N][2];
	char byte;

	waits = pthread_self();
	new_loop();
	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		EQUAL(COSY_SPAWN(loop, calls_up(fds[i][0], ROUNDS), .op = &ops[i],
				 .done = called, .data = &ended[i]), 0);
	}
	for (int round = 0; round < ROUNDS; round++) {
		byte = (char)round;
		for (int i = 0; i < N; i++)
			EQUAL(send(fds[i][1], &byte, 1, 0), 1);
		for (int i = 0; i < N; i++) {
			while (recv(fds[i][1], &byte, 1, MSG_DONTWAIT) < 0)
				settle();
			EQUAL(byte, round);
		}
	}
	for (int i = 0; i < N; i++) {
		EQUAL(result_of(loop, &ops[i]), ROUNDS);
		EQUAL(ended[i], true);
		close_fd(fds[i][0]);
	}
	EQUAL(upcalls, N * ROUNDS);
	/* A compound that asks for the thread is not moved. */
	EQUAL(COSY_SPAWN(loop, own_thread(fds[0][1]), .op = &op), 0);
	EQUAL(result_of(loop, &op), -1);
	close_fd(fds[0][1]);
	open_pair(fds[0]);
	EQUAL(COSY_SPAWN(loop, own_thread(fds[0][0]), .op = &op), 0);
	settle();
	EQUAL(send(fds[0][1], "x", 1, 0), 1);
	EQUAL(result_of(loop, &op), gettid());
	for (int i = 0; i < N; i++)
		close_fd(fds[i][1]);
	close_fd(fds[0][0]);
	EQUAL(cosy_loop_destroy(loop), 0);
}

static unsigned int broken_pipes;
static pthread_t handled_by;

static void on_pipe(int nr)
{
	(void)nr;
	handled_by = pthread_self();
	broken_pipes++;
}

COSY_ASYNC static int goes_on(int fd, int then)
{
	char byte = 0;
	int sent = send(fd, &byte, 1, 0) < 0 ? errno : 0;

	return recv(then, &byte, 1, 0) == 1 ? sent : -1;
}

/* The signal of a call goes to the program, although the function waits for something else then. */
static void signals(void)
{
	struct sigaction action = { .sa_handler = on_pipe };
	struct cosy_async op = { 0 };
	int fds[2], then[2];

	new_loop();
	EQUAL(sigaction(SIGPIPE, &action, NULL), 0);
	for (unsigned int i = 0; i < ncpus; i++) {
		open_pair(fds);
		open_pair(then);
		EQUAL(close(fds[1]), 0);
		EQUAL(COSY_SPAWN(loop, goes_on(fds[0], then[0]),
				 .op = cosy_async_on(&op, cpus[i])), 0);
		while (broken_pipes <= i)
			settle();
		EQUAL(broken_pipes, i + 1);
		EQUAL(pthread_equal(handled_by, pthread_self()) != 0, true);
		EQUAL(send(then[1], "x", 1, 0), 1);
		EQUAL(result_of(loop, &op), EPIPE);
		close_fd(fds[0]);
		close_fd(then[0]);
		close_fd(then[1]);
	}
	EQUAL(signal(SIGPIPE, SIG_DFL) == SIG_ERR, false);
	EQUAL(cosy_loop_destroy(loop), 0);
}

/* Functions continue in user mode when the module cannot be entered any more, or in a child. */
static void without_module(void)
{
	enum { N = 6 };
	struct cosy_async ops[N] = { 0 };
	int fds[N][2], status;
	pid_t child;

	new_loop();
	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		EQUAL(COSY_SPAWN(loop, add_up(fds[i][0]), .op = &ops[i]), 0);
	}
	settle();
	child = fork();
	if (!child) {
		EQUAL(cosy_loop_destroy(loop), 0);
		new_loop();
		EQUAL(COSY_SPAWN(loop, add_up(fds[0][0]), .op = &ops[0]), -EBUSY);
		ops[0] = (struct cosy_async){ 0 };
		EQUAL(COSY_SPAWN(loop, receive_twice(-1), .op = &ops[0]), 0);
		EQUAL(result_of(loop, &ops[0]), EBADF * 1000 + EBADF);
		EQUAL(cosy_loop_destroy(loop), 0);
		_exit(0);
	}
	CHECK(child > 0);
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	for (int i = 0; i < N; i++)
		EQUAL(write(fds[i][1], "\1\2", 2), 2);
	settle();
	close_loops();
	for (int i = 0; i < N; i++) {
		EQUAL(write(fds[i][1], "\3\4", 2), 2);
		EQUAL(close(fds[i][1]), 0);
		EQUAL(result_of(loop, &ops[i]), 10);
		close_fd(fds[i][0]);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
}

static unsigned int ended;

static void count_end(struct cosy_async *op)
{
	EQUAL(op->result, ECANCELED * 1000 + ECANCELED);
	ended++;
}

/* Functions end when their loop is destroyed, wherever they are. */
static void destroyed(void)
{
	enum { N = 40 };
	int fds[2];

	open_pair(fds);
	for (int waiting = 0; waiting < 2; waiting++) {
		new_loop();
		ended = 0;
		for (int i = 0; i < N; i++)
			EQUAL(COSY_SPAWN(loop, receive_twice(fds[0]), .done = count_end), 0);
		if (waiting)
			settle();
		else
			CHECK(cosy_wait(loop, 0, NULL) >= 0);
		EQUAL(cosy_loop_destroy(loop), 0);
		EQUAL(ended, N);
	}
	close(fds[0]);
	close(fds[1]);
}

/* Descriptors are closed and their numbers used again, while functions run on all processors. */
COSY_ASYNC static int echo(int fd)
{
	char text[64];
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text), 0)) > 0)
		if (send(fd, text, (size_t)n, 0) != n)
			return -1;
	return close(fd);
}

static void *client(void *arg)
{
	const int *fd = arg;
	char text[64];

	for (int i = 0; i < 50; i++) {
		EQUAL(send(*fd, "hello, world", 12, 0), 12);
		EQUAL(recv(*fd, text, sizeof(text), MSG_WAITALL | MSG_TRUNC) > 0, true);
	}
	EQUAL(close(*fd), 0);
	return NULL;
}

static void reused(void)
{
	enum { N = 8, ROUNDS = 10 };
	pthread_t threads[N];
	struct cosy_async ops[N] = { 0 };
	int fds[N][2];

	new_loop();
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < N; i++) {
			EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds[i]), 0);
			EQUAL(COSY_SPAWN(loop, echo(fds[i][0]), .op = &ops[i]), 0);
			EQUAL(pthread_create(&threads[i], NULL, client, &fds[i][1]), 0);
		}
		EQUAL(cosy_loop_run(loop), 0);
		for (int i = 0; i < N; i++) {
			EQUAL(ops[i].result, 0);
			EQUAL(pthread_join(threads[i], NULL), 0);
		}
	}
	EQUAL(cosy_loop_destroy(loop), 0);
}

int main(void)
{
	alarm(600);
	find_cpus();
	named();
	distributed();
	in_this_thread();
	signals();
	without_module();
	destroyed();
	reused();
	return 0;
}
