/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - everything that differs between kernel versions; the rest of the
 * module reads as if there were one.
 */
#ifndef COSY_COMPAT_H
#define COSY_COMPAT_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/fs.h>
#include <linux/ima.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/stat.h>
#include <linux/thread_info.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/version.h>

/* linux/fs.h had it before. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#include <linux/filelock.h>
#endif

#include <asm/asm.h>

/*
 * Variables that are written before they are read. INIT_STACK_ALL_ZERO, which
 * distributions turn on, would clear them at every entry nevertheless.
 */
#ifndef __uninitialized
#define __uninitialized __attribute__((__uninitialized__))
#endif

/*
 * 6.12 before 6.12.58 writes the limit of user addresses into the kernel's own
 * instructions, but not into those of modules, where a constant stays: then the
 * mask does not keep kernel addresses from being ones that raise a warning.
 * asm/runtime-const.h, which the fixed headers do not include here, tells.
 */
#if defined(masked_user_access_begin) && !defined(_ASM_RUNTIME_CONST_H)
#define COSY_MASKED_USER_ACCESS
#endif

/**
 * cosy_access_ok() - test whether bytes are below the limit of user addresses
 * @ptr:  address
 * @size: bytes
 *
 * As access_ok(), which in modules for 6.12 before 6.12.58 has the same constant:
 * a non-canonical address would pass, and an access to it raises a warning.
 *
 * Return: true if they are.
 */
static __always_inline bool cosy_access_ok(const void __user *ptr, size_t size)
{
	return likely(size <= TASK_SIZE_MAX &&
		      (unsigned long)ptr <= TASK_SIZE_MAX - size);
}

/**
 * cosy_user_access_begin() - user_access_begin(), by cosy_access_ok()
 * @ptr:  address
 * @size: bytes
 *
 * Return: false if the address is not the user's. Else end the access with
 * user_access_end().
 */
static __always_inline bool cosy_user_access_begin(const void __user *ptr,
						   size_t size)
{
	if (!cosy_access_ok(ptr, size))
		return false;
	__uaccess_begin_nospec();
	return true;
}

/**
 * cosy_user_begin() - begin to access user memory, upwards from an address
 * @ptr:  address of the user pointer; may be changed to one that faults
 * @size: bytes
 *
 * Since 6.12 a pointer into the kernel can be made one that faults without a
 * branch, which also spares the barrier against speculation past the branch.
 * Elsewhere the address is compared, and the barrier follows.
 *
 * Return: false if the address is not the user's. Else end the access with
 * user_access_end().
 */
static __always_inline bool cosy_user_begin(const void __user **ptr,
					    size_t size)
{
#ifdef COSY_MASKED_USER_ACCESS
	*ptr = masked_user_access_begin(*ptr);
	return true;
#else
	return cosy_user_access_begin(*ptr, size);
#endif
}

/**
 * cosy_user_begin_works() - test whether it rejects the kernel's own addresses
 *
 * Return: false if the module must not be loaded.
 */
static inline bool cosy_user_begin_works(void)
{
	const void __user *p = (const void __user *)PAGE_OFFSET;

	if (!cosy_user_begin(&p, sizeof(long)))
		return true;
	user_access_end();
	return (unsigned long)p <= TASK_SIZE_MAX;
}

/**
 * cosy_unsafe_get_u64() - *@dst = *@src, between cosy_user_begin() and _end()
 * @dst:   kernel address
 * @src:   user address
 * @label: where to go when it faults
 *
 * unsafe_get_user(), but as short with the compilers whose asm goto has no
 * outputs the kernel trusts: the asm stores to memory itself.
 */
#ifdef CONFIG_CC_HAS_ASM_GOTO_OUTPUT
#define cosy_unsafe_get_u64(dst, src, label) \
	unsafe_get_user(*(dst), src, label)
#else
#define cosy_unsafe_get_u64(dst, src, label)				\
	asm goto("1:	movq %[from], %%rax\n"				\
		 "	movq %%rax, %[to]\n"				\
		 _ASM_EXTABLE_UA(1b, %l[label])				\
		 : : [from] "m" (*(__force const u64 *)(src)),		\
		     [to] "m" (*(dst))					\
		 : "rax", "memory" : label)
#endif

/*
 * What statx() takes for wrong in a mask, or for not the caller's: since 6.2
 * filesystems can be asked for a cookie, by the kernel alone.
 */
#ifdef STATX_CHANGE_COOKIE
#define COSY_STATX_SPECIAL	(STATX__RESERVED | STATX_CHANGE_COOKIE)
#else
#define COSY_STATX_SPECIAL	STATX__RESERVED
#endif

/*
 * The flags of a thread that rseq sets at every context switch: one of its own since 6.19.
 */
#ifdef _TIF_RSEQ
#define COSY_TIF_SWITCHED	(_TIF_NOTIFY_RESUME | _TIF_RSEQ)
#else
#define COSY_TIF_SWITCHED	_TIF_NOTIFY_RESUME
#endif

/**
 * cosy_resched() - let others run that wait for this CPU
 *
 * Kernels that can be preempted anywhere make nothing of cond_resched(). With lazy
 * preemption others would then wait for the next tick, not for a return to user mode.
 */
static inline void cosy_resched(void)
{
	cond_resched();
#ifdef _TIF_NEED_RESCHED_LAZY
	if (read_thread_flags() & _TIF_NEED_RESCHED_LAZY)
		schedule();
#endif
}

/**
 * cosy_goes_to_sleep() - test why the current thread leaves its CPU, in a preempt notifier
 *
 * Since 6.12 a thread that sleeps may stay in the run queue for a while.
 *
 * Return: true if it waits for something, false if only for a CPU.
 */
static inline bool cosy_goes_to_sleep(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	bool runnable = task_is_runnable(current);
#else
	bool runnable = current->on_rq;
#endif

	return !runnable && READ_ONCE(current->__state);
}

/* Kernels without KVM do not have them: a thread is told nothing of its sleep. */
#ifdef CONFIG_PREEMPT_NOTIFIERS
#define COSY_TELLS_OF_SLEEP	true
#else
#define COSY_TELLS_OF_SLEEP	false

struct preempt_notifier {
};

struct preempt_ops {
	void (*sched_in)(struct preempt_notifier *notifier, int cpu);
	void (*sched_out)(struct preempt_notifier *notifier,
			  struct task_struct *next);
};

static inline void preempt_notifier_inc(void)
{
}

static inline void preempt_notifier_dec(void)
{
}

static inline void preempt_notifier_init(struct preempt_notifier *notifier,
					 struct preempt_ops *ops)
{
}

static inline void preempt_notifier_register(struct preempt_notifier *notifier)
{
}

static inline void preempt_notifier_unregister(struct preempt_notifier *notifier)
{
}
#endif

/* __fput_sync() was for kernel threads before. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define COSY_FPUT_SYNC_ANYWHERE
#endif

/**
 * cosy_fsnotify_opened() - tell who watches that a file was opened
 * @file: the file
 *
 * Since 6.5 do_filp_open() itself does.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define cosy_fsnotify_opened(file)	((void)(file))
#else
#define cosy_fsnotify_opened(file)	fsnotify_open(file)
#endif

/**
 * cosy_file_post_open() - ask security modules about a file that has been opened
 * @file: the file
 * @mask: MAY_...
 *
 * Only the integrity module is asked before 6.9.
 *
 * Return: 0 or why not.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#define cosy_file_post_open(file, mask)	security_file_post_open(file, mask)
#else
#define cosy_file_post_open(file, mask)	ima_file_check(file, mask)
#endif

/**
 * cosy_sb_is_watched() - test whether files of a file system may be watched
 * @sb: the file system
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define cosy_sb_is_watched(sb)	fsnotify_sb_has_watchers(sb)
#else
#define cosy_sb_is_watched(sb)						\
	(atomic_long_read(&(sb)->s_fsnotify_connectors) != 0)
#endif

/**
 * cosy_mnt_idmap() - how a mount maps owners
 * @mnt: the mount
 *
 * Return: what inode_permission() and the like take first, a struct cosy_idmap.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define cosy_mnt_idmap(mnt)	mnt_idmap(mnt)
#define cosy_idmap		mnt_idmap
#else
#define cosy_mnt_idmap(mnt)	mnt_user_ns(mnt)
#define cosy_idmap		user_namespace
#endif

/*
 * What fs/xattr.c passes on, under the name that it has in the kernel. Since 6.13,
 * which renamed it, the name of the attribute is read before that of the file.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define cosy_xattr_ctx		kernel_xattr_ctx
#define COSY_ATTRIBUTE_FIRST	true
#else
#define cosy_xattr_ctx		xattr_ctx
#define COSY_ATTRIBUTE_FIRST	false
#endif

/*
 * What do_accept() takes besides the flags of the call: the file's flags, since 6.10 in a
 * structure.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define cosy_accept_arg		struct proto_accept_arg *
#define cosy_accept_nonblock()	(&(struct proto_accept_arg){ .flags = O_NONBLOCK })
#else
#define cosy_accept_arg		unsigned int
#define cosy_accept_nonblock()	O_NONBLOCK
#endif

/**
 * cosy_filename_refs() - set the references of a struct filename
 * @name: it
 * @n:    how many
 *
 * Atomic since 6.7, and in some stable kernels before.
 */
#define cosy_filename_refs(name, n)					\
	_Generic((name)->refcnt,					\
		 int: cosy_set_int_refs,				\
		 atomic_t: cosy_set_atomic_refs)(&(name)->refcnt, n)

static inline void cosy_set_int_refs(void *refs, int n)
{
	*(int *)refs = n;
}

static inline void cosy_set_atomic_refs(void *refs, int n)
{
	atomic_set(refs, n);
}

/**
 * cosy_filename_uptr() - set where a struct filename was copied from
 * @name: it
 * @from: the address in the process
 *
 * Auditing does not need it any more since 7.0.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define cosy_filename_uptr(name, from)	((void)(name), (void)(from))
#else
#define cosy_filename_uptr(name, from)	((name)->uptr = (from))
#endif

/**
 * cosy_folio_flags() - the flags of a folio
 * @folio: it
 *
 * In a structure since 6.18.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define cosy_folio_flags(folio)	READ_ONCE((folio)->flags.f)
#else
#define cosy_folio_flags(folio)	READ_ONCE((folio)->flags)
#endif

/**
 * cosy_copy_from_iter_atomic() - copy data that is to be written to a page
 * @folio:  the folio
 * @page:   the page, which is in it
 * @offset: in the page
 * @n:      bytes, up to the end of the page
 * @from:   where the data is; moved
 *
 * Return: bytes copied.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define cosy_copy_from_iter_atomic(folio, page, offset, n, from)		\
	copy_folio_from_iter_atomic(folio,					\
				    folio_page_idx(folio, page) * PAGE_SIZE +	\
				    (offset), n, from)
#else
#define cosy_copy_from_iter_atomic(folio, page, offset, n, from)		\
	copy_page_from_iter_atomic(page, offset, n, from)
#endif

/**
 * cosy_vma_flags() - change the flags of a mapping that is being made
 * @vma:   the mapping
 * @set:   flags to set
 * @clear: flags to clear
 *
 * By functions since 6.3.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define cosy_vma_flags(vma, set, clear)	vm_flags_mod(vma, set, clear)
#else
#define cosy_vma_flags(vma, set, clear)					\
	((vma)->vm_flags = ((vma)->vm_flags | (set)) & ~(clear))
#endif

/**
 * cosy_file_tells_of_folios() - test whether a read can wait for a folio without a thread
 * @file: the file
 *
 * A flag of the file system's functions since 6.10.
 *
 * Return: true if its read_iter() knows IOCB_WAITQ.
 */
static inline bool cosy_file_tells_of_folios(const struct file *file)
{
#ifdef FOP_BUFFER_RASYNC
	return file->f_op->fop_flags & FOP_BUFFER_RASYNC;
#else
	return file->f_mode & FMODE_BUF_RASYNC;
#endif
}

/* Times of an inode, which have accessors since 6.7. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define cosy_inode_atime(inode)	inode_get_atime(inode)
#define cosy_inode_mtime(inode)	inode_get_mtime(inode)
#define cosy_inode_ctime(inode)	inode_get_ctime(inode)
#else
#define cosy_inode_atime(inode)	((inode)->i_atime)
#define cosy_inode_mtime(inode)	((inode)->i_mtime)
#define cosy_inode_ctime(inode)	((inode)->i_ctime)
#endif

#endif /* COSY_COMPAT_H */
