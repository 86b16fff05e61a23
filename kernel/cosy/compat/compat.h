/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - everything that differs between kernel versions. No other file of the
 * module depends on the version.
 */
#ifndef COSY_COMPAT_H
#define COSY_COMPAT_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/ima.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/stat.h>
#include <linux/task_work.h>
#include <linux/thread_info.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/version.h>

/* Before 6.3, linux/fs.h contains these declarations. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#include <linux/filelock.h>
#endif

#include <asm/asm.h>

/*
 * For variables that are written before they are read. Distributions enable
 * INIT_STACK_ALL_ZERO, which would clear them at every entry.
 */
#ifndef __uninitialized
#define __uninitialized __attribute__((__uninitialized__))
#endif

/*
 * 6.12 before 6.12.58 patches the limit of user addresses into the kernel's own
 * instructions, but not into those of modules, where a constant stays. Then the mask
 * leaves kernel addresses that raise a warning. Such headers include
 * asm/runtime-const.h here; the fixed ones do not.
 */
#if defined(masked_user_access_begin) && !defined(_ASM_RUNTIME_CONST_H)
#define COSY_MASKED_USER_ACCESS
#endif

/**
 * cosy_access_ok() - test whether bytes are below the limit of user addresses
 * @ptr:  address
 * @size: bytes
 *
 * The same as access_ok(), which has that constant in modules for 6.12 before
 * 6.12.58. There it accepts non-canonical addresses, and an access raises a warning.
 *
 * Return: true if they are.
 */
static __always_inline bool cosy_access_ok(const void __user *ptr, size_t size)
{
	/* No constant: it is patched into the code at each place. */
	const unsigned long max = TASK_SIZE_MAX;

	return likely(size <= max && (unsigned long)ptr <= max - size);
}

/**
 * cosy_user_access_begin() - user_access_begin() with cosy_access_ok()
 * @ptr:  address
 * @size: bytes
 *
 * Return: false if it is not a user address. Otherwise the caller has to end the
 * access with user_access_end().
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
 * @ptr:  address of the user pointer; may be changed to a pointer that faults
 * @size: bytes
 *
 * Since 6.12 a kernel pointer can be changed to one that faults, without a branch.
 * So no barrier against speculation past a branch is needed. Otherwise the address
 * is compared, and the barrier follows.
 *
 * Return: false if it is not a user address. Otherwise the caller has to end the
 * access with user_access_end().
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
 * cosy_user_begin_works() - test whether cosy_user_begin() rejects kernel addresses
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
 * @label: where to jump on a fault
 *
 * The same as unsafe_get_user(), and as short with compilers whose asm goto outputs the
 * kernel does not use: there the asm itself stores to memory.
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
 * Bits of a mask that statx() rejects or clears, or that fast paths leave to the kernel. Since 6.2
 * one bit asks the file system for a cookie, which only the kernel may do. Since 6.8 one bit asks
 * for another number of the mount.
 */
#ifdef STATX_CHANGE_COOKIE
#define COSY_STATX_COOKIE	STATX_CHANGE_COOKIE
#else
#define COSY_STATX_COOKIE	0
#endif
#ifdef STATX_MNT_ID_UNIQUE
#define COSY_STATX_UNIQUE	STATX_MNT_ID_UNIQUE
#else
#define COSY_STATX_UNIQUE	0
#endif
#define COSY_STATX_SPECIAL	(STATX__RESERVED | COSY_STATX_COOKIE | COSY_STATX_UNIQUE)

/*
 * The flag of a thread that rseq sets at every context switch. Since 6.19 it has its own flag.
 */
#ifdef _TIF_RSEQ
#define COSY_TIF_SWITCHED	(_TIF_NOTIFY_RESUME | _TIF_RSEQ)
#else
#define COSY_TIF_SWITCHED	_TIF_NOTIFY_RESUME
#endif

/* The disk for whose cgroup a thread is delayed. Before 6.3 that is the disk's queue. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define cosy_throttle_disk	throttle_disk
#else
#define cosy_throttle_disk	throttle_queue
#endif

/**
 * cosy_has_resume_work() - test whether TIF_NOTIFY_RESUME is set for more than rseq
 *
 * The list is that of resume_user_mode_work(): task work, a key that is cached for one system call,
 * and cgroups that have let the thread exceed their limits of memory and of input and output for
 * now, to delay it on its return to user mode.
 *
 * Return: true if the current thread has such work.
 */
static __always_inline bool cosy_has_resume_work(void)
{
	if (task_work_pending(current))
		return true;
#ifdef CONFIG_KEYS_REQUEST_CACHE
	if (current->cached_requested_key)
		return true;
#endif
#ifdef CONFIG_MEMCG
	if (current->memcg_nr_pages_over_high)
		return true;
#endif
#ifdef CONFIG_BLK_CGROUP
	if (current->cosy_throttle_disk)
		return true;
#endif
	return false;
}

/**
 * cosy_resched() - let other threads run that wait for this CPU
 *
 * In preemptible kernels cond_resched() does nothing. With lazy preemption other threads
 * would then wait for the next tick instead of a return to user mode.
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
 * cosy_goes_to_sleep() - test in a preempt notifier why the current thread leaves its CPU
 *
 * Since 6.12 a thread that sleeps may stay in the run queue for a while, so the run queue
 * does not tell.
 *
 * Return: true if the thread sleeps, false if it was preempted.
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

/* Kernels without KVM have no preempt notifiers: threads do not notice that they sleep. */
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

/* Before 6.6 only kernel threads may call __fput_sync(). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define COSY_FPUT_SYNC_ANYWHERE
#endif

/**
 * cosy_fsnotify_opened() - report to watchers that a file was opened
 * @file: the file
 *
 * Since 6.5 do_filp_open() itself reports it.
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
 * Before 6.9 only the integrity module is asked.
 *
 * Return: 0, or the error of a security module.
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
 * cosy_may_be_leased() - test whether opening a file may have to wait for the holder of a lease
 * @inode: the file
 *
 * Return: true if there may be a lease.
 */
static inline bool cosy_may_be_leased(const struct inode *inode)
{
	/* Acquire: the context was initialised before, as in locks_get_lock_context(). */
	const struct file_lock_context *context = smp_load_acquire(&inode->i_flctx);

	return context && !list_empty_careful(&context->flc_lease);
}

/**
 * cosy_real_dentry() - get the file of the layer below, which an overlay shows
 * @dentry: a file of any file system; the caller holds it
 *
 * If the overlay has copied only the status of a file, this is the copy. Since 6.9 the layer is
 * asked by a type; before 6.9 it is that of the data.
 *
 * Return: the file in the layer. @dentry itself if it is not a regular file of an overlay.
 */
static inline struct dentry *cosy_real_dentry(const struct dentry *dentry)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	return d_real((struct dentry *)dentry, D_REAL_METADATA);
#else
	return d_real((struct dentry *)dentry, NULL);
#endif
}

/**
 * cosy_mnt_idmap() - get the mapping of owners of a mount
 * @mnt: the mount
 *
 * Return: the first argument of inode_permission() and similar functions.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define cosy_mnt_idmap(mnt)	mnt_idmap(mnt)
#define cosy_idmap		mnt_idmap
#else
#define cosy_mnt_idmap(mnt)	mnt_user_ns(mnt)
#define cosy_idmap		user_namespace
#endif

/*
 * The argument structure of fs/xattr.c. 6.13 renamed it, and reads the name of the
 * attribute before the name of the file.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define cosy_xattr_ctx		kernel_xattr_ctx
#define COSY_ATTRIBUTE_FIRST	true
#else
#define cosy_xattr_ctx		xattr_ctx
#define COSY_ATTRIBUTE_FIRST	false
#endif

/*
 * The second argument of do_accept(): the file's flags, since 6.10 in a structure.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define cosy_accept_arg		struct proto_accept_arg *
#define cosy_accept_nonblock()	(&(struct proto_accept_arg){ .flags = O_NONBLOCK })
#else
#define cosy_accept_arg		unsigned int
#define cosy_accept_nonblock()	O_NONBLOCK
#endif

/**
 * cosy_filename_refs() - set the reference count of a struct filename
 * @name: the struct filename
 * @n:    the count
 *
 * The count is atomic since 6.7, and in some older stable kernels.
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
 * cosy_filename_uptr() - set the user address from which a struct filename was copied
 * @name: the struct filename
 * @from: the address in the process
 *
 * Auditing needs it before 7.0.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define cosy_filename_uptr(name, from)	((void)(name), (void)(from))
#else
#define cosy_filename_uptr(name, from)	((name)->uptr = (from))
#endif

/**
 * cosy_folio_flags() - get the flags of a folio
 * @folio: the folio
 *
 * Since 6.18 they are in a structure.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define cosy_folio_flags(folio)	READ_ONCE((folio)->flags.f)
#else
#define cosy_folio_flags(folio)	READ_ONCE((folio)->flags)
#endif

/**
 * cosy_copy_from_iter_atomic() - copy data to a page without faulting
 * @folio:  the folio
 * @page:   a page of the folio
 * @offset: offset in the page
 * @n:      bytes, at most up to the end of the page
 * @from:   the data, which is advanced
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
 * cosy_vma_flags() - change the flags of a mapping that is being created
 * @vma:   the mapping
 * @set:   flags to set
 * @clear: flags to clear
 *
 * Since 6.3 the kernel has functions for this.
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
 * Since 6.10 this is a flag of the file operations.
 *
 * Return: true if its read_iter() supports IOCB_WAITQ.
 */
static inline bool cosy_file_tells_of_folios(const struct file *file)
{
#ifdef FOP_BUFFER_RASYNC
	return file->f_op->fop_flags & FOP_BUFFER_RASYNC;
#else
	return file->f_mode & FMODE_BUF_RASYNC;
#endif
}

/* The last arguments of security_bpf(): the size, and since 6.15 whether the kernel calls bpf(). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#define cosy_bpf_size		unsigned int, bool
#define cosy_bpf_size_of(attr)	sizeof(attr), false
#else
#define cosy_bpf_size		unsigned int
#define cosy_bpf_size_of(attr)	sizeof(attr)
#endif

/**
 * cosy_prog_join() - forbid that functions of a BPF program are replaced, as for the members of a
 * program array
 * @aux: the program's struct bpf_prog_aux
 *
 * Kernels that do not count the members replace them as well.
 *
 * Return: false if one is replaced already.
 */
#ifdef COSY_PROG_MEMBERS
#define cosy_prog_join(aux)						\
({									\
	bool _joins;							\
									\
	mutex_lock(&(aux)->ext_mutex);					\
	_joins = !(aux)->is_extended;					\
	(aux)->prog_array_member_cnt += _joins;				\
	mutex_unlock(&(aux)->ext_mutex);				\
	_joins;								\
})
#define cosy_prog_part(aux)						\
do {									\
	mutex_lock(&(aux)->ext_mutex);					\
	(aux)->prog_array_member_cnt--;					\
	mutex_unlock(&(aux)->ext_mutex);				\
} while (0)
#else
#define cosy_prog_join(aux)	((void)(aux), true)
#define cosy_prog_part(aux)	((void)(aux))
#endif

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
