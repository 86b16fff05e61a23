/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * record.h - the data that record.bpf.c and the tool exchange.
 *
 * A *program* here is one execution of an executable. It begins at exec, and forked
 * children that do not exec belong to it. Programs are numbered.
 *
 * A *place* is where a program makes a call: a hash of the address of the system call and of
 * the return addresses on the stack. Several hashes may mean the same place, because some of
 * the words only look like return addresses. The tool unwinds the copy of the stack for each
 * hash, and merges hashes with the same stack.
 */
#ifndef COSY_PROFILE_RECORD_H
#define COSY_PROFILE_RECORD_H

#include <linux/types.h>

#define PROFILE_MAX_PROGRAMS	16384
#define PROFILE_MAX_THREADS	65536
#define PROFILE_MAX_EDGES	262144
#define PROFILE_MAX_PLACES	131072
#define PROFILE_MAX_SYSCALLS	512

/* In path_arguments of record.bpf.c. */
#define PROFILE_LOOKS_UP	0x80

/* The stack is copied in chunks, up to the first one that cannot be read. */
#define PROFILE_CHUNK		512
#define PROFILE_STACK_CHUNKS	31

/* The bytes of a program's arguments that are copied; a power of two. */
#define PROFILE_ARGUMENTS	1024

/* A call at @to that follows a call at @from in a thread; @from is 0 for the first call. */
struct profile_edge_key {
	__u32 program;
	__u32 nr;
	__u64 from;
	__u64 to;
};

/* All times are in nanoseconds. */
struct profile_edge {
	__u64 count;
	__u64 failed;		/* calls that returned an error */
	__u64 slow;		/* look-ups for which the file system was asked, as their time shows */
	__u64 missing;		/* other calls that returned ENOENT */
	__u64 walked;		/* other openings that walk the path, and calls for "." and ".." */
	__u64 one_component;	/* other calls whose path has no '/' */
	__u64 in_directory;	/* those of them whose path begins in a directory that is open */
	__u64 empty_path;	/* calls without a path, for a descriptor */
	__u64 time_zone;	/* calls whose path is /etc/localtime */
	__u64 resolves;		/* calls of readlink() whose path is a '/' and one component */
	__u64 resolving;	/* calls of readlink() since such a call, without getcwd() between */
	__u64 same_descriptor;	/* writes to the descriptor of the last read */
	__u64 kernel_ns;	/* in the call, on a CPU */
	__u64 wait_ns;		/* in the call, not on a CPU */
	__u64 user_ns;		/* since the previous call, on a CPU */
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
	__u64 record_ns;	/* time in record.bpf.c */
	__u64 code_start;	/* code of the executable */
	__u64 code_end;
	__u64 libraries_start;	/* range of the other executable mappings */
	__u64 libraries_end;
};

enum profile_event_type {
	PROFILE_EXEC = 1,	/* a struct profile_exec */
	PROFILE_STACK,		/* a struct profile_stack */
};

struct profile_event {
	__u32 type;
	__u32 program;
	__u32 tgid;
	__u32 nr;		/* number of the system call */
	__u64 time;
};

/* @parent is the program that executed this one. The arguments are strings, maybe cut. */
struct profile_exec {
	struct profile_event event;
	__u32 parent;
	__u32 bytes;		/* bytes of @arguments that are used */
	char arguments[PROFILE_ARGUMENTS];
};

struct profile_stack_head {
	struct profile_event event;
	__u64 place;
	__u64 ip, sp, bp, bx, r12, r13, r14, r15;
	__u64 bytes;		/* bytes of the stack that follow */
};

struct profile_stack {
	struct profile_stack_head head;
	unsigned char stack[PROFILE_STACK_CHUNKS * PROFILE_CHUNK];
};

/* Indices of the map "lost", which counts data that was not recorded. */
enum profile_lost {
	PROFILE_LOST_EDGES,	/* calls beyond PROFILE_MAX_EDGES */
	PROFILE_LOST_PROGRAMS,	/* programs beyond PROFILE_MAX_PROGRAMS */
	PROFILE_LOST_THREADS,	/* threads beyond PROFILE_MAX_THREADS */
	PROFILE_LOST_COMPAT,	/* 32-bit calls */
	PROFILE_LOST_PLACES,	/* calls whose stack is beyond PROFILE_MAX_PLACES, or too many bytes */
	PROFILE_LOST_COUNTERS
};

#endif /* COSY_PROFILE_RECORD_H */
