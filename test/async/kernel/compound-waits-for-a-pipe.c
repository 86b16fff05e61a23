// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Reads and writes of pipes by compounds wait, and have the effect of a blocking thread's calls.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/pipes.h"

#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>

#ifndef O_NOTIFICATION_PIPE
#define O_NOTIFICATION_PIPE O_EXCL
#endif

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
		check(go(&loop, 0) == 0 && !readable(loop.fd), "a read of an empty pipe waits");
		write(fds[1], "abc", 3);
		check(readable(loop.fd) && go(&loop, 1) == 1 && collect(&loop) == 0 &&
		      frames[0][GOT] == 3 && !memcmp(bytes[0], "abc", 3),
		      "the read returns what is written");
		write(fds[1], "defghijklm", 10);
		check(at_once(&loop, reading, fds[0], bytes[0], 8) == 8 &&
		      at_once(&loop, reading, fds[0], bytes[0], 8) == 2,
		      "a read of a pipe with data does not wait");
		for (uint32_t i = 0; i < 3; i++) {
			prepare(frames[i], fds[0], bytes[i], 1);
			start(&loop, i, reading, frames[i], 0, 0);
		}
		check(go(&loop, 0) == 0, "three compounds wait for a pipe");
		write(fds[1], "x", 1);
		check(go(&loop, 1) == 1 && collect(&loop) == 0,
		      "the first one that has waited reads the first byte");
		check(go(&loop, 0) == 0, "the others still wait");
		write(fds[1], "yz", 2);
		check(go(&loop, 2) == 2 && collect(&loop) == 1 && collect(&loop) == 2 &&
		      bytes[1][0] == 'y' && bytes[2][0] == 'z',
		      "the others read the next bytes in the order of their waits");
		start(&loop, 0, reading, frames[0], 0, 0);
		check(go(&loop, 0) == 0, "the compound waits again");
		close(fds[1]);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] == 0,
		      "the read returns 0 when the pipe has no writer");
		check(at_once(&loop, reading, fds[0], bytes[0], 8) == 0,
		      "a read of a pipe without writers does not wait");
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
		      !memcmp(in, out, sizeof(in)),
		      "a write of more than fits waits until all is written");
		check(after.wchar - before.wchar == sizeof(out) && after.syscw - before.syscw == 1 &&
		      after.events == 1,
		      "it is reported as one write: %u events, %llu calls",
		      after.events, after.syscw - before.syscw);
		check(at_once(&loop, writing, fds[1], out, 100) == 100 && read(fds[0], in, 200) == 100,
		      "a write of what fits does not wait");
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
	check(go(&loop, 0) == 0, "four compounds wait in write()");
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
	      counts['d'] == 50 && counts['z'] == 50,
	      "blocks of PIPE_BUF bytes are not mixed: %u of %d are mixed", mixed, n);
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
	      at_once(&loop, writing, fds[0], bytes, 1) == -EBADF,
	      "EBADF: the end of the pipe is not open for the call");
	check(at_once(&loop, reading, fds[0], bytes, 0) == 0 &&
	      at_once(&loop, writing, fds[1], bytes, 0) == 0,
	      "0: the call has no bytes to transfer");
	check(at_once(&loop, writing, fds[1], (void *)8, 1) == -EFAULT &&
	      at_once(&loop, writing, fds[1], (void *)-4096, 1) == -EFAULT &&
	      at_once(&loop, reading, fds[0], (void *)-4096, 1) == -EFAULT,
	      "EFAULT: the buffer is unmapped");
	write(fds[1], "x", 1);
	check(at_once(&loop, reading, fds[0], (void *)8, 1) == -EFAULT &&
	      at_once(&loop, reading, fds[0], bytes, 1) == 1,
	      "EFAULT: the buffer is unmapped, and the data is still in the pipe");

	/* A part of the buffer is not mapped. The second time it already waits for the pipe. */
	open_pipe(native, 0);
	expected = write(native[1], half, 8192);
	check(at_once(&loop, writing, fds[1], half, 8192) == (expected < 0 ? -errno : expected),
	      "a buffer of which half is unmapped gives the native result: %zd", expected);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	while (read(fds[0], bytes, sizeof(bytes)) > 0)
		;
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	while (write(fds[1], half, 4096) > 0)
		;
	prepare(frame, fds[1], half, 8192);
	start(&loop, 0, writing, frame, 0, 0);
	check(go(&loop, 0) == 0, "a write to a full pipe waits");
	while (read(fds[0], bytes, sizeof(bytes)) > 0)
		;
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frame[GOT] == expected,
	      "a buffer of which half is unmapped gives the same result after a wait: %lld",
	      (long long)frame[GOT]);
	close_pipe(native);
	close_pipe(fds);

	/* There is no reader. */
	open_pipe(fds, 0);
	close(fds[0]);
	signals = 0;
	check(at_once(&loop, writing, fds[1], bytes, 1) == -EPIPE && signals == 1,
	      "EPIPE and SIGPIPE: the pipe has no reader");
	close(fds[1]);
	for (int first = 0; first < 2; first++) {
		static char much[2 * BUFFER];

		open_pipe(fds, 0);
		if (first)
			write(fds[1], much, BUFFER);
		prepare(frame, fds[1], much, sizeof(much));
		start(&loop, 0, writing, frame, 0, 0);
		signals = 0;
		check(go(&loop, 0) == 0 && !signals, "the write waits for room");
		close(fds[0]);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 && signals == 1 &&
		      (long long)frame[GOT] == (first ? -EPIPE : BUFFER),
		      "the write ends as for a thread when the last reader closes the pipe: %lld",
		      (long long)frame[GOT]);
		close(fds[1]);
	}
	munmap(half, 4096);
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
	check(is_for_process(&loop, writing, fds[1], "ab", 2),
	      "a write to a pipe with O_DIRECT is left to the process");
	write(fds[1], "ab", 2);
	write(fds[1], "cd", 2);
	check(at_once(&loop, reading, fds[0], bytes[0], 8) == 2 &&
	      at_once(&loop, reading, fds[0], bytes[0], 1) == 1,
	      "a read of a pipe with O_DIRECT returns one packet");
	close_pipe(fds);

	open_pipe(fds, 0);
	open_pipe(more, 0);
	prepare(frames[0], fds[0], bytes[0], 1);
	start(&loop, 0, reading, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "a compound waits for a pipe");
	write(fds[1], "abcd", 4);
	check(splice(fds[0], NULL, more[1], NULL, 2, 0) == 2,
	      "splice() moves two bytes out of the pipe");
	go(&loop, 1);
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_STEP, 0),
	      "a read after a splice() is left to the process, because it may block");
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, more[0]);
	again = open(path, O_RDONLY);
	check(again >= 0 && is_for_process(&loop, reading, again, bytes[0], 1),
	      "a read of a pipe that was opened by name is left to the process");
	close(again);
	close_pipe(fds);
	close_pipe(more);

	unlink(fifo);
	check(!mkfifo(fifo, 0600) && (again = open(fifo, O_RDWR)) >= 0 &&
	      is_for_process(&loop, reading, again, bytes[0], 1) &&
	      is_for_process(&loop, ending, again, NULL, 0),
	      "a read and a close of a FIFO are left to the process");
	close(again);
	unlink(fifo);
	if (!pipe2(fds, O_NOTIFICATION_PIPE)) {
		check(is_for_process(&loop, reading, fds[0], bytes[0], 8),
		      "a read of a pipe of notifications is left to the process");
		close_pipe(fds);
	}

	open_pipe(fds, 0);
	for (uint32_t i = 0; i < 65; i++) {
		prepare(frames[i], fds[0], bytes[1], 1);
		start(&loop, i, reading, frames[i], 0, 0);
	}
	check(go(&loop, 1) == 1 && collect(&loop) == 64 && is_left(&loop, 64, COSY_STEP, 0),
	      "the call of the 65th compound for a pipe is left to the process");
	close_pipe(fds);
	destroy(&loop);
}

int main(void)
{
	signal(SIGPIPE, on_signal);
	device = open_device();
	load_all();
	if (!have_pipes())
		return finish();
	reads();
	writes();
	blocks();
	errors();
	others();
	return finish();
}
