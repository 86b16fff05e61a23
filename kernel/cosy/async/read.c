// SPDX-License-Identifier: GPL-2.0
/*
 * read.c - entries that read files on disks, and wait for the disk without a thread.
 *
 * As buffered reads of io_uring do: a read that needs a folio that is being read adds itself to
 * the folio's wait queue, and is made again when the folio has been read. The data is copied by
 * the thread that enters.
 *
 * Nothing but its wake-up takes an entry out of the wait queue of a folio. So an entry that is
 * given up before leaves its struct cosy_reading there, and the wake-up frees it.
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
		 "entries of loops wait for disks while fewer do in all (default 4096)");

/* Those that there are: all those in the queue of one folio are walked with interrupts off. */
static atomic_t cosy_readings;

/* Longer reads are for a thread. */
#define COSY_READING_MAX	(1ul << 24)

/**
 * struct cosy_reading - an entry that reads a file
 * @parked:    its call; in the loop's list when its folio has been read
 * @folio:     in the wait queue of a folio while @queued
 * @file:      the file; held
 * @done:      bytes that were read before, of a call with a position of its own
 * @lock:      protects @queued and @abandoned; taken inside the lock of the folio's queue, and
 *	       outside the loop's ready_lock
 * @queued:    the wake-up is still to come
 * @abandoned: nobody but the wake-up knows it: @parked and @file are not valid
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

static void cosy_reading_release(struct cosy_reading *reading)
{
	kfree(reading);
	atomic_dec(&cosy_readings);
}

/* The lock of the folio's queue is taken, with interrupts off; in any context. */
static int cosy_reading_wake(struct wait_queue_entry *wait, unsigned int mode,
			     int flags, void *key)
{
	struct wait_page_queue *folio =
		container_of(wait, struct wait_page_queue, wait);
	struct cosy_reading *reading =
		container_of(folio, struct cosy_reading, folio);
	struct cosy_loop *loop;
	bool abandoned;

	/* The queue is shared by many folios. */
	if (!wake_page_match(folio, key))
		return 0;
	list_del_init(&wait->entry);
	spin_lock(&reading->lock);
	reading->queued = false;
	abandoned = reading->abandoned;
	if (likely(!abandoned)) {
		bool tells;

		loop = reading->parked.loop;
		spin_lock(&loop->ready_lock);
		tells = cosy_parked_add(&reading->parked, mode, flags);
		spin_unlock(&loop->ready_lock);
		/* The loop may be freed as soon as the lock is. */
		if (tells)
			cosy_loop_wake_pollers(loop);
	}
	spin_unlock(&reading->lock);
	if (unlikely(abandoned)) {
		cosy_reading_release(reading);
		/* cosy_exit() waits until interrupts are on again. */
		module_put(THIS_MODULE);
	}
	return 1;
}

/* Can the file tell when a folio of it has been read, and is that all that a read waits for? */
static bool cosy_reads_parked(const struct file *file, const struct kiocb *kiocb)
{
	return S_ISREG(file_inode(file)->i_mode) && file->f_op->read_iter &&
	       !file->f_op->read && !(kiocb->ki_flags & IOCB_DIRECT) &&
	       cosy_file_tells_of_folios(file);
}

/* Read from @pos, which is moved. Return: as cosy_reading_make(). */
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
	/* fcntl() may have changed it meanwhile. */
	if (unlikely(!cosy_reads_parked(file, &kiocb)))
		return -EAGAIN;
	kiocb.ki_flags |= IOCB_WAITQ;
	kiocb.ki_waitq = &reading->folio;
	init_waitqueue_func_entry(&reading->folio.wait, cosy_reading_wake);
	INIT_LIST_HEAD(&reading->folio.wait.entry);
	iov_iter_ubuf(&iter, READ, u64_to_user_ptr(args[1] + done),
		      args[2] - done);
	/* The wake-up may come before the function returns. */
	reading->queued = true;
	ret = file->f_op->read_iter(&kiocb, &iter);
	if (ret == -EIOCBQUEUED)
		return ret;
	reading->queued = false;
	*pos = kiocb.ki_pos;
	return ret;
}

/* Read from the position of the call, in as many parts as it takes: the file is the same. */
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
	/* A thread makes the whole call. */
	if (ret == -EIOCBQUEUED || ret == -EAGAIN)
		return ret;
	return reading->done ?: ret;
}

/* The same at the file's position, which nobody else uses meanwhile: see fdget_pos(). */
static long cosy_reading_here(struct cosy_reading *reading)
{
	struct file *file = reading->file;
	long ret = -EAGAIN;
	loff_t pos;

	/* Whoever has it may wait for the disk. */
	if (!mutex_trylock(&file->f_pos_lock))
		return -EAGAIN;
	pos = file->f_pos;
	/* Somebody may have moved it since the call was checked. */
	if (likely(pos >= 0 && pos <= LLONG_MAX - COSY_READING_MAX))
		ret = cosy_reading_from(reading, &pos);
	if (ret >= 0)
		file->f_pos = pos;
	mutex_unlock(&file->f_pos_lock);
	return ret;
}

/*
 * Make the call. Return: as the system call, but read() may read less; -EIOCBQUEUED: it is
 * made again after the wake-up; -EAGAIN: a thread has to make it.
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

/* What the system call checks before it reads. Return: 0, an error of it, or -EAGAIN. */
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

/* Return: 0; -EAGAIN if a thread has to make the call; or why it fails. */
static long cosy_reading_begin(struct cosy_loop *loop, u32 index, u8 flags,
			       const struct cosy_async_call *call,
			       struct cosy_reading **begun)
{
	struct cosy_reading *reading;
	struct cosy_fd fd;
	long err;

	BUILD_BUG_ON(sizeof(*reading) >
		     sizeof(struct cosy_parked) + sizeof(struct socket_alloc));
	if (atomic_inc_return(&cosy_readings) > READ_ONCE(max_reads))
		goto uncount;
	reading = kmalloc(sizeof(*reading), COSY_GFP);
	if (!reading)
		goto uncount;
	fd = cosy_fd_get(call->args[0]);
	err = fd.file ? cosy_reading_check(fd.file, call) : -EBADF;
	if (!err)
		reading->file = get_file(fd.file);
	cosy_fd_put(fd);
	if (err) {
		cosy_reading_release(reading);
		return err;
	}
	cosy_parked_init(&reading->parked, loop, index);
	reading->parked.is_reading = true;
	reading->parked.silent = flags & COSY_ENTRY_SILENT;
	reading->parked.call = *call;
	reading->done = 0;
	spin_lock_init(&reading->lock);
	reading->queued = false;
	reading->abandoned = false;
	*begun = reading;
	return 0;

uncount:
	atomic_dec(&cosy_readings);
	return -EAGAIN;
}

static bool cosy_reading_may(struct cosy_state *st, unsigned int nr)
{
	return !cosy_ptraced() && (nr == __NR_pread64 || nr == __NR_read) &&
	       cosy_may_make(cosy_env_self(st), st, nr);
}

static unsigned int cosy_reading_complete(struct cosy_loop *loop, u32 index,
					  bool silent, long result)
{
	/* Natively a call that a signal has interrupted is made again. */
	if (result == -EAGAIN || result <= -ERESTARTSYS)
		return cosy_loop_complete(loop, index, COSY_ENTRY_USER, false, 0);
	return cosy_loop_complete(loop, index, COSY_ENTRY_DONE, silent, result);
}

/**
 * cosy_reading_submitted() - execute an entry with COSY_ENTRY_BUFFERED
 * @loop:  the loop, entered
 * @st:	   for calls
 * @index: the entry, which does not wait
 * @flags: its flags
 * @call:  its call
 *
 * Return: the number of entries that have completed: 0, it waits, or 1.
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
 * cosy_reading_ready() - make the call of an entry again: its folio has been read
 * @loop:   the loop, entered
 * @st:	    for calls
 * @parked: its struct cosy_reading, taken from the loop's list
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
	if (cosy_reading_may(st, parked->call.nr))
		result = cosy_reading_make(reading);
	if (result == -EIOCBQUEUED)
		return 0;
	cosy_unpark(parked);
	return cosy_reading_complete(loop, index, silent, result);
}

/**
 * cosy_reading_free() - nobody needs it any more
 * @parked: a struct cosy_reading
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
		cosy_reading_release(reading);
}
