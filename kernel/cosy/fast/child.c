// SPDX-License-Identifier: GPL-2.0
/*
 * child.c - what a directory has at hand: entries looked up by their name alone,
 * without a walk.
 */
#include <linux/dcache.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/namei.h>
#include <linux/rcupdate.h>
#include <linux/stat.h>
#include <linux/static_call.h>
#include <asm/word-at-a-time.h>

#include "fast/fast.h"
#include "internal.h"

/* The kernel's, not exported. */
struct dentry *__d_lookup_rcu(const struct dentry *parent,
			      const struct qstr *name, unsigned int *seq);

DEFINE_STATIC_CALL_NULL(cosy_d_lookup_rcu, __d_lookup_rcu);

static bool cosy_has_child __ro_after_init;

/**
 * cosy_child_init() - find what looks up in the dentry cache
 */
void cosy_child_init(void)
{
	void *lookup = cosy_symbol("__d_lookup_rcu");

	if (!lookup)
		return;
	static_call_update(cosy_d_lookup_rcu, lookup);
	cosy_has_child = true;
}

/* Is it the name of an entry, and nothing that has to be walked to? */
static bool cosy_is_child(const struct cosy_name *name)
{
	const struct word_at_a_time c = WORD_AT_A_TIME_CONSTANTS;
	const char *text = name->text;
	unsigned long bits;
	size_t i;

	if (text[0] == '.' &&
	    (name->len == 1 || (name->len == 2 && text[1] == '.')))
		return false;
	/* A slash found behind the end only costs the longer way. */
	for (i = 0; i < name->len; i += sizeof(long)) {
		const unsigned long *word = (const unsigned long *)(text + i);

		if (has_zero(*word ^ REPEAT_BYTE('/'), &bits, &c))
			return false;
	}
	return true;
}

/*
 * What a walk would find without leaving the dentry cache or the directory: no
 * mounts, no links to be followed, nothing to be asked whether it is still valid.
 * The caller holds @dir.
 */
static struct dentry *cosy_child_lookup(const struct path *dir,
					const struct cosy_name *name, bool follow)
{
	struct qstr last = QSTR_INIT(name->text, name->len);
	struct dentry *dentry = NULL;
	unsigned int seq, flags;

	if (!d_can_lookup(dir->dentry) ||
	    dir->dentry->d_flags & (DCACHE_OP_HASH | DCACHE_OP_COMPARE))
		return NULL;
	rcu_read_lock();
	if (unlikely(path_permission(dir, MAY_EXEC | MAY_NOT_BLOCK)))
		goto unusual;
	last.hash = full_name_hash(dir->dentry, last.name, last.len);
	dentry = static_call(cosy_d_lookup_rcu)(dir->dentry, &last, &seq);
	if (unlikely(!dentry))
		goto unusual;
	flags = READ_ONCE(dentry->d_flags);
	if (unlikely((flags & DCACHE_ENTRY_TYPE) == DCACHE_MISS_TYPE ||
		     flags & (DCACHE_MANAGED_DENTRY | DCACHE_OP_REVALIDATE) ||
		     (follow && (flags & DCACHE_ENTRY_TYPE) == DCACHE_SYMLINK_TYPE)))
		goto unusual;
	/* Is it still what was found, now that it is held? */
	if (unlikely(!lockref_get_not_dead(&dentry->d_lockref)))
		goto unusual;
	if (unlikely(read_seqcount_retry(&dentry->d_seq, seq))) {
		rcu_read_unlock();
		dput(dentry);
		return NULL;
	}
	rcu_read_unlock();
	return dentry;

unusual:
	rcu_read_unlock();
	return NULL;
}

static bool cosy_child_stat_in(const struct path *dir, const struct cosy_name *name,
			       int flags, struct kstat *stat, long *err)
{
	struct path path = { .mnt = dir->mnt };

	path.dentry = cosy_child_lookup(dir, name, !(flags & AT_SYMLINK_NOFOLLOW));
	if (!path.dentry)
		return false;
	*err = vfs_getattr(&path, stat, STATX_BASIC_STATS,
			   flags | AT_NO_AUTOMOUNT);
	dput(path.dentry);
	return true;
}

/**
 * cosy_child_stat() - stat an entry of a directory
 * @dfd:   the directory
 * @name:  the name
 * @flags: AT_SYMLINK_NOFOLLOW or 0
 * @stat:  out
 * @err:   out: what came of it
 *
 * Return: false if it has to be walked to; then nothing has happened.
 */
bool cosy_child_stat(int dfd, const struct cosy_name *name, int flags,
		     struct kstat *stat, long *err)
{
	struct path pwd;
	struct cosy_fd fd;
	bool found;

	if (!cosy_has_child || !cosy_is_child(name))
		return false;
	if (dfd == AT_FDCWD) {
		get_fs_pwd(current->fs, &pwd);
		found = cosy_child_stat_in(&pwd, name, flags, stat, err);
		path_put(&pwd);
		return found;
	}
	fd = cosy_fd_get(dfd);
	if (unlikely(!fd.file))
		return false;
	found = cosy_child_stat_in(&fd.file->f_path, name, flags, stat, err);
	cosy_fd_put(fd);
	return found;
}
