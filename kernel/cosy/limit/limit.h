/* SPDX-License-Identifier: GPL-2.0 */
/*
 * limit.h - limits the memory of a user and the CPU time of a run.
 */
#ifndef COSY_LIMIT_H
#define COSY_LIMIT_H

#include <linux/compiler.h>
#include <linux/gfp.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/time64.h>
#include <linux/types.h>

struct page;
struct vm_area_struct;

/*
 * Allocations do not start the OOM killer, but fail; then the region runs natively.
 * They are charged to the cgroup of the current thread.
 */
#define COSY_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * What a user is charged for the memory of a process (mm_struct) that an object keeps after the
 * process has ended: with the page directory, which mitigations double.
 */
#define COSY_MM_CHARGE	(sizeof(struct mm_struct) + 2 * PAGE_SIZE)

/**
 * struct cosy_mappable - memory that a process can map
 * @address: its address, for the kernel
 * @pages:   the memory
 * @npages:  number of @pages
 */
struct cosy_mappable {
	void *address;
	struct page **pages;
	unsigned int npages;
};

/* pages.c */
struct page **cosy_pages_alloc(unsigned int n);
void cosy_pages_free(struct page **pages, unsigned int n);
void *cosy_mappable_alloc(struct cosy_mappable *memory, u64 size);
void cosy_mappable_free(const struct cosy_mappable *memory);
bool cosy_mappable_fits(const struct vm_area_struct *vma, u64 size);
int cosy_mappable_map(const struct cosy_mappable *memory, struct vm_area_struct *vma);

/* quota.c */
u64 cosy_quota_owner(void);
int cosy_quota_charge(u64 owner, u64 bytes);
void cosy_quota_uncharge(u64 owner, u64 bytes);

/* slice.c: the module's parameter time_slice, in ms */
extern unsigned int cosy_time_slice_ms;

/**
 * cosy_time_slice() - return the CPU time after which a run leaves the kernel for a moment
 *
 * Return: the time in ns.
 */
static inline u64 cosy_time_slice(void)
{
	return (u64)READ_ONCE(cosy_time_slice_ms) * NSEC_PER_MSEC;
}

/**
 * cosy_cpu_time() - return the CPU time of the current thread that the scheduler has accounted
 *
 * Return: the time in ns.
 */
static inline u64 cosy_cpu_time(void)
{
	/* The scheduler updates it under its own lock; a stale value makes a slice longer. */
	return data_race(READ_ONCE(current->se.sum_exec_runtime));
}

/**
 * struct cosy_slice - the CPU time of the current thread since a moment
 * @used:     CPU time until the last look, in ns
 * @runtime:  CPU time of the thread at that look, from the scheduler
 * @clock:    time of that look
 * @switches: number of context switches of the thread until then
 */
struct cosy_slice {
	u64 used;
	u64 runtime;
	u64 clock;
	unsigned long switches;
};

void cosy_slice_begin(struct cosy_slice *slice);
u64 cosy_slice_look(struct cosy_slice *slice);

#endif /* COSY_LIMIT_H */
