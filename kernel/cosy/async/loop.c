// SPDX-License-Identifier: GPL-2.0
/*
 * loop.c - creates, maps, polls and frees loops.
 */
#include <linux/anon_inodes.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "async/async.h"
#include "async/loop.h"
#include "async/ring.h"
#include "env/arg.h"
#include "limit/limit.h"

static atomic64_t cosy_loops_made;

static u64 cosy_page_size(u32 nentries)
{
	return PAGE_ALIGN(sizeof(struct cosy_async_page) +
			  (u64)nentries * (sizeof(struct cosy_async_entry) +
					   2 * sizeof(u32)));
}

static void cosy_page_init(struct cosy_loop *loop)
{
	struct cosy_async_page *page = loop->page;
	u32 entries = loop->nentries * sizeof(struct cosy_async_entry);
	u32 ring = loop->nentries * sizeof(u32);

	page->size = sizeof(*page);
	page->version = COSY_ASYNC_VERSION;
	page->features = COSY_ASYNC_COMPOUNDS | COSY_ASYNC_FILE_IO |
			 COSY_ASYNC_CLOSES | COSY_ASYNC_ACCEPTS |
			 COSY_ASYNC_SLEEPS | COSY_ASYNC_THREADS |
			 COSY_ASYNC_MESSAGES | COSY_ASYNC_BUFFERED |
			 COSY_ASYNC_MOVES | COSY_ASYNC_GIVES_BACK |
			 COSY_ASYNC_RING | COSY_ASYNC_FUNCTIONS | COSY_ASYNC_TELLS;
	page->id = loop->id & COSY_WORK_ID;
	page->nentries = loop->nentries;
	page->entries = sizeof(*page);
	page->submitted = page->entries + entries;
	page->done = page->submitted + ring;
	loop->entries = (void *)(page + 1);
	loop->submitted = (void *)loop->entries + entries;
	loop->done = (void *)loop->submitted + ring;
}

/* Number of entries that are charged at once. */
#define COSY_LOOP_PAYS	64u

/**
 * cosy_loop_pays() - charge what an entry can keep allocated, before it does for the first time
 * @loop:  the loop, entered
 * @index: index of the entry
 *
 * The charge stays until the loop is freed. A process pays for all entries up to the highest index
 * that it uses, so it should use the free entry with the lowest index.
 *
 * Return: false if the user may not have more memory.
 */
bool cosy_loop_pays(struct cosy_loop *loop, u32 index)
{
	u32 n = min_t(u32, loop->nentries, (index | (COSY_LOOP_PAYS - 1)) + 1);
	u64 bytes;

	if (likely(index < loop->paid))
		return true;
	bytes = (n - loop->paid) * cosy_park_cost();
	if (cosy_quota_charge(loop->owner, bytes))
		return false;
	loop->charged += bytes;
	loop->paid = n;
	return true;
}

static struct cosy_loop *cosy_loop_alloc(u32 nentries)
{
	u64 size = cosy_page_size(nentries);
	u64 charge = sizeof(struct cosy_loop) + COSY_MM_CHARGE + size +
		     nr_cpu_ids * sizeof(struct cosy_loop_cpu) +
		     nentries * sizeof(struct cosy_parked *);
	u64 owner = cosy_quota_owner();
	struct cosy_loop *loop;
	int err;

	err = cosy_quota_charge(owner, charge);
	if (err)
		return ERR_PTR(err);
	loop = kzalloc(sizeof(*loop), COSY_GFP);
	if (!loop)
		goto uncharge;
	loop->parked = kvcalloc(nentries, sizeof(*loop->parked), COSY_GFP);
	if (!loop->parked)
		goto free_loop;
	loop->cpus = kvcalloc(nr_cpu_ids, sizeof(*loop->cpus), COSY_GFP);
	if (!loop->cpus)
		goto free_parked;
	loop->page = cosy_mappable_alloc(&loop->memory, size);
	if (!loop->page)
		goto free_cpus;
	loop->id = atomic64_inc_return(&cosy_loops_made);
	refcount_set(&loop->users, 1);
	loop->nentries = nentries;
	loop->size = size;
	loop->owner = owner;
	loop->charged = charge;
	spin_lock_init(&loop->ready_lock);
	INIT_LIST_HEAD(&loop->ready);
	init_waitqueue_head(&loop->wait);
	init_irq_work(&loop->telling, cosy_loop_wake_pollers_later);
	cosy_works_init(loop);
	cosy_page_init(loop);
	mmgrab(current->mm);
	loop->mm = current->mm;
	loop->pid = get_pid(task_tgid(current));
	loop->files = current->files;
	return loop;

free_cpus:
	kvfree(loop->cpus);
free_parked:
	kvfree(loop->parked);
free_loop:
	kfree(loop);
uncharge:
	cosy_quota_uncharge(owner, charge);
	return ERR_PTR(-ENOMEM);
}

/**
 * cosy_loop_free() - free a loop
 * @loop: the loop, which has no reference any more
 *
 * May sleep.
 */
void cosy_loop_free(struct cosy_loop *loop)
{
	bool pins;
	u32 i;

	for (i = 0; i < loop->nentries; i++) {
		if (loop->parked[i])
			cosy_unpark(loop->parked[i]);
		if (!(i & 0xff))
			cond_resched();
	}
	if (loop->ring)
		loop->charged += loop->ring->charged;
	cosy_ring_free(loop->ring);
	/* No parked entry is left that could queue it again. */
	irq_work_sync(&loop->telling);
	cosy_works_exit(loop);
	pins = loop->pins;
	cosy_mappable_free(&loop->memory);
	kvfree(loop->cpus);
	kvfree(loop->parked);
	mmdrop(loop->mm);
	put_pid(loop->pid);
	cosy_quota_uncharge(loop->owner, loop->charged);
	kfree(loop);
	/* Must not sleep after this: see cosy_exit(). */
	if (pins)
		module_put(THIS_MODULE);
}

static int cosy_loop_release(struct inode *inode, struct file *file)
{
	struct cosy_loop *loop = file->private_data;

	/*
	 * A thread is still inside: one of the calls that it makes has closed the loop,
	 * or io_uring has. The file drops its reference to the module before that thread
	 * leaves, so take another one. cosy_loop_put() drops it.
	 */
	if (refcount_read(&loop->users) > 1) {
		__module_get(THIS_MODULE);
		loop->pins = true;
	}
	cosy_loop_put(loop);
	return 0;
}

static __poll_t cosy_loop_poll(struct file *file, poll_table *pt)
{
	struct cosy_loop *loop = file->private_data;

	/* libcosy adds the file to its epoll without events, and must not be woken for it. */
	if (poll_requested_events(pt) & (EPOLLIN | EPOLLRDNORM))
		poll_wait(file, &loop->wait, pt);
	if (cosy_loop_is_ready(loop) || cosy_ring_has_fired(READ_ONCE(loop->ring)) ||
	    READ_ONCE(loop->page->done_head) != READ_ONCE(loop->done_tail))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

static int cosy_loop_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct cosy_loop *loop = file->private_data;

	if (vma->vm_mm != loop->mm)
		return -EPERM;
	if (vma->vm_pgoff == COSY_RING_OFFSET >> PAGE_SHIFT)
		return cosy_ring_mmap(loop, vma);
	if (vma->vm_pgoff || !cosy_mappable_fits(vma, loop->size))
		return -EINVAL;
	/* The process still has a descriptor: those that were closed before were others. */
	cosy_works_begin(loop);
	return cosy_mappable_map(&loop->memory, vma);
}

static const struct file_operations cosy_loop_fops = {
	.owner = THIS_MODULE,
	.flush = cosy_loop_flush,
	.release = cosy_loop_release,
	.llseek = cosy_loop_llseek,
	.poll = cosy_loop_poll,
	.mmap = cosy_loop_mmap,
	.show_fdinfo = cosy_loop_show,
};

/**
 * cosy_loop_create() - COSY_IOC_ASYNC
 * @device: the open file of the device
 * @arg:    struct cosy_async_create of the caller
 *
 * Return: 0, or an error that the interface documents.
 */
long cosy_loop_create(struct file *device, struct cosy_async_create __user *arg)
{
	struct cosy_async_create create;
	struct cosy_loop *loop;
	struct file *file;
	int err;

	err = cosy_arg_read(&create, sizeof(create),
			    offsetofend(struct cosy_async_create, page_size),
			    arg);
	if (err)
		return err;
	if (create.flags || !is_power_of_2(create.nentries) ||
	    create.nentries < COSY_ASYNC_MIN_ENTRIES ||
	    create.nentries > COSY_ASYNC_MAX_ENTRIES)
		return -EINVAL;
	create.fd = get_unused_fd_flags(O_CLOEXEC);
	if (create.fd < 0)
		return create.fd;
	loop = cosy_loop_alloc(create.nentries);
	err = PTR_ERR_OR_ZERO(loop);
	if (err)
		goto put_fd;
	loop->device = device->f_op;
	file = anon_inode_getfile("[cosy-loop]", &cosy_loop_fops, loop,
				  O_RDWR | O_CLOEXEC);
	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		cosy_loop_put(loop);
		goto put_fd;
	}
	create.page_size = loop->size;
	return cosy_arg_give_file(arg, &create, sizeof(create), create.fd, file);

put_fd:
	put_unused_fd(create.fd);
	return err;
}
