// SPDX-License-Identifier: GPL-2.0
/*
 * btf.c - reads type information in BTF.
 *
 * cosy_btf_open() checks once that every type is complete. Offsets of names and numbers of
 * types are checked when they are used.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <string.h>
#endif
#include <linux/btf.h>

#include "kernel/btf.h"

/*
 * The layout of the newest kernels. In older kernels the additional bits are 0. New versions of
 * the header only add members at its end.
 */
#define INFO_KIND(info)	((info) >> 24 & 0x7f)
#define INFO_VLEN(info)	((info) & 0xffffff)
#define HEADER_SIZE	24u

/* The maximum number of nested types. A longer chain is a cycle. */
#define MAX_DEPTH	16

static const struct btf_type *type_of(const struct cosy_btf *btf, __u32 id)
{
	if (!id || id > btf->count)
		return NULL;
	return (const void *)(btf->types + btf->index[id - 1]);
}

static __u32 kind_of(const struct btf_type *t)
{
	return INFO_KIND(t->info);
}

static const char *name_of(const struct cosy_btf *btf, __u32 offset)
{
	return offset < btf->strings_len ? btf->strings + offset : "";
}

/* Return the number of bytes that follow a type; -1 if its kind is unknown. */
static __s64 bytes_after(const struct btf_type *t)
{
	__u32 n = INFO_VLEN(t->info);

	switch (kind_of(t)) {
	case BTF_KIND_INT:
		return sizeof(__u32);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	default:
		return -1;
	}
}

static const struct btf_header *header_of(const void *data, __u32 size)
{
	const struct btf_header *h = data;
	__u64 begin, types, strings;

	if (size < HEADER_SIZE || h->magic != BTF_MAGIC ||
	    h->version != BTF_VERSION || h->hdr_len < HEADER_SIZE)
		return NULL;
	begin = h->hdr_len;
	types = begin + h->type_off;
	strings = begin + h->str_off;
	if (types % 4 || types + h->type_len > size ||
	    strings + h->str_len > size || !h->str_len ||
	    ((const char *)data)[strings + h->str_len - 1])
		return NULL;
	return h;
}

__u32 cosy_btf_room(const void *data, __u32 size)
{
	const struct btf_header *h = header_of(data, size);

	return h ? h->type_len / sizeof(struct btf_type) : 0;
}

int cosy_btf_open(struct cosy_btf *btf, const void *data, __u32 size,
		  __u32 *index)
{
	const struct btf_header *h = header_of(data, size);
	__u32 at = 0;

	if (!h)
		return -EINVAL;
	btf->types = (const char *)data + h->hdr_len + h->type_off;
	btf->strings = (const char *)data + h->hdr_len + h->str_off;
	btf->strings_len = h->str_len;
	btf->index = index;
	btf->count = 0;
	while (at < h->type_len) {
		const struct btf_type *t = (const void *)(btf->types + at);
		__u32 left = h->type_len - at;
		__s64 more;

		if (left < sizeof(*t))
			return -EINVAL;
		more = bytes_after(t);
		if (more < 0 || more > (__s64)(left - sizeof(*t)))
			return -EINVAL;
		index[btf->count++] = at;
		at += sizeof(*t) + more;
	}
	return 0;
}

/* A text that is being written. A text that is too long is truncated, and then equals no other. */
struct text {
	char *at;
	char *end;
};

static void put(struct text *text, const char *s)
{
	while (*s && text->at < text->end)
		*text->at++ = *s++;
}

static void put_type(const struct cosy_btf *btf, struct text *text, __u32 id)
{
	const struct btf_type *t = NULL;
	unsigned int stars = 0, depth;

	for (depth = 0; depth < MAX_DEPTH && id; depth++) {
		t = type_of(btf, id);
		if (!t)
			break;
		switch (kind_of(t)) {
		case BTF_KIND_PTR:
			stars++;
			break;
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			break;
		default:
			goto named;
		}
		id = t->type;
	}
	put(text, id ? "?" : "void");
	goto pointers;
named:
	switch (kind_of(t)) {
	case BTF_KIND_STRUCT:
		put(text, "struct ");
		break;
	case BTF_KIND_UNION:
		put(text, "union ");
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		put(text, "enum ");
		break;
	case BTF_KIND_FWD:
		put(text, BTF_INFO_KFLAG(t->info) ? "union " : "struct ");
		break;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPEDEF:
		break;
	default:
		put(text, "?");
		goto pointers;
	}
	put(text, name_of(btf, t->name_off));
pointers:
	if (stars)
		put(text, " ");
	while (stars--)
		put(text, "*");
}

/* Write the prototype of a FUNC. */
static void put_prototype(const struct cosy_btf *btf, struct text *text,
			  const struct btf_type *function)
{
	const struct btf_type *t = type_of(btf, function->type);
	const struct btf_param *param;
	__u32 i;

	if (!t || kind_of(t) != BTF_KIND_FUNC_PROTO) {
		put(text, "?");
		return;
	}
	param = (const void *)(t + 1);
	put_type(btf, text, t->type);
	put(text, " (");
	for (i = 0; i < INFO_VLEN(t->info); i++) {
		if (i)
			put(text, ", ");
		/* A last parameter without a type is "...". */
		if (!param[i].type && !param[i].name_off)
			put(text, "...");
		else
			put_type(btf, text, param[i].type);
	}
	put(text, i ? ")" : "void)");
}

/* Skip the words that are ignored in a declared prototype. */
static const char *skip_ignored(const char *s)
{
	static const char * const ignored[] = { "const ", "__user " };
	unsigned int i;

	for (i = 0; i < sizeof(ignored) / sizeof(*ignored); i++) {
		size_t n = strlen(ignored[i]);

		if (!strncmp(s, ignored[i], n)) {
			s += n;
			i = -1;
		}
	}
	return s;
}

static int is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static int same_prototype(const char *declared, const char *found)
{
	char before = ' ';

	for (;;) {
		if (!is_word(before))
			declared = skip_ignored(declared);
		if (*declared != *found)
			return 0;
		if (!*declared)
			return 1;
		before = *declared++;
		found++;
	}
}

int cosy_btf_function(const struct cosy_btf *btf, const char *name,
		      const char *prototype, char *found)
{
	int err = -ENOENT;
	__u32 id;

	found[0] = '\0';
	for (id = 1; id <= btf->count; id++) {
		const struct btf_type *t = type_of(btf, id);
		struct text text = { found, found + COSY_PROTOTYPE_SIZE - 1 };

		if (kind_of(t) != BTF_KIND_FUNC ||
		    strcmp(name_of(btf, t->name_off), name))
			continue;
		put_prototype(btf, &text, t);
		*text.at = '\0';
		if (!same_prototype(prototype, found))
			return -EINVAL;
		err = 0;
	}
	return err;
}

static int member_offset(const struct cosy_btf *btf, const struct btf_type *t,
			 const char *name, unsigned int depth)
{
	const struct btf_member *m = (const void *)(t + 1);
	__u32 i;

	for (i = 0; i < INFO_VLEN(t->info); i++) {
		const struct btf_type *inner = type_of(btf, m[i].type);
		const char *member = name_of(btf, m[i].name_off);
		__u32 bits = m[i].offset, width = 0;
		int offset = 0;

		if (BTF_INFO_KFLAG(t->info)) {
			width = BTF_MEMBER_BITFIELD_SIZE(bits);
			bits = BTF_MEMBER_BIT_OFFSET(bits);
		}
		if (!*member && inner && depth &&
		    (kind_of(inner) == BTF_KIND_STRUCT ||
		     kind_of(inner) == BTF_KIND_UNION)) {
			offset = member_offset(btf, inner, name, depth - 1);
			if (offset == -ENOENT)
				continue;
			if (offset < 0)
				return offset;
		} else if (strcmp(member, name)) {
			continue;
		}
		return width || bits % 8 ? -EINVAL : (int)(bits / 8) + offset;
	}
	return -ENOENT;
}

/*
 * Return the size of a structure, or the offset of @member in it. All structures of the name
 * must agree.
 */
static int look_up(const struct cosy_btf *btf, const char *type,
		   const char *member)
{
	int answer = -ENOENT;
	__u32 id;

	for (id = 1; id <= btf->count; id++) {
		const struct btf_type *t = type_of(btf, id);
		int this;

		if (kind_of(t) != BTF_KIND_STRUCT ||
		    strcmp(name_of(btf, t->name_off), type))
			continue;
		this = member ? member_offset(btf, t, member, MAX_DEPTH) : (int)t->size;
		if (this < 0)
			return this;
		if (answer >= 0 && answer != this)
			return -EINVAL;
		answer = this;
	}
	return answer;
}

int cosy_btf_size(const struct cosy_btf *btf, const char *type)
{
	int size = look_up(btf, type, NULL);

	return size == -ENOENT || size >= 0 ? size : -EINVAL;
}

int cosy_btf_offset(const struct cosy_btf *btf, const char *type,
		    const char *member)
{
	return look_up(btf, type, member);
}
