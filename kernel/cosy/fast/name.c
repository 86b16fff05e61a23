// SPDX-License-Identifier: GPL-2.0
/*
 * name.c - names of files, on the stack.
 *
 * The kernel copies each name into a page of its own, which it first clears.
 */
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/static_call.h>
#include <linux/uaccess.h>
#include <asm/word-at-a-time.h>

#include "fast/fast.h"
#include "internal.h"

/* The kernel's, not exported. */
int filename_lookup(int dfd, struct filename *name, unsigned int flags,
		    struct path *path, struct path *root);

DEFINE_STATIC_CALL_NULL(cosy_filename_lookup, filename_lookup);

/* cosy_name_lookup() can be called. */
bool cosy_has_lookup __ro_after_init;

/**
 * cosy_name_init() - find what looks names up
 */
void cosy_name_init(void)
{
	cosy_has_lookup = COSY_FIND(cosy_filename_lookup, "filename_lookup");
}

/*
 * strncpy_from_user() for names of less than so many bytes, which most are.
 * Return: the length, 0 if it is not one of these.
 */
#define SHORT_NAME	32

static size_t cosy_name_copy_short(char *to, const char __user *from)
{
	const struct word_at_a_time c = WORD_AT_A_TIME_CONSTANTS;
	const void __user *p = from;
	unsigned long bits;
	size_t at;
	u64 word;

	if (!cosy_user_begin(&p, SHORT_NAME))
		return 0;
	for (at = 0; at < SHORT_NAME; at += sizeof(word)) {
		cosy_unsafe_get_u64(&word, (const u64 __user *)(p + at), fault);
		*(u64 *)(to + at) = word;
		if (has_zero(word, &bits, &c)) {
			user_access_end();
			bits = prep_zero_mask(word, bits, &c);
			return at + find_zero(create_zero_mask(bits));
		}
	}
fault:
	user_access_end();
	return 0;
}

/**
 * cosy_name_get() - copy a name from the process
 * @name: where to
 * @from: where from
 *
 * Auditing keeps names, and long and empty ones are unusual, like those that
 * cannot be read.
 *
 * Return: true if it is there; else the plain call is to be made.
 */
bool cosy_name_get(struct cosy_name *name, const char __user *from)
{
	long len;

	if (unlikely(!audit_dummy_context()))
		return false;
	len = cosy_name_copy_short(name->text, from);
	if (!len)
		len = strncpy_from_user(name->text, from, COSY_NAME_SIZE);
	if (unlikely(len <= 0 || len == COSY_NAME_SIZE))
		return false;
	name->len = len;
	name->filename.name = name->text;
	name->filename.uptr = from;
	name->filename.aname = NULL;
	/* One more than ever is given back, for it is not to be freed. */
	cosy_filename_refs(&name->filename, 2);
	return true;
}

/**
 * cosy_name_lookup() - walk to a name
 * @dfd:   from there, if it is relative
 * @name:  the name
 * @flags: LOOKUP_...
 * @path:  out: what it leads to
 *
 * Return: 0 or why it leads nowhere.
 */
int cosy_name_lookup(int dfd, struct cosy_name *name, unsigned int flags,
		     struct path *path)
{
	return static_call(cosy_filename_lookup)(dfd, &name->filename, flags,
						 path, NULL);
}
