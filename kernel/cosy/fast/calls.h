/* SPDX-License-Identifier: GPL-2.0 */
/*
 * calls.h - the fast paths, and what they share.
 */
#ifndef COSY_FAST_CALLS_H
#define COSY_FAST_CALLS_H

#include <linux/audit.h>
#include <linux/dcache.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfs2_ondisk.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <linux/types.h>

#include <cosy/exec.h>
#include <src/handlers.h>

#include "compat/compat.h"
#include "fast/fast.h"
#include "kernel/internals.h"

/*
 * The name is on the stack. Longer names, which are rare, take the plain call.
 */
#define COSY_NAME_SIZE	256

/**
 * struct cosy_name - a file name on the stack
 * @filename: for the kernel's functions
 * @len:      length of the name
 * @entry:    the name has no slash
 * @text:     the name
 */
struct cosy_name {
	struct filename filename;
	size_t len;
	bool entry;
	char text[COSY_NAME_SIZE] __aligned(sizeof(long));
};

/**
 * cosy_fast_arg() - an argument of a call
 * @st: the run
 * @ip: the call's slot
 * @i:  number of the argument, less than the number of arguments in syscalls.def
 *
 * Return: its value.
 */
static __always_inline u64 cosy_fast_arg(const struct cosy_state *st,
					 const struct cosy_insn *ip,
					 unsigned int i)
{
	return st->regs[ip[1 + i].a] + (u64)ip[1 + i].imm;
}

/**
 * cosy_private_arg() - look up the private file of the descriptor that is the first argument
 * @st: the run
 * @ip: the call's slot
 *
 * Return: the private file, or NULL if the descriptor is an ordinary one.
 */
static __always_inline struct cosy_private *
cosy_private_arg(struct cosy_state *st, const struct cosy_insn *ip)
{
	struct cosy_env *env = &st->env;
	unsigned int i;
	int fd;

	if (likely(!env->nprivate))
		return NULL;
	fd = cosy_fast_arg(st, ip, 0);
	for (i = 0; i < env->nprivate; i++)
		if (env->private[i].fd == fd)
			return &env->private[i];
	return NULL;
}

/**
 * cosy_made() - make the return value of a fast path
 * @ip:     the slot of the call that was made
 * @result: result of the system call
 *
 * Return: both.
 */
static __always_inline struct cosy_made cosy_made(const struct cosy_insn *ip,
						  long result)
{
	return (struct cosy_made){ .result = result, .ip = ip };
}

/**
 * struct cosy_fd - an open file during one call
 * @file:    the file, or NULL
 * @counted: the same file if a reference was taken, otherwise NULL
 */
struct cosy_fd {
	struct file *file;
	struct file *counted;
};

/**
 * cosy_fd_get_raw() - get the file of a descriptor, as fdget_raw() does
 * @fd: the descriptor
 *
 * If only the current thread uses the table, no other thread can close the descriptor.
 * Then no reference is taken.
 *
 * Return: the file; NULL in @file if the descriptor is not open.
 */
static inline struct cosy_fd cosy_fd_get_raw(unsigned int fd)
{
	struct files_struct *files = current->files;
	struct cosy_fd found = {};

	if (likely(atomic_read_acquire(&files->count) == 1)) {
		found.file = files_lookup_fd_raw(files, fd);
	} else {
		found.file = fget_raw(fd);
		found.counted = found.file;
	}
	return found;
}

/** cosy_fd_put() - the reverse of cosy_fd_get_raw() and cosy_fd_get() */
static inline void cosy_fd_put(struct cosy_fd fd)
{
	if (fd.counted)
		fput(fd.counted);
}

/**
 * cosy_fd_get() - get the file of a descriptor, as fdget() does
 * @fd: the descriptor
 *
 * Return: the file; NULL in @file if the descriptor is not open, or open with O_PATH.
 */
static inline struct cosy_fd cosy_fd_get(unsigned int fd)
{
	struct cosy_fd found = cosy_fd_get_raw(fd);

	if (unlikely(found.file && found.file->f_mode & FMODE_PATH)) {
		cosy_fd_put(found);
		found = (struct cosy_fd){};
	}
	return found;
}

/* fast.c */
cosy_fast_call_fn cosy_fast_plain;

/**
 * cosy_named() - make the return value of a fast path that takes names
 * @st:     the run
 * @ip:     the call's slot
 * @result: result of the system call
 *
 * A name may be relative to a private file, or lead to one through /proc. The kernel does not find
 * private files in the table. It then returns -ENOENT or -EBADF, and nothing has happened. So the
 * plain call is made, which puts private files into the table. After -ESTALE the plain call looks
 * the name up again.
 *
 * Return: as cosy_made(), or the result of the plain call.
 */
static __always_inline struct cosy_made cosy_named(struct cosy_state *st,
						   const struct cosy_insn *ip,
						   long result)
{
	if (unlikely(result == -ESTALE ||
		     ((result == -ENOENT || result == -EBADF) &&
		      st->env.nprivate)))
		return cosy_fast_plain(st, ip);
	return cosy_made(ip, result);
}

/* name.c */
bool cosy_name_get(struct cosy_name *name, const char __user *from);
int cosy_name_lookup(int dfd, struct cosy_name *name, unsigned int flags,
		     struct path *path);

/* The functions of child.c return this if the kernel's path walk has to be used. */
#define COSY_WALK	1

/* child.c, with the internal functions that are needed: for stat and path; statx; open. */
#define COSY_CHILD_NEEDS	COSY_NEEDS(__d_lookup_rcu)
#define COSY_STATX_NEEDS						\
	(COSY_NEEDS(cp_statx) | COSY_NEEDS(mount_mnt) | COSY_NEEDS(mount_mnt_id))
#define COSY_CHILD_STATX_NEEDS	(COSY_CHILD_NEEDS | COSY_STATX_NEEDS)
#define COSY_CHILD_OPEN_NEEDS						\
	(COSY_CHILD_NEEDS | COSY_NEEDS(alloc_empty_file) | COSY_NEEDS(vfs_open))
void cosy_child_init(void);
long cosy_child_stat(int dfd, const struct cosy_name *name, int flags,
		     struct kstat *stat);
long cosy_child_statx(int dfd, const struct cosy_name *name, unsigned int flags,
		      u32 mask, struct kstat *stat);
long cosy_child_path(int dfd, const struct cosy_name *name, bool follow,
		     struct path *path);
long cosy_child_open(int dfd, const struct cosy_name *name, unsigned int flags, bool nowait,
		     struct file **file);

/*
 * With these flags a file or directory is opened for reading, and nothing else happens. All of
 * them are valid together.
 */
#define COSY_SIMPLE_OPEN_FLAGS \
	(O_NOCTTY | O_NONBLOCK | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/**
 * cosy_is_local() - test whether a file system is on a disk of this machine, or in memory
 * @sb: the file system
 *
 * FUSE, and file systems of a disk that several machines share, can be on a disk and ask a server.
 *
 * Return: false if it may ask a server. False for an overlay; its layers may be local.
 */
static inline bool cosy_is_local(const struct super_block *sb)
{
	switch (sb->s_magic) {
	case TMPFS_MAGIC:
		return true;
	case FUSE_SUPER_MAGIC:
	case GFS2_MAGIC:
	case OCFS2_SUPER_MAGIC:
		return false;
	default:
		return sb->s_type->fs_flags & FS_REQUIRES_DEV;
	}
}

/**
 * cosy_is_in_memory() - test whether a file system has in memory what it tells of a file
 * @dentry: the file; may be negative
 *
 * Of what is encrypted, it may have to read the size of a link, or a key. A regular file of an
 * overlay is that of its layer; a file of the overlay is asked again if that of a layer is. Other
 * files of an overlay may be in several layers.
 *
 * Return: false if it may ask a server or read a disk.
 */
static inline bool cosy_is_in_memory(const struct dentry *dentry)
{
	const struct dentry *real = cosy_real_dentry(dentry);
	const struct inode *inode = d_inode(real);

	return !(READ_ONCE(dentry->d_flags) & DCACHE_OP_REVALIDATE) &&
	       !(inode && IS_ENCRYPTED(inode)) && cosy_is_local(real->d_sb);
}

/**
 * cosy_is_block_device() - test whether a file is a block device
 * @dentry: the file; the caller holds it
 *
 * Part of what statx() returns of a block device is not its file system's, and kernels differ in
 * where they add it. So block devices need the kernel's own function.
 *
 * Return: true if it is one.
 */
static inline bool cosy_is_block_device(const struct dentry *dentry)
{
	return d_is_special(dentry) && S_ISBLK(d_inode(dentry)->i_mode);
}

/* borrow.c */
cosy_fast_call_fn cosy_fast_borrow_read;
cosy_fast_call_fn cosy_fast_borrow_pread64;
cosy_fast_call_fn cosy_fast_borrow_write;
cosy_fast_call_fn cosy_fast_borrow_pwrite64;
cosy_fast_call_fn cosy_fast_borrow_sendto;

/* stat.c */
long cosy_stat_put(const struct kstat *stat, struct stat __user *to);
bool cosy_is_simple_statx(unsigned int flags, unsigned int mask);
long cosy_statx_get(const struct path *path, unsigned int flags, u32 mask, struct kstat *stat);
cosy_fast_call_fn cosy_fast_stat;
cosy_fast_call_fn cosy_fast_lstat;
cosy_fast_call_fn cosy_fast_newfstatat;
cosy_fast_call_fn cosy_fast_statx;

/* path.c */
bool cosy_is_simple_access(int mode, int flags);
long cosy_access_path(const struct path *path, int mode, int how);
bool cosy_path_arg(struct cosy_state *st, const struct cosy_insn *ip, int dfd,
		   unsigned int i, unsigned int flags, struct path *path,
		   struct cosy_made *made);
struct cosy_made cosy_path_done(struct cosy_state *st,
				const struct cosy_insn *ip,
				const struct path *path, long err);
cosy_fast_call_fn cosy_fast_unlink;
cosy_fast_call_fn cosy_fast_unlinkat;
cosy_fast_call_fn cosy_fast_rmdir;
cosy_fast_call_fn cosy_fast_mkdir;
cosy_fast_call_fn cosy_fast_mkdirat;
cosy_fast_call_fn cosy_fast_rename;
cosy_fast_call_fn cosy_fast_renameat;
cosy_fast_call_fn cosy_fast_renameat2;
cosy_fast_call_fn cosy_fast_link;
cosy_fast_call_fn cosy_fast_linkat;
cosy_fast_call_fn cosy_fast_symlink;
cosy_fast_call_fn cosy_fast_symlinkat;
cosy_fast_call_fn cosy_fast_access;
cosy_fast_call_fn cosy_fast_faccessat;
cosy_fast_call_fn cosy_fast_faccessat2;
cosy_fast_call_fn cosy_fast_readlink;
cosy_fast_call_fn cosy_fast_realpath;
cosy_fast_call_fn cosy_fast_readlinkat;
cosy_fast_call_fn cosy_fast_chmod;
cosy_fast_call_fn cosy_fast_fchmodat;
cosy_fast_call_fn cosy_fast_chown;
cosy_fast_call_fn cosy_fast_lchown;
cosy_fast_call_fn cosy_fast_fchownat;
cosy_fast_call_fn cosy_fast_truncate;
cosy_fast_call_fn cosy_fast_utimensat;

/* xattr.c */
cosy_fast_call_fn cosy_fast_getxattr;
cosy_fast_call_fn cosy_fast_lgetxattr;
cosy_fast_call_fn cosy_fast_listxattr;
cosy_fast_call_fn cosy_fast_llistxattr;

/* open.c */
cosy_fast_call_fn cosy_fast_open;
cosy_fast_call_fn cosy_fast_openat;
cosy_fast_call_fn cosy_fast_close;

/* io.c */
cosy_fast_call_fn cosy_fast_read;
cosy_fast_call_fn cosy_fast_pread64;
cosy_fast_call_fn cosy_fast_write;
cosy_fast_call_fn cosy_fast_pwrite64;
cosy_fast_call_fn cosy_fast_lseek;
cosy_fast_call_fn cosy_fast_seek_next;
cosy_fast_call_fn cosy_fast_seek_branch_next;
cosy_fast_call_fn cosy_fast_fstat;

/* overwrite.c */
void cosy_overwrite_init(void);

/* prefetch.c */
void cosy_prefetch_drop(struct cosy_env *env);
cosy_fast_call_fn cosy_fast_read_ahead;

#endif /* COSY_FAST_CALLS_H */
