// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * extended.bpf.c - a user function with a global part, which another program can replace.
 */
#include <cosy/function.h>

#define SEC(name)	__attribute__((section(name), used))
#define CONTEXT		struct cosy_function_ctx *ctx __attribute__((btf_decl_tag("arg:ctx")))

struct {
	int (*type)[33];	/* BPF_MAP_TYPE_ARENA */
	int (*map_flags)[1024];	/* BPF_F_MMAPABLE */
	int (*max_entries)[1048576];
} segment SEC(".maps");

__attribute__((noinline)) int part(CONTEXT)
{
	int result = 815;

	/* Otherwise the compiler knows what the call returns. */
	__asm__ volatile("" : "+r"(result) : "r"(ctx));
	return result;
}

SEC("cosy") int whole(struct cosy_function_ctx *ctx)
{
	__asm__ volatile("" :: "r"(&segment));
	ctx->result = (cosy_u64)part(ctx);
	return 0;
}

const char terms[] SEC("license") = "GPL";
