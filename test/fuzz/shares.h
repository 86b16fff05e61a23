/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * shares.h - the operations of module.c on shares that all threads of a child use: calls, short
 * calls, descriptors that are handed over, shares that end, and what others do to their tables.
 */
#ifndef SHARES_H
#define SHARES_H

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "rings.h"
#include "../kernel/table.h"

#define SHARES		3
/* Descriptors beyond the table that a new share has are made, too. */
#define SHARE_MAX	100

static struct table shares[SHARES];

static void make_share(unsigned int i)
{
	struct table table;

	if (make_table(dev, 1 + any(SHARE_MAX), &table))
		return;
	if (any(4))
		close(shares[i].fd);
	shares[i] = table;
}

/* A file that waits, or may be of any other kind. */
static int process_fd(void)
{
	if (rarely())
		return any(2) ? loop.fd : shares[any(SHARES)].fd;
	return any(2) ? waiting_fd() : FD_FIRST + (int)any(FD_END - FD_FIRST);
}

/* The lowest descriptors of a share exist most probably. */
static __u64 share_fd(struct table share)
{
	if (rarely())
		return any(2) ? (__u64)number() : (__u64)process_fd();
	return COSY_SHARE_FD | (__u64)share.id << COSY_SHARE_ID_SHIFT |
	       (rarely() ? any(COSY_SHARE_MAX) : any(8));
}

static struct table choose_share(void)
{
	return shares[any(SHARES)];
}

static void set_call(struct cosy_call *call, struct table share)
{
	static const int made[] = {
#define COSY_SHARES(name, makes) SYS_##name,
#define COSY_SHARES_PAIR(name, arg) SYS_##name,
#include <syscalls.def>
	};
	const struct call *chosen = call_of(made[any(sizeof(made) / sizeof(*made))]);

	memset(call, 0, sizeof(*call));
	call->nr = rarely() ? (__u32)number() : (__u32)chosen->nr;
	for (unsigned int i = 0; chosen->args[i]; i++)
		call->args[i] = chosen->args[i] == 'd' ? share_fd(share) :
							 (__u64)value(chosen->args + i);
	if (chosen->nr == SYS_openat && any(4))
		call->args[0] = (__u64)AT_FDCWD;
	if ((chosen->nr == SYS_dup || chosen->nr == SYS_epoll_ctl) && any(4))
		call->args[0] = (__u64)process_fd();
}

/* Calls that make sockets have arguments that are seldom valid by chance. */
static void make_sockets(struct table share)
{
	const __u64 type = (any(2) ? SOCK_STREAM : SOCK_DGRAM) | (any(2) ? SOCK_NONBLOCK : 0);

	call_in(share, SYS_socketpair, AF_UNIX, type, 0, (__u64)memory());
}

/* Other threads may change a call in the arena meanwhile. */
static struct cosy_call *place_of_call(struct cosy_call *here)
{
	return any(4) ? here : (struct cosy_call *)(arena + (1 + any(PAGES - 2)) * PAGE);
}

static void call_in_share(void)
{
	struct table share = choose_share();
	struct cosy_call here, *call = place_of_call(&here);

	set_call(call, share);
	enter_call(share, call);
}

static void short_call(void)
{
	struct table share = choose_share();
	const unsigned int nr = rarely() ? (unsigned int)number() : any(2) ? SYS_dup : SYS_close;

	enter_short(share, nr, (unsigned int)share_fd(share));
}

static void move_some(void)
{
	static const __u32 known[] = { 0, COSY_SHARE_COPY, COSY_SHARE_CLOEXEC,
				       COSY_SHARE_COPY | COSY_SHARE_CLOEXEC };
	struct table share = choose_share();
	long to;

	switch (any(5)) {
	case 0:
		move_fd(share, process_fd(), -1, COSY_SHARE_IN);
		break;
	case 3:
		move_fd(share, (long)share_fd(share), -1, COSY_SHARE_CLOSE);
		break;
	case 1:
		to = move_fd(share, (long)share_fd(share), -1, known[any(4)]);
		if (to >= 0 && any(4))
			close((int)to);
		break;
	case 2:
		move_fd(share, (long)share_fd(share), choose_share().fd, known[any(2)]);
		break;
	default:
		move_fd(share, (long)share_fd(share), (int)number(), (unsigned int)integer());
	}
}

/* A compound, or a ring, makes an entry into a share. */
static void nested_share_call(void)
{
	static struct cosy_call calls[THREADS];
	struct table share = choose_share();
	struct cosy_call *call = place_of_call(&calls[any(THREADS)]);
	const bool is_short = any(2);
	const __u64 offset = is_short ? cosy_share_short_call(any(2) ? SYS_dup : SYS_close,
							      (unsigned int)share_fd(share)) :
					COSY_RUN_TAG | (__u64)(uintptr_t)call;
	const struct cosy_ring_entry entry = {
		.nr = SYS_lseek, .op = 1,
		.args = { (__u64)share.fd, offset, is_short ? COSY_RUN_WHENCE : COSY_CALL_WHENCE },
	};
	struct program p = { .n = 0 };
	__u64 frame[NREGS];

	set_call(call, share);
	if (any(2)) {
		write_entry(ring.calls, &ring.page->calls_tail, &entry);
		ring_command(&ring, COSY_RING_MAX);
		return;
	}
	call_op(&p, FD_REGS, SYS_lseek, 3, hints());
	for (unsigned int i = 0; i < 3; i++)
		arg_number(&p, (__s64)entry.args[i]);
	maybe_something(&p);
	add(&p, (struct cosy_op)EXIT(any(4)));
	run_some(&runs[any(THREADS)], frame, &p);
}

/* Look at the tables of all threads, which have that of a share during a call. */
static void look_at_tables(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	while (tasks && (entry = readdir(tasks))) {
		char path[300];
		DIR *fds;

		snprintf(path, sizeof(path), "/proc/self/task/%s/fd", entry->d_name);
		fds = opendir(path);
		while (fds && readdir(fds))
			;
		if (fds)
			closedir(fds);
	}
	if (tasks)
		closedir(tasks);
}

/* Another process has the descriptors, and not the memory. */
static void use_in_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		call_in_share();
		move_some();
		close(choose_share().fd);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, any(2) ? 0 : WNOHANG);
}

static void disturb_share(void)
{
	struct table share = choose_share();

	switch (any(8)) {
	case 0:
		table_ioctl(share.fd, rarely() ? COSY_SHARE_END : COSY_SHARE_COUNT, NULL);
		break;
	case 1:
		read_fdinfo(share.fd);
		break;
	case 2:
		look_at_tables();
		break;
	case 3:
		send_descriptor(share.fd);
		break;
	case 4:
		/* Into itself. */
		call_in(share, SYS_dup, (__u64)share.fd);
		break;
	case 5:
		if (rarely())
			unshare(CLONE_FILES);
		break;
	case 6:
		if (rarely())
			use_in_child();
		break;
	default:
		/* Ends it, although it still has a descriptor. */
		close(dup(share.fd));
	}
}

static void use_share(void)
{
	unsigned int steps = 1 + any(16);

	while (steps--) {
		switch (any(12)) {
		case 0:
			make_share(any(SHARES));
			break;
		case 1:
			disturb_share();
			break;
		case 2:
		case 3:
			short_call();
			break;
		case 4:
		case 5:
			move_some();
			break;
		case 6:
			make_sockets(choose_share());
			break;
		case 7:
			nested_share_call();
			break;
		default:
			call_in_share();
		}
	}
}

static void make_shares(void)
{
	for (unsigned int i = 0; i < SHARES; i++)
		shares[i] = must_make_table(dev, SHARE_MAX);
}

#endif /* SHARES_H */
