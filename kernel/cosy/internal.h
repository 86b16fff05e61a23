/* SPDX-License-Identifier: GPL-2.0 */
/*
 * internal.h - what the files of the module know of each other.
 */
#ifndef COSY_INTERNAL_H
#define COSY_INTERNAL_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <cosy/decode.h>
#include <linux/cosy.h>

/*
 * For memory that is worth no killing: without it a region runs natively. Charged
 * to the cgroup of whoever asks for it.
 */
#define COSY_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * struct cosy_compound - a loaded compound
 * @users:   one for being loaded, one for each run; so it cannot overflow
 * @first:   operations of the first chunk of a run without its own limit
 * @pins:    it holds the module, see cosy_compound_outlives()
 * @handle:  its handle, never used again
 * @owner:   who is charged for it
 * @charged: bytes charged
 * @unload:  gives up being loaded when nobody can look it up any more
 * @nfunctions: user functions it calls
 * @functions: their programs
 * @code:    the decoded compound, immutable
 */
struct cosy_compound {
	atomic_t users;
	u32 first;
	bool pins;
	u64 handle;
	kuid_t owner;
	u64 charged;
	struct rcu_work unload;
	unsigned int nfunctions;
	struct cosy_binding __rcu **functions;
	struct cosy_code code;
};

#define COSY_RECENT	64	/* a power of two */

/**
 * struct cosy_file - an open file of the device
 * @lock:   serialises changes; runs look up under RCU
 * @loaded: handle -> struct cosy_compound
 * @count:  of them
 * @recent: the compound loaded last of those with the same low bits of the
 *	    handle: nearly every look-up ends here
 */
struct cosy_file {
	struct mutex lock;
	struct xarray loaded;
	unsigned int count;
	struct cosy_compound __rcu *recent[COSY_RECENT];
};

/*
 * Slots executed until the first look at the clock: few, for it is not known
 * how long they take.
 */
#define COSY_FIRST_CHUNK	(1 << 10)

/* compounds.c */
int cosy_compounds_init(void);
void cosy_compounds_exit(void);
extern unsigned int cosy_max_loads;
struct cosy_file *cosy_file_alloc(void);
void cosy_file_free(struct cosy_file *cf);
long cosy_compound_load(struct cosy_file *cf, struct cosy_load __user *arg);
long cosy_compound_unload(struct cosy_file *cf, const u64 __user *arg);
struct cosy_compound *cosy_compound_find(struct cosy_file *cf, u64 handle);
void cosy_compound_free(struct cosy_compound *compound);
void cosy_compounds_queue(struct work_struct *work);

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

	/* As long as it can be found, being loaded keeps it. */
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
 * cosy_compound_put() - give back what cosy_compound_get() gave
 * @compound: the compound
 */
static inline void cosy_compound_put(struct cosy_compound *compound)
{
	if (atomic_dec_and_test(&compound->users))
		cosy_compound_free(compound);
}

/* functions.c */
void cosy_functions_init(void);
void cosy_functions_exit(void);
void cosy_functions_free(struct cosy_compound *compound);
long cosy_functions_bind(struct cosy_file *cf, struct cosy_bind __user *arg);
long cosy_functions_yield(struct cosy_yield __user *arg);

/* quota.c */
int cosy_quota_charge(kuid_t owner, u64 bytes);
void cosy_quota_uncharge(kuid_t owner, u64 bytes);

/* run.c */
loff_t cosy_run_llseek(struct file *file, loff_t offset, int whence);
u64 cosy_time_slice(void);

/* env.c */
bool cosy_traced(void);

/* audit.c */
void cosy_audit_init(void);
bool cosy_audit_looks(void);

/* seccomp.c */
void cosy_seccomp_init(void);
bool cosy_seccomp_allows(const struct pt_regs *regs, unsigned int nr);
bool cosy_seccomp_bars_entry(void);

/**
 * cosy_seccomp_state() - changes when the current thread gets a filter
 *
 * Its mode and the number of its filters, which are never taken away.
 */
static __always_inline u64 cosy_seccomp_state(void)
{
#ifdef CONFIG_SECCOMP
	BUILD_BUG_ON(offsetof(struct seccomp, mode) != 0 ||
		     offsetof(struct seccomp, filter_count) != 4);
	return READ_ONCE(*(u64 *)&current->seccomp);
#else
	return 0;
#endif
}

/* layout.c */
int cosy_layout_offset(const char *type, const char *member);

/* symbols.c */
int cosy_symbols_init(void);
void *cosy_symbol(const char *name);

/* syscalls.c */
int cosy_syscalls_init(void);

#endif /* COSY_INTERNAL_H */
