// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Regions with very frequent signals. A call that a handler interrupts ends with EINTR,
 * or continues with SA_RESTART, or ends with EINTR if the kernel never restarts it. No operation
 * is lost or repeated.
 */
// RUN: %cosy-cc -O2 -pthread %s -o %t
// RUN: %run-all --vm %t restart | %FileCheck --check-prefixes=CHECK,RESTART %s
// RUN: %run-all --vm %t eintr | %FileCheck --check-prefixes=CHECK,EINTR %s
#include <cosy.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES 60000
#define CHUNK 700

static volatile unsigned long handled;

static void handler(int sig)
{
	int saved = errno;

	(void)sig;
	handled++;
	/* A program's handler may change it, and restores it. */
	errno = E2BIG;
	errno = saved;
}

static void bombard(long microseconds, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct itimerval interval = { { 0, microseconds }, { 0, microseconds } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
}

static void cease(void)
{
	struct itimerval off = { 0 };

	setitimer(ITIMER_REAL, &off, NULL);
}

/* A writer that is slow enough for the reader to block, and that blocks itself. */
static __attribute__((noinline)) void produce(int fd)
{
	unsigned char chunk[CHUNK];
	struct timespec pause = { .tv_nsec = 4000000 };
	long sent = 0;

	while (sent < BYTES) {
		for (int i = 0; i < CHUNK; i++)
			chunk[i] = (unsigned char)(sent + i);
		sent += write(fd, chunk, CHUNK < BYTES - sent ? CHUNK : (size_t)(BYTES - sent));
		if (sent / CHUNK % 2 == 0)
			nanosleep(&pause, NULL);
	}
	close(fd);
}

struct received {
	long bytes, wrong, interrupted, other;
};

static __attribute__((noinline)) struct received consume(int fd)
{
	struct received r = { 0 };
	unsigned char chunk[CHUNK];
	long n, i;

	COSY_START;
	for (;;) {
		n = read(fd, chunk, sizeof(chunk));
		if (n == 0)
			break;
		if (n < 0) {
			if (errno == EINTR)
				r.interrupted++;
			else
				r.other++;
			continue;
		}
		for (i = 0; i < n; i++)
			if (chunk[i] != (unsigned char)(r.bytes + i))
				r.wrong++;
		r.bytes += n;
	}
	COSY_END;
	return r;
}

static void test_read(bool restart)
{
	struct received r;
	int pipes[2];
	pid_t pid;

	if (pipe(pipes))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(pipes[0]);
		produce(pipes[1]);
		_exit(0);
	}
	close(pipes[1]);
	handled = 0;
	bombard(500, restart ? SA_RESTART : 0);
	r = consume(pipes[0]);
	cease();
	waitpid(pid, NULL, 0);
	close(pipes[0]);
	printf("read: %ld bytes, %ld wrong, %ld other errors, %s\n", r.bytes, r.wrong, r.other,
	       r.interrupted ? "EINTR" : "no EINTR");
	printf("handled %s\n", handled > 5 ? "many" : "few");
}

/* Calls that are never restarted. The remaining time is correct. */
static __attribute__((noinline)) long sleep_on(struct timespec *rest)
{
	long interrupted = 0;

	COSY_START;
	while (nanosleep(rest, rest)) {
		if (errno != EINTR)
			break;
		interrupted++;
	}
	COSY_END;
	return interrupted;
}

static __attribute__((noinline)) long poll_on(struct pollfd *pfd)
{
	long interrupted = 0;
	int n;

	COSY_START;
	do {
		n = poll(pfd, 1, 200);
		if (n < 0 && errno == EINTR)
			interrupted++;
	} while (n < 0 && interrupted < 20);
	COSY_END;
	return interrupted;
}

static void test_sleep(bool restart)
{
	struct timespec rest = { .tv_nsec = 150000000 }, start, end;
	struct pollfd pfd = { .events = POLLIN };
	long interrupted, elapsed;
	int pipes[2];

	if (pipe(pipes))
		return;
	pfd.fd = pipes[0];
	clock_gettime(CLOCK_MONOTONIC, &start);
	bombard(10000, restart ? SA_RESTART : 0);
	interrupted = sleep_on(&rest);
	clock_gettime(CLOCK_MONOTONIC, &end);
	elapsed = (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000;
	printf("nanosleep: %s, %s\n", interrupted ? "EINTR" : "no EINTR",
	       elapsed >= 149 ? "long enough" : "too short");
	interrupted = poll_on(&pfd);
	cease();
	printf("poll: EINTR %ld times\n", interrupted);
}

/* Handlers between the operations of a loop that never blocks. */
static __attribute__((noinline)) long count(long n)
{
	long sum = 0, i;

	COSY_START;
	for (i = 0; i < n; i++) {
		sum += i;
		if (getppid() == 0)
			sum++;
	}
	COSY_END;
	return sum;
}

int main(int argc, char **argv)
{
	bool restart = argc > 1 && !strcmp(argv[1], "restart");

	// CHECK: read: 60000 bytes, 0 wrong, 0 other errors,
	// RESTART-SAME: no EINTR
	// EINTR-SAME: EINTR
	// CHECK: handled many
	test_read(restart);
	// CHECK: nanosleep: EINTR, long enough
	// CHECK: poll: EINTR 20 times
	test_sleep(restart);
	bombard(300, restart ? SA_RESTART : 0);
	handled = 0;
	// CHECK: sum 1249975000
	printf("sum %ld\n", count(50000));
	cease();
	return 0;
}
