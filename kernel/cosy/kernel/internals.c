// SPDX-License-Identifier: GPL-2.0
/*
 * internals.c - finds the functions and structures of internals.def in the running kernel,
 * and checks them against its type information.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/stringify.h>

#include "kernel/btf.h"
#include "kernel/internals.h"
#include "kernel/symbols.h"

/*
 * The text of a prototype contains expansions of the macros of compat.h. __user, which
 * compilers may know as an attribute, must not be expanded.
 */
#undef __user
#define __user __user

#define COSY_MEMBER(type, member)
#define COSY_STRUCT(name, use)
#define COSY_OFFSET(type, member, use)
#define COSY_FUNCTION(name, newer, result, args, use)			\
	DEFINE_STATIC_CALL_NULL(cosy_internal_##name, cosy_internal_##name##_fn);
#include "kernel/internals.def"
#undef COSY_FUNCTION
#undef COSY_STRUCT
#undef COSY_OFFSET
#undef COSY_MEMBER

u64 cosy_internals __ro_after_init;

/*
 * The entries of internals.def.
 * @name:      name of the function or structure
 * @newer:     newer name of the function, or ""
 * @prototype: prototype of the function; NULL if the entry is not a function
 * @member:    member whose offset is needed, or NULL
 * @size:      size of the structure
 * @use:       its use, for messages
 */
static const struct {
	const char *name;
	const char *newer;
	const char *prototype;
	const char *member;
	int size;
	const char *use;
} listed[] = {
#define COSY_MEMBER(type, member)
#define COSY_FUNCTION(name, newer, result, args, use)			\
	{ #name, newer, __stringify(result args), NULL, 0, use },
#define COSY_STRUCT(name, use)						\
	{ __stringify(name), "", NULL, NULL, sizeof(struct name), use },
#define COSY_OFFSET(type, member, use) { #type, "", NULL, #member, 0, use },
#include "kernel/internals.def"
#undef COSY_FUNCTION
#undef COSY_STRUCT
#undef COSY_OFFSET
#undef COSY_MEMBER
};

/* Members of structures, and their offsets in this module's headers. */
static const struct {
	enum cosy_internal of;
	const char *name;
	int offset;
} members[] = {
#define COSY_FUNCTION(name, newer, result, args, use)
#define COSY_STRUCT(name, use)
#define COSY_OFFSET(type, member, use)
#define COSY_MEMBER(type, member)					\
	{ COSY_INTERNAL_##type, #member, offsetof(struct type, member) },
#include "kernel/internals.def"
#undef COSY_FUNCTION
#undef COSY_STRUCT
#undef COSY_OFFSET
#undef COSY_MEMBER
};

/* Addresses of functions, offsets of members. */
static unsigned long found[COSY_NR_INTERNALS] __ro_after_init;

/* Return true if the kernel has the function as listed. Reports a different prototype. */
static bool check_function(const struct cosy_btf *btf, unsigned int i)
{
	const char *name = listed[i].name;
	char prototype[COSY_PROTOTYPE_SIZE];
	int err;

	found[i] = (unsigned long)cosy_symbol(name);
	if (!found[i] && *listed[i].newer) {
		name = listed[i].newer;
		found[i] = (unsigned long)cosy_symbol(name);
	}
	/* Not reported: kernels differ in their functions. */
	if (!found[i])
		return false;
	err = cosy_btf_function(btf, name, listed[i].prototype, prototype);
	if (err == -EINVAL)
		pr_info("the kernel's %s is %s, not %s: no fast path for %s\n",
			name, prototype, listed[i].prototype, listed[i].use);
	else if (err)
		pr_info("the kernel's type information lacks %s: no fast path for %s\n",
			name, listed[i].use);
	return !err;
}

static bool check_struct(const struct cosy_btf *btf, unsigned int i)
{
	int is = cosy_btf_size(btf, listed[i].name), expected = listed[i].size;
	const char *member = NULL;
	unsigned int m;

	for (m = 0; is == expected && m < ARRAY_SIZE(members); m++) {
		if (members[m].of != i)
			continue;
		member = members[m].name;
		expected = members[m].offset;
		is = cosy_btf_offset(btf, listed[i].name, member);
		if (is == expected)
			is = expected = listed[i].size;
		else
			break;
	}
	if (is == expected)
		return true;
	if (is < 0)
		pr_info("the kernel's struct %s%s%s is missing or ambiguous: no fast path for %s\n",
			listed[i].name, member ? "." : "", member ?: "",
			listed[i].use);
	else if (member)
		pr_info("the kernel's struct %s has %s at %d, not at %d: no fast path for %s\n",
			listed[i].name, member, is, expected, listed[i].use);
	else
		pr_info("the kernel's struct %s has %d bytes, not %d: no fast path for %s\n",
			listed[i].name, is, expected, listed[i].use);
	return false;
}

static bool check_offset(const struct cosy_btf *btf, unsigned int i)
{
	int offset = cosy_btf_offset(btf, listed[i].name, listed[i].member);

	if (offset < 0) {
		pr_info("cannot find the offset of %s in struct %s: %s are made from user mode, or take longer\n",
			listed[i].member, listed[i].name, listed[i].use);
		return false;
	}
	found[i] = offset;
	return true;
}

static void check_all(const struct cosy_btf *btf)
{
	unsigned int i;
	bool good;

	BUILD_BUG_ON(COSY_NR_INTERNALS > 64);
	BUILD_BUG_ON(ARRAY_SIZE(listed) != COSY_NR_INTERNALS);
	for (i = 0; i < COSY_NR_INTERNALS; i++) {
		if (listed[i].prototype)
			good = check_function(btf, i);
		else if (listed[i].member)
			good = check_offset(btf, i);
		else
			good = check_struct(btf, i);
		if (good)
			cosy_internals |= BIT_ULL(i);
	}

#define COSY_MEMBER(type, member)
#define COSY_STRUCT(name, use)
#define COSY_OFFSET(type, member, use)
#define COSY_FUNCTION(name, newer, result, args, use)			\
	if (cosy_has(COSY_NEEDS(name)))					\
		static_call_update(cosy_internal_##name,		\
				   (cosy_internal_##name##_fn *)	\
				   found[COSY_INTERNAL_##name]);
#include "kernel/internals.def"
#undef COSY_FUNCTION
#undef COSY_STRUCT
#undef COSY_OFFSET
#undef COSY_MEMBER
}

/**
 * cosy_internals_init() - find the usable entries of internals.def, for cosy_has()
 *
 * Reports entries that differ from what is expected.
 */
void cosy_internals_init(void)
{
	const void *begin = cosy_symbol("__start_BTF");
	const void *end = cosy_symbol("__stop_BTF");
	struct cosy_btf btf;
	u32 size = end - begin;
	u32 *index = NULL;
	u32 room = 0;

	if (begin && end)
		room = cosy_btf_room(begin, size);
	if (room)
		index = kvmalloc_array(room, sizeof(*index), GFP_KERNEL);
	if (index && !cosy_btf_open(&btf, begin, size, index))
		check_all(&btf);
	else
		pr_info("the kernel's type information cannot be read (it needs CONFIG_DEBUG_INFO_BTF, CONFIG_KALLSYMS_ALL and %zu KiB of memory): there are no fast paths and no user functions\n",
			room * sizeof(*index) / 1024);
	kvfree(index);
}

/**
 * cosy_internal_address() - return the address of a function, to compare it
 * @internal: the function
 *
 * Return: the address; NULL if the function cannot be used.
 */
void *cosy_internal_address(enum cosy_internal internal)
{
	return cosy_has(BIT_ULL(internal)) ? (void *)found[internal] : NULL;
}

/**
 * cosy_internal_offset() - return the offset of a member
 * @internal: a COSY_OFFSET(), for which cosy_has() is true
 *
 * Return: bytes.
 */
unsigned int cosy_internal_offset(enum cosy_internal internal)
{
	return found[internal];
}
