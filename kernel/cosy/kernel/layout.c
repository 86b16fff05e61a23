// SPDX-License-Identifier: GPL-2.0
/*
 * layout.c - where members are in structures that the kernel keeps to itself,
 * by the type information (BTF) of the running kernel.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include "kernel/layout.h"
#include "kernel/symbols.h"

static struct btf *cosy_no_btf(void)
{
	return NULL;
}

static s32 cosy_no_find(const struct btf *btf, const char *name, u8 kind)
{
	return -ENOENT;
}

static const char *cosy_no_name(const struct btf *btf, u32 offset)
{
	return NULL;
}

DEFINE_STATIC_CALL(cosy_btf, cosy_no_btf);
DEFINE_STATIC_CALL(cosy_btf_find, cosy_no_find);
DEFINE_STATIC_CALL(cosy_btf_name, cosy_no_name);

static const struct btf *cosy_layout_btf(void)
{
	struct btf *(*get)(void) = cosy_symbol("bpf_get_btf_vmlinux");
	s32 (*find)(const struct btf *btf, const char *name, u8 kind) =
		cosy_symbol("btf_find_by_name_kind");
	const char *(*name)(const struct btf *btf, u32 offset) =
		cosy_symbol("btf_name_by_offset");

	if (!get || !find || !name)
		return NULL;
	static_call_update(cosy_btf, get);
	static_call_update(cosy_btf_find, find);
	static_call_update(cosy_btf_name, name);
	return static_call(cosy_btf)();
}

/**
 * cosy_layout_offset() - offset of a member
 * @type:   name of a structure
 * @member: name of its member
 *
 * Return: the offset in bytes; -ENOENT if the running kernel has no such
 * member, or no type information.
 */
int cosy_layout_offset(const char *type, const char *member)
{
	const struct btf *btf = cosy_layout_btf();
	const struct btf_type *t;
	const struct btf_member *m;
	s32 id;
	u32 i;

	if (IS_ERR_OR_NULL(btf))
		return -ENOENT;
	id = static_call(cosy_btf_find)(btf, type, BTF_KIND_STRUCT);
	if (id < 0)
		return -ENOENT;
	t = btf_type_by_id(btf, id);
	for_each_member(i, t, m) {
		const char *name = static_call(cosy_btf_name)(btf, m->name_off);

		if (name && !strcmp(name, member))
			return __btf_member_bit_offset(t, m) / 8;
	}
	return -ENOENT;
}
