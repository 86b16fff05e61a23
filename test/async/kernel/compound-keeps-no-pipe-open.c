// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A compound that waits for a pipe keeps neither the pipe open nor its contents, whatever ends the
 * wait: a close, a cancel, or the end of the process.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/pipes.h"

#include <sys/eventfd.h>
#include <sys/wait.h>

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

static __u64 frames[4][NREGS + 1];
static char much[2 * BUFFER], bytes[8];
static struct loop loop;

/* The process closes the end of a pipe that a compound waits for. */
static void process_closes(void)
{
	int fds[2];

	open_pipe(fds, 0);
	prepare(frames[0], fds[0], bytes, 1);
	start(&loop, 0, reading, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "the compound waits in read()");
	close(fds[0]);
	signals = 0;
	check(write(fds[1], "x", 1) < 0 && errno == EPIPE && signals == 1,
	      "EPIPE: the pipe has no reader after close()");
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frames[0][GOT] == -ECANCELED,
	      "ECANCELED at the next event of the pipe");
	close(fds[1]);

	open_pipe(fds, 0);
	prepare(frames[0], fds[1], much, sizeof(much));
	start(&loop, 0, writing, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "the compound waits in write()");
	close(fds[1]);
	check(read(fds[0], much, BUFFER) == BUFFER && read(fds[0], much, 1) == 0,
	      "the reader sees the end after what has been written");
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && frames[0][GOT] == BUFFER,
	      "write() returns the number of bytes that it has written");
	close(fds[0]);
}

/* The number is reused: for the other end of the same pipe, and for an eventfd. */
static void number_is_reused(void)
{
	int fds[2], counter;

	open_pipe(fds, 0);
	prepare(frames[0], fds[0], bytes, 1);
	start(&loop, 0, reading, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "the compound waits in read()");
	dup2(fds[1], fds[0]);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && (long long)frames[0][GOT] == -EBADF,
	      "EBADF: the number is the other end, which cannot be read");
	close_pipe(fds);
	open_pipe(fds, 0);
	start(&loop, 0, reading, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "the compound waits in read()");
	counter = eventfd(3, 0);
	dup2(counter, fds[0]);
	write(fds[1], "x", 1);
	go(&loop, 1);
	check(collect(&loop) == 0 && (long long)frames[0][GOT] == -ECANCELED,
	      "ECANCELED: the number is another file, which is not read");
	close(counter);
	close_pipe(fds);
}

static void compound_closes(void)
{
	__u8 used[64] = { 0 };
	int fds[2], counter = eventfd(0, 0);

	loop.page->used = (uintptr_t)used;
	loop.page->nused = sizeof(used) * 8;
	open_pipe(fds, 0);
	write(fds[1], much, BUFFER);
	for (uint32_t i = 0; i < 3; i++) {
		prepare(frames[i], i < 2 ? fds[1] : counter, i < 2 ? much : bytes, i < 2 ? 1 : 8);
		start(&loop, i, i < 2 ? writing : reading, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "two compounds wait for a pipe, and one for an eventfd");
	prepare(frames[3], fds[1], NULL, 0);
	start(&loop, 3, ending, frames[3], 0, 0);
	check(go(&loop, 3) == 3 && collect_set(&loop, 3) == (1 << 0 | 1 << 1 | 1 << 3) &&
	      frames[3][GOT] == 0 && fcntl(fds[1], F_GETFD) < 0, "another one closes the pipe");
	check((long long)frames[0][GOT] == -ECANCELED && (long long)frames[1][GOT] == -ECANCELED,
	      "ECANCELED for those that wait for it");
	check(read(fds[0], much, BUFFER) == BUFFER && read(fds[0], much, 1) == 0,
	      "the reader sees the end of the pipe");
	prepare(frames[3], counter, NULL, 0);
	start(&loop, 3, ending, frames[3], 0, 0);
	check(go(&loop, 2) == 2 && collect_set(&loop, 2) == (1 << 2 | 1 << 3) &&
	      frames[3][GOT] == 0 && (long long)frames[2][GOT] == -ECANCELED,
	      "ECANCELED: the eventfd is closed, too");
	used[fds[0] / 8] = (__u8)(1 << fds[0] % 8);
	check(is_for_process(&loop, ending, fds[0], NULL, 0),
	      "a close of a descriptor that the process uses is left to it");
	close(fds[0]);
	loop.page->nused = 0;
}

/* The loop is the last user of the pipes. */
static void loop_ends(void)
{
	int pipes[4][2];

	for (uint32_t i = 0; i < 4; i++) {
		open_pipe(pipes[i], 0);
		write(pipes[i][1], much, BUFFER);
		prepare(frames[i], pipes[i][1], much, 1);
		start(&loop, i, writing, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "four compounds wait in write()");
	for (int i = 0; i < 4; i++)
		close_pipe(pipes[i]);
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 0) == (long long)COSY_ASYNC_ENTERED,
	      "one is cancelled after its pipe was closed");
	destroy(&loop);
}

static void cancelling(void)
{
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
	      (long long)frames[0][GOT] == -ECANCELED, "ECANCELED: an entry is cancelled");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)fds[1]) ==
	      (long long)COSY_ASYNC_ENTERED, "no compound waits for the other end");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)fds[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1) && go(&loop, 1) == 1 && collect(&loop) == 1 &&
	      (long long)frames[1][GOT] == -ECANCELED, "ECANCELED: an entry is cancelled by its descriptor");
	prepare(frames[0], fds[1], much, sizeof(much));
	start(&loop, 0, writing, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)fds[1]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1) && go(&loop, 1) == 1 && collect(&loop) == 0 &&
	      frames[0][GOT] == BUFFER, "a cancelled write() returns what it has written");
	/* So does one that is given back, because a descriptor of the loop is closed. */
	open_pipe(fds, 0);
	prepare(frames[0], fds[1], much, sizeof(much));
	start(&loop, 0, writing, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "the compound waits in write()");
	close(dup(loop.fd));
	check(collect(&loop) == 0 && loop.entries[0].status == COSY_ENTRY_LEFT &&
	      frames[0][GOT] == BUFFER, "it is given back with what it has written");
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
		check(read(fds[0], &byte, 1) == 0, "the reader sees the end of the pipe");
		close(fds[0]);
	}
}

int main(void)
{
	signal(SIGPIPE, on_signal);
	device = open_device();
	load_all();
	if (!have_pipes())
		return finish();
	create(&loop, 64);
	process_closes();
	number_is_reused();
	compound_closes();
	loop_ends();
	cancelling();
	exits();
	return finish();
}
