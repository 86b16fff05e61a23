/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Kernel cores: processors of a loop poll for a given time before they sleep, and report the time that
 * they have polled in vain.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cosy/task.h>

#include "kernel-core.h"
#include "run-threads.h"

static void run_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EQUAL(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void run_anywhere(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int i = 0; i < ncpus; i++)
		CPU_SET(cpus[i], &set);
	EQUAL(sched_setaffinity(0, sizeof(set), &set), 0);
}

static uint64_t polled_ns(struct cosy_loop *loop)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.polled_ns;
}

/*
 * Results.
 */

/* Calls that end, wait for a socket and block, by a processor that polls. */
static void results(void)
{
	enum { ROUNDS = 200 };
	struct cosy_async receive = { 0 }, other = { 0 }, sync = { 0 };
	struct cosy_loop *loop = new_loop(SECOND, 0);
	char name[] = "/tmp/cosy-cores-XXXXXX", byte;
	int file = mkstemp(name), fds[2];
	struct stat status;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int i = 0; i < ROUNDS; i++) {
		char sent = (char)i;

		EQUAL(cosy_async_recv(loop, &receive, fds[0], &byte, 1, 0), 0);
		EQUAL(cosy_async_stat(loop, &other, name, &status), 0);
		EQUAL(cosy_async_fsync(loop, &sync, file), 0);
		EQUAL(result_of(loop, &other), 0);
		EQUAL(status.st_size, i);
		EQUAL(result_of(loop, &sync), 0);
		EQUAL(cosy_async_pending(&receive), true);
		/* The event comes while it polls, unless it is slow. */
		EQUAL(write(fds[1], &sent, 1), 1);
		EQUAL(result_of(loop, &receive), 1);
		EQUAL(byte, sent);
		EQUAL(write(file, &sent, 1), 1);
	}
	EQUAL(cosy_async_recv(loop, &receive, fds[0], &byte, 1, 0), 0);
	use_core(loop);
	EQUAL(cosy_cancel(loop, &receive), 0);
	EQUAL(result_of(loop, &receive), -ECANCELED);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(unlink(name), 0);
	close(file);
	close(fds[0]);
	close(fds[1]);
}

COSY_ASYNC static int answer(int fd)
{
	char byte;
	int count = 0;

	while (recv(fd, &byte, 1, 0) == 1) {
		if (send(fd, &byte, 1, 0) != 1)
			return -1;
		count++;
	}
	return count;
}

/* A function names the core, and so do operations with a colour. */
static void named(void)
{
	enum { ROUNDS = 200 };
	struct cosy_loop *loop = new_loop(SECOND, 0);
	struct cosy_async function = { 0 }, receive = { 0 };
	int fds[2];
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(COSY_SPAWN(loop, answer(fds[0]), .op = cosy_async_on(&function, core)), 0);
	for (int i = 0; i < ROUNDS; i++) {
		char sent = (char)i;

		EQUAL(cosy_async_recv(loop, cosy_async_on(&receive, core), fds[1], &byte, 1, 0), 0);
		EQUAL(cosy_async_send(loop, NULL, fds[1], &sent, 1, 0), 0);
		EQUAL(result_of(loop, &receive), 1);
		EQUAL(byte, sent);
	}
	EQUAL(cosy_cancel_fd(loop, fds[1]), 0);
	EQUAL(shutdown(fds[1], SHUT_WR), 0);
	EQUAL(result_of(loop, &function), ROUNDS);
	EQUAL(cosy_loop_destroy(loop), 0);
	close(fds[0]);
	close(fds[1]);
}

enum { COLOURED = 300 };
static unsigned int order[COLOURED], ordered;

static void coloured(struct cosy_coloured *op)
{
	order[ordered++] = *(unsigned int *)op->op.data;
}

static void colours(void)
{
	static struct cosy_coloured ops[COLOURED];
	static unsigned int at[COLOURED], numbers[COLOURED];
	struct cosy_loop *loop = new_loop(SECOND, 0);

	ordered = 0;
	for (unsigned int i = 0; i < COLOURED; i++) {
		struct cosy_async *op = cosy_colour(&ops[i], 7, coloured);

		numbers[i] = i;
		op->data = &numbers[i];
		EQUAL(cosy_async_call(loop, cosy_async_on(op, core), SYS_getcpu, (uintptr_t)&at[i], 0,
				      0, 0, 0, 0), 0);
	}
	EQUAL(run_threads(loop, 2), 0);
	EQUAL(ordered, COLOURED);
	for (unsigned int i = 0; i < COLOURED; i++) {
		EQUAL(order[i], i);
		EQUAL(at[i], core);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
}

/*
 * Polling.
 */

/* It polls for the given time after its last work, counts that, and then sleeps. */
static void sleeps_afterwards(void)
{
	enum { POLL_US = 20000 };
	struct cosy_loop *loop = new_loop(POLL_US, 0);
	uint64_t polled;

	run_on(cpus[0]);
	for (int i = 0; i < 3; i++) {
		polled = polled_ns(loop);
		use_core(loop);
		while (polled_ns(loop) - polled < POLL_US * 1000ull)
			usleep(1000);
		/* It has just counted, and does not poll any more. */
		polled = polled_ns(loop);
		usleep(3 * POLL_US);
		EQUAL(polled_ns(loop), polled);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	run_anywhere();
}

/* A thread on the same CPU could not send anything meanwhile. */
static void not_for_its_own_cpu(void)
{
	struct cosy_loop *loop = new_loop(SECOND, 0);

	run_on(core);
	for (int i = 0; i < 20; i++)
		use_core(loop);
	EQUAL(polled_ns(loop), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	run_anywhere();
}

/* Without work, with some, and with some that waits. */
static void destroyed_while_it_polls(void)
{
	struct cosy_async receive = { 0 };
	int fds[2];
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int i = 0; i < 60; i++) {
		struct cosy_loop *loop = new_loop(SECOND, 0);

		use_core(loop);
		if (i % 3)
			EQUAL(cosy_async_recv(loop, &receive, fds[0], &byte, 1, 0), 0);
		if (i % 3 == 2)
			use_core(loop);
		EQUAL(cosy_loop_destroy(loop), 0);
		if (i % 3)
			EQUAL(receive.result, -ECANCELED);
	}
	close(fds[0]);
	close(fds[1]);
}

static void in_a_child(void)
{
	const struct cosy_cpu_options options = { .size = sizeof(options), .poll_us = 100 };
	struct cosy_loop *loop = new_loop(SECOND, 0);
	int status;
	pid_t pid;

	use_core(loop);
	pid = fork();
	if (!pid)
		_exit(cosy_loop_cpus_with(loop, &core, 1, &options) != -EPERM ||
		      cosy_loop_destroy(loop));
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	use_core(loop);
	EQUAL(cosy_loop_destroy(loop), 0);
}

/*
 * Options.
 */

static void wrong_options(void)
{
	const struct { struct cosy_cpu_options known; uint32_t more; } longer = {
		{ .size = sizeof(longer) }, 1 };
	const struct cosy_cpu_options wrong[] = {
		{ .size = 0 },
		{ .size = sizeof(wrong[0]), .poll_us = SECOND + 1 },
		{ .size = sizeof(wrong[0]), .priority = 100 },
		{ .size = sizeof(wrong[0]), .napi_us = SECOND + 1 },
	};
	const struct cosy_cpu_options good = { .size = sizeof(good), .poll_us = 1 };
	struct cosy_loop *loop = make_loop();

	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		EQUAL(cosy_loop_cpus_with(loop, &core, 1, &wrong[i]), -EINVAL);
	EQUAL(cosy_loop_cpus_with(loop, &core, 1, &longer.known), -EINVAL);
	/* This thread may not run there. */
	if (ncpus > 1) {
		run_on(cpus[0]);
		EQUAL(cosy_loop_cpus_with(loop, &core, 1, &good), -EINVAL);
		run_anywhere();
	}
	EQUAL(cosy_loop_destroy(loop), 0);
}

/* struct epoll_params, and EPIOCGPARAMS, of Linux 6.9. */
struct epoll_busy_poll {
	uint32_t usecs;
	uint16_t budget;
	uint8_t prefers;
	uint8_t reserved;
};
#define GET_EPOLL_BUSY_POLL	_IOR(0x8A, 0x02, struct epoll_busy_poll)

/* Return how many epoll instances busy-poll for so long; -1 if the kernel cannot do it. */
static int count_busy_polling(uint32_t usecs)
{
	struct epoll_busy_poll params;
	int count = 0, fd = epoll_create1(0);

	if (ioctl(fd, GET_EPOLL_BUSY_POLL, &params))
		count = -1;
	close(fd);
	for (fd = 0; count >= 0 && fd < 1000; fd++)
		count += !ioctl(fd, GET_EPOLL_BUSY_POLL, &params) && params.usecs == usecs;
	return count;
}

/* The kernel polls the network device for the processor, if it can. */
static void network_device(void)
{
	const struct cosy_cpu_options options = { .size = sizeof(options), .napi_us = 123 };
	struct cosy_loop *loop = make_loop();
	int before = count_busy_polling(123);

	EQUAL(cosy_loop_cpus_with(loop, &core, 1, &options), 0);
	EQUAL(count_busy_polling(123), before < 0 ? -1 : 1);
	use_core(loop);
	EQUAL(cosy_loop_destroy(loop), 0);
}

int main(void)
{
	alarm(600);
	find_cpus();
	core = cpus[ncpus - 1];
	results();
	named();
	colours();
	destroyed_while_it_polls();
	in_a_child();
	network_device();
	wrong_options();
	if (ncpus == 1)
		return 0;
	sleeps_afterwards();
	not_for_its_own_cpu();
	return 0;
}
