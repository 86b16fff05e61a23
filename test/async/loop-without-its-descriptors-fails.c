// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A program closes all descriptors, also those of its loop. Waiting then fails; it does not use the
 * processor for ever. The program may open other files with the same numbers.
 */
// RUN: %compile
// RUN: %everywhere
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "loop.h"

enum { NUMBERS = 200 };

/* Create a loop that has all descriptors which a loop may have. Two operations wait. */
static struct cosy_loop *make_large_loop(struct cosy_async *waits, struct cosy_async *signals,
					 bool has_cpus)
{
	static struct stat status;
	static sigset_t set;
	static char byte;
	struct cosy_loop *loop = make_loop();
	struct cosy_loop_info info;
	struct cosy_async op = { 0 };
	int fds[2];

	EQUAL(pipe(fds), 0);
	if (has_cpus)
		EQUAL(cosy_loop_cpus(loop, NULL, 0), 0);
	EQUAL(cosy_async_stat(loop, &op, "/", &status), 0);
	EQUAL(result_of(loop, &op), 0);
	EQUAL(cosy_async_read(loop, waits, fds[0], &byte, 1), 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	EQUAL(cosy_async_signal(loop, signals, &set, NULL), 0);
	CHECK(cosy_loop_fd(loop) >= 0);
	do {
		execute(loop);
		EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	} while (info.waiting < 2);
	return loop;
}

/* The program opens other files with the numbers. They are neither written to nor closed. */
static void numbers_again(bool has_cpus)
{
	struct cosy_async waits = { 0 }, signals = { 0 };
	struct cosy_loop *loop = make_large_loop(&waits, &signals, has_cpus);
	uint64_t count;
	int fd;

	EQUAL(close_range(3, ~0u, 0), 0);
	fd = eventfd(0, EFD_NONBLOCK);
	EQUAL(fd, 3);
	for (int i = fd + 1; i < NUMBERS; i++)
		EQUAL(dup2(fd, i), i);
	cosy_loop_stop(loop);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(waits.result, -ECANCELED);
	EQUAL(signals.result, -ECANCELED);
	EQUAL(read(fd, &count, sizeof(count)), -1);
	EQUAL(errno, EAGAIN);
	for (int i = fd; i < NUMBERS; i++)
		CHECK(fcntl(i, F_GETFD) >= 0);
	EQUAL(close_range(3, ~0u, 0), 0);
}

/* Another loop has the numbers. */
static void loop_again(void)
{
	struct cosy_async waits = { 0 }, other_waits = { 0 };
	struct cosy_async signals = { 0 }, other_signals = { 0 }, op = { 0 };
	struct cosy_loop *loop = make_large_loop(&waits, &signals, false), *other;
	char byte;
	int fds[2];

	EQUAL(close_range(3, ~0u, 0), 0);
	other = make_large_loop(&other_waits, &other_signals, false);
	cosy_loop_stop(loop);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(pipe(fds), 0);
	EQUAL(cosy_async_read(other, &op, fds[0], &byte, 1), 0);
	execute(other);
	EQUAL(write(fds[1], "x", 1), 1);
	EQUAL(result_of(other, &op), 1);
	EQUAL(raise(SIGUSR1), 0);
	EQUAL(result_of(other, &other_signals), SIGUSR1);
	EQUAL(cosy_loop_destroy(other), 0);
	EQUAL(close_range(3, ~0u, 0), 0);
}

/* Return when all other threads of the process sleep, or have ended. */
static void wait_until_others_sleep(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	CHECK(dir);
	while ((entry = readdir(dir))) {
		pid_t thread = atoi(entry->d_name);

		while (thread && thread != gettid() && !is_asleep(thread) &&
		       !syscall(SYS_tgkill, getpid(), thread, 0))
			usleep(1000);
	}
	closedir(dir);
}

/* The loops of processors have descriptors of their own. */
static void processors(void)
{
	struct cosy_async op = { 0 };
	struct cosy_loop *loop = make_loop();
	struct cosy_loop_info info;
	char byte;
	int fds[2];

	EQUAL(pipe(fds), 0);
	EQUAL(cosy_loop_cpus(loop, NULL, 0), 0);
	EQUAL(cosy_async_read(loop, &op, fds[0], &byte, 1), 0);
	execute(loop);
	do {
		usleep(1000);
		EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	} while (!info.waiting);
	wait_until_others_sleep();
	EQUAL(close_range(3, ~0u, 0), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(op.result, -ECANCELED);
}

int main(void)
{
	const struct timespec hour = { .tv_sec = 3600 };
	struct cosy_async closes = { 0 }, timer = { 0 };
	struct cosy_loop *loop = make_loop();
	sigset_t set;

	alarm(300);
	EQUAL(cosy_async_timer(loop, &timer, &hour, 0), 0);
	execute(loop);
	EQUAL(cosy_async_close_range(loop, &closes, 3, -1, 0), 0);
	EQUAL(result_of(loop, &closes), 0);
	EQUAL(cosy_wait(loop, 1, NULL), -EBADF);
	EQUAL(cosy_wait(loop, 1, &hour), -EBADF);
	EQUAL(cosy_wait_for(loop, &timer, NULL), -EBADF);
	EQUAL(cosy_loop_run(loop), -EBADF);
	EQUAL(cosy_cancel(loop, &timer), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(timer.result, -ECANCELED);
	EQUAL(cosy_loop_destroy(loop), 0);
	processors();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	EQUAL(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	numbers_again(false);
	numbers_again(true);
	loop_again();
	return 0;
}
