/* SPDX-License-Identifier: GPL-2.0 */
/*
 * btf.h - reads type information in BTF: prototypes of functions, members of
 * structures.
 *
 * Reads the format itself, which is stable (uapi/linux/btf.h), and calls no functions of the
 * kernel, because the result decides which of them may be called. Its test compiles it for user
 * space.
 */
#ifndef COSY_KERNEL_BTF_H
#define COSY_KERNEL_BTF_H

#include <linux/types.h>

/* Bytes of the longest prototype as text. */
#define COSY_PROTOTYPE_SIZE	256

/**
 * struct cosy_btf - type information of a kernel
 * @types:	 the first type
 * @strings:	 the names, each with a 0 byte at its end
 * @strings_len: bytes of @strings
 * @index:	 offsets in @types of the types with the numbers 1, 2, ...
 * @count:	 number of types
 */
struct cosy_btf {
	const char *types;
	const char *strings;
	__u32 strings_len;
	__u32 *index;
	__u32 count;
};

/**
 * cosy_btf_room() - return the size of the index for cosy_btf_open()
 * @data: the type information, aligned to 4 bytes
 * @size: bytes
 *
 * Return: the maximum number of types; 0 if @data is not BTF.
 */
__u32 cosy_btf_room(const void *data, __u32 size);

/**
 * cosy_btf_open() - begin to read type information
 * @btf:   out: the argument of the other functions
 * @data:  the type information, aligned to 4 bytes; must exist as long as @btf
 * @size:  bytes
 * @index: room for cosy_btf_room() entries; owned by the caller, must exist as long as
 *	   @btf
 *
 * Return: 0; -EINVAL if @data is not BTF that can be read. The other functions never read
 * outside of @data, whatever its content.
 */
int cosy_btf_open(struct cosy_btf *btf, const void *data, __u32 size,
		  __u32 *index);

/**
 * cosy_btf_function() - check that the kernel has a function with a prototype
 * @btf:       type information
 * @name:      name of the function
 * @prototype: "int (int, struct path *)": types without names of parameters;
 *	       const and __user are ignored
 * @found:     out: prototype of the function, COSY_PROTOTYPE_SIZE bytes
 *
 * Return: 0; -ENOENT if there is no such function; -EINVAL if a function of that name has
 * another prototype, which is in @found.
 */
int cosy_btf_function(const struct cosy_btf *btf, const char *name,
		      const char *prototype, char *found);

/**
 * cosy_btf_size() - return the size of a structure
 * @btf:  type information
 * @type: name of the structure
 *
 * Return: bytes; -ENOENT if there is no such structure; -EINVAL if there are several of
 * different sizes.
 */
int cosy_btf_size(const struct cosy_btf *btf, const char *type);

/**
 * cosy_btf_offset() - return the offset of a member of a structure
 * @btf:    type information
 * @type:   name of the structure
 * @member: name of the member, which can be in an unnamed structure in it
 *
 * Return: offset in bytes; -ENOENT if there is no such structure or member; -EINVAL if
 * several structures of that name have different offsets, or if the member is a bit field.
 */
int cosy_btf_offset(const struct cosy_btf *btf, const char *type,
		    const char *member);

#endif /* COSY_KERNEL_BTF_H */
