/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loops.h - loops, and entries that wait.
 */
#ifndef LOOPS_H
#define LOOPS_H

#include "../../loop.h"
#include "calls.h"

static struct loop loop;
static int ends[2];
static char received;

static long make_loop(void)
{
	long ret = create(&loop, 64);

	if (!ret)
		destroy(&loop);
	else if (loop.fd)
		close(loop.fd);
	return ret;
}

static void loop_begins(void)
{
	recreate();
	if (create(&loop, 64) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		die("a loop");
}

static void loop_ends(long ret)
{
	(void)ret;
	close(ends[0]);
	close(ends[1]);
	destroy(&loop);
}

static long entries(void)
{
	submit(&loop, 0, 0, SYS_getpid, 0, 0, 0, 0);
	submit(&loop, 1, 0, SYS_newfstatat, AT_FDCWD, P(FILE_NAME), P(&st), 0);
	if (execute(&loop) != 2 || collect(&loop) != 0 || collect(&loop) != 1 ||
	    entry_result(&loop, 0) != getpid())
		return 1;
	return entry_result(&loop, 1);
}

/* An entry that cannot wait fails, as without a loop. */
static long entry_waits(void)
{
	submit_recv(&loop, 5, ends[0], &received);
	if (execute(&loop))
		return collect(&loop) == 5 ? entry_result(&loop, 5) : 1;
	if (send(ends[1], "x", 1, 0) != 1 || execute(&loop) != 1 || collect(&loop) != 5)
		return 2;
	return entry_result(&loop, 5) == 1 ? 0 : entry_result(&loop, 5);
}

/* It still waits when the loop is closed. */
static long entry_stays(void)
{
	submit_recv(&loop, 6, ends[0], &received);
	if (execute(&loop))
		return collect(&loop) == 6 ? entry_result(&loop, 6) : 1;
	return 0;
}

static void try_loops(void)
{
	static const struct operation ops[] = {
		OPERATION("make a loop", NULL, make_loop, NULL, 0),
		OPERATION("entries", loop_begins, entries, loop_ends, 0),
		OPERATION("an entry that waits", loop_begins, entry_waits, loop_ends, 0),
		OPERATION("an entry that still waits", loop_begins, entry_stays, loop_ends, 0),
	};

	device = dev;
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		try(&ops[i]);
}

#endif /* LOOPS_H */
