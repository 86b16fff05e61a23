/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Timers and signals; a loop in another event loop.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "loop.h"

#define TIMERS 5000
#define PAGE 4096

static struct cosy_loop *loop;
static uint64_t last;
static unsigned int expired, equal;

struct timer {
	struct cosy_async op;
	struct timespec time;
};

/* Timers of one deadline expire in the order of submission, which is that of their array. */
static void in_order(struct cosy_async *op)
{
	static const struct timer *last_timer;
	struct timer *timer = op->data;
	uint64_t time = (uint64_t)timer->time.tv_sec * 1000000000u +
			(uint64_t)timer->time.tv_nsec;

	EQUAL(op->result, 0);
	CHECK(time >= last);
	CHECK(now() >= time);
	if (last_timer && time == last) {
		CHECK(timer > last_timer);
		equal++;
	}
	last = time;
	last_timer = timer;
	expired++;
}

/*
 * Many timers in a random order, of which many have equal deadlines. Those that are not cancelled
 * expire in the order of their times.
 */
static void many(void)
{
	struct timer *timers = calloc(TIMERS, sizeof(*timers));
	uint64_t begin = now();
	unsigned int cancelled = 0;
	uint32_t random = 1;

	for (int i = 0; i < TIMERS; i++) {
		uint64_t time;

		random = random * 1664525 + 1013904223;
		time = begin + (random >> 8) % 300 * 1000000;
		timers[i].time.tv_sec = (time_t)(time / 1000000000u);
		timers[i].time.tv_nsec = (long)(time % 1000000000u);
		timers[i].op.data = &timers[i];
		EQUAL(cosy_async_timer(loop, &timers[i].op, &timers[i].time,
				       TIMER_ABSTIME), 0);
	}
	for (int i = 0; i < TIMERS; i++)
		timers[i].op.done = in_order;
	/* All timers are started before the first one can expire. */
	for (int i = 0; i < TIMERS; i += 3) {
		timers[i].op.done = NULL;
		cancelled += cosy_cancel(loop, &timers[i].op) == 0;
	}
	EQUAL(cosy_loop_run(loop), 0);
	for (int i = 0; i < TIMERS; i += 3)
		cancelled -= timers[i].op.result == -ECANCELED;
	EQUAL(cancelled, 0);
	EQUAL(expired, TIMERS - (TIMERS + 2) / 3);
	CHECK(equal > TIMERS / 2);
	free(timers);
}

static void times(void)
{
	const struct timespec bad = { .tv_nsec = 1000000000 };
	const struct timespec never = { .tv_sec = INT64_MAX };
	const struct timespec soon = { .tv_nsec = 20000000 }, past = { 0 };
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct timespec *bad_times[] = {
		NULL,
		(void *)(pages + PAGE),
		(void *)(pages + PAGE - sizeof(time_t)),
	};
	struct cosy_async op = { 0 };
	uint64_t begin = now();

	EQUAL(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
	EQUAL(cosy_async_timer(loop, &op, &soon, 0), 0);
	EQUAL(result_of(loop, &op), 0);
	CHECK(now() - begin >= 20000000);
	EQUAL(cosy_async_nanosleep(loop, &op, &soon, NULL), 0);
	EQUAL(result_of(loop, &op), 0);
	EQUAL(cosy_async_timer(loop, &op, &past, TIMER_ABSTIME), 0);
	EQUAL(result_of(loop, &op), 0);
	EQUAL(cosy_async_timer(loop, &op, &bad, 0), 0);
	EQUAL(result_of(loop, &op), -EINVAL);
	EQUAL(cosy_async_timer(loop, &op, &never, 0), 0);
	EQUAL(cosy_wait(loop, 1, &soon), 0);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), -ECANCELED);
	/* Addresses at which there is no time, or only a part of it. */
	for (int i = 0; i < 3; i++) {
		EQUAL(cosy_async_timer(loop, &op, bad_times[i], 0), 0);
		EQUAL(result_of(loop, &op), -EFAULT);
		EQUAL(cosy_async_nanosleep(loop, &op, bad_times[i], NULL), 0);
		EQUAL(result_of(loop, &op), -EFAULT);
		EQUAL(cosy_async_call(loop, &op, SYS_nanosleep, (uintptr_t)bad_times[i], 0, 0, 0,
				      0, 0), 0);
		EQUAL(result_of(loop, &op), -EFAULT);
	}
	EQUAL(munmap(pages, 2 * PAGE), 0);
	/* Another clock, for which a thread sleeps. */
	EQUAL(cosy_async_call(loop, &op, SYS_clock_nanosleep, CLOCK_BOOTTIME, 0,
			      (uintptr_t)&soon, 0, 0, 0), 0);
	EQUAL(result_of(loop, &op), 0);
}

/* Calls with no time to wait: they deliver what is ready. */
static void no_time(void)
{
	const struct timespec none = { 0 };
	struct cosy_async op = { 0 };
	struct cosy_async *ops[] = { &op };
	int fds[2];
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int how = 0; how < 3; how++) {
		EQUAL(cosy_async_read(loop, &op, fds[0], &byte, 1), 0);
		EQUAL(cosy_wait(loop, 1, &none), 0);
		EQUAL(cosy_wait_for(loop, &op, &none), -ETIME);
		EQUAL(cosy_wait_some(loop, ops, 1, 1, &none), 0);
		EQUAL(write(fds[1], "x", 1), 1);
		if (how == 0)
			EQUAL(cosy_wait(loop, 1, &none), 1);
		else if (how == 1)
			EQUAL(cosy_wait_for(loop, &op, &none), 0);
		else
			EQUAL(cosy_wait_some(loop, ops, 1, 1, &none), 1);
		EQUAL(op.result, 1);
	}
	EQUAL(cosy_async_close(loop, NULL, fds[0]), 0);
	EQUAL(cosy_async_close(loop, NULL, fds[1]), 0);
	EQUAL(cosy_loop_run(loop), 0);
}

static void signals(void)
{
	const struct timespec soon = { .tv_nsec = 20000000 };
	struct cosy_async first = { 0 }, second = { 0 };
	union sigval value = { .sival_int = 42 };
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	EQUAL(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	EQUAL(cosy_async_signal(loop, &first, &set, &info), 0);
	EQUAL(cosy_wait_for(loop, &first, &soon), -ETIME);
	EQUAL(cosy_async_signal(loop, &second, &set, NULL), 0);
	EQUAL(cosy_wait_for(loop, &second, &soon), -ETIME);
	EQUAL(sigqueue(getpid(), SIGUSR2, value), 0);
	while (cosy_async_pending(&first) && cosy_async_pending(&second))
		EQUAL(cosy_wait(loop, 1, NULL), 1);
	/* One of them has received it. */
	EQUAL(raise(SIGUSR1), 0);
	EQUAL(result_of(loop, &first) + result_of(loop, &second),
	      SIGUSR1 + SIGUSR2);
	if (first.result == SIGUSR2)
		EQUAL(info.si_value.sival_int, 42);
	/* A signal that is already pending. */
	EQUAL(raise(SIGUSR1), 0);
	EQUAL(cosy_async_signal(loop, &first, &set, &info), 0);
	EQUAL(result_of(loop, &first), SIGUSR1);
}

static volatile sig_atomic_t handled;

static void handler(int nr)
{
	(void)nr;
	handled++;
	cosy_loop_stop(loop);
}

static void interrupted(void)
{
	const struct itimerval timer = { .it_value.tv_usec = 20000 };
	const struct sigaction action = { .sa_handler = handler };
	const struct timespec hour = { .tv_sec = 3600 };
	struct cosy_async op = { 0 };

	EQUAL(sigaction(SIGALRM, &action, NULL), 0);
	EQUAL(cosy_async_timer(loop, &op, &hour, 0), 0);
	EQUAL(setitimer(ITIMER_REAL, &timer, NULL), 0);
	EQUAL(cosy_loop_run(loop), 1);
	EQUAL(handled, 1);
	EQUAL(setitimer(ITIMER_REAL, &timer, NULL), 0);
	EQUAL(cosy_wait(loop, 1, NULL) <= 0, 1);
	EQUAL(handled, 2);
	EQUAL(cosy_cancel(loop, &op), 0);
	EQUAL(result_of(loop, &op), -ECANCELED);
}

static bool readable(int fd, int ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, ms) == 1;
}

/* The descriptor is readable when there is work, and not otherwise. */
static void outside(void)
{
	const struct timespec soon = { .tv_nsec = 50000000 };
	struct cosy_async op = { 0 }, many_ops[200] = { 0 };
	int fd = cosy_loop_fd(loop), fds[2];
	unsigned int delivered = 0;
	char byte;

	CHECK(fd >= 0);
	EQUAL(cosy_loop_fd(loop), fd);
	while (readable(fd, 0))
		execute(loop);
	EQUAL(cosy_async_getpid(loop, &op), 0);
	CHECK(readable(fd, 0));
	EQUAL(cosy_wait(loop, 0, NULL), 1);
	while (readable(fd, 0))
		execute(loop);
	EQUAL(cosy_async_timer(loop, &op, &soon, 0), 0);
	while (cosy_async_pending(&op)) {
		CHECK(readable(fd, 60000));
		cosy_wait(loop, 0, NULL);
	}
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(cosy_async_read(loop, &op, fds[0], &byte, 1), 0);
	while (readable(fd, 0))
		execute(loop);
	EQUAL(write(fds[1], "x", 1), 1);
	CHECK(readable(fd, 0));
	EQUAL(cosy_wait(loop, 0, NULL), 1);
	/* More operations than one call delivers. */
	for (int i = 0; i < 200; i++)
		EQUAL(cosy_async_getpid(loop, &many_ops[i]), 0);
	while (delivered < 200) {
		CHECK(readable(fd, 0));
		delivered += (unsigned int)cosy_wait(loop, 0, NULL);
	}
	/* A call of a thread. */
	EQUAL(cosy_async_fsync(loop, &op, fds[0]), 0);
	while (cosy_async_pending(&op)) {
		CHECK(readable(fd, 60000));
		cosy_wait(loop, 0, NULL);
	}
	EQUAL(op.result, -EINVAL);
}

int main(void)
{
	struct cosy_loop_options options = { .size = sizeof(options),
					     .entries = 2 * TIMERS };

	EQUAL(cosy_loop_create(&loop, &options), 0);
	times();
	no_time();
	many();
	signals();
	interrupted();
	outside();
	EQUAL(cosy_loop_destroy(loop), 0);
	return 0;
}
