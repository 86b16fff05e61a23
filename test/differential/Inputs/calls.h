/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * calls.h - common code of the programs of calls.py: their state, and helper functions.
 */
#ifndef COSY_TEST_CALLS_H
#define COSY_TEST_CALLS_H

#define _GNU_SOURCE
#include <cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define NR_FDS 8

static int fd[NR_FDS] = { -1, -1, -1, -1, -1, -1, -1, -1 };
static int home = -1;		/* the scratch directory */
static char buf[3][8192];	/* the last one stays 0, which ends strings of the others */
static struct stat st;

static const char *const name[] = {
	"a", "b", "c", "d", "d/e", "d/f", "d/sub", "g", "g/h", "link", "a/b", "d/../a", "nothing/x",
	"", "d/", "this-name-is-longer-than-what-fits-into-a-pointer-or-a-register",
};
#define NAMES (sizeof(name) / sizeof(name[0]))

/* A checksum of n bytes that were received. */
static unsigned long sum_of(const void *data, long n)
{
	const unsigned char *p = data;
	unsigned long sum = 1;

	while (n-- > 0)
		sum = sum * 131 + *p++;
	return sum & 0xffffffffffff;
}

/* All properties that do not depend on time and place. */
static long sum_of_stat(long result)
{
	if (result)
		return result;
	return st.st_mode + st.st_nlink * 7 + (S_ISDIR(st.st_mode) ? 0 : st.st_size) * 31 +
	       st.st_uid * 3 + (st.st_ino == 0);
}

/* The entries of a directory, in any order. */
static long read_entries(int dir, void *data, long size)
{
	long n, at, sum = 0;

	while ((n = getdents64(dir, data, size)) > 0) {
		for (at = 0; at < n;) {
			struct dirent64 *entry = (void *)((char *)data + at);

			sum += sum_of(entry->d_name, strlen(entry->d_name)) + entry->d_type;
			at += entry->d_reclen;
		}
	}
	return n < 0 ? n : sum & 0x7fffffff;
}

/*
 * Inotify's events. Cookies count up from boot. The data may also be of another kind; it is parsed
 * as events as far as possible.
 */
static long read_events(int from, char *data, long size)
{
	long n = read(from, data, size), sum = 0;

	for (long at = 0; at + (long)sizeof(struct inotify_event) <= n;) {
		struct inotify_event *event = (void *)(data + at);
		long left = n - at - (long)sizeof(*event);
		long length = event->len < left ? event->len : left;

		sum = sum * 31 + event->wd + event->mask + event->len +
		      (length ? sum_of(event->name, strnlen(event->name, length)) : 0);
		at += sizeof(*event) + length;
	}
	return n < 0 ? n : sum & 0x7fffffff;
}

static int child_of(int status)
{
	pid_t pid = fork();
	int got;

	if (!pid)
		_exit(status);
	if (waitpid(pid, &got, 0) != pid)
		return -1;
	return WIFEXITED(got) ? WEXITSTATUS(got) : 1000 + got;
}

/*
 * Ticks interrupt blocking calls. They are repeated, so that an early tick does no harm. Only code
 * that certainly blocks may run meanwhile.
 */
static volatile int ticks, wanted_ticks;
static int tick_fd;
static sigjmp_buf tick_env;
static int tick_jumps;

static void on_tick(int sig)
{
	int saved = errno;

	(void)sig;
	if (++ticks == wanted_ticks && tick_fd >= 0 && write(tick_fd, "t", 1) != 1)
		abort();
	errno = saved;
	if (ticks == wanted_ticks && tick_jumps)
		siglongjmp(tick_env, 1);
}

static void start_ticks(int flags, int wanted, int to, int jumps)
{
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = flags };
	struct itimerval interval = { { 0, 4000 }, { 0, 4000 } };

	ticks = 0;
	wanted_ticks = wanted;
	tick_fd = to;
	tick_jumps = jumps;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
}

static void stop_ticks(void)
{
	struct itimerval none = { 0 };

	setitimer(ITIMER_REAL, &none, NULL);
	signal(SIGALRM, SIG_IGN);
}

/* Signals that are sent together. */
static volatile int signals;

static void on_signal(int sig)
{
	signals = signals * 3 + sig;
}

static void on_signals(int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGPIPE, &action, NULL);
}

/* Faults jump out of a region. Their addresses are recorded relative to a base. */
static sigjmp_buf fault_env;
static char *fault_base;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	/* The first byte that memset() accesses is not specified. */
	note_at(-sig, ((char *)info->si_addr - fault_base) >> 6);
	note_at(-sig, info->si_code);
	siglongjmp(fault_env, 1);
}

static void catch_faults(void *base)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	fault_base = base;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

static void start(void)
{
	home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned int i = 0; i < 2 * sizeof(buf[0]); i++)
		buf[0][i] = 'a' + i % 26;
	on_signals(SA_RESTART);
}

#endif /* COSY_TEST_CALLS_H */
