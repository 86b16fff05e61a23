/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * table.h - shares of the module without libcosy. Included after compound.h.
 */
#ifndef COSY_TEST_TABLE_H
#define COSY_TEST_TABLE_H

#include <linux/cosy_share.h>

#include "../Inputs/asleep.h"

/** struct table - a share: its descriptor, and its number in the descriptors that it has */
struct table {
	int fd;
	unsigned int id;
};

/** make_table() - make a share; returns 0 or -errno */
__attribute__((unused))
static int make_table(int dev, unsigned int max, struct table *table)
{
	struct cosy_share_create create = { .size = sizeof(create), .max = max };

	if (ioctl(dev, COSY_IOC_SHARE, &create))
		return (int)returned("make_table", -errno);
	table->fd = create.fd;
	table->id = create.id;
	return 0;
}

__attribute__((unused))
static struct table must_make_table(int dev, unsigned int max)
{
	struct table table;

	if (make_table(dev, max, &table))
		die("COSY_IOC_SHARE");
	return table;
}

/* The whole result: libc's ioctl() returns an int. */
static inline long table_ioctl(int fd, unsigned long command, void *arg)
{
	long ret = syscall(SYS_ioctl, fd, command, arg);

	return ret < 0 ? -errno : ret;
}

/* The whole result: libc's lseek() sets errno. */
static inline long table_enter(int fd, __u64 offset, int whence)
{
	long ret = syscall(SYS_lseek, fd, offset, whence);

	return ret < 0 ? -errno : ret;
}

/** enter_call() - enter a share for a call that is in memory; returns what the entry returns */
__attribute__((unused))
static long enter_call(struct table table, struct cosy_call *call)
{
	return table_enter(table.fd, COSY_RUN_TAG | (__u64)(uintptr_t)call, COSY_CALL_WHENCE);
}

/** enter_short() - enter a share for a call that is in the offset; returns what the entry returns */
__attribute__((unused))
static long enter_short(struct table table, unsigned int nr, unsigned int fd)
{
	return table_enter(table.fd, cosy_share_short_call(nr, fd), COSY_RUN_WHENCE);
}

/** is_done() - test whether an entry has made the call */
static inline bool is_done(long ret)
{
	return (__u64)ret >> 32 == COSY_CALL_DONE >> 32;
}

/** call_in() - make a call in a share; returns its result, -errno, or what an entry returns */
__attribute__((unused))
static long call_in_args(struct table table, long nr, const __u64 *args)
{
	struct cosy_call call = { .nr = nr };
	long ret;

	memcpy(call.args, args, sizeof(call.args));
	ret = enter_call(table, &call);
	return returned("call_in", is_done(ret) ? (int)ret : ret);
}

#define call_in(table, nr, ...)						\
	call_in_args(table, nr, (const __u64[6]){ __VA_ARGS__ })

/** move_fd() - hand a descriptor over; returns the new one or -errno */
__attribute__((unused))
static long move_fd(struct table table, long fd, int to, unsigned int flags)
{
	struct cosy_share_move move = { .size = sizeof(move), .flags = flags, .fd = fd, .to = to };

	return returned("move_fd", table_ioctl(table.fd, COSY_SHARE_MOVE, &move));
}

/** addr() - an address as an argument */
static inline __u64 addr(const void *p)
{
	return (__u64)(uintptr_t)p;
}

/** is_of() - test whether a result is a descriptor of the share */
static inline bool is_of(struct table table, long fd)
{
	return fd >= 0 && fd >> COSY_SHARE_ID_SHIFT ==
	       (COSY_SHARE_FD >> COSY_SHARE_ID_SHIFT | table.id);
}

/** pipe_in() - make a pipe whose end for writing is in the share; returns the other end */
__attribute__((unused))
static int pipe_in(struct table table, long *writes)
{
	int fds[2];

	if (pipe(fds))
		die("pipe");
	*writes = call_in(table, SYS_dup, fds[1]);
	if (*writes < 0)
		die("dup");
	close(fds[1]);
	return fds[0];
}

/** race_seconds() - return for how long threads race, by the environment: RUN lines say %seconds */
__attribute__((unused))
static double race_seconds(void)
{
	const char *seconds = getenv("SECONDS");

	return seconds ? atof(seconds) : 15;
}

/** has_ended() - test whether a pipe's other end is closed everywhere, within ten seconds */
__attribute__((unused))
static bool has_ended(int reads)
{
	const double start = now();
	char c;

	fcntl(reads, F_SETFL, O_NONBLOCK);
	while (now() < start + 10) {
		if (returned("read", read(reads, &c, 1)) == 0)
			return true;
		usleep(1000);
	}
	return false;
}

#endif /* COSY_TEST_TABLE_H */
