/* SPDX-License-Identifier: GPL-2.0 */
/*
 * btf.h - read type information in BTF: prototypes of functions, members of
 * structures.
 *
 * Reads the format itself, which is stable (uapi/linux/btf.h), and calls nothing
 * of the kernel's: what it looks up decides whether the kernel's functions may be
 * called at all. Also compiled for user space, by its test.
 */
#ifndef COSY_KERNEL_BTF_H
#define COSY_KERNEL_BTF_H

#include <linux/types.h>

/* Longest prototype, as text. */
#define COSY_PROTOTYPE_SIZE	256

/**
 * struct cosy_btf - type information of a kernel
 * @types:	 the first type
 * @strings:	 names, each ends with a 0 byte
 * @strings_len: bytes of them
 * @index:	 offset in @types of the type with number 1, 2, ...
 * @count:	 their number
 */
struct cosy_btf {
	const char *types;
	const char *strings;
	__u32 strings_len;
	__u32 *index;
	__u32 count;
};

/**
 * cosy_btf_room() - upper limit of the number of types
 * @data: the type information, aligned to 4 bytes
 * @size: bytes
 *
 * Return: entries that the index for cosy_btf_open() needs; 0 if this is not BTF.
 */
__u32 cosy_btf_room(const void *data, __u32 size);

/**
 * cosy_btf_open() - begin to read type information
 * @btf:   out: what the other functions take
 * @data:  the type information, aligned to 4 bytes; used as long as @btf is
 * @size:  bytes
 * @index: room for cosy_btf_room() entries; owned by the caller, used as long as
 *	   @btf is
 *
 * Return: 0; -EINVAL if it is no BTF that can be read. Whatever is in @data, the
 * other functions do not read outside of it.
 */
int cosy_btf_open(struct cosy_btf *btf, const void *data, __u32 size,
		  __u32 *index);

/**
 * cosy_btf_function() - test whether the kernel has a function with a prototype
 * @btf:       type information
 * @name:      of the function
 * @prototype: "int (int, struct path *)": types without names of parameters;
 *	       const and __user are ignored
 * @found:     out, COSY_PROTOTYPE_SIZE bytes: the prototype that it has
 *
 * Return: 0; -ENOENT if there is no such function; -EINVAL if it, or one of
 * several of that name, has another prototype, which is in @found.
 */
int cosy_btf_function(const struct cosy_btf *btf, const char *name,
		      const char *prototype, char *found);

/**
 * cosy_btf_size() - size of a structure
 * @btf:  type information
 * @type: name of the structure
 *
 * Return: bytes; -ENOENT if there is no such structure; -EINVAL if there are
 * several, of different sizes.
 */
int cosy_btf_size(const struct cosy_btf *btf, const char *type);

/**
 * cosy_btf_offset() - where a member is in a structure
 * @btf:    type information
 * @type:   name of the structure
 * @member: name of the member, which may be one of an unnamed structure in it
 *
 * Return: offset in bytes; -ENOENT if there is no such structure or member;
 * -EINVAL if there are several structures of that name that differ in it, or it is
 * a bit field.
 */
int cosy_btf_offset(const struct cosy_btf *btf, const char *type,
		    const char *member);

#endif /* COSY_KERNEL_BTF_H */
