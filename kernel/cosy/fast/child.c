// SPDX-License-Identifier: GPL-2.0
/*
 * child.c - looks up entries of directories in the dentry cache, without the kernel's path walk.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/limits.h>
#include <linux/namei.h>
#include <linux/rcupdate.h>
#include <linux/seqlock.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <asm/word-at-a-time.h>

#include "fast/calls.h"
#include "kernel/internals.h"
#include "kernel/symbols.h"

/*
 * Maximum number of directories between the start and the entry. Their data is on the stack. Other
 * names need the kernel's path walk.
 */
#define COSY_DEPTH	8

/*
 * A directory on the path to the entry, found in the dentry cache. If a file system is mounted on
 * it, @mnt and @inode are the mount and its root, otherwise the mount that contains @dentry and the
 * inode of @dentry.
 */
struct cosy_path_dir {
	struct dentry *dentry;
	struct inode *inode;
	const struct vfsmount *mnt;
	unsigned int seq;
};

/*
 * How an entry was found: its @seq and @type (DCACHE_..._TYPE), the mount that contains it, and the
 * last component of the name. The @n directories are those on the path after the directory where
 * the name starts. The process must be allowed to search the first @searched of them, all unless
 * the entry is the root of what is mounted on the last one. The type can only change if the entry
 * does not exist. If @crosses, mounts were looked up, in the state @mount_seq of mount_lock. Then
 * cosy_child_lookup() returns a reference to @mnt, too.
 */
struct cosy_descent {
	unsigned int seq;
	unsigned int type;
	unsigned int n;
	unsigned int searched;
	unsigned int mount_seq;
	bool crosses;
	struct vfsmount *mnt;
	struct qstr last;
	struct cosy_path_dir dirs[COSY_DEPTH];
};

/*
 * The kernel's mount_lock, which all changes of mounts take, and the offset of the struct vfsmount
 * in its struct mount; NULL if mounts cannot be entered here.
 */
static const seqlock_t *cosy_mount_lock __ro_after_init;
static unsigned int cosy_mount_offset __ro_after_init;

/**
 * cosy_child_init() - find what names that cross mounts need
 */
void cosy_child_init(void)
{
	if (!cosy_has(COSY_NEEDS(__lookup_mnt) | COSY_NEEDS(__legitimize_mnt) |
		      COSY_NEEDS(mount_mnt)))
		return;
	cosy_mount_offset = cosy_internal_offset(COSY_INTERNAL_mount_mnt);
	cosy_mount_lock = cosy_symbol("mount_lock");
}

static __always_inline bool cosy_is_dots(const unsigned char *text, size_t len)
{
	return text[0] == '.' && (len == 1 || (len == 2 && text[1] == '.'));
}

/*
 * Return true if the mode and the owner of @inode alone let the process do what @mask says:
 * MAY_READ, MAY_EXEC or both. Then generic_permission() allows it, too.
 */
static __always_inline bool cosy_mode_grants(const struct inode *inode, const struct vfsmount *mnt,
					     int mask)
{
	umode_t mode = READ_ONCE(inode->i_mode);
	umode_t all = (mask & S_IRWXO) * (S_IXUSR | S_IXGRP | S_IXOTH);

	if (likely((mode & all) == all && (!READ_ONCE(inode->i_acl) || !IS_POSIXACL(inode))))
		return true;
	return (mode & all & S_IRWXU) == (all & S_IRWXU) &&
	       uid_eq(inode->i_uid, current_fsuid()) && !is_idmapped_mnt(mnt);
}

/*
 * Return true if the mode lets the process search the directory @inode. Callers check this before
 * they look up a name, without calling security modules. Otherwise the time that a look-up takes
 * would tell a process without the permission which names are cached. A process that needs a
 * capability or an ACL takes the kernel's path walk.
 */
static __always_inline bool cosy_mode_allows_search(const struct inode *inode,
						    const struct vfsmount *mnt)
{
	if (likely(cosy_mode_grants(inode, mnt, MAY_EXEC)))
		return true;
	/* Overlay file systems do not cache the ACL. Other file systems have cached it by now. */
	return (READ_ONCE(inode->i_mode) & S_IXUGO) == S_IXUGO &&
	       is_uncached_acl(READ_ONCE(inode->i_acl));
}

/*
 * Does what inode_permission() does for a directory or regular file that is read or searched.
 * If the file system has no check of its own, and the mode decides, only security modules are
 * asked.
 */
static __always_inline int cosy_permission(const struct vfsmount *mnt, struct inode *inode,
					   int mask)
{
	if (cosy_has(COSY_NEEDS(security_inode_permission)) &&
	    likely(READ_ONCE(inode->i_opflags) & IOP_FASTPERM) &&
	    likely(cosy_mode_grants(inode, mnt, mask)))
		return cosy_internal(security_inode_permission)(inode, mask);
	return inode_permission(cosy_mnt_idmap(mnt), inode, mask);
}

/* Return true if @dentry is a directory whose names can be looked up here. */
static __always_inline bool cosy_is_plain_directory(struct dentry *dentry)
{
	return d_can_lookup(dentry) &&
	       !(dentry->d_flags & (DCACHE_OP_HASH | DCACHE_OP_COMPARE));
}

/* Look up @name in @dir. The caller is an RCU reader, and the process may search @dir. */
static __always_inline struct dentry *
cosy_cached_entry(const struct dentry *dir, struct qstr *name, unsigned int *seq)
{
	name->hash = full_name_hash(dir, name->name, name->len);
	return cosy_internal(__d_lookup_rcu)(dir, name, seq);
}

/* Return the length of the first component of the name of @len bytes at @text. */
static __always_inline size_t cosy_component_len(const unsigned char *text,
						 size_t len)
{
	const struct word_at_a_time c = WORD_AT_A_TIME_CONSTANTS;
	unsigned long word, bits;
	size_t at;

	for (at = 0; at + sizeof(word) <= len; at += sizeof(word)) {
		memcpy(&word, text + at, sizeof(word));
		word ^= REPEAT_BYTE('/');
		if (has_zero(word, &bits, &c)) {
			bits = prep_zero_mask(word, bits, &c);
			return at + find_zero(create_zero_mask(bits));
		}
	}
	while (at < len && text[at] != '/')
		at++;
	return at;
}

/*
 * Enter the file system that is mounted on @found, like __follow_mount_rcu() in fs/namei.c. The
 * caller is an RCU reader and has found it in descent->mnt, with the flags @flags. The result is
 * valid if mounts have not changed until cosy_child_lookup() holds descent->mnt.
 *
 * Return: the root of the mount, which is descent->mnt now; the dentry of @found if nothing is
 * mounted on it in this mount namespace; NULL if the name needs the kernel's path walk: for
 * automounts, and for mounts on the root of a mount.
 */
static __always_inline struct dentry *cosy_enter_mount(struct cosy_descent *descent,
						       const struct cosy_path_dir *found,
						       unsigned int flags)
{
	struct mount *mount;

	if ((flags & DCACHE_MANAGED_DENTRY) != DCACHE_MOUNTED || !cosy_mount_lock)
		return NULL;
	if (!descent->crosses) {
		descent->crosses = true;
		descent->mount_seq = read_seqbegin(cosy_mount_lock);
	}
	mount = cosy_internal(__lookup_mnt)(descent->mnt, found->dentry);
	if (!mount)
		return found->dentry;
	descent->mnt = (void *)mount + cosy_mount_offset;
	if (READ_ONCE(descent->mnt->mnt_root->d_flags) & DCACHE_MANAGED_DENTRY)
		return NULL;
	return descent->mnt->mnt_root;
}

/* Drop the reference to the mount. The caller is not an RCU reader. */
static __always_inline void cosy_leave_mount(const struct cosy_descent *descent)
{
	if (unlikely(descent->crosses))
		mntput(descent->mnt);
}

/*
 * Find the directories of @name, from @parent on, which is a plain directory that the process may
 * search. The caller is an RCU reader.
 *
 * Return: the directory that contains the entry; NULL if the name needs the kernel's path walk;
 * ERR_PTR(-ENOENT) if the component descent->last is not in the dentry cache.
 */
static noinline struct dentry *
cosy_descend(struct dentry *parent, const struct cosy_name *name,
	     struct cosy_descent *descent)
{
	const unsigned char *text = name->text;
	size_t left = name->len;
	struct dentry *dentry;
	unsigned int flags;

	while (*text == '/') {
		text++;
		left--;
	}
	for (;;) {
		struct cosy_path_dir *found = &descent->dirs[descent->n];

		descent->last.name = text;
		descent->last.len = cosy_component_len(text, left);
		/* Repeated slashes and trailing slashes are rare. */
		if (!descent->last.len ||
		    cosy_is_dots(text, descent->last.len))
			return NULL;
		if (descent->last.len == left)
			return parent;
		if (descent->n == COSY_DEPTH)
			return NULL;
		dentry = cosy_cached_entry(parent, &descent->last, &found->seq);
		if (!dentry)
			return ERR_PTR(-ENOENT);
		found->dentry = dentry;
		parent = dentry;
		flags = READ_ONCE(dentry->d_flags);
		if (unlikely(flags & (DCACHE_MANAGED_DENTRY |
				      DCACHE_OP_REVALIDATE))) {
			if (flags & DCACHE_OP_REVALIDATE)
				return NULL;
			parent = cosy_enter_mount(descent, found, flags);
			if (!parent)
				return NULL;
		}
		if (!cosy_is_plain_directory(parent))
			return NULL;
		found->inode = READ_ONCE(parent->d_inode);
		found->mnt = descent->mnt;
		if (read_seqcount_retry(&dentry->d_seq, found->seq) ||
		    !cosy_mode_allows_search(found->inode, found->mnt))
			return NULL;
		descent->n++;
		text += descent->last.len + 1;
		left -= descent->last.len + 1;
	}
}

/*
 * Replace @entry, which was found with the flags @flags, by the root of what is mounted on it. The
 * caller is an RCU reader.
 *
 * Return: the root; @entry if nothing is mounted on it in this mount namespace; NULL if the name
 * needs the kernel's path walk.
 */
static noinline struct dentry *cosy_mounted_entry(struct dentry *entry,
						  struct cosy_descent *descent,
						  unsigned int flags)
{
	struct cosy_path_dir *found = &descent->dirs[descent->n];
	struct dentry *root;

	if (descent->n == COSY_DEPTH)
		return NULL;
	found->dentry = entry;
	found->seq = descent->seq;
	root = cosy_enter_mount(descent, found, flags);
	if (!root || root == entry)
		return root;
	/* The file system wants to be asked before a walk ends in its root. */
	if (READ_ONCE(root->d_flags) & DCACHE_OP_WEAK_REVALIDATE)
		return NULL;
	descent->n++;
	descent->seq = read_seqcount_begin(&root->d_seq);
	return root;
}

/*
 * Check that the process may search the directories of @descent. The caller holds @entry and is
 * an RCU reader. An entry that was not moved pins its directory, which pins its own directory in
 * the same way. The root of a mount does not pin what it covers, but mounts do, and they have not
 * changed. Only pinned directories are accessed.
 *
 * Return: 0 or an error; -ECHILD if this cannot be decided here, or if the directories have
 * changed since the look-up.
 */
static noinline int cosy_descent_permission(const struct dentry *entry,
					    const struct cosy_descent *descent)
{
	unsigned int i, seq = descent->seq;
	int err;

	/* Opening has left the RCU section of the look-up. */
	if (unlikely(descent->crosses) && read_seqretry(cosy_mount_lock, descent->mount_seq))
		return -ECHILD;
	for (i = descent->n;; i--) {
		if (unlikely(read_seqcount_retry(&entry->d_seq, seq)))
			return -ECHILD;
		if (!i)
			break;
		entry = descent->dirs[i - 1].dentry;
		seq = descent->dirs[i - 1].seq;
	}
	for (i = 0; i < descent->searched; i++) {
		err = cosy_permission(descent->dirs[i].mnt, descent->dirs[i].inode,
				      MAY_EXEC | MAY_NOT_BLOCK);
		if (unlikely(err))
			return err;
	}
	return 0;
}

/*
 * Check that the process may use an entry of cosy_child_lookup(). This calls security modules
 * only after the look-up succeeded, because a walk would call them again. The caller is an RCU
 * reader.
 *
 * Return: 0 or an error, -ENOENT if the entry does not exist; COSY_WALK if the name needs the
 * kernel's path walk.
 */
static __always_inline long
cosy_child_permission(const struct path *dir, const struct dentry *entry,
		      const struct cosy_descent *descent)
{
	long err;

	err = cosy_permission(dir->mnt, d_inode(dir->dentry), MAY_EXEC | MAY_NOT_BLOCK);
	if (descent->n && likely(!err))
		err = cosy_descent_permission(entry, descent);
	if (unlikely(err))
		return err == -ECHILD ? COSY_WALK : err;
	return unlikely(descent->type == DCACHE_MISS_TYPE) ? -ENOENT : 0;
}

/* Return the directory that @descent has reached from @dir. The caller is an RCU reader. */
static const struct dentry *cosy_reached(const struct path *dir,
					 const struct cosy_descent *descent)
{
	const struct cosy_path_dir *last;
	const struct vfsmount *above;

	if (!descent->n)
		return dir->dentry;
	last = &descent->dirs[descent->n - 1];
	above = descent->n > 1 ? descent->dirs[descent->n - 2].mnt : dir->mnt;
	return last->mnt == above ? last->dentry : last->mnt->mnt_root;
}

/*
 * Look once more for descent->last, which was not in the dentry cache. A file system in memory has
 * all its entries there, so what is missing there does not exist. An entry that is just renamed may
 * be missed. The caller is an RCU reader since the directories of @descent were found, and holds
 * no entry: as in the kernel's own walk, what they were cannot be freed before it ends.
 *
 * Return: ERR_PTR(-ENOENT) if there is no such entry, or the error for a directory that the process
 * must not search; NULL if the name needs the kernel's path walk. Unless @asks, ERR_PTR(-ENOENT) is
 * only likely, and no security module is called.
 */
static noinline struct dentry *cosy_missed(const struct path *dir, struct cosy_descent *descent,
					   bool asks)
{
	const struct dentry *parent = cosy_reached(dir, descent), *last = NULL;
	const struct inode *inode = READ_ONCE(parent->d_inode);
	unsigned int seq, renames;
	long err;

	if (!inode || inode->i_op->lookup != simple_lookup || descent->last.len > NAME_MAX)
		return NULL;
	if (!asks)
		return ERR_PTR(-ENOENT);
	renames = read_seqbegin(&rename_lock);
	if (cosy_internal(__d_lookup_rcu)(parent, &descent->last, &seq) ||
	    read_seqretry(&rename_lock, renames))
		return NULL;
	descent->type = DCACHE_MISS_TYPE;
	descent->searched = descent->n;
	if (descent->n) {
		last = descent->dirs[descent->n - 1].dentry;
		descent->seq = descent->dirs[descent->n - 1].seq;
	}
	err = cosy_child_permission(dir, last, descent);
	return err == COSY_WALK ? NULL : ERR_PTR(err);
}

/*
 * Find the entry that a walk from @dir would find in the dentry cache alone. Gives up at links to
 * follow, and at entries that the file system must revalidate. The entry may be a negative one,
 * which does not exist. The caller holds @dir, and then calls cosy_child_permission() and
 * cosy_leave_mount(). @asks: as cosy_missed() has it.
 *
 * Return: the entry with a reference, and with the RCU read lock. Without the lock and without
 * references: NULL if the name needs the kernel's path walk; ERR_PTR() of an error, -ENOENT if the
 * entry does not exist.
 */
static __always_inline struct dentry *
cosy_child_lookup(const struct path *dir, const struct cosy_name *name,
		  bool follow, bool asks, struct cosy_descent *descent)
{
	struct dentry *parent = dir->dentry, *entry;
	unsigned int flags;
	int err;

	if (!cosy_is_plain_directory(parent) ||
	    unlikely(!cosy_mode_allows_search(d_inode(parent), dir->mnt)))
		return NULL;
	descent->n = 0;
	descent->crosses = false;
	descent->mnt = dir->mnt;
	rcu_read_lock();
	if (likely(name->entry)) {
		descent->last.name = name->text;
		descent->last.len = name->len;
	} else {
		parent = cosy_descend(parent, name, descent);
		if (IS_ERR_OR_NULL(parent)) {
			if (parent)
				goto missed;
			goto unusual;
		}
	}
	descent->searched = descent->n;
	entry = cosy_cached_entry(parent, &descent->last, &descent->seq);
	if (unlikely(!entry))
		goto missed;
	flags = READ_ONCE(entry->d_flags);
	if (unlikely(flags & DCACHE_OP_REVALIDATE))
		goto unusual;
	if (unlikely(flags & DCACHE_MANAGED_DENTRY)) {
		entry = cosy_mounted_entry(entry, descent, flags);
		if (!entry)
			goto unusual;
		flags = READ_ONCE(entry->d_flags);
	}
	descent->type = flags & DCACHE_ENTRY_TYPE;
	if (unlikely(follow && descent->type == DCACHE_SYMLINK_TYPE))
		goto unusual;
	/* The mount first: its file system must not end while the entry is held. */
	if (unlikely(descent->crosses)) {
		err = cosy_internal(__legitimize_mnt)(descent->mnt, descent->mount_seq);
		if (unlikely(err)) {
			rcu_read_unlock();
			/* It was unmounted meanwhile, and this may be the last reference. */
			if (err < 0)
				mntput(descent->mnt);
			return NULL;
		}
	}
	if (unlikely(!lockref_get_not_dead(&entry->d_lockref)))
		entry = NULL;
	/* Check again, with the reference, that it is the entry that was found. */
	else if (likely(!read_seqcount_retry(&entry->d_seq, descent->seq)))
		return entry;
	rcu_read_unlock();
	dput(entry);
	cosy_leave_mount(descent);
	return NULL;

missed:
	entry = cosy_missed(dir, descent, asks);
	rcu_read_unlock();
	return entry;

unusual:
	rcu_read_unlock();
	return NULL;
}

/*
 * Return true if cosy_open_entry() makes all checks for opening an entry of this type with flags of
 * cosy_child_open(), or if the entry does not exist.
 */
static bool cosy_is_simple_to_open(unsigned int type, unsigned int flags)
{
	return type == DCACHE_DIRECTORY_TYPE || type == DCACHE_MISS_TYPE ||
	       (type == DCACHE_REGULAR_TYPE && !(flags & O_DIRECTORY));
}

/*
 * Open @path as @file for reading, like do_open() and its callees in fs/namei.c. Only for entries
 * that are cosy_is_simple_to_open().
 */
static long cosy_open_entry(const struct path *path, struct file *file)
{
	long err;

	err = cosy_permission(path->mnt, d_inode(path->dentry), MAY_OPEN | MAY_READ);
	if (!err)
		err = cosy_internal(vfs_open)(path, file);
	if (!err)
		err = cosy_file_post_open(file, MAY_READ);
	/* The file system has noticed that the file was changed elsewhere. */
	return err == -EOPENSTALE ? COSY_WALK : err;
}

/*
 * The result of a look-up: the status for fstatat() or statx(), in a struct kstat; the entry, in a
 * struct path; an open file, in a struct file *.
 */
enum cosy_request_kind {
	COSY_REQUEST_STAT, COSY_REQUEST_STATX, COSY_REQUEST_PATH, COSY_REQUEST_FILE
};

struct cosy_request {
	enum cosy_request_kind kind;
	bool follow;
	bool nowait;
	unsigned int flags;
	u32 mask;
};

/* Return true if opening a file may wait for a process that watches it or has a lease. */
static bool cosy_open_may_wait(const struct inode *inode)
{
	return IS_VERITY(inode) || cosy_sb_is_watched(inode->i_sb) || cosy_may_be_leased(inode);
}

/*
 * Return true if opening an entry that is cosy_is_simple_to_open() need not wait: for a server or a
 * disk, for the holder of a lease, or for a process that watches the file system. An overlay also
 * opens the file of its layer.
 */
static bool cosy_opens_at_once(const struct dentry *dentry)
{
	const struct inode *inode = d_inode(dentry);
	const struct dentry *real;

	if (!cosy_is_in_memory(dentry))
		return false;
	if (!inode)
		return true;
	real = cosy_real_dentry(dentry);
	return !cosy_open_may_wait(inode) &&
	       (real == dentry || !cosy_open_may_wait(d_inode(real)));
}

/*
 * Fail to open a name that was missed. path_openat() in fs/namei.c allocates the file before it
 * asks whether the directories may be searched, so look again after that.
 */
static noinline long cosy_open_missing(const struct path *dir, const struct cosy_name *name,
				       bool follow, unsigned int flags)
{
	struct file *file = cosy_internal(alloc_empty_file)(flags, current_cred());
	struct cosy_descent descent __uninitialized;
	struct dentry *entry;
	long err = COSY_WALK;

	if (IS_ERR(file))
		return PTR_ERR(file);
	entry = cosy_child_lookup(dir, name, follow, true, &descent);
	if (IS_ERR(entry)) {
		err = PTR_ERR(entry);
	} else if (entry) {
		/* It was created meanwhile. */
		rcu_read_unlock();
		dput(entry);
		cosy_leave_mount(&descent);
	}
	fput(file);
	return err;
}

/* Allocate the file before the permissions are checked, as path_openat() in fs/namei.c does. */
static __always_inline long
cosy_child_open_in(const struct path *dir, const struct path *path,
		   const struct cosy_descent *descent, unsigned int flags,
		   struct file **to)
{
	struct file *file;
	long err;

	file = cosy_internal(alloc_empty_file)(flags, current_cred());
	if (IS_ERR(file))
		return PTR_ERR(file);
	rcu_read_lock();
	err = cosy_child_permission(dir, path->dentry, descent);
	rcu_read_unlock();
	if (likely(!err))
		err = cosy_open_entry(path, file);
	if (unlikely(err))
		fput(file);
	*to = file;
	return err;
}

static __always_inline long
cosy_child_get_in(const struct path *dir, const struct cosy_name *name,
		  struct cosy_request request, void *to)
{
	struct cosy_descent descent __uninitialized;
	struct path path __uninitialized;
	long err;

	path.dentry = cosy_child_lookup(dir, name, request.follow,
					request.kind != COSY_REQUEST_FILE, &descent);
	if (IS_ERR_OR_NULL(path.dentry)) {
		if (!path.dentry)
			return COSY_WALK;
		if (request.kind == COSY_REQUEST_FILE)
			return cosy_open_missing(dir, name, request.follow, request.flags);
		return PTR_ERR(path.dentry);
	}
	path.mnt = descent.mnt;
	if (request.kind == COSY_REQUEST_FILE) {
		rcu_read_unlock();
		err = COSY_WALK;
		if (cosy_is_simple_to_open(descent.type, request.flags) &&
		    (!request.nowait || cosy_opens_at_once(path.dentry)))
			err = cosy_child_open_in(dir, &path, &descent,
						 request.flags, to);
		goto out;
	}
	/* Before the permissions are checked, because a walk checks them again. */
	if (request.kind == COSY_REQUEST_STATX && unlikely(cosy_is_block_device(path.dentry))) {
		rcu_read_unlock();
		err = COSY_WALK;
		goto out;
	}
	err = cosy_child_permission(dir, path.dentry, &descent);
	rcu_read_unlock();
	if (unlikely(err))
		goto out;
	if (request.kind == COSY_REQUEST_PATH) {
		if (likely(!descent.crosses))
			mntget(path.mnt);
		*(struct path *)to = path;
		return 0;
	}
	if (request.kind == COSY_REQUEST_STATX)
		err = cosy_statx_get(&path, request.flags, request.mask, to);
	else
		err = vfs_getattr(&path, to, STATX_BASIC_STATS,
				  request.flags | AT_NO_AUTOMOUNT);
out:
	dput(path.dentry);
	cosy_leave_mount(&descent);
	return err;
}

/* Inlined once for each kind of request, with all its branches on the kind. */
static __always_inline long cosy_child_get(int dfd, const struct cosy_name *name,
					   struct cosy_request request, void *to)
{
	struct path start __uninitialized;
	const struct path *dir = &start;
	struct cosy_fd fd = {};
	long ret;

	if (unlikely(cosy_is_dots(name->text, name->len)))
		return COSY_WALK;
	if (name->text[0] == '/') {
		get_fs_root(current->fs, &start);
		/*
		 * Entries of a network file system would be looked up in vain. The root of ext4
		 * and of others that can encrypt has the flag DCACHE_OP_REVALIDATE, too, but not
		 * its entries; a walk does not ask the file system about its start.
		 */
		if (unlikely(READ_ONCE(start.dentry->d_flags) & DCACHE_OP_WEAK_REVALIDATE)) {
			path_put(&start);
			return COSY_WALK;
		}
	} else if (dfd == AT_FDCWD) {
		get_fs_pwd(current->fs, &start);
	} else {
		fd = cosy_fd_get_raw(dfd);
		if (unlikely(!fd.file))
			return COSY_WALK;
		dir = &fd.file->f_path;
	}
	ret = cosy_child_get_in(dir, name, request, to);
	if (fd.file)
		cosy_fd_put(fd);
	else
		path_put(&start);
	return ret;
}

/**
 * cosy_child_stat() - stat an entry of a directory
 * @dfd:   the directory
 * @name:  the name
 * @flags: AT_SYMLINK_NOFOLLOW or 0
 * @stat:  out
 *
 * Return: 0 or an error; COSY_WALK, without any effect, if the name needs the kernel's path walk.
 */
long cosy_child_stat(int dfd, const struct cosy_name *name, int flags,
		     struct kstat *stat)
{
	const struct cosy_request request = {
		.kind = COSY_REQUEST_STAT,
		.follow = !(flags & AT_SYMLINK_NOFOLLOW),
		.flags = flags,
	};

	return cosy_child_get(dfd, name, request, stat);
}

/**
 * cosy_child_statx() - cosy_child_stat() for statx()
 * @dfd:   the directory
 * @name:  the name
 * @flags: AT_SYMLINK_NOFOLLOW, AT_NO_AUTOMOUNT and one of AT_STATX_SYNC_TYPE
 * @mask:  STATX_...
 * @stat:  out
 *
 * Return: as cosy_child_stat().
 */
long cosy_child_statx(int dfd, const struct cosy_name *name, unsigned int flags,
		      u32 mask, struct kstat *stat)
{
	const struct cosy_request request = {
		.kind = COSY_REQUEST_STATX,
		.follow = !(flags & AT_SYMLINK_NOFOLLOW),
		.flags = flags,
		.mask = mask,
	};

	return cosy_child_get(dfd, name, request, stat);
}

/**
 * cosy_child_path() - find an entry of a directory
 * @dfd:    the directory
 * @name:   the name
 * @follow: follow a symbolic link at the end of the name
 * @path:   out: the entry; the caller calls path_put()
 *
 * Return: as cosy_child_stat().
 */
long cosy_child_path(int dfd, const struct cosy_name *name, bool follow,
		     struct path *path)
{
	const struct cosy_request request = {
		.kind = COSY_REQUEST_PATH,
		.follow = follow,
	};

	return cosy_child_get(dfd, name, request, path);
}

/**
 * cosy_child_open() - open an entry of a directory for reading
 * @dfd:   the directory
 * @name:  the name
 * @flags: flags of the file: those of COSY_SIMPLE_OPEN_FLAGS except O_CLOEXEC
 * @nowait: return COSY_WALK if it might have to wait
 * @file:  out: the file, which has no descriptor yet
 *
 * Return: as cosy_child_stat().
 */
long cosy_child_open(int dfd, const struct cosy_name *name, unsigned int flags, bool nowait,
		     struct file **file)
{
	const struct cosy_request request = {
		.kind = COSY_REQUEST_FILE,
		.follow = !(flags & O_NOFOLLOW),
		.nowait = nowait,
		.flags = flags,
	};

	return cosy_child_get(dfd, name, request, file);
}
