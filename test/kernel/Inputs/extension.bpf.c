// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * extension.bpf.c - replaces part() of extended.bpf.c, and reads what follows the context.
 */
#include <cosy/function.h>

#define SEC(name)	__attribute__((section(name), used))
#define CONTEXT		struct cosy_function_ctx *ctx __attribute__((btf_decl_tag("arg:ctx")))

SEC("freplace") int beyond(CONTEXT)
{
	return *(volatile int *)((char *)ctx + sizeof(struct cosy_function_ctx) + 4);
}

const char terms[] SEC("license") = "GPL";
