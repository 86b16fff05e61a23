/* SPDX-License-Identifier: GPL-2.0 */
/*
 * internals.h - functions and structures of the kernel that are not exported, as
 * internals.def lists them.
 */
#ifndef COSY_KERNEL_INTERNALS_H
#define COSY_KERNEL_INTERNALS_H

#include <linux/bits.h>
#include <linux/btf.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <linux/path.h>
#include <linux/stat.h>
#include <linux/static_call.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "compat/compat.h"

struct bpf_arena;
struct mount;
struct pipe_inode_info;
struct proto_accept_arg;
struct pt_regs;
struct sockaddr;
struct statx;
union bpf_attr;

/* fs/internal.h */
struct open_flags {
	int open_flag;
	umode_t mode;
	int acc_mode;
	int intent;
	int lookup_flags;
};

/* fs/internal.h */
struct xattr_name {
	char name[XATTR_NAME_MAX + 1];
};

/* fs/internal.h */
struct cosy_xattr_ctx {
	union {
		const void __user *cvalue;
		void __user *value;
	};
	void *kvalue;
	size_t size;
	struct xattr_name *kname;
	unsigned int flags;
};

#define COSY_MEMBER(type, member)

/* The entries of internals.def: COSY_INTERNAL_vfs_read, COSY_INTERNAL_seccomp_filter_prev. */
enum cosy_internal {
#define COSY_FUNCTION(name, newer, result, args, use) COSY_INTERNAL_##name,
#define COSY_STRUCT(name, use) COSY_INTERNAL_##name,
#define COSY_OFFSET(type, member, use) COSY_INTERNAL_##type##_##member,
#include "kernel/internals.def"
#undef COSY_FUNCTION
#undef COSY_STRUCT
#undef COSY_OFFSET
	COSY_NR_INTERNALS
};

/* Functions must be called directly: see symbols.c. */
#define COSY_FUNCTION(name, newer, result, args, use)			\
	typedef result cosy_internal_##name##_fn args;			\
	DECLARE_STATIC_CALL(cosy_internal_##name, cosy_internal_##name##_fn);
#define COSY_STRUCT(name, use)
#define COSY_OFFSET(type, member, use)
#include "kernel/internals.def"
#undef COSY_FUNCTION
#undef COSY_STRUCT
#undef COSY_OFFSET
#undef COSY_MEMBER

/**
 * COSY_NEEDS() - the bit of an entry of internals.def
 * @name: as in enum cosy_internal
 */
#define COSY_NEEDS(name)	BIT_ULL(COSY_INTERNAL_##name)

/**
 * cosy_internal() - call a function that the kernel does not export
 * @name: its name; cosy_has(COSY_NEEDS(name)) must be true
 */
#define cosy_internal(name)	static_call(cosy_internal_##name)

/* COSY_NEEDS() of all entries that can be used. */
extern u64 cosy_internals;

/**
 * cosy_has() - return true if all needed entries can be used
 * @needs: COSY_NEEDS() of the entries
 *
 * Return: true if none is missing.
 */
static __always_inline bool cosy_has(u64 needs)
{
	return !(needs & ~cosy_internals);
}

void cosy_internals_init(void);
void *cosy_internal_address(enum cosy_internal internal);
unsigned int cosy_internal_offset(enum cosy_internal internal);

#endif /* COSY_KERNEL_INTERNALS_H */
