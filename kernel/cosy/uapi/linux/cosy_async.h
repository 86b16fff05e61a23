/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * linux/cosy_async.h - the format of syscall pages.
 *
 * A syscall page is memory that a submitter and an executor share. The submitter
 * writes entries and publishes their indices in one ring; the executor executes
 * them, in any order that docs/async.md allows, and publishes the indices of
 * those that are complete in the other ring. Neither needs a system call for it.
 *
 * The page begins with struct cosy_async_page. The entries and the two rings are
 * where its offsets say. A ring is an array of nentries 32-bit indices of entries;
 * its head and tail count without end and are reduced modulo nentries. An entry is
 * in at most one ring, so neither ring can overflow.
 *
 * Who writes what, and in which order:
 *
 *	entry		the submitter, until it is published; then the executor, until
 *			it is complete; then the submitter again
 *	submit_tail	the submitter, by a store-release after the entry and the ring
 *	submit_head	the executor, by a store-release after it has read the entry
 *	done_tail	the executor, by a store-release after the result and the ring
 *	done_head	the submitter, by a store-release after it has read the ring
 *	the rest	whoever creates the page, before anybody else sees it
 *
 * The reader of an index uses a load-acquire. An executor reads each word of an
 * entry once, and does not rely on anything a submitter can write at any time:
 * indices are checked against its own nentries, lists and states are its own.
 */
#ifndef _UAPI_LINUX_COSY_ASYNC_H
#define _UAPI_LINUX_COSY_ASYNC_H

#include <linux/types.h>

#define COSY_ASYNC_VERSION	1

#define COSY_ASYNC_MIN_ENTRIES	64u
#define COSY_ASYNC_MAX_ENTRIES	(1u << 20)

/** enum cosy_entry_status - who an entry belongs to */
enum cosy_entry_status {
	COSY_ENTRY_FREE,	/* the submitter's; not in use */
	COSY_ENTRY_SUBMITTED,	/* the executor's */
	COSY_ENTRY_DONE,	/* the submitter's; the result is in args[0] */
};

/*
 * Flags of an entry. SILENT: nobody wants to know the result. The executor frees
 * the entry when it is complete; its index does not appear in the second ring.
 */
#define COSY_ENTRY_SILENT	(1u << 0)

/**
 * struct cosy_async_entry - one system call
 * @status:    enum cosy_entry_status
 * @flags:     COSY_ENTRY_*; unknown flags make the entry fail with -EINVAL
 * @colour:    0. Reserved for entries that are to be executed in order
 * @nr:	       number of the system call. Numbers from COSY_ENTRY_SPECIAL on are
 *	       reserved for compounds and coroutines (docs/async.md)
 * @user_data: the submitter's; an executor does not interpret it
 * @args:      the arguments. args[0] is replaced by the result: what the call
 *	       returned, or -errno
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

/**
 * struct cosy_async_page - the beginning of a syscall page
 * @size:	bytes of this structure. A reader that knows a shorter one ignores
 *		the rest; fields beyond @size are taken for 0
 * @version:	COSY_ASYNC_VERSION; changes only when old readers would go wrong
 * @features:	bits for what was added since; a submitter uses only what is set
 * @nentries:	a power of two, from COSY_ASYNC_MIN_ENTRIES to COSY_ASYNC_MAX_ENTRIES
 * @entries:	offset of the entries in the page, a multiple of 64
 * @submitted:	offset of the ring of submitted entries
 * @done:	offset of the ring of completed entries
 * @reserved:	0
 * @submit_tail: entries submitted so far, modulo 2^32
 * @submit_head: entries the executor has taken
 * @done_tail:	entries completed so far
 * @done_head:	entries the submitter has collected
 *
 * Each index has a cache line of its own.
 */
struct cosy_async_page {
	__u32 size;
	__u32 version;
	__u64 features;
	__u32 nentries;
	__u32 entries;
	__u32 submitted;
	__u32 done;
	__u32 reserved[8];
	__u32 submit_tail __attribute__((aligned(64)));
	__u32 submit_head __attribute__((aligned(64)));
	__u32 done_tail __attribute__((aligned(64)));
	__u32 done_head __attribute__((aligned(64)));
};

#endif /* _UAPI_LINUX_COSY_ASYNC_H */
