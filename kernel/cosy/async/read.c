// SPDX-License-Identifier: GPL-2.0
/*
 * read.c - entries that read files on disks, and wait for the disk without a thread.
 *
 * It works like buffered reads of io_uring. A read that needs a folio which is being read adds
 * itself to the folio's wait queue. It is made again when the folio has been read. The thread that
 * enters copies the data.
 *
 * Only the wake-up removes an entry from the wait queue of a folio. If an entry is dropped before,
 * its struct cosy_reading stays there, and the wake-up frees it.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pagemap.h>
#include <linux/sched/xacct.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/unistd.h>
#include <linux/wait.h>

#include <net/sock.h>

#include <cosy/exec.h>

#include "async/loop.h"
#include "call/call.h"
#include "call/history.h"
#include "compat/compat.h"
#include "fast/calls.h"
#include "fast/io.h"
#include "limit/limit.h"
#include "run/run.h"
#include "trace/cosy_trace.h"

static unsigned int max_reads = 4096;
module_param(max_reads, uint, 0644);
MODULE_PARM_DESC(max_reads,
		 "entries of all loops that may wait for disks at the same time (default 4096)");

/*
 * The number of reads in queues of folios. It is limited because a wake-up walks such a queue with
 * interrupts off. Reads that were woken do not count: their process may never take them.
 */
static atomic_t cosy_readings;

/* Longer reads are made by a thread. */
#define COSY_READING_MAX	(1ul << 24)

/**
 * struct cosy_reading - an entry that reads a file
 * @parked:    its call; in the loop's ready list when its folio has been read
 * @folio:     link in the wait queue of a folio while @queued
 * @file:      the file; held
 * @done:      bytes read so far by pread64()
 * @lock:      protects @queued and @abandoned; nests inside the lock of the folio's queue, and
 *	       outside the loop's ready_lock
 * @queued:    the wake-up is still to come
 * @abandoned: only the wake-up still refers to this; @parked and @file are not valid
 */
struct cosy_reading {
	struct cosy_parked parked;
	struct wait_page_queue folio;
	struct file *file;
	size_t done;
	spinlock_t lock;
	bool queued;
	bool abandoned;
};

static struct cosy_reading *cosy_reading_of(struct cosy_parked *parked)
{
	return container_of(parked, struct cosy_reading, parked);
}

/* Called with the lock of the folio's queue, interrupts off, in any context. */
static int cosy_reading_wake(struct wait_queue_entry *wait, unsigned int mode,
			     int flags, void *key)
{
	struct wait_page_queue *folio =
		container_of(wait, struct wait_page_queue, wait);
	struct cosy_reading *reading =
		container_of(folio, struct cosy_reading, folio);
	struct cosy_loop *loop;
	bool abandoned;

	/* Many folios share a queue. */
	if (!wake_page_match(folio, key))
		return 0;
	list_del_init(&wait->entry);
	atomic_dec(&cosy_readings);
	spin_lock(&reading->lock);
	reading->queued = false;
	abandoned = reading->abandoned;
	if (likely(!abandoned)) {
		bool tells;

		loop = reading->parked.loop;
		spin_lock(&loop->ready_lock);
		tells = cosy_parked_add(&reading->parked, mode, flags);
		spin_unlock(&loop->ready_lock);
		/* Before reading->lock is released, because the loop may be freed after that. */
		if (tells)
			cosy_loop_wake_pollers(loop);
	}
	spin_unlock(&reading->lock);
	if (unlikely(abandoned)) {
		kfree(reading);
		/* cosy_exit() waits until interrupts are on again. */
		module_put(THIS_MODULE);
	}
	return 1;
}

/* Return true if reads of the file wait only for folios, and can be notified of their arrival. */
static bool cosy_reads_parked(const struct file *file, const struct kiocb *kiocb)
{
	return S_ISREG(file_inode(file)->i_mode) && file->f_op->read_iter &&
	       !file->f_op->read && !(kiocb->ki_flags & IOCB_DIRECT) &&
	       cosy_file_tells_of_folios(file);
}

/* Read from @pos, and advance it. Returns as cosy_reading_make(). */
static long cosy_reading_from(struct cosy_reading *reading, loff_t *pos)
{
	const u64 *args = reading->parked.call.args;
	size_t done = reading->done;
	struct file *file = reading->file;
	struct iov_iter iter __uninitialized;
	struct kiocb kiocb __uninitialized;
	long ret;

	cosy_history_clear();
	cosy_kiocb_init(&kiocb, file, pos);
	/* fcntl() may have set O_DIRECT meanwhile. */
	if (unlikely(!cosy_reads_parked(file, &kiocb)))
		return -EAGAIN;
	kiocb.ki_flags |= IOCB_WAITQ;
	kiocb.ki_waitq = &reading->folio;
	init_waitqueue_func_entry(&reading->folio.wait, cosy_reading_wake);
	INIT_LIST_HEAD(&reading->folio.wait.entry);
	iov_iter_ubuf(&iter, READ, u64_to_user_ptr(args[1] + done),
		      args[2] - done);
	if (atomic_inc_return(&cosy_readings) > READ_ONCE(max_reads)) {
		ret = -EAGAIN;
		goto uncount;
	}
	/* Set it before: the wake-up may come before read_iter() returns. */
	reading->queued = true;
	ret = file->f_op->read_iter(&kiocb, &iter);
	if (ret == -EIOCBQUEUED)
		return ret;
	reading->queued = false;
	*pos = kiocb.ki_pos;
uncount:
	atomic_dec(&cosy_readings);
	return ret;
}

/* Read from the position of the call, in several parts if necessary. */
static long cosy_reading_at(struct cosy_reading *reading)
{
	const u64 *args = reading->parked.call.args;
	loff_t pos;
	long ret;

	do {
		pos = args[3] + reading->done;
		ret = cosy_reading_from(reading, &pos);
		if (ret <= 0)
			break;
		reading->done += ret;
	} while (reading->done < args[2]);
	/* With -EAGAIN a thread makes the whole call. */
	if (ret == -EIOCBQUEUED || ret == -EAGAIN)
		return ret;
	return reading->done ?: ret;
}

/* Read at the file's position, which is locked as in fdget_pos(). */
static long cosy_reading_here(struct cosy_reading *reading)
{
	struct file *file = reading->file;
	long ret = -EAGAIN;
	loff_t pos;

	/* The owner of the lock may wait for the disk. */
	if (!mutex_trylock(&file->f_pos_lock))
		return -EAGAIN;
	pos = file->f_pos;
	/* The position may have changed since cosy_reading_check(). */
	if (likely(pos >= 0 && pos <= LLONG_MAX - COSY_READING_MAX))
		ret = cosy_reading_from(reading, &pos);
	if (ret >= 0)
		file->f_pos = pos;
	mutex_unlock(&file->f_pos_lock);
	return ret;
}

/*
 * Make the call. Return its result; -EIOCBQUEUED if it has to be made again after the wake-up;
 * -EAGAIN if a thread has to make it. A read() may read less than natively.
 */
static long cosy_reading_make(struct cosy_reading *reading)
{
	long ret = reading->parked.call.nr == __NR_read ?
			   cosy_reading_here(reading) : cosy_reading_at(reading);

	if (ret > 0) {
		fsnotify_access(reading->file);
		add_rchar(current, ret);
	}
	if (ret != -EIOCBQUEUED && ret != -EAGAIN)
		inc_syscr(current);
	return ret;
}

/* The checks of the system call. Return 0, its error, or -EAGAIN if a thread has to make it. */
static long cosy_reading_check(struct file *file, const struct cosy_async_call *call)
{
	const u64 *args = call->args;
	bool here = call->nr == __NR_read;
	fmode_t mode = FMODE_READ | FMODE_CAN_READ |
		       (here ? FMODE_ATOMIC_POS : FMODE_PREAD);
	loff_t pos = here ? READ_ONCE(file->f_pos) : (loff_t)args[3];

	if ((file->f_mode & mode) != mode || pos < 0 ||
	    args[2] > COSY_READING_MAX ||
	    !cosy_access_ok(u64_to_user_ptr(args[1]), args[2]))
		return -EAGAIN;
	return rw_verify_area(READ, file, &pos, args[2]);
}

/* Create a struct cosy_reading. Return 0, the call's error, or -EAGAIN: a thread has to make it. */
static long cosy_reading_begin(struct cosy_loop *loop, u32 index, u8 flags,
			       const struct cosy_async_call *call,
			       struct cosy_reading **begun)
{
	struct cosy_reading *reading;
	struct cosy_fd fd;
	long err;

	BUILD_BUG_ON(sizeof(*reading) >
		     sizeof(struct cosy_parked) + sizeof(struct socket_alloc));
	reading = kmalloc(sizeof(*reading), COSY_GFP);
	if (!reading)
		return -EAGAIN;
	fd = cosy_fd_get(call->args[0]);
	err = fd.file ? cosy_reading_check(fd.file, call) : -EBADF;
	if (!err)
		reading->file = get_file(fd.file);
	cosy_fd_put(fd);
	if (err) {
		kfree(reading);
		return err;
	}
	cosy_parked_init(&reading->parked, COSY_PARKED_READING, loop, index);
	reading->parked.silent = flags & COSY_ENTRY_SILENT;
	reading->parked.call = *call;
	reading->done = 0;
	spin_lock_init(&reading->lock);
	reading->queued = false;
	reading->abandoned = false;
	*begun = reading;
	return 0;
}

/* Return true if the call may be made here. Its arguments are in @st. */
static bool cosy_reading_may(struct cosy_state *st, unsigned int nr)
{
	return !cosy_ptraced() && (nr == __NR_pread64 || nr == __NR_read) &&
	       cosy_may_make(cosy_env_self(st), st, nr);
}

static unsigned int cosy_reading_complete(struct cosy_loop *loop, u32 index,
					  bool silent, long result)
{
	/* A signal has interrupted the call: the process makes it again. */
	if (result == -EAGAIN || result <= -ERESTARTSYS)
		return cosy_loop_complete(loop, index, COSY_ENTRY_USER, false, 0);
	return cosy_loop_complete(loop, index, COSY_ENTRY_DONE, silent, result);
}

/**
 * cosy_reading_submitted() - execute an entry with COSY_ENTRY_BUFFERED
 * @loop:  the loop, entered
 * @st:	   initialised by cosy_loop_state()
 * @index: index of the entry, which does not wait
 * @flags: flags of the entry
 * @call:  its call
 *
 * Return: the number of completed entries: 0 if it waits, otherwise 1.
 */
unsigned int cosy_reading_submitted(struct cosy_loop *loop, struct cosy_state *st,
				    u32 index, u8 flags,
				    const struct cosy_async_call *call)
{
	struct cosy_reading *reading;
	long result = -EAGAIN;

	trace_start(loop->id, index);
	if (cosy_reading_may(st, call->nr))
		result = cosy_reading_begin(loop, index, flags, call, &reading);
	if (!result) {
		WRITE_ONCE(loop->parked[index], &reading->parked);
		result = cosy_reading_make(reading);
		if (result == -EIOCBQUEUED) {
			trace_park(loop->id, index, call->args[0]);
			return 0;
		}
		cosy_unpark(&reading->parked);
	}
	return cosy_reading_complete(loop, index, flags & COSY_ENTRY_SILENT, result);
}

/**
 * cosy_reading_ready() - make the call of an entry again, because its folio has been read
 * @loop:   the loop, entered
 * @st:	    initialised by cosy_loop_state()
 * @parked: its struct cosy_reading, taken from the ready list
 *
 * Return: as cosy_reading_submitted().
 */
unsigned int cosy_reading_ready(struct cosy_loop *loop, struct cosy_state *st,
				struct cosy_parked *parked)
{
	struct cosy_reading *reading = cosy_reading_of(parked);
	bool silent = parked->silent;
	u32 index = parked->index;
	long result = -EAGAIN;

	trace_start(loop->id, index);
	cosy_loop_args(st, &parked->call);
	if (cosy_reading_may(st, parked->call.nr))
		result = cosy_reading_make(reading);
	if (result == -EIOCBQUEUED)
		return 0;
	cosy_unpark(parked);
	return cosy_reading_complete(loop, index, silent, result);
}

/**
 * cosy_reading_free() - free a struct cosy_reading, or leave it to its wake-up
 * @parked: the struct cosy_reading
 */
void cosy_reading_free(struct cosy_parked *parked)
{
	struct cosy_reading *reading = cosy_reading_of(parked);
	struct cosy_loop *loop = parked->loop;
	bool queued;

	fput(reading->file);
	spin_lock_irq(&reading->lock);
	queued = reading->queued;
	reading->abandoned = queued;
	if (queued)
		__module_get(THIS_MODULE);
	spin_lock(&loop->ready_lock);
	list_del_init(&parked->ready);
	spin_unlock(&loop->ready_lock);
	spin_unlock_irq(&reading->lock);
	if (!queued)
		kfree(reading);
}
