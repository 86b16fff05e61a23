/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * linux/cosy_async.h - the format of syscall pages.
 *
 * A syscall page is memory that a submitter and an executor share. The submitter
 * writes entries and publishes their indices in one ring. The executor executes
 * them, in any order that docs/async.md allows, and publishes the indices of
 * completed entries in the other ring. Neither needs a system call to publish.
 *
 * The page begins with struct cosy_async_page, which contains the offsets of the
 * entries and of the two rings. A ring is an array of nentries 32-bit indices of entries;
 * its head and tail are never reset, and are reduced modulo nentries. An entry is
 * in at most one ring, so neither ring can overflow.
 *
 * Writers, and the order of writes:
 *
 *	entry		the submitter, until it is published; then the executor, until
 *			it is complete; then the submitter again
 *	submit_tail	the submitter, by a store-release after the entry and the ring
 *	submit_head	the executor, by a store-release after it has read the entry
 *	done_tail	the executor, by a store-release after the result and the ring
 *	done_head	the submitter, by a store-release after it has read the ring
 *	used, nused	the submitter, at any time: read when a compound closes a descriptor
 *	sleep_*		the submitter, before it sleeps
 *	recall, polled_us	the submitter, at any time
 *	other fields	the creator of the page, before it shares the page
 *
 * The reader of an index uses a load-acquire. An executor reads each word of an
 * entry once, and does not rely on memory that a submitter can write at any time:
 * it checks indices against its own nentries, and keeps lists and states of its own.
 */
#ifndef _UAPI_LINUX_COSY_ASYNC_H
#define _UAPI_LINUX_COSY_ASYNC_H

#include <linux/types.h>

#define COSY_ASYNC_VERSION	1

#define COSY_ASYNC_MIN_ENTRIES	64u
#define COSY_ASYNC_MAX_ENTRIES	(1u << 20)

/** enum cosy_entry_status - the owner of an entry */
enum cosy_entry_status {
	COSY_ENTRY_FREE,	/* the submitter's; not in use */
	COSY_ENTRY_SUBMITTED,	/* the executor's */
	COSY_ENTRY_DONE,	/* the submitter's; the result is in args[0] */
	COSY_ENTRY_USER,	/* the submitter's; not made: make it in user mode */
	COSY_ENTRY_LEFT,	/* the submitter's; the compound has been left */
	COSY_ENTRY_RUNNING,	/* the executor's; a thread makes the call */
};

/*
 * Flags of an entry. SILENT: the result is not reported. The executor frees
 * the entry when it is complete; its index does not appear in the second ring.
 */
#define COSY_ENTRY_SILENT	(1u << 0)
/*
 * With COSY_ASYNC_THREADS: the call may block. A thread that waits for work makes it
 * (COSY_ASYNC_WORK), not the thread that enters. If LONG is set, this is a thread for calls that
 * may wait forever, otherwise one of the other threads. With TAKE that thread leaves with the
 * entry, and makes the call in user mode.
 */
#define COSY_ENTRY_THREAD	(1u << 3)
#define COSY_ENTRY_LONG		(1u << 4)
#define COSY_ENTRY_TAKE		(1u << 5)
/*
 * With COSY_ASYNC_BUFFERED: read or pread64 of a regular file whose file system tells when a page
 * has been read (ext4, XFS, btrfs and others) waits for the disk without a thread. It may complete
 * with a part of what is there, if the rest would have to be waited for. It holds the file
 * meanwhile. A read takes the file's position when it copies; while it waits, others may move it.
 * Otherwise, and if it is any other call, the entry completes with COSY_ENTRY_USER. With none of
 * the other flags but SILENT.
 */
#define COSY_ENTRY_BUFFERED	(1u << 7)
#define COSY_ENTRY_FLAGS	(COSY_ENTRY_SILENT | COSY_ENTRY_THREAD | COSY_ENTRY_LONG | \
				 COSY_ENTRY_TAKE | COSY_ENTRY_BUFFERED)

/**
 * struct cosy_async_entry - one system call
 * @status:    enum cosy_entry_status
 * @flags:     COSY_ENTRY_*; unknown flags make the entry fail with -EINVAL
 * @colour:    0. Reserved for entries that must be executed in order
 * @nr:	       number of the system call. Numbers from COSY_ENTRY_SPECIAL on are
 *	       no system calls: COSY_ENTRY_COMPOUND; the others are reserved
 * @user_data: for the submitter; an executor does not interpret it
 * @args:      the arguments. args[0] is replaced by the result of the call, or
 *	       -errno
 */
struct cosy_async_entry {
	__u8 status;
	__u8 flags;
	__u16 colour;
	__u32 nr;
	__u64 user_data;
	__u64 args[6];
};

#define COSY_ENTRY_SPECIAL	(1u << 31)

/*
 * With COSY_ASYNC_COMPOUNDS: the entry runs a compound that was loaded with
 * COSY_LOAD_PARKS. If its recvfrom, sendto, recvmsg, sendmsg, read, write, accept or accept4
 * would block, the compound waits for the file. The executor keeps its registers, and continues
 * with other entries. Its arguments:
 *
 *	args[0]	the descriptor of the device by which the compound was loaded
 *	args[1]	its handle
 *	args[2]	the address of its registers: the inputs, or those that are live where it
 *		resumes
 *	args[3]	the address at which LIBC operations store errno
 *	args[4]	the pc where it resumes; 0 if it begins
 *	args[5]	COSY_COMPOUND_*
 *
 * It completes with COSY_ENTRY_DONE when the compound has ended: args[0] is the number of the
 * exit, and the outputs are in the registers. If it is negative, nothing has been executed:
 * -EBADF, -EINVAL, -ENOENT and -EFAULT for the arguments, -ENOMEM, -EDQUOT, -EBUSY if the
 * thread is traced, and -EOPNOTSUPP if runs are limited (max_run_ms), or, without
 * COSY_ASYNC_FUNCTIONS, for a compound that calls user functions.
 *
 * It completes with COSY_ENTRY_LEFT when the compound was left: args[0] is the value, and
 * args[1] is pc | status << 32 (cosy/status.h: UPCALL, STEP, RESULT or FAILED; AGAIN if a thread of
 * the process has closed a descriptor of the loop). With AGAIN and COSY_ASYNC_GIVES_BACK, args[0]
 * is 1 if the compound has waited to make the call at the pc, otherwise 0. With FAILED, a user
 * function has failed: args[0] is an enum cosy_function_status, and of a struct
 * cosy_function_failure args[2] is the address, args[3] line | function << 32, args[4] wrote. The
 * registers are written back. To resume it, submit it again with COSY_COMPOUND_RESUMED. The
 * executor keeps its memory for the compound until the entry is used for anything else.
 *
 * A user function that is suspended, for a signal or because its time slice is over, resumes when
 * the loop is entered again.
 *
 * With COSY_COMPOUND_MOVES the executor keeps nothing. So the compound can be resumed with any
 * entry, also of another loop of the process. It is also left after a call that has failed with
 * EPIPE, with RESULT: the entering thread has the signal, and may not be the program's.
 *
 * When the compound waits, the executor writes the descriptor to args[2], and to args[3] how
 * often it has waited since it was submitted. Older modules leave args[3] as it is.
 *
 * A recvfrom or recvmsg with MSG_WAITALL, a read or write of a file that is neither a socket nor
 * a pipe, unless it reads an eventfd or what is cached of a file on a local disk or on tmpfs, and a
 * call that would wait for a file for which entries cannot wait, leave with STEP: the submitter
 * makes the call. So does close, unless it is of a socket for which entries can wait and that does
 * not linger (SO_LINGER), of a pipe, of an eventfd, or of a file or directory on a local disk or on
 * tmpfs that was not opened for writing, for which no operation of the submitter waits. Then the
 * calls of compounds of the loop that wait for the descriptor fail with ECANCELED, before it is
 * closed.
 */
#define COSY_ENTRY_COMPOUND	COSY_ENTRY_SPECIAL

#define COSY_COMPOUND_RESUMED	(1u << 0)	/* it was left, with the same entry */
#define COSY_COMPOUND_CANCELLED	(1u << 1)	/* calls that it would wait for fail */
#define COSY_COMPOUND_MOVES	(1u << 2)	/* with COSY_ASYNC_MOVES: resumed with any entry */
#define COSY_COMPOUND_FLAGS	(COSY_COMPOUND_RESUMED | COSY_COMPOUND_CANCELLED | \
				 COSY_COMPOUND_MOVES)

/**
 * struct cosy_async_page - the beginning of a syscall page
 * @size:	bytes of this structure. A reader that knows a shorter one ignores
 *		the other fields; fields beyond @size are taken as 0
 * @version:	COSY_ASYNC_VERSION; changes only when old readers would fail
 * @features:	a bit for each addition; a submitter uses only additions whose bit is set
 * @nentries:	a power of two, from COSY_ASYNC_MIN_ENTRIES to COSY_ASYNC_MAX_ENTRIES
 * @entries:	offset of the entries in the page, a multiple of 64
 * @submitted:	offset of the ring of submitted entries
 * @done:	offset of the ring of completed entries
 * @used:	with COSY_ASYNC_CLOSES: the address of a map of descriptors. Bit fd % 8 of
 *		byte fd / 8 is set if operations of the submitter may wait for the
 *		descriptor: a compound that closes it is left. 0: they may wait for any descriptor
 * @nused:	bits of the map; operations wait for none of the other descriptors
 * @sleep_ns:	the maximum time of COSY_ASYNC_SLEEP, in nanoseconds. From
 *		COSY_ASYNC_FOR_EVER on there is no limit
 * @sleep_fd:	a descriptor whose events end it, too; -1: none
 * @more:	set at the end of an entry into the loop: 1 if it has ended early, and there is
 *		more to execute; otherwise 0
 * @id:		with COSY_ASYNC_THREADS: identifies the loop, see COSY_ASYNC_WORK
 * @submit_tail: the number of submitted entries, modulo 2^32
 * @recall:	COSY_RECALL_*: threads of this kind do not wait for work, and take none
 * @polled_us:	microseconds for which the submitter has polled in vain; only shown in /proc
 * @submit_head: the number of entries that the executor has taken
 * @resumed:	the number of times that compounds were continued that had waited, modulo 2^32
 * @batches:	the number of entries into the loop, and of wake-ups in it, that have continued any
 * @fired:	set at the end of an entry into the loop: 1 if calls of its ring that wait may be
 *		made, otherwise 0
 * @done_tail:	the number of completed entries
 * @done_head:	the number of entries that the submitter has collected
 *
 * Each index has a cache line of its own; a field after an index has the same writer.
 */
struct cosy_async_page {
	__u32 size;
	__u32 version;
	__u64 features;
	__u32 nentries;
	__u32 entries;
	__u32 submitted;
	__u32 done;
	__u64 used;
	__u32 nused;
	__s32 sleep_fd;
	__u64 sleep_ns;
	__u32 more;
	__u32 id;
	__u32 submit_tail __attribute__((aligned(64)));
	__u32 recall;
	__u64 polled_us;
	__u32 submit_head __attribute__((aligned(64)));
	__u32 resumed;
	__u32 batches;
	__u32 fired;
	__u32 done_tail __attribute__((aligned(64)));
	__u32 done_head __attribute__((aligned(64)));
};

/* Bits of @features. */
/* Bits 0 and 8 are not used any more: entries that waited for sockets, or must not wait. */
#define COSY_ASYNC_COMPOUNDS	(1ull << 1)	/* COSY_ENTRY_COMPOUND, COSY_ASYNC_CANCEL_FD */
#define COSY_ASYNC_FILE_IO	(1ull << 2)	/* compounds wait in read() and write(), too */
#define COSY_ASYNC_CLOSES	(1ull << 3)	/* compounds close sockets, see @used */
#define COSY_ASYNC_ACCEPTS	(1ull << 4)	/* compounds wait in accept() and accept4(), too */
#define COSY_ASYNC_SLEEPS	(1ull << 5)	/* COSY_ASYNC_SLEEP, COSY_ASYNC_AWAIT */
#define COSY_ASYNC_THREADS	(1ull << 6)	/* COSY_ENTRY_THREAD, COSY_ASYNC_WORK */
#define COSY_ASYNC_MESSAGES	(1ull << 7)	/* compounds wait in recvmsg() and sendmsg(), too */
#define COSY_ASYNC_BUFFERED	(1ull << 9)	/* COSY_ENTRY_BUFFERED */
#define COSY_ASYNC_MOVES	(1ull << 10)	/* COSY_COMPOUND_MOVES */
#define COSY_ASYNC_GIVES_BACK	(1ull << 11)	/* args[0] with AGAIN, see COSY_ENTRY_COMPOUND */
#define COSY_ASYNC_RING		(1ull << 12)	/* see linux/cosy_ring.h */
#define COSY_ASYNC_FUNCTIONS	(1ull << 13)	/* compounds call user functions */
#define COSY_ASYNC_TELLS	(1ull << 14)	/* @resumed, @batches, @fired */

/**
 * struct cosy_async_create - argument of COSY_IOC_ASYNC: make a loop
 * @size:      of this structure
 * @flags:     0
 * @nentries:  as in struct cosy_async_page
 * @fd:	       out: a descriptor of the loop, close-on-exec
 * @page_size: out: bytes of the page
 *
 * A loop is a syscall page and its executor in the module. The process maps the whole
 * page by a shared mapping of @fd from offset 0 on; a child does not inherit the
 * mapping, unless the process asks for that by MADV_DOFORK. The loop belongs to the
 * memory that the process had when it made the loop.
 * After fork() the child, and every other process that gets the descriptor, can poll
 * it, but neither map nor enter it.
 *
 * It is entered by
 *
 *	lseek(fd, COSY_RUN_TAG | max, COSY_RUN_WHENCE)
 *
 * which executes submitted entries, and waiting entries whose file had an event. It
 * ends after @max completions, at most COSY_ASYNC_MAX_DONE, and earlier for a signal or
 * the kernel's own work. The next entry into the loop executes the remaining entries, see
 * @more. It makes a call that a signal has interrupted again, from its beginning. The
 * calling thread makes the calls, with its rights, and blocks in a call that blocks. It
 * returns
 *	COSY_ASYNC_ENTERED | n	n entries have completed
 *	COSY_ASYNC_SECCOMP_BLOCKED | n
 *				the same, and a seccomp filter that was set meanwhile
 *				returns anything but ALLOW for the next entry
 *	-EBUSY			another thread, or a call that it makes, has entered
 *				the loop
 *	-EINVAL			@max is 0 or more than COSY_ASYNC_MAX_DONE
 *	-ELOOP, -EOPNOTSUPP	as for compounds
 *	-EPERM			the loop belongs to another process
 *	anything else		the descriptor is not the loop's any more
 *
 * With COSY_ASYNC_CANCEL and an index in place of @max, the entry does not wait any
 * longer: it is the submitter's again, and does not complete. This returns
 * COSY_ASYNC_ENTERED, or -ENOENT if the entry does not wait. If the entry is a
 * COSY_ENTRY_COMPOUND, the call that it waits for fails with ECANCELED, and so do calls that
 * it would wait for later; it completes when its compound has ended. If a thread makes the
 * call of a COSY_ENTRY_THREAD already, the call is interrupted, as by a signal, and this
 * returns -EALREADY. The entry completes with the result of the call; with -ECANCELED if that
 * would be -EINTR, or if the call would be made again.
 *
 * With COSY_ASYNC_CANCEL_FD and a descriptor, the calls of compounds that wait for it fail with
 * ECANCELED. That returns COSY_ASYNC_ENTERED | n, n being their number. With COSY_ASYNC_CANCEL,
 * too, only those that wait for a file to which the descriptor does not refer any more
 * (COSY_ASYNC_MOVES).
 *
 * With COSY_ASYNC_SLEEP and @max, the thread does the same, and then sleeps until there is
 * more to execute, which it executes, too. It returns as soon as an entry has completed.
 * Without a completion, n is one of these, or 0 if the thread has to enter again:
 *	COSY_ASYNC_READABLE	@sleep_fd has input or an error. A file with more than one wait
 *				queue always returns this; epoll has one
 *	COSY_ASYNC_SIGNAL	a signal has come while it slept
 *	COSY_ASYNC_TIMEOUT	@sleep_ns is over
 * Other threads may enter the loop while one sleeps, but not sleep themselves: -EBUSY. Entries
 * that they complete do not wake the sleeping thread, unless they were complete before it fell
 * asleep. An event that wakes the sleeping thread does not wake pollers.
 *
 * With COSY_ASYNC_WORK, a thread waits for entries with COSY_ENTRY_THREAD, and makes their calls
 * with its own rights, one after the other. Any number of threads may do so at the same time,
 * also while another thread has entered. The low 31 bits are @id of the page, and COSY_WORK_LONG
 * is set for calls that may wait forever. A completion wakes the thread that sleeps in the loop,
 * which publishes it, or otherwise the pollers. This returns
 *	COSY_ASYNC_ENTERED	a signal or other work of the kernel is pending, and the thread
 *				has to enter again; or @recall is set for it. A signal may have
 *				interrupted a call: any thread makes it again
 *	COSY_ASYNC_ENTERED | COSY_WORK_TAKEN | index
 *				the entry is the thread's: it is in no ring. Its status is
 *				COSY_ENTRY_USER: make the call; or COSY_ENTRY_DONE: the call has
 *				been made, and may have raised a signal for this thread (-EPIPE,
 *				-EFBIG), or perhaps no thread can publish the completion
 *	COSY_ASYNC_SECCOMP_BLOCKED
 *				in place of COSY_ASYNC_ENTERED: as above
 *	-ESHUTDOWN		a thread of the process has closed a descriptor of the loop since
 *				the page was mapped: it has no threads any more. Entries that
 *				no thread had taken complete with COSY_ENTRY_USER
 *	-ESTALE			@id belongs to another loop
 * With COSY_ASYNC_WORK | COSY_ASYNC_CANCEL, threads that wait read @recall. After that, no
 * thread takes an entry whose status is COSY_ENTRY_SUBMITTED while @recall is set.
 *
 * With COSY_ASYNC_AWAIT, a command that would fail with -EBUSY waits until the other thread has
 * left. A thread that was asleep leaves soon, even if it has many entries to execute.
 *
 * The descriptor polls readable while a waiting entry can be executed, or completions
 * were not collected. A submission or a completion does not wake pollers. The first event
 * for a waiting entry does, unless a thread has entered. That thread executes the entry, or
 * wakes the pollers when it leaves. A poller that asks only for errors is not woken.
 *
 * An index in the ring that is out of range, or of an entry that waits, is skipped. An
 * entry is completed with COSY_ENTRY_USER if the module may not make its call:
 * because the module does not make such calls, the thread is traced, its system calls
 * are audited, or a seccomp filter returns anything but ALLOW for it.
 *
 * A compound that waits does not hold its file. An entry with COSY_ENTRY_BUFFERED does. Compounds
 * wait for sockets of the families UNIX, INET and INET6 (streams, sequences of packets, and
 * datagrams that are received), since Linux 6.5 for pipes, and for eventfds that are read. If
 * max_waiters (a parameter of the module) already wait for the file, the compound is left.
 *
 * Errors of COSY_IOC_ASYNC: EFAULT, EINVAL, E2BIG, EMFILE, ENFILE, ENOMEM, EDQUOT (the
 * user's loops and compounds take as much memory as user_memory allows).
 */
struct cosy_async_create {
	__u32 size;
	__u32 flags;
	__u32 nentries;
	__s32 fd;
	__u64 page_size;
};

#define COSY_ASYNC_MAX_DONE	64u
#define COSY_ASYNC_CANCEL	(1ull << 32)
#define COSY_ASYNC_CANCEL_FD	(1ull << 33)

#define COSY_ASYNC_SLEEP	(1ull << 34)
#define COSY_ASYNC_AWAIT	(1ull << 35)
#define COSY_ASYNC_WORK		(1ull << 36)

#define COSY_WORK_ID		((1u << 31) - 1)
#define COSY_WORK_LONG		(1u << 31)
#define COSY_WORK_TAKEN		(1u << 31)

#define COSY_RECALL		(1u << 0)	/* those for calls that end by themselves */
#define COSY_RECALL_LONG	(1u << 1)	/* those with COSY_WORK_LONG */

#define COSY_ASYNC_FOR_EVER	(1ull << 63)

#define COSY_ASYNC_READABLE	(1u << 16)
#define COSY_ASYNC_SIGNAL	(1u << 17)
#define COSY_ASYNC_TIMEOUT	(1u << 18)
#define COSY_ASYNC_MORE		(1u << 19)

#define COSY_ASYNC_ENTERED		(6ull << 32)
#define COSY_ASYNC_SECCOMP_BLOCKED	(7ull << 32)

#endif /* _UAPI_LINUX_COSY_ASYNC_H */
