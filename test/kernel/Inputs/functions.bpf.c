// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * functions.bpf.c - user functions for the module's tests: correct ones, failing ones, and
 * programs that are not user functions.
 */
#include <cosy/function.h>

#define SEC(name)	__attribute__((section(name), used))
#define SEGMENT		__attribute__((address_space(1)))
typedef volatile unsigned char SEGMENT byte;
typedef volatile cosy_u64 SEGMENT word;

/* A map's type, flags and entries are lengths of arrays in its BTF. */
struct {
	int (*type)[33];	/* BPF_MAP_TYPE_ARENA */
	int (*map_flags)[1024];	/* BPF_F_MMAPABLE */
	int (*max_entries)[1048576];
} segment SEC(".maps");

static int (*const yield)(void) = (int (*)(void))COSY_FUNCTION_YIELD;

/* The verifier must see that loops end. */
#define END_OF_PATIENCE(label)	__asm__ volatile goto("may_goto %l[" #label "]" :::: label)

/* The program uses the segment. This reference tells the kernel. */
#define USE_SEGMENT()	__asm__ volatile("" :: "r"(&segment))

#define FUNCTION(name)							\
	SEC("cosy") int name(volatile struct cosy_function_ctx *ctx)

/* Return true if the loop may execute another iteration. */
static inline int goes_on(volatile struct cosy_function_ctx *ctx)
{
	return --ctx->budget >= 0 || !yield();
}

/* The sum of args[1] bytes at args[0]. */
FUNCTION(sum)
{
	byte *p = (byte *)ctx->args[0];
	cosy_u64 n = ctx->args[1], total = 0;

	USE_SEGMENT();
	/* From a 0 that the verifier does not know, because it would follow each iteration. */
	for (cosy_u64 i = ctx->resume; i < n; i++) {
		if (!(i & 63) && !goes_on(ctx))
			return 0;
		END_OF_PATIENCE(end);
		total += p[i];
	}
	ctx->result = total;
	return 0;
end:
	ctx->status = COSY_FUNCTION_LOOP;
	return 0;
}

/* All arguments, and other members of the context. */
FUNCTION(arguments)
{
	USE_SEGMENT();
	ctx->result = ctx->args[0] + 2 * ctx->args[1] + 3 * ctx->args[2] +
		      4 * ctx->args[3] + 5 * ctx->args[4] + 6 * ctx->args[5];
	return 0;
}

FUNCTION(store)
{
	USE_SEGMENT();
	ctx->wrote = 1;
	*(word *)ctx->args[0] = ctx->args[1];	/* line: store */
	ctx->result = 1;
	return 0;
}

FUNCTION(load)
{
	USE_SEGMENT();
	ctx->result = *(word *)ctx->args[0];	/* line: load */
	return 0;
}

static __attribute__((noinline)) cosy_u64 deep_load(cosy_u64 at)
{
	return *(word *)at;	/* line: deep */
}

FUNCTION(deep)
{
	USE_SEGMENT();
	ctx->result = deep_load(ctx->args[0]);
	return 0;
}

/* Writes without end from args[0] on, finally to unmapped memory. */
FUNCTION(run_away)
{
	word *p = (word *)ctx->args[0];

	USE_SEGMENT();
	ctx->wrote = 1;
	for (;;) {
		if (!goes_on(ctx))
			return 0;
		END_OF_PATIENCE(end);
		*p++ = ctx->args[1];	/* line: run_away */
	}
end:
	ctx->status = COSY_FUNCTION_LOOP;
	return 0;
}

/* Count until the verifier's limit of iterations. Returns 0 if told to stop. */
static __attribute__((noinline)) int spin_once(volatile struct cosy_function_ctx *ctx, word *p)
{
	for (;;) {
		if (!goes_on(ctx))
			return 0;
		END_OF_PATIENCE(end);
		for (int i = 0; i < 100; i++)
			*p += 1;
	}
end:
	return 1;
}

/*
 * Endless, but it can be told to stop. The limit is for each call. Since 6.15 it is 250 ms.
 */
FUNCTION(spin)
{
	word *p = (word *)ctx->args[0];

	USE_SEGMENT();
	ctx->wrote = 1;
	for (int i = 0; i < 100; i++)
		if (!spin_once(ctx, p))
			return 0;
	ctx->status = COSY_FUNCTION_LOOP;
	return 0;
}

/* Counts to args[1], also in the segment, and can be left meanwhile. */
FUNCTION(count_on)
{
	cosy_u64 begin = ctx->args[2], kept = ctx->saved[0];
	cosy_u64 i = ctx->resume ? kept : begin;
	word *p = (word *)ctx->args[0];

	USE_SEGMENT();
	ctx->wrote = 1;
	for (; i < ctx->args[1]; i++) {
		if (--ctx->budget < 0) {
			ctx->resume = 1;
			if (yield())
				goto leave;
		}
		END_OF_PATIENCE(leave);
		*p += 1;
	}
	ctx->result = i;
	return 0;
leave:
	ctx->saved[0] = i;
	ctx->resume = 1;
	ctx->status = COSY_FUNCTION_LEFT;
	return 0;
}

FUNCTION(divide)
{
	USE_SEGMENT();
	if (!ctx->args[1]) {
		ctx->status = COSY_FUNCTION_DIVIDE;
		ctx->line = 77;
		return 0;
	}
	ctx->result = ctx->args[0] / ctx->args[1];
	return 0;
}

/* Uses its stack, and waits until args[0] allows it to continue. */
FUNCTION(stack)
{
	word *flag = (word *)ctx->args[0];
	word *own = (word *)ctx->stack;
	cosy_u64 id = ctx->args[1];

	USE_SEGMENT();
	if (ctx->stack_end - ctx->stack < ctx->args[2]) {
		ctx->status = COSY_FUNCTION_STACK;
		ctx->line = 88;
		return 0;
	}
	*own = id;
	for (;;) {
		if (!goes_on(ctx))
			return 0;
		END_OF_PATIENCE(end);
		if (*own != id || *flag)
			break;
	}
end:
	ctx->result = *own == id ? ctx->stack : 0;
	return 0;
}

/* Other results. */
FUNCTION(liar)
{
	USE_SEGMENT();
	for (int i = 0; i < 6; i++)
		ctx->args[i] = -1;
	ctx->result = -1;
	ctx->budget = 1ll << 62;
	ctx->status = ctx->args[0] ? 0xffffffff : 0;
	ctx->line = -1;
	ctx->address = -1;
	ctx->base = -1;
	ctx->stack = -1;
	ctx->stack_end = -1;
	ctx->data = -1;
	ctx->wrote = -1;
	return -1;
}

/*
 * Reads outside the segment. The kernel allows that for users who may load programs, and returns 0
 * for unmapped memory.
 */
extern void *bpf_rdonly_cast(void *obj, unsigned int type) SEC(".ksyms");

struct list_head {
	struct list_head *next, *prev;
} __attribute__((preserve_access_index));

FUNCTION(elsewhere)
{
	const struct list_head *at;

	USE_SEGMENT();
	at = bpf_rdonly_cast((void *)ctx->args[1],
			     __builtin_btf_type_id(*(struct list_head *)0, 1));
	ctx->result = (cosy_u64)at->next + 1;
	return 0;
}

/* A context larger than the real one. */
FUNCTION(greedy)
{
	USE_SEGMENT();
	ctx->result = *(volatile cosy_u64 *)((char *)ctx + sizeof(*ctx));
	return 0;
}

const char terms[] SEC("license") = "GPL";
