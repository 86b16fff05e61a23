/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * share.h - the two kinds of shares: tables in the kernel (module.c), and tables here (user.c).
 */
#ifndef COSY_SHARE_SHARE_H
#define COSY_SHARE_SHARE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <linux/cosy_share.h>

#include <cosy/share.h>

#include "device/sys.h"

/* What a call makes, as in syscalls.def. */
enum share_makes {
	SHARE_REFUSED,	/* not a call for shares */
	SHARE_NOTHING,
	SHARE_RESULT,
	SHARE_PAIR,	/* + the number of the argument */
};

/**
 * struct share_kind - a system call
 * @makes: enum share_makes
 * @mask:  bit i: argument i is a descriptor
 */
struct share_kind {
	uint8_t makes;
	uint8_t mask;
};

/** share_count_made() - return the number of descriptors that a call makes */
static inline uint32_t share_count_made(const struct share_kind *kind)
{
	if (kind->makes == SHARE_NOTHING)
		return 0;
	return kind->makes == SHARE_RESULT ? 1 : 2;
}

/* Larger than the number of any call. */
#define SHARE_CALLS	512

/**
 * struct share_file - a file of a table here
 * @fd:	   its ordinary descriptor
 * @users: number of calls that use it, and 1 while it is in the table
 * @next:  of those without users that are still to be closed
 */
struct share_file {
	int fd;
	uint32_t users;
	struct share_file *next;
};

/**
 * struct cosy_share - a share
 * @fd:	    descriptor of the module's share; -1: the table is here
 * @id:	    its number in descriptors
 * @max:    maximum number of descriptors
 * @lock:   protects the following, if the table is here
 * @open:   number of files
 * @first:  numbers below it are not free
 * @size:   length of @files
 * @files:  the table; NULL: free, &share_reserved: a call makes or closes this descriptor
 * @forked: this process is a child of the process that has made the share
 * @ended:  the share was destroyed, and a call still uses it
 * @owner:  the process that has made it
 * @previous: pointer to it, in the list of all tables here
 * @next:     the next one
 */
struct cosy_share {
	int fd;
	uint32_t id;
	uint32_t max;
	pthread_mutex_t lock;
	uint32_t open;
	uint32_t first;
	uint32_t size;
	struct share_file **files;
	bool forked;
	bool ended;
	long owner;
	struct cosy_share **previous;
	struct cosy_share *next;
};

/**
 * share_number() - get the number of a descriptor in the table
 * @share: the share
 * @fd:	   the descriptor
 *
 * Return: the number; -EBADF if it is not of this share.
 */
int share_number(const struct cosy_share *share, int64_t fd);

/** share_makes() - return true if a call with these arguments is made in shares */
bool share_makes(long nr, const uint64_t args[6]);

/**
 * share_end() - close all descriptors of a share, which share_free() has to free
 * @used: calls of other threads may still use it; each finds its file, or none
 */
void share_end(struct cosy_share *share, bool used);

/** share_free() - free a share that has ended, and that no thread uses */
void share_free(struct cosy_share *share);

/** share_descriptor() - return the descriptor for a number in the table */
int share_descriptor(const struct cosy_share *share, uint32_t number);

/**
 * share_translates() - test whether an argument is a descriptor that has to be of the share
 * @kind: the call
 * @nr:	  its number
 * @args: its arguments
 * @i:	  number of the argument
 */
bool share_translates(const struct share_kind *kind, long nr, const uint64_t *args, int i);

/** share_done() - return true if the result of an entry says that the call was made */
static inline bool share_done(long ret)
{
	return __builtin_expect((uint64_t)ret >> 32 == COSY_CALL_DONE >> 32, true);
}

/**
 * share_short_call() - make a call whose only argument is a descriptor of the share
 * @share: a share of the module
 * @nr:	   SYS_dup or SYS_close
 * @fd:	   the descriptor
 *
 * Return: the result of the entry; if it is not share_done(), the call was not made.
 */
static inline long share_short_call(const struct cosy_share *share, unsigned int nr, int fd)
{
	return cosy_sys(SYS_lseek, share->fd, (long)cosy_share_short_call(nr, (unsigned int)fd),
			COSY_RUN_WHENCE);
}

/* module.c */
int cosy_share_in_module(struct cosy_share *share);
void share_end_in_module(struct cosy_share *share);
void share_close_in_module(struct cosy_share *share);
bool share_is_of_parent_in_module(const struct cosy_share *share);
long cosy_share_call_in_module(struct cosy_share *share, const struct share_kind *kind, long nr,
			       const uint64_t *args);
int cosy_share_give_in_module(struct cosy_share *share, int fd, struct cosy_share *to);
int cosy_share_install_in_module(struct cosy_share *share, int fd, int flags);
uint32_t cosy_share_count_in_module(const struct cosy_share *share);
long share_lend_in_module(struct cosy_share *share, int fd, long (*use)(int copy, void *arg), void *arg);

/* user.c */
int cosy_share_here(struct cosy_share *share);
void share_end_here(struct cosy_share *share);
void share_free_here(struct cosy_share *share);
long cosy_share_call_here(struct cosy_share *share, const struct share_kind *kind, long nr,
			  const uint64_t *args);
int cosy_share_give_here(struct cosy_share *share, int fd, struct cosy_share *to);
int cosy_share_install_here(struct cosy_share *share, int fd, int flags);
long share_lend_here(struct cosy_share *share, int fd, long (*use)(int copy, void *arg), void *arg);

/* loop.c */
/** share_list() - let operations of loops use a share; false if another one has its number */
bool share_list(struct cosy_share *share);

/** share_unlist() - cancel what waits for its descriptors, end it, and free it after the last call */
void share_unlist(struct cosy_share *share);

/**
 * share_forget() - cancel what waits for a descriptor, which gets another number
 *
 * The file stays open, so the epolls of loops would report it for ever, and no call could remove it: the share
 * has no file with the number any more.
 */
void share_forget(int fd);

/** share_unlist_in_child() - let no loop of a child find the share of its parent */
void share_unlist_in_child(const struct cosy_share *share);

#endif /* COSY_SHARE_SHARE_H */
