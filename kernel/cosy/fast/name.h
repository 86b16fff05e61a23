/* SPDX-License-Identifier: GPL-2.0 */
/*
 * name.h - names of files, on the stack: what has to be short.
 */
#ifndef COSY_FAST_NAME_H
#define COSY_FAST_NAME_H

#include <linux/audit.h>
#include <linux/uaccess.h>
#include <asm/word-at-a-time.h>

#include "fast/calls.h"

/* Names of less than so many bytes, which most are, are copied here. */
#define COSY_NAME_SHORT	32

bool cosy_name_copy_long(struct cosy_name *name, const char __user *from);

/*
 * As strncpy_from_user(). Return: false if the name is not one of these.
 * The words are looked through for slashes as well.
 */
static __always_inline bool cosy_name_copy_short(struct cosy_name *name,
						 const char __user *from)
{
	const struct word_at_a_time c = WORD_AT_A_TIME_CONSTANTS;
	const void __user *p = from;
	unsigned long bits, slash = 0, any;
	size_t at;
	u64 word __uninitialized;

	if (!cosy_user_begin(&p, COSY_NAME_SHORT))
		return false;
	for (at = 0; at < COSY_NAME_SHORT; at += sizeof(word)) {
		cosy_unsafe_get_u64(&word, (const u64 __user *)(p + at), fault);
		*(u64 *)(name->text + at) = word;
		any = has_zero(word ^ REPEAT_BYTE('/'), &any, &c);
		if (has_zero(word, &bits, &c)) {
			user_access_end();
			bits = prep_zero_mask(word, bits, &c);
			bits = create_zero_mask(bits);
			name->len = at + find_zero(bits);
			/* A slash after the end is not one of the name. */
			name->entry = !(slash | (any & zero_bytemask(bits)));
			return likely(name->len);
		}
		slash |= any;
	}
fault:
	user_access_end();
	return false;
}

/**
 * cosy_name_text() - copy a name from the process
 * @name: where to; what it takes to walk there is left out
 * @from: where from
 *
 * Auditing keeps names, even if it finds out only while they are used that it wants
 * to: ours are gone by then. And long and empty ones are unusual, like those that
 * cannot be read.
 *
 * Return: true if it is there; else the plain call is to be made.
 */
static __always_inline bool cosy_name_text(struct cosy_name *name,
					   const char __user *from)
{
	if (unlikely(audit_context()))
		return false;
	return cosy_name_copy_short(name, from) ||
	       cosy_name_copy_long(name, from);
}

/**
 * cosy_name_finish() - make a name one that can be walked to
 * @name: cosy_name_text() has filled it
 * @from: with this
 */
static __always_inline void cosy_name_finish(struct cosy_name *name,
					     const char __user *from)
{
	name->filename.name = name->text;
	cosy_filename_uptr(&name->filename, from);
	name->filename.aname = NULL;
	/* One more than ever is given back, for it is not to be freed. */
	cosy_filename_refs(&name->filename, 2);
}

#endif /* COSY_FAST_NAME_H */
