// SPDX-License-Identifier: GPL-2.0
/*
 * prefetch.c - makes the reads of a loop up to the end of a file as one read.
 *
 * The first read fetches the data of several reads, up to the end of the file. The next reads
 * find their data in the buffer, and the end of the file is known. The file's position only
 * counts the reads that were made. If the compound leaves in between, only the count of bytes
 * read has to be corrected.
 */
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/sched.h>
#include <linux/sched/xacct.h>
#include <linux/uaccess.h>

#include "fast/io.h"

/* Maximum number of bytes that are fetched at once. */
#define COSY_PREFETCH_MAX	65536

/**
 * cosy_prefetch_drop() - discard data that was fetched
 * @env: the run
 */
void cosy_prefetch_drop(struct cosy_env *env)
{
	if (!env->prefetch.ip)
		return;
	add_rchar(current, -(ssize_t)env->prefetch.left);
	env->prefetch.ip = NULL;
}

/* Return the bytes to fetch for a read of @size bytes, 0 to make only that read. */
static u64 cosy_prefetch_size(const struct file *file, u64 size)
{
	const struct inode *inode = file_inode(file);
	loff_t left = i_size_read(inode) - file->f_pos;

	if (!size || left <= 0 || size > COSY_PREFETCH_MAX ||
	    !cosy_is_plain_file(file) || file->f_flags & O_DIRECT)
		return 0;
	/* Watchers must be notified of each read, and may deny it. */
	if (cosy_sb_is_watched(inode->i_sb))
		return 0;
	return min_t(u64, left, rounddown(COSY_PREFETCH_MAX, size));
}

/* Make the first read. */
static noinline struct cosy_made cosy_prefetch_fetch(struct cosy_state *st,
						 const struct cosy_insn *ip)
{
	struct cosy_private *private = cosy_private_arg(st, ip);
	u64 buffer = cosy_fast_arg(st, ip, 1);
	u64 size = cosy_fast_arg(st, ip, 2);
	struct cosy_env *env = &st->env;
	struct file *file;
	loff_t pos;
	u64 want;
	long ret;

	if (!private)
		return cosy_fast_read(st, ip);
	cosy_prefetch_drop(env);
	file = private->file;
	want = cosy_prefetch_size(file, size);
	pos = file->f_pos;
	ret = cosy_read_file(file, buffer, want ?: size, &pos);
	if (ret < 0)
		return cosy_made(ip, ret);
	if (!want) {
		file->f_pos = pos;
		return cosy_made(ip, ret);
	}
	env->prefetch = (struct cosy_prefetch){
		.ip = ip,
		.file = file,
		.fd = private->fd,
		.size = size,
		.left = ret > size ? ret - size : 0,
		.end = ret == want && pos >= i_size_read(file_inode(file)),
	};
	ret -= env->prefetch.left;
	env->prefetch.buffer = buffer + ret;
	file->f_pos += ret;
	return cosy_made(ip, ret);
}

/** cosy_fast_read_ahead() - read(fd, buffer, size) with COSY_HINT_REST */
struct cosy_made cosy_fast_read_ahead(struct cosy_state *st,
				     const struct cosy_insn *ip)
{
	struct cosy_prefetch *ahead = &st->env.prefetch;
	u64 size = cosy_fast_arg(st, ip, 2);
	u64 n;

	if (!st->env.nprivate || ahead->ip != ip ||
	    ahead->fd != (int)cosy_fast_arg(st, ip, 0) ||
	    ahead->buffer != cosy_fast_arg(st, ip, 1) || ahead->size != size ||
	    !(ahead->left || ahead->end))
		return cosy_prefetch_fetch(st, ip);
	n = min(ahead->left, size);
	ahead->buffer += n;
	ahead->left -= n;
	ahead->file->f_pos += n;
	/* The file may have grown since. */
	if (!n)
		ahead->ip = NULL;
	inc_syscr(current);
	return cosy_made(ip, n);
}
