/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * record.h - what record.bpf.c and the tool exchange.
 *
 * A *program* here is one execution of an executable: it begins at exec, and forked
 * children that do not exec belong to it. Programs are numbered.
 *
 * A *place* is where a program makes a call: the address of the system call and the
 * return addresses above it, as a hash. Several hashes may mean the same place, because
 * the hash takes words of the stack that only look like return addresses. The tool
 * unwinds the stack that was copied for each hash, and merges them.
 */
#ifndef COSY_PROFILE_RECORD_H
#define COSY_PROFILE_RECORD_H

#include <linux/types.h>

#define PROFILE_MAX_PROGRAMS	16384
#define PROFILE_MAX_THREADS	65536
#define PROFILE_MAX_EDGES	262144
#define PROFILE_MAX_PLACES	131072
#define PROFILE_MAX_SYSCALLS	512

/* A copy of the stack is in chunks: one that cannot be read ends it. */
#define PROFILE_CHUNK		512
#define PROFILE_STACK_CHUNKS	31

/* A call that follows another one in a thread; @from is 0 for the first. */
struct profile_edge_key {
	__u32 program;
	__u32 nr;
	__u64 from;
	__u64 to;
};

/* All times are in nanoseconds. */
struct profile_edge {
	__u64 count;
	__u64 failed;		/* returned an error */
	__u64 one_component;	/* the path has no '/' */
	__u64 empty_path;	/* the call is about a descriptor */
	__u64 kernel_ns;	/* in the call, on a CPU */
	__u64 wait_ns;		/* in the call, not on a CPU */
	__u64 user_ns;		/* since the call before, on a CPU */
};

struct profile_place_key {
	__u32 program;
	__u32 pad;
	__u64 place;
};

struct profile_program {
	__u32 tgid;		/* the process that executed it */
	__u32 forks;		/* processes that it started */
	__u32 threads;
	__u32 pad;
	__u64 calls;
	__u64 cpu_ns;		/* user and kernel mode, recording included */
	__u64 record_ns;	/* spent in record.bpf.c */
	__u64 code_start;	/* of the executable */
	__u64 code_end;
	__u64 libraries_start;	/* of what is mapped executable besides */
	__u64 libraries_end;
};

enum profile_event_type {
	PROFILE_EXEC = 1,	/* a struct profile_event */
	PROFILE_STACK,		/* a struct profile_stack */
};

struct profile_event {
	__u32 type;
	__u32 program;
	__u32 tgid;
	__u32 nr;		/* of the system call */
	__u64 time;
};

struct profile_stack {
	struct profile_event event;
	__u64 place;
	__u64 ip, sp, bp, bx, r12, r13, r14, r15;
	__u64 bytes;		/* of @stack */
	unsigned char stack[PROFILE_STACK_CHUNKS * PROFILE_CHUNK];
};

/* Counters of what was not recorded, for the map "lost". */
enum profile_lost {
	PROFILE_LOST_EDGES,	/* calls for which there was no memory */
	PROFILE_LOST_PROGRAMS,	/* programs above PROFILE_MAX_PROGRAMS */
	PROFILE_LOST_THREADS,
	PROFILE_LOST_COMPAT,	/* 32-bit calls */
	PROFILE_LOST_COUNTERS
};

#endif /* COSY_PROFILE_RECORD_H */
