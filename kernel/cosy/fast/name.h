/* SPDX-License-Identifier: GPL-2.0 */
/*
 * name.h - copies names of files to the stack: the inline part.
 */
#ifndef COSY_FAST_NAME_H
#define COSY_FAST_NAME_H

#include <linux/audit.h>
#include <linux/uaccess.h>
#include <asm/word-at-a-time.h>

#include "fast/calls.h"

/* Names with fewer bytes are copied inline. Most names are. */
#define COSY_NAME_SHORT	64

bool cosy_name_copy_long(struct cosy_name *name, const char __user *from);

/*
 * Copy a short name like strncpy_from_user(), and search it for slashes. Return false if
 * the name is empty, too long or cannot be read.
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
			/* Ignore slashes after the end of the name. */
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
 * @name: destination; cosy_name_finish() sets what a walk needs
 * @from: source
 *
 * Fails if there is an audit context: auditing may keep the name beyond the call, and may
 * decide so only while the name is used. Also fails for names that are empty, too long or not
 * readable.
 *
 * Return: true if it was copied; otherwise the caller must make the plain call.
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
 * cosy_name_finish() - prepare a name for a walk
 * @name: name that cosy_name_text() has filled
 * @from: its source
 */
static __always_inline void cosy_name_finish(struct cosy_name *name,
					     const char __user *from)
{
	name->filename.name = name->text;
	cosy_filename_uptr(&name->filename, from);
	name->filename.aname = NULL;
	/* One reference more than is ever dropped, so that the kernel never frees it. */
	cosy_filename_refs(&name->filename, 2);
}

#endif /* COSY_FAST_NAME_H */
