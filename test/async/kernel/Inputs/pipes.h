/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * pipes.h - common code of the tests of compounds that wait for pipes.
 */
#ifndef PIPES_H
#define PIPES_H

#include "coroutine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

#define BUFFER (1 << 16)

static __u64 reading, writing, ending;
static volatile sig_atomic_t signals;

static inline void load_all(void)
{
	reading = LOAD_FOR_LOOPS(READ(GOT, FD, BUF, SIZE), EXIT(2));
	writing = LOAD_FOR_LOOPS(WRITE(GOT, FD, BUF, SIZE), EXIT(3));
	ending = LOAD_FOR_LOOPS(SYS(GOT, SYS_close, 1), ARG(FD), EXIT(1));
}

static inline void on_signal(int nr)
{
	signals += nr == SIGPIPE;
}

static inline void open_pipe(int fds[2], int flags)
{
	if (pipe2(fds, flags))
		die("pipe2");
}

static inline void close_pipe(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Kernels before 6.5 wait for pipes only in threads. */
static inline bool have_pipes(void)
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

static inline void prepare(__u64 *frame, int fd, const void *buffer, size_t size)
{
	frame[FD] = (__u64)fd;
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = size;
	frame[GOT] = 77;
}

/* Return the result of a call that completes immediately. */
static inline long long at_once(struct loop *loop, __u64 handle, int fd, const void *buffer,
				size_t size)
{
	static __u64 frame[NREGS + 1];

	prepare(frame, fd, buffer, size);
	return run(loop, handle, frame, 0, 0) < 0 ? -1000 : (long long)frame[GOT];
}

/* The call is returned to the process. */
static inline bool is_for_process(struct loop *loop, __u64 handle, int fd, const void *buffer,
				  size_t size)
{
	static __u64 frame[NREGS + 1];

	prepare(frame, fd, buffer, size);
	start(loop, 9, handle, frame, 0, 0);
	return go(loop, 1) == 1 && collect(loop) == 9 && is_left(loop, 9, COSY_STEP, 0) &&
	       entry_result(loop, 9) == COSY_STEP_CALL;
}

#endif /* PIPES_H */
