/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * linux/cosy_ring.h - the ring of a loop: entries that are written once, in order.
 *
 * A loop of <linux/cosy_async.h> has a second part if its page has the feature COSY_ASYNC_RING. The
 * process maps it once, with COSY_RING_SIZE(nentries) bytes, shared, from the offset
 * COSY_RING_OFFSET of the loop's descriptor on. A child does not inherit the mapping.
 *
 * There are two rings of entries. The calls are made in their order. The receives (recvfrom,
 * recvmsg, accept, accept4) are made when no calls are left, until one of them would wait and the
 * thread does not sleep after it: a server that answers many requests mostly finds the next ones
 * there, and no thread has to be woken for them. A receive, a sendto or a sendmsg that would wait
 * is made again when its socket has an event. A ring has no indices: the place of an entry can be
 * used again as soon as the module has taken it. A completion is the operation of the entry and the
 * result of its call.
 *
 * Writers, and the order of writes:
 *
 *	entry		the process, until it is published; then the module, which may put
 *			entries that it has taken back to their ring, see @receives_head
 *	calls_tail	the process, by a store-release after the entry
 *	receives_tail	the same
 *	sleep_*		the process, before it sleeps
 *	buffer*		the process, while no thread is inside
 *	nbuffers	the same, and the module
 *	other fields	the module, while a thread is inside, or a descriptor is closed
 *
 * At most nentries entries may be outstanding: submitted, and without a completion that the process
 * has collected. Otherwise places and completions are overwritten. The module reads each word of an
 * entry once, and keeps what it needs in its own memory, so this harms only the process.
 */
#ifndef _UAPI_LINUX_COSY_RING_H
#define _UAPI_LINUX_COSY_RING_H

#include <linux/types.h>

#define COSY_RING_VERSION	4

/* The offset of the mapping. */
#define COSY_RING_OFFSET	(1ull << 30)

/**
 * struct cosy_ring_entry - one system call
 * @nr:	   number of the call, or COSY_RING_CANCEL, COSY_RING_CANCEL_SEND, COSY_RING_RECEIVE or
 *	   COSY_RING_NOP
 * @flags: 0 or COSY_RING_LINKED; COSY_RING_WAITED in an entry that was put back
 * @op:	   returned with the completion; not interpreted. A call or a NOP whose operation is 0 does
 *	   not complete
 * @args:  the arguments
 */
struct cosy_ring_entry {
	__u32 nr;
	__u32 flags;
	__u64 op;
	__u64 args[6];
};

/*
 * A send and a receive with this flag and one operation are a reply: the receive is not made
 * before the send. The other bits of the receive's flags are the place of the send: @calls_tail
 * from before it was written, shifted by one. The send does not complete. If it does not send all
 * of its data, it is given back, the receive stays in its ring, and the process continues both.
 */
#define COSY_RING_LINKED	1u

/* Complete with args[0] as the result, and make no call. */
#define COSY_RING_NOP		(1u << 31)
/*
 * Only among the calls. The receive with the operation args[1] that waits for the descriptor
 * args[0] does not wait any longer, and does not complete. The entry does not complete either.
 */
#define COSY_RING_CANCEL	(COSY_RING_NOP | 1)
/* The same for the sendto or sendmsg with the operation args[1]. args[0] is not used. */
#define COSY_RING_CANCEL_SEND	(COSY_RING_NOP | 2)
/*
 * Only among the receives: recvfrom() of the descriptor args[0] without flags and address, into the
 * last one of the ring's buffers, of its size. If anything was received, that buffer is the ring's
 * no longer: the bits of the result from COSY_RING_BUFFER_SHIFT on are its number, and the others
 * the number of bytes. Without a buffer the receive is given back when there is something to
 * receive.
 */
#define COSY_RING_RECEIVE	(COSY_RING_NOP | 3)
#define COSY_RING_BUFFER_SHIFT	32

/**
 * struct cosy_ring_done - a completion
 * @op:	    operation of the entry
 * @result: what its call has returned, or -errno
 */
struct cosy_ring_done {
	__u64 op;
	__s64 result;
};

/*
 * Calls with these flags are given back: they do not wait, or wait for something else. The values
 * are those of MSG_OOB, MSG_PEEK, MSG_DONTWAIT, MSG_WAITALL, MSG_ERRQUEUE, and MSG_FASTOPEN.
 *
 * Two other lists exclude flags from a short path, which has a longer one beside it: COSY_UNUSUAL
 * of libcosy in user mode (U), and cosy_call_is_usual() of compounds (C). By flag, where it is
 * listed:
 *
 *	MSG_DONTWAIT, MSG_OOB	everywhere: the call does not wait, or not for usual data
 *	MSG_ERRQUEUE	everywhere: a receive does not wait. Sends ignore it: a ring makes them,
 *			while U and C have one list for both directions
 *	MSG_PEEK	here and in U: with SO_PEEK_OFF it waits for more data than poll() reports.
 *			Compounds attempt such a receive as any other
 *	MSG_WAITALL	here and in C: no event says when all bytes are there. U sees by the result
 *			whether bytes are missing
 *	MSG_FASTOPEN	here: a send may wait for a connection. The longer paths of U and C look
 *			at the result of a send that the short path has not completed
 */
#define COSY_RING_RECEIVE_UNUSUAL	(0x01 | 0x02 | 0x40 | 0x100 | 0x2000)
#define COSY_RING_SEND_UNUSUAL		(0x01 | 0x40 | 0x20000000)

/* In the flags of an entry that is given or put back, see struct cosy_ring_page. */
#define COSY_RING_WAITED	(1u << 31)

/* An entry into the loop completes and gives back no more than this number of entries. */
#define COSY_RING_MAX		64u
/* The least of these numbers: two calls for one descriptor are given back together. */
#define COSY_RING_MIN		2u

/**
 * struct cosy_ring_page - the beginning of a ring
 * @version:	   COSY_RING_VERSION
 * @nentries:	   as in the loop's page: the number of places in each ring
 * @calls:	   offset of the ring of calls
 * @receives:	   offset of the ring of receives
 * @done:	   offset of the ring of completions
 * @sleep_fd:	   as in the loop's page, for COSY_ASYNC_SLEEP with COSY_ASYNC_RING
 * @sleep_ns:	   the same
 * @buffers:	   offset of the numbers of buffers, of which there is room for nentries: __u32 each
 * @nbuffers:	   how many there are
 * @buffer_start:  address of buffer 0. They follow each other
 * @buffer_size:   size of one in bytes, at most 2^31 - 1
 * @calls_tail:	   number of calls written, modulo 2^32
 * @receives_tail: number of receives written
 * @calls_head:	   number of calls taken
 * @receives_head: number of receives taken. Both become smaller when calls that wait are put back
 *		   to their rings, in front of those that were not taken. This happens with
 *		   COSY_ASYNC_CANCEL, and when a thread of the process closes a descriptor of the
 *		   loop, which may have been the only one
 * @done_tail:	   number of completions
 * @ngiven:	   number of entries that the last entry into the loop has given back
 * @executed:	   number of calls that were made, also of those that then waited
 * @waiting:	   number of calls that wait; written last when they are put back
 * @sending:	   number of these that send
 * @given:	   the entries that were given back. The process has to make these calls in another
 *		   way: the module does not make such calls, the thread is traced, its system calls
 *		   are audited, a seccomp filter returns anything but ALLOW for it; the socket is of
 *		   a kind for which entries cannot wait, or there is no memory; it would have to
 *		   wait for a disk, or close what others may wait for. After a send, a receive, a
 *		   read() or a close(), nothing else is made in this entry into the loop: those
 *		   after it may be for the same file. After any other call, a close(), dup2(),
 *		   dup3() or close_range() is given back, too
 *
 * A send that is given back may have sent a part of its data: @flags has the number of bytes. If
 * it is linked, @flags may be negative: the error with which it has failed. Otherwise @flags is
 * COSY_RING_WAITED if the call has waited, and has had no effect: wait further, because an attempt
 * may have another result.
 */
struct cosy_ring_page {
	__u32 version;
	__u32 nentries;
	__u32 calls;
	__u32 receives;
	__u32 done;
	__s32 sleep_fd;
	__u64 sleep_ns;
	__u32 buffers;
	__u32 nbuffers;
	__u64 buffer_start;
	__u64 buffer_size;
	__u32 calls_tail __attribute__((aligned(64)));
	__u32 receives_tail;
	__u32 calls_head __attribute__((aligned(64)));
	__u32 receives_head;
	__u32 done_tail;
	__u32 ngiven;
	__u32 waiting;
	__u32 sending;
	__u64 executed;
	struct cosy_ring_entry given[COSY_RING_MAX] __attribute__((aligned(64)));
};

#define COSY_RING_PLACE							\
	(2 * sizeof(struct cosy_ring_entry) + sizeof(struct cosy_ring_done) + sizeof(__u32))
#define COSY_RING_SIZE(nentries)					\
	((sizeof(struct cosy_ring_page) + (nentries) * COSY_RING_PLACE + 4095ull) & ~4095ull)

/*
 * In place of a command of <linux/cosy_async.h>:
 *
 *	lseek(fd, COSY_RUN_TAG | COSY_ASYNC_RING_ENTER | max, COSY_RUN_WHENCE)
 *
 * executes entries of the ring, and nothing else of the loop. @max is from COSY_RING_MIN to
 * COSY_RING_MAX. It ends after @max entries have completed or were given back, and earlier for a
 * signal or the kernel's own work. It returns what entering the loop returns, n being the number of
 * completions. With COSY_ASYNC_SLEEP and COSY_ASYNC_AWAIT it does what these do there. It does not
 * sleep after entries were given back. If it does not sleep, and nothing has completed or was given
 * back, n is COSY_ASYNC_MORE if there is more to execute. Each entry makes at least one call.
 *
 * With COSY_ASYNC_CANCEL_FD and a descriptor in place of @max, the receive and the send that wait
 * for it are given back, and the loop forgets the descriptor; with COSY_ASYNC_CANCEL as well, only
 * if the descriptor refers to another file by now. With COSY_ASYNC_CANCEL alone, all calls that
 * wait are put back to their rings. Both return COSY_ASYNC_ENTERED | n, n being their number.
 *
 * With COSY_ASYNC_WORK, a thread that sleeps in the ring wakes up, or the next one does not sleep.
 * This needs no AWAIT.
 */
#define COSY_ASYNC_RING_ENTER	(1ull << 37)

#endif /* _UAPI_LINUX_COSY_RING_H */
