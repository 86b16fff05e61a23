// SPDX-License-Identifier: GPL-2.0
/*
 * coverage.c - which code of the module has run, for the fuzzer.
 *
 * Built by `make COSY_COVERAGE=y` only.  The compiler then calls
 * __sanitizer_cov_trace_pc() in every basic block; each call has a counter of 8 bits,
 * which /dev/cosy-coverage maps.  That is what KCOV does, without a kernel that has
 * it, and counted rather than recorded, as libFuzzer wants it: counter i belongs to the
 * return addresses 4 * i to 4 * i + 3 after the beginning of the module's text.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "coverage.h"

/* A call takes 5 bytes, so that no two share a counter. */
#define COUNTER_SHIFT	2
#define NR_COUNTERS	(128 * 1024)

static u8 *cosy_counters;

void __sanitizer_cov_trace_pc(void);

/* Runs where user access is open and where nothing may sleep: it only counts. */
void notrace __sanitizer_cov_trace_pc(void)
{
	const struct module_memory *text = &THIS_MODULE->mem[MOD_TEXT];
	unsigned long at = (_RET_IP_ - (unsigned long)text->base) >> COUNTER_SHIFT;
	u8 *counters = READ_ONCE(cosy_counters);

	/* Racing increments may be lost, and a full counter stays full. */
	if (counters && at < NR_COUNTERS && counters[at] != U8_MAX)
		counters[at]++;
}

static int cosy_coverage_mmap(struct file *file, struct vm_area_struct *vma)
{
	return remap_vmalloc_range(vma, cosy_counters, vma->vm_pgoff);
}

static const struct file_operations cosy_coverage_fops = {
	.owner = THIS_MODULE,
	.mmap = cosy_coverage_mmap,
};

static struct miscdevice cosy_coverage_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "cosy-coverage",
	.fops = &cosy_coverage_fops,
	.mode = 0600,
};

int __init cosy_coverage_init(void)
{
	u8 *counters = vmalloc_user(NR_COUNTERS);
	int err;

	if (!counters)
		return -ENOMEM;
	WRITE_ONCE(cosy_counters, counters);
	err = misc_register(&cosy_coverage_device);
	if (err) {
		WRITE_ONCE(cosy_counters, NULL);
		vfree(counters);
	}
	return err;
}

void cosy_coverage_exit(void)
{
	u8 *counters = cosy_counters;

	misc_deregister(&cosy_coverage_device);
	WRITE_ONCE(cosy_counters, NULL);
	/* Code that is still being left may be counting. */
	synchronize_rcu_tasks();
	vfree(counters);
}
