/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Processors execute operations while these are cancelled, their descriptors are closed, the loop
 * is polled or destroyed, and a processor is removed. Large transfers stay in order. The processors of
 * every second loop are kernel cores.
 */
// RUN: %compile
// RUN: %everywhere
#include <poll.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "cpus.h"

#define LARGE	(64u << 10)
#define PIECES	40u
#define NAME	"/tmp/cosy-cpus-races"

/* Return true if the loop has all processors that the test can use now. */
static bool try_new_loop(struct cosy_loop **loop)
{
	static unsigned int loops;
	const struct cosy_cpu_options options = { .size = sizeof(options),
						  .poll_us = loops++ % 2 * 1000 };
	int err;

	find_cpus();
	EQUAL(cosy_loop_create(loop, NULL), 0);
	err = cosy_loop_cpus_with(*loop, cpus, ncpus, &options);
	if (err)
		cosy_loop_destroy(*loop);
	return !err;
}

static struct cosy_loop *new_loop(void)
{
	struct cosy_loop *loop;

	/* It fails if one was removed meanwhile. */
	while (!try_new_loop(&loop))
		;
	return loop;
}

static void *memory(size_t size)
{
	void *new = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	CHECK(new != MAP_FAILED);
	return new;
}

static int make_file(void)
{
	int fd = open(NAME, O_CREAT | O_RDWR | O_TRUNC, 0600);
	unsigned int *words = memory(PIECES * LARGE);

	CHECK(fd >= 0);
	for (unsigned int i = 0; i < PIECES * LARGE / sizeof(*words); i++)
		words[i] = i;
	EQUAL(write(fd, words, PIECES * LARGE), PIECES * LARGE);
	munmap(words, PIECES * LARGE);
	return fd;
}

/* Operations that never complete do not block other operations of their processor. */
static void waiting_for_ever(void)
{
	struct cosy_async locks[6] = { 0 }, op = { 0 };
	int holder = open(NAME, O_RDWR), fds[6];
	struct cosy_loop *loop = new_loop();

	EQUAL(flock(holder, LOCK_EX), 0);
	for (int i = 0; i < 6; i++) {
		fds[i] = open(NAME, O_RDWR);
		EQUAL(cosy_async_flock(loop, cosy_async_on(&locks[i], cpus[0]), fds[i], LOCK_EX),
		      0);
	}
	EQUAL(cosy_async_call(loop, cosy_async_on(&op, cpus[0]), SYS_gettid, 0, 0, 0, 0, 0, 0), 0);
	CHECK(result_of(loop, &op) > 0);
	EQUAL(flock(holder, LOCK_UN), 0);
	for (int done = 0; done < 6;) {
		EQUAL(cosy_wait(loop, 1, NULL), 1);
		for (int i = 0; i < 6; i++) {
			if (fds[i] < 0 || cosy_async_pending(&locks[i]))
				continue;
			EQUAL(locks[i].result, 0);
			close(fds[i]);
			fds[i] = -1;
			done++;
		}
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	close(holder);
}

/* A stream by many operations: the bytes arrive in order. */
static void stream(void)
{
	struct cosy_async sends[PIECES] = { 0 }, receives[PIECES] = { 0 };
	char *out = memory(PIECES * LARGE), *in = memory(PIECES * LARGE);
	struct cosy_loop *loop = new_loop();
	int fds[2];

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (unsigned int i = 0; i < PIECES * LARGE; i++)
		out[i] = (char)(i * 7 + i / LARGE);
	for (unsigned int i = 0; i < PIECES; i++) {
		EQUAL(cosy_async_recv(loop, &receives[i], fds[1], in + i * LARGE, LARGE,
				      MSG_WAITALL), 0);
		EQUAL(cosy_async_send(loop, &sends[i], fds[0], out + i * LARGE, LARGE, 0), 0);
	}
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < PIECES; i++) {
		EQUAL(sends[i].result, LARGE);
		EQUAL(receives[i].result, LARGE);
	}
	EQUAL(memcmp(in, out, PIECES * LARGE), 0);
	EQUAL(cosy_async_close(loop, NULL, fds[0]), 0);
	EQUAL(cosy_async_close(loop, NULL, fds[1]), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(cosy_loop_destroy(loop), 0);
	munmap(out, PIECES * LARGE);
	munmap(in, PIECES * LARGE);
}

/* Reads that use the file's position are executed one after the other. */
static void position(void)
{
	struct cosy_async ops[PIECES] = { 0 };
	struct cosy_loop *loop = new_loop();
	char *buf = memory(PIECES * LARGE);
	int file = open(NAME, O_RDONLY);

	for (unsigned int i = 0; i < PIECES; i++)
		EQUAL(cosy_async_read(loop, &ops[i], file, buf + i * LARGE, LARGE), 0);
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < PIECES; i++)
		EQUAL(ops[i].result, LARGE);
	for (unsigned int i = 0; i < PIECES * LARGE / 4; i += 128)
		EQUAL(((unsigned int *)buf)[i], i);
	EQUAL(cosy_loop_destroy(loop), 0);
	close(file);
	munmap(buf, PIECES * LARGE);
}

/*
 * Receives are executed while the descriptor is closed, or they are cancelled. Each completes
 * once, and none receives data of the next socket with that number.
 */
static void closing(void)
{
	struct cosy_loop *loop = new_loop();
	struct cosy_async receives[4], closed = { 0 };
	unsigned int random = 3, data = 0, cancelled = 0;

	for (int round = 0; round < 400; round++) {
		char bytes[4] = { 0, 0, 0, 0 };
		int fds[2], sent = 0, found = 0;

		EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		random = random * 1103515245 + 12345;
		memset(receives, 0, sizeof(receives));
		if (random >> 16 & 1) {
			sent = 1 + (random >> 17 & 1);
			EQUAL(write(fds[1], (char[]){ (char)(round | 1), (char)(round | 1) }, sent),
			      sent);
		}
		for (int i = 0; i < 4; i++)
			EQUAL(cosy_async_recv(loop, cosy_async_on(&receives[i],
								  cpus[(unsigned int)i % ncpus]),
					      fds[0], &bytes[i], 1, 0), 0);
		if (random >> 18 & 1)
			EQUAL(cosy_wait(loop, 0, NULL) <= 4, 1);
		if (random >> 19 & 1)
			sched_yield();
		if (random >> 20 & 1)
			cosy_cancel(loop, &receives[random >> 21 & 3]);
		if (random >> 23 & 1) {
			EQUAL(cosy_async_close(loop, &closed, fds[0]), 0);
			EQUAL(result_of(loop, &closed), 0);
		} else {
			CHECK(cosy_cancel_fd(loop, fds[0]) >= 0);
			close(fds[0]);
		}
		EQUAL(cosy_loop_run(loop), 0);
		for (int i = 0; i < 4; i++) {
			CHECK(!cosy_async_pending(&receives[i]));
			if (receives[i].result == -ECANCELED) {
				cancelled++;
				continue;
			}
			EQUAL(receives[i].result, 1);
			EQUAL(bytes[i], (char)(round | 1));
			found++;
		}
		CHECK(found <= sent);
		data += found;
		close(fds[1]);
	}
	CHECK(data && cancelled);
	EQUAL(cosy_loop_destroy(loop), 0);
}

/* A receive that is executed while it is cancelled completes. */
static void cancelling(void)
{
	struct cosy_loop *loop = new_loop();
	struct cosy_async op = { 0 };
	unsigned int cpu = cpus[ncpus - 1];
	int fds[2];
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int round = 0; round < 300; round++) {
		int ret;

		EQUAL(cosy_async_recv(loop, cosy_async_on(&op, cpu), fds[0], &byte, 1, 0), 0);
		cosy_wait(loop, 0, NULL);
		for (int i = 0; i < round % 7; i++)
			sched_yield();
		ret = cosy_cancel(loop, &op);
		CHECK(ret == 0 || ret == -EALREADY);
		EQUAL(result_of(loop, &op), -ECANCELED);
	}
	/* It does not receive later data. */
	EQUAL(write(fds[1], "x", 1), 1);
	EQUAL(recv(fds[0], &byte, 1, MSG_DONTWAIT), 1);
	/* Destroy the loop while they are executed. */
	for (int i = 0; i < 20; i++) {
		op = (struct cosy_async){ 0 };
		EQUAL(cosy_async_recv(loop, cosy_async_on(&op, cpu), fds[0], &byte, 1, 0), 0);
		cosy_wait(loop, 0, NULL);
		while (cosy_loop_destroy(loop) == -EBUSY)
			sched_yield();
		EQUAL(op.result, -ECANCELED);
		CHECK(!cosy_async_pending(&op));
		loop = new_loop();
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	close(fds[0]);
	close(fds[1]);
}

/* Cancelling one operation sends others to the processor, too; these are executed. */
static void cancelled_beside(void)
{
	const struct timespec minute = { .tv_sec = 60 };
	struct cosy_loop *loop = new_loop();
	struct cosy_async waits = { 0 }, op = { 0 };
	unsigned int cpu = cpus[ncpus - 1];
	int fds[2];
	char byte;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int round = 0; round < 2000; round++) {
		/* The processor's thread has just executed an operation, and polls for more. */
		EQUAL(cosy_async_call(loop, cosy_async_on(&op, cpu), SYS_gettid, 0, 0, 0, 0, 0, 0),
		      0);
		EQUAL(cosy_wait_for(loop, &op, &minute), 0);
		EQUAL(cosy_async_recv(loop, cosy_async_on(&waits, cpu), fds[0], &byte, 1, 0), 0);
		EQUAL(cosy_async_call(loop, cosy_async_on(&op, cpu), SYS_gettid, 0, 0, 0, 0, 0, 0),
		      0);
		EQUAL(cosy_cancel(loop, &waits), 0);
		EQUAL(cosy_wait_for(loop, &op, &minute), 0);
		EQUAL(cosy_wait_for(loop, &waits, &minute), 0);
		EQUAL(waits.result, -ECANCELED);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	close(fds[0]);
	close(fds[1]);
}

/* A poll of the loop reports operations that processors have executed. */
static void polled(void)
{
	struct cosy_loop *loop = new_loop();
	struct cosy_async op = { 0 };
	struct pollfd poller = { .fd = cosy_loop_fd(loop), .events = POLLIN };

	CHECK(poller.fd >= 0);
	for (unsigned int round = 0; round < 50; round++) {
		EQUAL(cosy_async_call(loop, cosy_async_on(&op, cpus[round % ncpus]), SYS_gettid, 0, 0,
				      0, 0, 0, 0), 0);
		while (cosy_async_pending(&op)) {
			EQUAL(poll(&poller, 1, 60000), 1);
			CHECK(cosy_wait(loop, 0, NULL) >= 0);
		}
		CHECK(op.result > 0 && op.result != gettid());
	}
	EQUAL(cosy_loop_destroy(loop), 0);
}

int main(int argc, char **argv)
{
	close(make_file());
	if (argc > 1 && !strcmp(argv[1], "hotplug")) {
		for (int i = 0; i < 15; i++) {
			stream();
			position();
			polled();
		}
	} else {
		waiting_for_ever();
		stream();
		position();
		closing();
		cancelling();
		cancelled_beside();
		polled();
	}
	unlink(NAME);
	return 0;
}
