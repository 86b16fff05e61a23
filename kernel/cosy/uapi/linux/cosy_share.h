/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * linux/cosy_share.h - shares: tables of descriptors besides that of the process.
 *
 * A share is a file of the module. It has a table of descriptors of its own, with its own lock. A
 * call in a share finds its descriptors there, and puts new ones there. It is an ordinary system
 * call otherwise, and has the checks of a compound's calls.
 *
 * The share belongs to the memory of the process that made it. Only threads with this memory can
 * use it: not a child, and no other process that gets the descriptor. All its descriptors are
 * closed when a descriptor of the share is closed in the table of the thread that made it, also by
 * exit() and execve(), and at the latest when its file is released.
 */
#ifndef _UAPI_LINUX_COSY_SHARE_H
#define _UAPI_LINUX_COSY_SHARE_H

#include <linux/cosy.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/unistd.h>

/*
 * A descriptor in a share is COSY_SHARE_FD, the share's number in ten bits, and its number in the
 * table of the share. No process has such a descriptor in its own table. Share numbers are given
 * in turn, so a descriptor of a share that has ended is mostly not valid in another one. Two shares
 * of a process have the same number only if it has more than 1024.
 */
#define COSY_SHARE_FD		(1u << 30)
#define COSY_SHARE_ID_SHIFT	20
#define COSY_SHARE_ID_MASK	0x3ffu
#define COSY_SHARE_MAX		(1u << COSY_SHARE_ID_SHIFT)

/**
 * struct cosy_share_create - argument of COSY_IOC_SHARE: make a share
 * @size:  of this structure
 * @flags: 0
 * @max:   the maximum number of descriptors in it, from 1 to COSY_SHARE_MAX
 * @fd:	   out: a descriptor of the share, close-on-exec
 * @id:	   out: the share's number, as in its descriptors
 * @reserved: 0
 *
 * The maxima of a process's shares and the descriptors that are open in its table must not be more
 * than RLIMIT_NOFILE together.
 *
 * Errors: EFAULT, EINVAL, E2BIG, EMFILE (RLIMIT_NOFILE), ENFILE, ENOMEM, EDQUOT (the user's shares,
 * loops and compounds take as much memory as user_memory allows).
 */
struct cosy_share_create {
	__u32 size;
	__u32 flags;
	__u32 max;
	__s32 fd;
	__u32 id;
	__u32 reserved;
};

/*
 * A system call in a share, one of COSY_SHARES() in compound-ir/syscalls.def, is made by
 *
 *	lseek(share, COSY_RUN_TAG | (address of a struct cosy_call), COSY_CALL_WHENCE)
 *
 * with the structure, and the results, of a single call of the device. See linux/cosy.h.
 *
 * Arguments that are descriptors must be of this share; a directory may be AT_FDCWD. The argument
 * of dup() may be a descriptor of the process's table: dup() then copies it into the share. The
 * first argument of epoll_ctl() may be one, too: an epoll of the process then watches a descriptor
 * of the share, which needs no free place. Numbers of descriptors in memory are not translated.
 *
 * The result is that of the system call. A new descriptor is one of the share. Further results are
 * EBADF (a descriptor is not of this share) and EMFILE (the share has @max descriptors, or
 * RLIMIT_NOFILE - 1: each has a place for that epoll). A call that a signal has interrupted is made
 * again, as without a share.
 *
 * COSY_CALL_LEFT with COSY_CALL_TRACED or COSY_CALL_FILTERED: the call was not made, because the
 * thread is traced, its system calls are audited, or a seccomp filter returns anything but ALLOW
 * for it. The arguments for filters are those of the structure. Make it with descriptors that
 * COSY_SHARE_MOVE has copied to the process's table.
 *
 * Errors of the entry, after which the call was not made: EINVAL (no such call in shares, or not
 * with these arguments, see cosy_share_allows()), EPERM (the share belongs to another process),
 * ESHUTDOWN (a descriptor of the share was closed), EFAULT, ELOOP, EOPNOTSUPP as there.
 */

/**
 * cosy_share_short_call() - describe a call whose only argument is a descriptor of the share
 * @nr: dup() or close()
 * @fd: the descriptor
 *
 * It is made by
 *
 *	lseek(share, cosy_share_short_call(nr, fd), COSY_RUN_WHENCE)
 *
 * with the same results. COSY_CALL_LEFT with COSY_CALL_UNKNOWN: it was not made, make it by the
 * structure. That is so for other calls, and if the table has to be enlarged. In a share of which a
 * descriptor was closed the result is EBADF.
 *
 * Return: the offset.
 */
static inline __u64 cosy_share_short_call(unsigned int nr, unsigned int fd)
{
	return COSY_RUN_TAG | (__u64)nr << 32 | fd;
}

/**
 * struct cosy_share_move - argument of COSY_SHARE_MOVE: move a descriptor to another table
 * @size:  of this structure
 * @flags: COSY_SHARE_*
 * @fd:	   a descriptor of this share, which does not exist afterwards
 * @to:	   a descriptor of another share; -1: the table of the process
 *
 * With COSY_SHARE_IN, @fd is a descriptor of the process's table, @to is -1, and this share gets a
 * copy of it, as by dup() in the share. This also works while calls are not made.
 *
 * With COSY_SHARE_CLOSE, @to is -1, and the descriptor is closed. This also works while calls are
 * not made, and when the table of the process is full. Tracers and filters see no close(): make
 * one before, of the number @fd. Returns the result of close(), not a descriptor.
 *
 * Either this or a close() of the descriptor at the same time takes it, the other fails with EBADF.
 * The position and the flags of the open file stay.
 *
 * Returns the new descriptor. Errors: EBADF, EMFILE (as above, in the table that gets it; @fd is
 * still open), EINVAL, E2BIG, EFAULT, ESHUTDOWN; EPERM: one of the shares belongs to another
 * process, or a seccomp filter returns anything but ALLOW for fcntl(@fd, F_DUPFD_CLOEXEC, 0).
 */
struct cosy_share_move {
	__u32 size;
	__u32 flags;
	__u32 fd;
	__s32 to;
};

#define COSY_SHARE_CLOEXEC	(1u << 0)	/* in the table of the process: close-on-exec */
#define COSY_SHARE_COPY		(1u << 1)	/* @fd stays open */
#define COSY_SHARE_IN		(1u << 2)	/* without the others */
#define COSY_SHARE_CLOSE	(1u << 3)	/* without the others */
#define COSY_SHARE_MOVE_FLAGS \
	(COSY_SHARE_CLOEXEC | COSY_SHARE_COPY | COSY_SHARE_IN | COSY_SHARE_CLOSE)

/**
 * cosy_share_allows_fcntl() - test whether fcntl() can be made in a share
 * @cmd: its command
 * @arg: its argument
 *
 * Locks of the process belong to a table of descriptors, and close-on-exec has no meaning in a
 * share. A signal for O_ASYNC would have the number in the table of the share, which is that of
 * another descriptor in the process. The C library's header and that of the kernel exclude each
 * other, so these are numbers.
 *
 * Return: true for commands that concern the open file or its pipe.
 */
static inline int cosy_share_allows_fcntl(unsigned int cmd, __u64 arg)
{
	switch (cmd) {
	case 4:		/* F_SETFL */
		return !(arg & 020000);	/* O_ASYNC */
	case 3:		/* F_GETFL */
	case 36:	/* F_OFD_GETLK */
	case 37:	/* F_OFD_SETLK */
	case 38:	/* F_OFD_SETLKW */
	case 1031:	/* F_SETPIPE_SZ */
	case 1032:	/* F_GETPIPE_SZ */
	case 1033:	/* F_ADD_SEALS */
	case 1034:	/* F_GET_SEALS */
		return 1;
	default:
		return 0;
	}
}

/**
 * cosy_share_allows_option() - test whether an option of a socket can be set or read in a share
 * @level: its level
 * @name:  its number
 *
 * Some options have a descriptor in memory, or make one: it would be in the table of the share,
 * with a number that is not one of the share, and would not count towards the maximum. Options of
 * SOL_SOCKET that are newer than this list may do the same.
 *
 * Return: true if the option has nothing to do with descriptors.
 */
static inline int cosy_share_allows_option(unsigned int level, unsigned int name)
{
	switch (level) {
	case 1:		/* SOL_SOCKET */
		return name != 50 &&	/* SO_ATTACH_BPF */
		       name != 52 &&	/* SO_ATTACH_REUSEPORT_EBPF */
		       name != 77 &&	/* SO_PEERPIDFD */
		       name <= 84;	/* SO_INQ */
	case 132:	/* SOL_SCTP */
		return name != 102 &&	/* SCTP_SOCKOPT_PEELOFF */
		       name != 122;	/* SCTP_SOCKOPT_PEELOFF_FLAGS */
	default:
		return 1;
	}
}

/**
 * cosy_share_allows() - test whether a call can be made in a share with these arguments
 * @nr:     its number, one of COSY_SHARES()
 * @second: its second argument
 * @third:  its third argument
 *
 * Return: true if it can.
 */
static inline int cosy_share_allows(unsigned int nr, __u64 second, __u64 third)
{
	switch (nr) {
	case __NR_fcntl:
		return cosy_share_allows_fcntl((unsigned int)second, third);
	case __NR_getsockopt:
	case __NR_setsockopt:
		return cosy_share_allows_option((unsigned int)second, (unsigned int)third);
	default:
		return 1;
	}
}

/* The numbers contain no sizes, as those of <linux/cosy.h>. */
#define COSY_SHARE_MOVE	_IO('Q', 0x51)
/* Returns the number of descriptors in the share. Errors: EPERM, ESHUTDOWN. */
#define COSY_SHARE_COUNT _IO('Q', 0x52)	/* no argument */
/*
 * Closes all descriptors of the share, as closing a descriptor of the share does. Calls that other
 * threads make in it go on. Errors: EPERM, ESHUTDOWN.
 */
#define COSY_SHARE_END	_IO('Q', 0x53)	/* no argument */

#endif /* _UAPI_LINUX_COSY_SHARE_H */
