/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * functions.h - user functions.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "loading.h"
#include "runs.h"

static struct cosy_bind bind_arg;

static void bind_begins(void)
{
	bind_arg = (struct cosy_bind){ .base = (uintptr_t)seg.base, .pointers = 1 };
}

static long bind_it(void)
{
	return bind_function(dev, caller_handle, function(object, "count_on"), &bind_arg);
}

/* It may have been bound although the answer has failed. */
static void unbind(long ret)
{
	(void)ret;
	bind_begins();
	bind_function(dev, caller_handle, -1, &bind_arg);
}

static void bind_bound(void)
{
	bind_begins();
	if (bind_it())
		die("COSY_IOC_BIND");
	bind_begins();
}

static long unbind_it(void)
{
	return bind_function(dev, caller_handle, -1, &bind_arg);
}

static void function_begins(void)
{
	handle = caller_handle;
	run_begins();
	*(volatile __u64 *)(seg.base + 0x10000) = 0;
	frame[1] = (uintptr_t)seg.base + 0x10000;
	frame[2] = 9;
}

/* It resumes where it was left. */
static void suspended_begins(void)
{
	function_begins();
	suspended = (struct cosy_suspended){ .saved = { 5 }, .resume = 1 };
	run.suspended = (uintptr_t)&suspended;
	run.flags = COSY_RUN_SUSPENDED;
	run.status = COSY_AGAIN;
}

/* It exceeds its time slice, and is left. */
static void leaving_begins(void)
{
	function_begins();
	frame[2] = 3000000;
	run.suspended = (uintptr_t)&suspended;
	run.slice = 1;
}

static long yield_it(void)
{
	struct cosy_yield yield = { .size = sizeof(yield) };

	if (ioctl(dev, COSY_IOC_YIELD, &yield))
		return -errno;
	close(yield.fd);
	return 0;
}

static void try_functions(const char *programs)
{
	struct cosy_info known = { .size = sizeof(known) };

	if (ioctl(dev, COSY_IOC_INFO, &known))
		die("COSY_IOC_INFO");
	if (!(known.features & COSY_FEATURE_FUNCTIONS)) {
		printf("SKIP: user functions, which this kernel lacks BPF arenas for\n");
		return;
	}
	try(&(struct operation)OPERATION("yield", NULL, yield_it, NULL, 0));
	seg = segment_create();
	object = functions_load(dev, programs, &seg);
	caller_handle = load_caller(dev);
	try(&(struct operation)OPERATION("bind", bind_begins, bind_it, unbind, 0,
					 .repeats = CHARGE_REPEATS));
	try(&(struct operation)OPERATION("bind again", bind_bound, bind_it, unbind, 0,
					 .repeats = CHARGE_REPEATS));
	try(&(struct operation)OPERATION("unbind", bind_bound, unbind_it, unbind, 0));
	bind_bound();
	try(&(struct operation)OPERATION("function", function_begins, run_it, NULL, COSY_RUN_DONE,
					 .exact = true));
	try(&(struct operation)OPERATION("function that goes on", suspended_begins, run_it, NULL,
					 COSY_RUN_DONE));
	try(&(struct operation)OPERATION("function that is left", leaving_begins, run_it, NULL,
					 COSY_RUN_DONE));
	handle = caller_handle;
	unload_it();
	bpf_object__close(object);
	close(seg.map);
	munmap(seg.base, SEGMENT_SIZE);
}

/* Programs are freed some time after their last reference. */
static bool wait_programs(void)
{
	__u32 id;

	for (double end = now() + 60; now() < end; usleep(5000))
		if (bpf_prog_get_next_id(0, &id) && errno == ENOENT)
			return true;
	return false;
}

#endif /* FUNCTIONS_H */
