/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compound.h - loaded compounds, and the open files that hold them.
 */
#ifndef COSY_LOAD_COMPOUND_H
#define COSY_LOAD_COMPOUND_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <cosy/decode.h>
#include <linux/cosy.h>

#include "function/function.h"
#include "load/sealed.h"

/* The number of registers that are read and written together. */
#define COSY_FEW_REGS	4

/**
 * cosy_regs_few() - return true if registers can be read or written together
 * @code: the compound
 * @live: the registers; the registers after them may be read and written as well
 *
 * Return: true if they are at most COSY_FEW_REGS, and the compound has COSY_FEW_REGS registers
 * from the first one on.
 */
static __always_inline bool cosy_regs_few(const struct cosy_code *code,
					  struct cosy_range live)
{
	return live.count <= COSY_FEW_REGS &&
	       code->nregs - live.first >= COSY_FEW_REGS;
}

/**
 * struct cosy_compound - a loaded compound
 * @functions: the user functions that it calls; the first member, so that its address is that
 *	     of the compound
 * @code:    the decoded compound, read-only
 * @users:   one while it is loaded, and one for each run. Not a refcount_t, which costs
 *	     11 instructions per entry. It cannot overflow: a thread has at most a few
 *	     nested runs, and the state of a run that a loop keeps takes 2^7 bytes
 * @first:   operations of the first chunk of a run without its own limit
 * @few_inputs: cosy_regs_few() of its inputs
 * @parks:   loaded with COSY_LOAD_PARKS
 * @pins:    it holds the module, see cosy_compound_pin()
 * @handle:  its handle, which is never reused
 * @owner:   the user who is charged for it
 * @charged: bytes charged
 * @unload:  unloads it after a grace period, when no look-up can find it
 * @sealed:  the memory of @code
 */
struct cosy_compound {
	struct cosy_functions functions;
	const struct cosy_code *code;
	atomic_t users;
	u32 first;
	bool few_inputs;
	bool parks;
	bool pins;
	u64 handle;
	u64 owner;
	u64 charged;
	struct rcu_work unload;
	struct cosy_sealed sealed;
};

#define COSY_RECENT	64	/* a power of two */

/**
 * struct cosy_file - an open file of the device
 * @recent: for each value of the handle's low bits, the compound loaded last. Nearly every
 *	    look-up ends here. The first member, for the shortest code
 * @lock:   serialises changes; runs look up under RCU
 * @loaded: handle -> struct cosy_compound
 * @count:  number of loaded compounds
 * @pid:    the process that has opened it
 */
struct cosy_file {
	struct cosy_compound __rcu *recent[COSY_RECENT];
	struct mutex lock;
	struct xarray loaded;
	unsigned int count;
	struct pid *pid;
};

/* Slots executed before the clock is first read: few, because their duration is unknown. */
#define COSY_FIRST_CHUNK	(1 << 10)

int cosy_compounds_init(void);
void cosy_compounds_exit(void);
extern unsigned int cosy_max_loads;
struct cosy_file *cosy_file_alloc(void);
void cosy_file_free(struct cosy_file *cf);
long cosy_compound_load(struct cosy_file *cf, struct cosy_load __user *arg);
long cosy_compound_unload(struct cosy_file *cf, const u64 __user *arg);
long cosy_compound_bind(struct cosy_file *cf, struct cosy_bind __user *arg);
struct cosy_compound *cosy_compound_find(struct cosy_file *cf, u64 handle);
struct cosy_compound *cosy_compound_get_parks(struct cosy_file *cf, u64 handle);
void cosy_compound_free(struct cosy_compound *compound);

/**
 * cosy_compound_get() - look a compound up to run it
 * @cf:     the file
 * @handle: its handle
 *
 * Return: the compound with a reference, or NULL.
 */
static inline struct cosy_compound *cosy_compound_get(struct cosy_file *cf,
						      u64 handle)
{
	struct cosy_compound *compound;

	/* While a look-up can find it, it has the reference of a loaded compound. */
	rcu_read_lock_sched();
	compound = rcu_dereference_sched(cf->recent[handle % COSY_RECENT]);
	if (unlikely(!compound || compound->handle != handle))
		compound = cosy_compound_find(cf, handle);
	if (likely(compound))
		atomic_inc(&compound->users);
	rcu_read_unlock_sched();
	return compound;
}

/**
 * cosy_compound_put() - drop a reference of cosy_compound_get()
 * @compound: the compound
 */
static inline void cosy_compound_put(struct cosy_compound *compound)
{
	if (atomic_dec_and_test(&compound->users))
		cosy_compound_free(compound);
}

#endif /* COSY_LOAD_COMPOUND_H */
