/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * coroutine.h - entries of a loop that run compounds, without libcosy.
 */
#ifndef COROUTINE_H
#define COROUTINE_H

#include "../../../kernel/loop.h"

#include <sys/inotify.h>

#define RECV(d, fd, buf, n, flags) \
	SYS(d, SYS_recvfrom, 6), ARG(fd), ARG(buf), ARG(n), ARGI(flags), ARGI(0), ARGI(0)
#define SEND(d, fd, buf, n, flags) \
	SYS(d, SYS_sendto, 6), ARG(fd), ARG(buf), ARG(n), ARGI(flags), ARGI(0), ARGI(0)

#define READ(d, fd, buf, n) SYS(d, SYS_read, 3), ARG(fd), ARG(buf), ARG(n)
#define WRITE(d, fd, buf, n) SYS(d, SYS_write, 3), ARG(fd), ARG(buf), ARG(n)

#define RECVMSG(d, fd, msg, flags) SYS(d, SYS_recvmsg, 3), ARG(fd), ARG(msg), ARGI(flags)
#define SENDMSG(d, fd, msg, flags) SYS(d, SYS_sendmsg, 3), ARG(fd), ARG(msg), ARGI(flags)

/* Registers of the compounds. */
enum { FD, BUF, SIZE, GOT, SENT, ROUNDS, NREGS };

#define LOAD_FOR_LOOPS(...) ({ \
	const struct cosy_op ops_[] = { __VA_ARGS__ }; \
	load_for_loops(ops_, sizeof(ops_) / sizeof(*ops_), NREGS); \
})

static inline void start(struct loop *loop, uint32_t index, __u64 handle, __u64 *frame, __u64 pc,
		  __u64 flags)
{
	static int error;

	came.frame = frame;
	came.nregs = NREGS;
	submit(loop, index, 0, COSY_ENTRY_COMPOUND, (__u64)device, handle, (uintptr_t)frame,
	       (uintptr_t)&error);
	loop->entries[index].args[4] = pc;
	loop->entries[index].args[5] = flags;
}

/*
 * Execute until @want entries have completed, or there is no work. A compound may be left at any
 * back-edge for pending work of the kernel.
 */
static inline int go(struct loop *loop, int want)
{
	int done = 0, n;

	for (int tries = 0; tries < 10000; tries++) {
		n = execute(loop);
		if (n < 0)
			return n;
		done += n;
		if (want ? done >= want : !readable(loop->fd))
			break;
	}
	return (int)returned("go", done);
}

/* Return the result of an entry that completes immediately. Its status is in the entry. */
static inline long long run(struct loop *loop, __u64 handle, __u64 *frame, __u64 pc, __u64 flags)
{
	start(loop, 7, handle, frame, pc, flags);
	if (go(loop, 1) != 1 || collect(loop) != 7)
		return -1000;
	return entry_result(loop, 7);
}

static inline bool is_left(const struct loop *loop, int index, unsigned int status, unsigned int pc)
{
	const struct cosy_async_entry *entry = &loop->entries[index];

	return returned("status of the entry", entry->status) == COSY_ENTRY_LEFT &&
	       returned("status of the compound", (long long)(entry->args[1] >> 32)) == status &&
	       returned("pc", (__u32)entry->args[1]) == pc;
}

static inline void pair(int sv[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		die("socketpair");
}

/*
 * The kernel's reports of reads and writes: events of the file, and /proc. Reading /proc reads
 * @own bytes, which are counted afterwards.
 */
struct told {
	unsigned long long rchar, wchar, syscr, syscw, own;
	unsigned int events;
};

/* Since the thread began; @events are those of @watch. */
static inline struct told told(int watch)
{
	char text[4096], *events = text;
	struct told t = { 0 };
	ssize_t n = read(watch, text, sizeof(text));
	int fd;

	for (; n > 0; t.events++) {
		size_t size = sizeof(struct inotify_event) +
			      ((struct inotify_event *)events)->len;

		events += size;
		n -= (ssize_t)size;
	}
	fd = open("/proc/thread-self/io", O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	if (sscanf(text, "rchar: %llu wchar: %llu syscr: %llu syscw: %llu", &t.rchar, &t.wchar,
		   &t.syscr, &t.syscw) != 4)
		die("/proc/thread-self/io");
	t.own = (unsigned long long)n;
	return t;
}

static inline bool told_same(const struct told *a, const struct told *a_end,
			     const struct told *b, const struct told *b_end)
{
	return a_end->rchar - a->rchar - a->own == b_end->rchar - b->rchar - b->own &&
	       a_end->wchar - a->wchar == b_end->wchar - b->wchar &&
	       a_end->syscw - a->syscw == b_end->syscw - b->syscw &&
	       a_end->syscr - a->syscr == b_end->syscr - b->syscr &&
	       a_end->events == b_end->events;
}

#endif /* COROUTINE_H */
