// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Compounds that wait for pipes and eventfds. Their reads and writes have the effect of a blocking
 * thread's calls, and keep no file open. Operations of the process meanwhile do no harm.
 */

// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/coroutine.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#ifndef O_NOTIFICATION_PIPE
#define O_NOTIFICATION_PIPE O_EXCL
#endif
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

#define BUFFER (1 << 16)

/*
 * Collect @n entries, in any order, because pending work of the kernel after its call delays a
 * compound. Return a bit for each entry, or 0 if there are fewer.
 */
static unsigned int collect_set(struct loop *loop, int n)
{
	unsigned int set = 0;

	while (n--) {
		int index = collect(loop);

		if (index < 0)
			return 0;
		set |= 1u << index;
	}
	return set;
}

static __u64 reading, writing, ending;
static volatile sig_atomic_t signals;

static void load_all(void)
{
	reading = LOAD_FOR_LOOPS(READ(GOT, FD, BUF, SIZE), EXIT(2));
	writing = LOAD_FOR_LOOPS(WRITE(GOT, FD, BUF, SIZE), EXIT(3));
	ending = LOAD_FOR_LOOPS(SYS(GOT, SYS_close, 1), ARG(FD), EXIT(1));
}

static void on_signal(int nr)
{
	signals += nr == SIGPIPE;
}

static void open_pipe(int fds[2], int flags)
{
	if (pipe2(fds, flags))
		die("pipe2");
}

static void close_pipe(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Kernels before 6.5 wait for pipes only in threads. */
static bool have_pipes(void)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	int fds[2];
	bool have;

	open_pipe(fds, 0);
	have = preadv2(fds[0], &iov, 1, -1, RWF_NOWAIT) < 0 && errno == EAGAIN;
	close_pipe(fds);
	return have;
}

static void prepare(__u64 *frame, int fd, const void *buffer, size_t size)
{
	frame[FD] = (__u64)fd;
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = size;
	frame[GOT] = 77;
}

/* Return the result of a call that completes immediately. */
static long long at_once(struct loop *loop, __u64 handle, int fd, const void *buffer, size_t size)
{
	static __u64 frame[NREGS + 1];

	prepare(frame, fd, buffer, size);
	return run(loop, handle, frame, 0, 0) < 0 ? -1000 : (long long)frame[GOT];
}

/* The call is returned to the process. */
static bool is_for_process(struct loop *loop, __u64 handle, int fd, const void *buffer, size_t size)
{
	static __u64 frame[NREGS + 1];

	prepare(frame, fd, buffer, size);
	start(loop, 9, handle, frame, 0, 0);
	return go(loop, 1) == 1 && collect(loop) == 9 && is_left(loop, 9, COSY_STEP, 0) &&
	       entry_result(loop, 9) == COSY_STEP_CALL;
}

static void reads(void)
{
	static __u64 frames[3][NREGS + 1];
	char bytes[3][8];
	struct loop loop;
	int fds[2];

	create(&loop, 64);
	for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
		open_pipe(fds, flags);
		prepare(frames[0], fds[0], bytes[0], 8);
		start(&loop, 0, reading, frames[0], 0, 0);
		check(go(&loop, 0) == 0 && !readable(loop.fd), "a read waits");
		write(fds[1], "abc", 3);
		check(readable(loop.fd) && go(&loop, 1) == 1 && collect(&loop) == 0 &&
		      frames[0][GOT] == 3 && !memcmp(bytes[0], "abc", 3), "until there is something");
		write(fds[1], "defghijklm", 10);
		check(at_once(&loop, reading, fds[0], bytes[0], 8) == 8 &&
		      at_once(&loop, reading, fds[0], bytes[0], 8) == 2, "what is there is read at once");
		for (uint32_t i = 0; i < 3; i++) {
			prepare(frames[i], fds[0], bytes[i], 1);
			start(&loop, i, reading, frames[i], 0, 0);
		}
		check(go(&loop, 0) == 0, "three wait");
		write(fds[1], "x", 1);
		check(go(&loop, 1) == 1 && collect(&loop) == 0, "the first one gets what comes");
		check(go(&loop, 0) == 0, "and no other one");
		write(fds[1], "yz", 2);
		check(go(&loop, 2) == 2 && collect(&loop) == 1 && collect(&loop) == 2 &&
		      bytes[1][0] == 'y' && bytes[2][0] == 'z', "then the others");
		start(&loop, 0, reading, frames[0], 0, 0);
		check(go(&loop, 0) == 0, "it waits again");
		close(fds[1]);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] == 0,
		      "until nobody writes any more");
		check(at_once(&loop, reading, fds[0], bytes[0], 8) == 0, "which it sees at once");
		close(fds[0]);
	}
	destroy(&loop);
}

/* Read all data, and execute the loop meanwhile. Return: the number of bytes. */
static size_t drain(struct loop *loop, int fd, char *to, size_t size)
{
	size_t got = 0;
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (int idle = 0; got < size && idle < 1000; idle++) {
		n = read(fd, to + got, size - got < 5000 ? size - got : 5000);
		if (n > 0) {
			got += (size_t)n;
			idle = 0;
		}
		execute(loop);
	}
	return got;
}

static void writes(void)
{
	static char out[1 << 20], in[1 << 20];
	static __u64 frame[NREGS + 1];
	struct told before, after;
	int fds[2], watch = inotify_init1(IN_NONBLOCK);
	struct loop loop;
	char path[64];

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7 + (i >> 8));
	create(&loop, 64);
	for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
		bool good;

		open_pipe(fds, flags);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
		inotify_add_watch(watch, path, IN_MODIFY);
		prepare(frame, fds[1], out, sizeof(out));
		before = told(watch);
		start(&loop, 0, writing, frame, 0, 0);
		good = go(&loop, 0) == 0;
		drain(&loop, fds[0], in, sizeof(in));
		after = told(watch);
		check(good && collect(&loop) == 0 && frame[GOT] == sizeof(out) &&
		      !memcmp(in, out, sizeof(in)), "more than there is room for is written");
		check(after.wchar - before.wchar == sizeof(out) && after.syscw - before.syscw == 1 &&
		      after.events == 1, "as one call: %u events, %llu calls", after.events,
		      after.syscw - before.syscw);
		check(at_once(&loop, writing, fds[1], out, 100) == 100 && read(fds[0], in, 200) == 100,
		      "what there is room for at once");
		close_pipe(fds);
	}
	close(watch);
	destroy(&loop);
}

/* Blocks of up to PIPE_BUF bytes are not mixed, although others write, too. */
static int filled;

static void *write_blocks(void *fill)
{
	char block[PIPE_BUF];

	memset(block, *(char *)fill, sizeof(block));
	for (int i = 0; i < 50; i++)
		write(filled, block, sizeof(block));
	return NULL;
}

static void blocks(void)
{
	static __u64 frames[4][NREGS + 1];
	static char out[4][PIPE_BUF], block[PIPE_BUF], junk[BUFFER];
	unsigned int counts[256] = { 0 }, mixed = 0, more[4];
	struct loop loop;
	pthread_t thread;
	char fill = 'z';
	int fds[2], n = 0;

	create(&loop, 64);
	open_pipe(fds, 0);
	filled = fds[1];
	write(fds[1], junk, BUFFER);
	for (uint32_t i = 0; i < 4; i++) {
		memset(out[i], 'a' + (int)i, PIPE_BUF);
		prepare(frames[i], fds[1], out[i], PIPE_BUF);
		start(&loop, i, writing, frames[i], 0, 0);
		more[i] = 49;
	}
	check(go(&loop, 0) == 0, "four wait for room");
	pthread_create(&thread, NULL, write_blocks, &fill);
	for (size_t got = 0; got < BUFFER;)
		got += (size_t)read(fds[0], junk, BUFFER - got);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	for (int tries = 0; n < 250 && tries < 10000000; tries++) {
		int index;

		execute(&loop);
		while ((index = collect(&loop)) >= 0) {
			mixed += frames[index][GOT] != PIPE_BUF;
			if (more[index]--)
				start(&loop, (uint32_t)index, writing, frames[index], 0, 0);
		}
		if (read(fds[0], block, PIPE_BUF) != PIPE_BUF)
			continue;
		n++;
		counts[(unsigned char)block[0]]++;
		mixed += memcmp(block, block + 1, PIPE_BUF - 1) != 0;
	}
	pthread_join(thread, NULL);
	check(!mixed && counts['a'] == 50 && counts['b'] == 50 && counts['c'] == 50 &&
	      counts['d'] == 50 && counts['z'] == 50, "blocks stay whole: %u of %d are mixed", mixed, n);
	close_pipe(fds);
	destroy(&loop);
}

static void errors(void)
{
	static __u64 frame[NREGS + 1];
	char *half = must_map(8192), bytes[8];
	int fds[2], native[2];
	struct loop loop;
	ssize_t expected;

	munmap(half + 4096, 4096);
	create(&loop, 64);
	open_pipe(fds, 0);
	check(at_once(&loop, reading, fds[1], bytes, 1) == -EBADF &&
	      at_once(&loop, writing, fds[0], bytes, 1) == -EBADF, "the wrong end");
	check(at_once(&loop, reading, fds[0], bytes, 0) == 0 &&
	      at_once(&loop, writing, fds[1], bytes, 0) == 0, "nothing");
	check(at_once(&loop, writing, fds[1], (void *)8, 1) == -EFAULT &&
	      at_once(&loop, writing, fds[1], (void *)-4096, 1) == -EFAULT &&
	      at_once(&loop, reading, fds[0], (void *)-4096, 1) == -EFAULT, "no buffer");
	write(fds[1], "x", 1);
	check(at_once(&loop, reading, fds[0], (void *)8, 1) == -EFAULT &&
	      at_once(&loop, reading, fds[0], bytes, 1) == 1, "nor to read to");

	/* A part of the buffer is not mapped. The second time it already waits for the pipe. */
	open_pipe(native, 0);
	expected = write(native[1], half, 8192);
	check(at_once(&loop, writing, fds[1], half, 8192) == (expected < 0 ? -errno : expected),
	      "half a buffer: %zd", expected);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	while (read(fds[0], bytes, sizeof(bytes)) > 0)
		;
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	while (write(fds[1], half, 4096) > 0)
		;
	prepare(frame, fds[1], half, 8192);
	start(&loop, 0, writing, frame, 0, 0);
	check(go(&loop, 0) == 0, "the pipe is full");
	while (read(fds[0], bytes, sizeof(bytes)) > 0)
		;
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frame[GOT] == expected,
	      "half a buffer after a wait: %lld", (long long)frame[GOT]);
	close_pipe(native);
	close_pipe(fds);

	/* There is no reader. */
	open_pipe(fds, 0);
	close(fds[0]);
	signals = 0;
	check(at_once(&loop, writing, fds[1], bytes, 1) == -EPIPE && signals == 1, "EPIPE and SIGPIPE");
	close(fds[1]);
	for (int first = 0; first < 2; first++) {
		static char much[2 * BUFFER];

		open_pipe(fds, 0);
		if (first)
			write(fds[1], much, BUFFER);
		prepare(frame, fds[1], much, sizeof(much));
		start(&loop, 0, writing, frame, 0, 0);
		signals = 0;
		check(go(&loop, 0) == 0 && !signals, "it waits for room");
		close(fds[0]);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 && signals == 1 &&
		      (long long)frame[GOT] == (first ? -EPIPE : BUFFER),
		      "nobody reads any more: %lld, as a thread would see it", (long long)frame[GOT]);
		close(fds[1]);
	}
	munmap(half, 4096);
	destroy(&loop);
}

static void counters(void)
{
	static __u64 frames[3][NREGS + 1];
	uint64_t values[3], value = 2;
	struct loop loop;
	int fd;

	create(&loop, 64);
	for (int flags = 0; flags <= EFD_NONBLOCK; flags += EFD_NONBLOCK) {
		fd = eventfd(0, flags);
		prepare(frames[0], fd, &values[0], 8);
		start(&loop, 0, reading, frames[0], 0, 0);
		check(go(&loop, 0) == 0 && !readable(loop.fd), "a read of an eventfd waits");
		write(fd, &value, 8);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] == 8 &&
		      values[0] == 2, "until it is written to");
		write(fd, &value, 8);
		check(at_once(&loop, reading, fd, &values[0], 8) == 8, "or not");
		check(at_once(&loop, reading, fd, &values[0], 4) == -EINVAL, "too little");
		write(fd, &value, 8);
		check(at_once(&loop, reading, fd, (void *)8, 8) == -EFAULT, "no buffer");
		check(is_for_process(&loop, writing, fd, &value, 8), "a write is left to the process");
		start(&loop, 0, reading, frames[0], 0, 0);
		check(go(&loop, 0) == 0, "it waits again");
		close(fd);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 &&
		      (long long)frames[0][GOT] == -ECANCELED, "closing it ends the read");
	}
	fd = eventfd(0, EFD_SEMAPHORE);
	for (uint32_t i = 0; i < 3; i++) {
		prepare(frames[i], fd, &values[i], 8);
		start(&loop, i, reading, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "three wait for a semaphore");
	write(fd, &value, 8);
	check(go(&loop, 2) == 2 && collect(&loop) == 0 && collect(&loop) == 1 && values[0] == 1 &&
	      values[1] == 1, "two get it");
	check(go(&loop, 0) == 0, "one waits");
	value = 1;
	write(fd, &value, 8);
	check(go(&loop, 1) == 1 && collect(&loop) == 2, "until it is its turn");
	close(fd);
	destroy(&loop);
}

/* A waiting entry keeps neither a pipe open nor its contents. */
static void closing(void)
{
	static __u64 frames[4][NREGS + 1];
	static char much[2 * BUFFER];
	__u8 used[64] = { 0 };
	int fds[2], pipes[4][2], counter;
	struct loop loop;
	char bytes[8];

	create(&loop, 64);
	open_pipe(fds, 0);
	prepare(frames[0], fds[0], bytes, 1);
	start(&loop, 0, reading, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "one reads");
	close(fds[0]);
	signals = 0;
	check(write(fds[1], "x", 1) < 0 && errno == EPIPE && signals == 1, "nobody reads");
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frames[0][GOT] == -ECANCELED,
	      "it is told when something happens to the pipe");
	close(fds[1]);

	open_pipe(fds, 0);
	prepare(frames[0], fds[1], much, sizeof(much));
	start(&loop, 0, writing, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "one writes");
	close(fds[1]);
	check(read(fds[0], much, BUFFER) == BUFFER && read(fds[0], much, 1) == 0,
	      "nobody writes after what has been written");
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] == BUFFER,
	      "it has written a part");
	close(fds[0]);

	/* The number is reused: for the other end of the same pipe, and for an eventfd. */
	open_pipe(fds, 0);
	prepare(frames[0], fds[0], bytes, 1);
	start(&loop, 0, reading, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "one reads");
	dup2(fds[1], fds[0]);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frames[0][GOT] == -EBADF,
	      "it cannot read from the other end");
	close_pipe(fds);
	open_pipe(fds, 0);
	start(&loop, 0, reading, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "one reads again");
	counter = eventfd(3, 0);
	dup2(counter, fds[0]);
	write(fds[1], "x", 1);
	go(&loop, 1);
	check(collect(&loop) == 0 && (long long)frames[0][GOT] == -ECANCELED, "from what is gone");
	close(counter);
	close_pipe(fds);

	/* A compound closes it. */
	loop.page->used = (uintptr_t)used;
	loop.page->nused = sizeof(used) * 8;
	open_pipe(fds, 0);
	counter = eventfd(0, 0);
	write(fds[1], much, BUFFER);
	for (uint32_t i = 0; i < 3; i++) {
		prepare(frames[i], i < 2 ? fds[1] : counter, i < 2 ? much : bytes, i < 2 ? 1 : 8);
		start(&loop, i, i < 2 ? writing : reading, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "three wait");
	prepare(frames[3], fds[1], NULL, 0);
	start(&loop, 3, ending, frames[3], 0, 0);
	check(go(&loop, 3) == 3 && collect_set(&loop, 3) == (1 << 0 | 1 << 1 | 1 << 3) &&
	      frames[3][GOT] == 0 && fcntl(fds[1], F_GETFD) < 0, "the pipe is closed");
	check((long long)frames[0][GOT] == -ECANCELED && (long long)frames[1][GOT] == -ECANCELED,
	      "two are told");
	check(read(fds[0], much, BUFFER) == BUFFER && read(fds[0], much, 1) == 0, "it is at its end");
	prepare(frames[3], counter, NULL, 0);
	start(&loop, 3, ending, frames[3], 0, 0);
	check(go(&loop, 2) == 2 && collect_set(&loop, 2) == (1 << 2 | 1 << 3) &&
	      frames[3][GOT] == 0 && (long long)frames[2][GOT] == -ECANCELED, "so is the eventfd");
	used[fds[0] / 8] = (__u8)(1 << fds[0] % 8);
	check(is_for_process(&loop, ending, fds[0], NULL, 0), "not what the process uses");
	close(fds[0]);

	/* The loop is the last user of the pipes. */
	for (uint32_t i = 0; i < 4; i++) {
		open_pipe(pipes[i], 0);
		write(pipes[i][1], much, BUFFER);
		prepare(frames[i], pipes[i][1], much, 1);
		start(&loop, i, writing, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "four wait");
	for (int i = 0; i < 4; i++)
		close_pipe(pipes[i]);
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 0) == (long long)COSY_ASYNC_ENTERED,
	      "one is cancelled");
	destroy(&loop);
}

static void cancelling(void)
{
	static __u64 frames[2][NREGS + 1];
	static char much[2 * BUFFER];
	struct loop loop;
	char byte;
	int fds[2];

	create(&loop, 64);
	open_pipe(fds, 0);
	for (uint32_t i = 0; i < 2; i++) {
		prepare(frames[i], fds[0], &byte, 1);
		start(&loop, i, reading, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0 && enter_loop(&loop, COSY_ASYNC_CANCEL | 0) ==
	      (long long)COSY_ASYNC_ENTERED && go(&loop, 1) == 1 && collect(&loop) == 0 &&
	      (long long)frames[0][GOT] == -ECANCELED, "one is cancelled");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)fds[1]) ==
	      (long long)COSY_ASYNC_ENTERED, "nobody waits for the other end");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)fds[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1) && go(&loop, 1) == 1 && collect(&loop) == 1 &&
	      (long long)frames[1][GOT] == -ECANCELED, "one by its descriptor");
	prepare(frames[0], fds[1], much, sizeof(much));
	start(&loop, 0, writing, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)fds[1]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1) && go(&loop, 1) == 1 && collect(&loop) == 0 &&
	      frames[0][GOT] == BUFFER, "one tells what it has written");
	/* If it is returned, it is reported, too. */
	open_pipe(fds, 0);
	prepare(frames[0], fds[1], much, sizeof(much));
	start(&loop, 0, writing, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "one writes");
	close(dup(loop.fd));
	check(collect(&loop) == 0 && loop.entries[0].status == COSY_ENTRY_LEFT &&
	      frames[0][GOT] == BUFFER, "it is given back");
	close_pipe(fds);
	destroy(&loop);
}

/* Pipes and ends of pipes that entries cannot wait for. */
static void others(void)
{
	static __u64 frames[65][NREGS + 1];
	char bytes[2][8], path[64], fifo[] = "/tmp/cosy-fifo";
	int fds[2], more[2], again, pid = getpid();
	struct loop loop;

	create(&loop, 128);
	open_pipe(fds, O_DIRECT);
	check(is_for_process(&loop, writing, fds[1], "ab", 2), "packets are written by the process");
	write(fds[1], "ab", 2);
	write(fds[1], "cd", 2);
	check(at_once(&loop, reading, fds[0], bytes[0], 8) == 2 &&
	      at_once(&loop, reading, fds[0], bytes[0], 1) == 1, "and read one by one");
	close_pipe(fds);

	open_pipe(fds, 0);
	open_pipe(more, 0);
	prepare(frames[0], fds[0], bytes[0], 1);
	start(&loop, 0, reading, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "one waits");
	write(fds[1], "abcd", 4);
	check(splice(fds[0], NULL, more[1], NULL, 2, 0) == 2, "splice");
	go(&loop, 1);
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_STEP, 0),
	      "after a splice the kernel may block in a read");
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, more[0]);
	again = open(path, O_RDONLY);
	check(again >= 0 && is_for_process(&loop, reading, again, bytes[0], 1), "an end opened by name");
	close(again);
	close_pipe(fds);
	close_pipe(more);

	unlink(fifo);
	check(!mkfifo(fifo, 0600) && (again = open(fifo, O_RDWR)) >= 0 &&
	      is_for_process(&loop, reading, again, bytes[0], 1) &&
	      is_for_process(&loop, ending, again, NULL, 0), "a FIFO");
	close(again);
	unlink(fifo);
	if (!pipe2(fds, O_NOTIFICATION_PIPE)) {
		check(is_for_process(&loop, reading, fds[0], bytes[0], 8), "a pipe of notifications");
		close_pipe(fds);
	}

	open_pipe(fds, 0);
	for (uint32_t i = 0; i < 65; i++) {
		prepare(frames[i], fds[0], bytes[1], 1);
		start(&loop, i, reading, frames[i], 0, 0);
	}
	check(go(&loop, 1) == 1 && collect(&loop) == 64 && is_left(&loop, 64, COSY_STEP, 0),
	      "64 wait for a pipe, no more");
	close_pipe(fds);
	destroy(&loop);
}

/*
 * The process ends while it waits. The pipe's other end sees that, and so does another process's
 * loop.
 */
static void exits(void)
{
	int fds[2], status;

	for (int how = 0; how < 3; how++) {
		pid_t child;
		char byte;

		open_pipe(fds, 0);
		child = fork();
		if (!child) {
			static __u64 frames[2][NREGS + 1];
			struct loop loop;

			close(fds[0]);
			create(&loop, 64);
			prepare(frames[0], fds[1], must_map(2 * BUFFER), 2 * BUFFER);
			start(&loop, 0, writing, frames[0], 0, 0);
			go(&loop, 0);
			if (how == 0)
				execl("/bin/true", "true", NULL);
			if (how == 1)
				kill(getpid(), SIGKILL);
			/* The buffer is unmapped, too. */
			munmap((void *)(uintptr_t)frames[0][BUF], 2 * BUFFER);
			write(fds[1], "", 0);
			_exit(0);
		}
		close(fds[1]);
		waitpid(child, &status, 0);
		for (int n = 0; n < BUFFER; n++)
			read(fds[0], &byte, 1);
		check(read(fds[0], &byte, 1) == 0, "the pipe is at its end");
		close(fds[0]);
	}
}

/*
 * Threads that read, write, splice, cancel, and replace pipes by others. Each compound ends once.
 */
#define PIPES 6
#define MOVES 200000

static struct {
	struct loop loop;
	int fds[PIPES][2];
	bool stop;
} race;

static void *disturb(void *unused)
{
	static const char data[8192];
	unsigned int seed = (unsigned int)(uintptr_t)unused;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		unsigned int i = (unsigned int)rand_r(&seed) % PIPES;
		uint64_t one = 1;
		char got[8192];
		int fds[2];

		switch (rand_r(&seed) % 8) {
		case 0:
			enter_loop(&race.loop, COSY_ASYNC_CANCEL_FD | (unsigned int)race.fds[i][0]);
			break;
		case 1:
			close(dup(race.loop.fd));
			break;
		case 2:
			if (pipe2(fds, O_NONBLOCK))
				die("pipe2");
			dup2(fds[0], race.fds[i][0]);
			dup2(fds[1], race.fds[i][1]);
			close_pipe(fds);
			break;
		case 3:
			fds[0] = eventfd(0, EFD_NONBLOCK);
			dup2(fds[0], race.fds[i][rand_r(&seed) % 2]);
			close(fds[0]);
			break;
		case 4:
			splice(race.fds[i][0], NULL, race.fds[(i + 1) % PIPES][1], NULL, 100,
			       SPLICE_F_NONBLOCK);
			break;
		case 5:
			read(race.fds[i][0], got, sizeof(got));
			break;
		default:
			if (write(race.fds[i][1], &one, 8) == 8)
				write(race.fds[i][1], data, sizeof(data));
			break;
		}
	}
	return NULL;
}

static void racing(void)
{
	static __u64 frames[2 * PIPES][NREGS + 1];
	static char buffers[2 * PIPES][BUFFER];
	bool inside[2 * PIPES] = { false };
	unsigned int ended = 0, left = 0, wrong = 0;
	pthread_t threads[2];

	create(&race.loop, 64);
	for (int i = 0; i < PIPES; i++)
		open_pipe(race.fds[i], O_NONBLOCK);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, disturb, (void *)(i + 1));
	for (int move = 0; move < MOVES && (ended < 500 || left < 50); move++) {
		uint32_t n = (uint32_t)move % (2 * PIPES);
		int index;

		if (!inside[n]) {
			prepare(frames[n], race.fds[n / 2][n % 2], buffers[n], n % 2 ? BUFFER : 100);
			start(&race.loop, n, n % 2 ? writing : reading, frames[n], 0, 0);
			inside[n] = true;
		}
		if (move % 16 == 0)
			enter_loop(&race.loop, COSY_ASYNC_CANCEL | n);
		enter_loop(&race.loop, COSY_ASYNC_MAX_DONE);
		while ((index = collect(&race.loop)) >= 0) {
			wrong += index >= 2 * PIPES || !inside[index];
			inside[index] = false;
			left += race.loop.entries[index].status == COSY_ENTRY_LEFT;
			ended += race.loop.entries[index].status == COSY_ENTRY_DONE;
		}
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check(!wrong && ended && left, "%u ended, %u were left, %u wrong", ended, left, wrong);
	for (int i = 0; i < PIPES; i++)
		close_pipe(race.fds[i]);
	destroy(&race.loop);
}

int main(void)
{
	signal(SIGPIPE, on_signal);
	device = open_device();
	load_all();
	counters();
	if (have_pipes()) {
		reads();
		writes();
		blocks();
		errors();
		closing();
		cancelling();
		others();
		exits();
		racing();
	}
	return finish();
}
