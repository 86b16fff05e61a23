// SPDX-License-Identifier: GPL-2.0
/*
 * run.c - enter a compound and leave it again.
 *
 * The state of a compound that is not running is in its process: pc, status
 * and registers. Here it is read, once, executed on, and written back.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <cosy/exec.h>

#include "internal.h"

static unsigned int time_slice = 10;
module_param(time_slice, uint, 0644);
MODULE_PARM_DESC(time_slice,
		 "ms of CPU time after which a compound leaves for a moment (default 10)");

/* Registers that fit on the stack, including the one that is always 0. */
#define STACK_REGS	64

/*
 * A nested system call may itself enter a compound, and needs as much stack as
 * any other call. So a compound is entered only while most of it is free.
 */
#define STACK_USED_MAX	(THREAD_SIZE / 4)

/* Slots executed until the first look at the clock, and later at most. */
#define FIRST_CHUNK	(1 << 10)
#define LAST_CHUNK	(1 << 20)

/**
 * struct cosy_slice - the share of CPU time a run has used
 * @begin: CPU time of the thread when the first chunk was used up
 * @last:  when the last one was
 * @chunk: slots of the current chunk
 */
struct cosy_slice {
	u64 begin;
	u64 last;
	s64 chunk;
};

/* A chunk is used up: is the time? Chunks grow until they take a part of it. */
static bool cosy_slice_over(struct cosy_slice *slice)
{
	u64 length = (u64)READ_ONCE(time_slice) * NSEC_PER_MSEC;
	u64 now = READ_ONCE(current->se.sum_exec_runtime);

	if (!slice->begin)
		slice->begin = slice->last = now;
	if (now - slice->last < length / 8) {
		if (slice->chunk < LAST_CHUNK)
			slice->chunk *= 2;
	} else if (slice->chunk > FIRST_CHUNK) {
		slice->chunk /= 2;
	}
	slice->last = now;
	return now - slice->begin >= length;
}

/* The compound's state is lost, and with it what it has done. */
static loff_t cosy_state_lost(void)
{
	force_sig(SIGSEGV);
	return -EFAULT;
}

static bool cosy_run_read(struct cosy_run *run,
			  const struct cosy_run __user *urun)
{
	const void __user *p = urun;

	if (!cosy_user_begin(&p, sizeof(*run)))
		return false;
	urun = p;
	unsafe_get_user(run->handle, &urun->handle, fault);
	unsafe_get_user(run->frame, &urun->frame, fault);
	unsafe_get_user(run->errno_addr, &urun->errno_addr, fault);
	unsafe_get_user(run->pc, &urun->pc, fault);
	unsafe_get_user(run->status, &urun->status, fault);
	unsafe_get_user(run->limit, &urun->limit, fault);
	unsafe_get_user(run->flags, &urun->flags, fault);
	unsafe_get_user(run->reserved, &urun->reserved, fault);
	run->calls = 0;
	if (run->flags & COSY_RUN_COUNT)
		unsafe_get_user(run->calls, &urun->calls, fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

static bool cosy_regs_read(u64 *regs, const u64 __user *frame, unsigned int n)
{
	const void __user *p = frame;
	unsigned int i;

	if (!cosy_user_begin(&p, n * sizeof(*regs)))
		return false;
	frame = p;
	for (i = 0; i < n; i++)
		unsafe_get_user(regs[i], &frame[i], fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

static bool cosy_regs_write(u64 __user *frame, const u64 *regs, unsigned int n)
{
	const void __user *p = frame;
	unsigned int i;

	if (!cosy_user_begin(&p, n * sizeof(*regs)))
		return false;
	frame = (u64 __user *)p;
	for (i = 0; i < n; i++)
		unsafe_put_user(regs[i], &frame[i], fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/* Tell how the run ended. */
static bool cosy_run_write(struct cosy_run __user *urun,
			   const struct cosy_run *run)
{
	const void __user *p = urun;

	if (!cosy_user_begin(&p, sizeof(*run)))
		return false;
	urun = (struct cosy_run __user *)p;
	unsafe_put_user(run->pc, &urun->pc, fault);
	unsafe_put_user(run->status, &urun->status, fault);
	unsafe_put_user(run->value, &urun->value, fault);
	if (run->flags & COSY_RUN_COUNT)
		unsafe_put_user(run->calls, &urun->calls, fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

static enum cosy_status cosy_execute(const struct cosy_code *code,
				     struct cosy_state *st, u64 limit)
{
	s64 left = min_t(u64, limit ?: code->limit, S64_MAX);
	struct cosy_slice slice = { .chunk = FIRST_CHUNK };
	enum cosy_status status;
	s64 chunk;

	for (;;) {
		chunk = min(left, slice.chunk);
		st->budget = chunk;
		status = cosy_exec(code, st);
		if (likely(status != COSY_LIMIT))
			return status;
		left -= chunk - st->budget;
		if (left < 0)
			return COSY_LIMIT;
		if (cosy_slice_over(&slice)) {
			st->value = COSY_LIMIT_TIME;
			return COSY_LIMIT;
		}
	}
}

/*
 * Run a compound from @run's pc on. @regs has room for one more than its
 * registers. Returns 0 with what the entry returns in @ret; -errno if nothing
 * was executed.
 */
static __always_inline int cosy_compound_run(const struct cosy_code *code,
					     struct cosy_run *run,
					     struct cosy_run __user *urun,
					     u64 *regs, loff_t *ret)
{
	u64 __user *frame = u64_to_user_ptr(run->frame);
	struct cosy_state st __uninitialized;
	enum cosy_status status;
	unsigned int i, nread;

	nread = code->nregs;
	if (run->pc == 0 && run->status == COSY_DONE)
		nread = code->ninputs;
	if (!cosy_regs_read(regs, frame, nread))
		return -EFAULT;
	for (i = nread; i <= code->nregs; i++)
		regs[i] = 0;

	st.regs = regs;
	st.pc = run->pc;
	st.calls = run->calls;
	st.errno_addr = run->errno_addr;
	/* A call that is given too few arguments must not see our stack. */
	st.env.regs.di = 0;
	st.env.regs.si = 0;
	st.env.regs.dx = 0;
	st.env.regs.r10 = 0;
	st.env.regs.r8 = 0;
	st.env.regs.r9 = 0;

	status = cosy_execute(code, &st, run->limit);

	if (status == COSY_DONE) {
		if (!cosy_regs_write(frame + code->out_first,
				     regs + code->out_first, code->nout))
			goto lost;
		*ret = COSY_RUN_DONE | st.value;
		if (likely(run->status == COSY_DONE &&
			   !(run->flags & COSY_RUN_COUNT)))
			return 0;
	} else {
		if (!cosy_regs_write(frame, regs, code->nregs))
			goto lost;
		*ret = status == COSY_RESULT ? (loff_t)st.value : COSY_RUN_LEFT;
	}
	run->pc = st.pc;
	run->status = status;
	run->value = st.value;
	run->calls = st.calls;
	if (!cosy_run_write(urun, run))
		goto lost;
	return 0;

lost:
	*ret = cosy_state_lost();
	return 0;
}

static noinline int cosy_run_on_heap(const struct cosy_code *code,
				     struct cosy_run *run,
				     struct cosy_run __user *urun, loff_t *ret)
{
	u64 *regs = kvmalloc_array(code->nregs + 1, sizeof(*regs),
				   GFP_KERNEL_ACCOUNT);
	int err;

	if (!regs)
		return -ENOMEM;
	err = cosy_compound_run(code, run, urun, regs, ret);
	kvfree(regs);
	return err;
}

static int cosy_run_on_stack(const struct cosy_code *code,
			     struct cosy_run *run,
			     struct cosy_run __user *urun, loff_t *ret)
{
	u64 regs[STACK_REGS] __uninitialized;

	return cosy_compound_run(code, run, urun, regs, ret);
}

static int cosy_run_checked(struct cosy_file *cf, struct cosy_run *run,
			    struct cosy_run __user *urun, loff_t *ret)
{
	struct cosy_compound *compound;
	int err;

	if (run->reserved || run->flags & ~COSY_RUN_COUNT ||
	    (run->status != COSY_DONE && run->status != COSY_AGAIN &&
	     run->status != COSY_RESULT))
		return -EINVAL;
	if ((current_stack_pointer & (THREAD_SIZE - 1)) <
	    THREAD_SIZE - STACK_USED_MAX)
		return -ELOOP;
	compound = cosy_compound_get(cf, run->handle);
	if (!compound)
		return -ENOENT;

	if (!cosy_pc_valid(&compound->code, run->pc))
		err = -EINVAL;
	else if (likely(compound->code.nregs < STACK_REGS))
		err = cosy_run_on_stack(&compound->code, run, urun, ret);
	else
		err = cosy_run_on_heap(&compound->code, run, urun, ret);
	cosy_compound_put(compound);
	return err;
}

/**
 * cosy_run_llseek() - run a compound, by lseek(2)
 * @file:   an open file of the device
 * @offset: COSY_RUN_TAG and the address of a struct cosy_run
 * @whence: COSY_RUN_WHENCE
 *
 * Return: as the interface says; -ESPIPE for any other lseek.
 */
loff_t cosy_run_llseek(struct file *file, loff_t offset, int whence)
{
	struct cosy_run __user *urun;
	struct cosy_run run __uninitialized;
	loff_t ret;
	int err;

	if (whence != COSY_RUN_WHENCE ||
	    ((u64)offset & ~(COSY_RUN_TAG - 1)) != COSY_RUN_TAG)
		return -ESPIPE;
	/* Nested calls are 64-bit calls, but would find a 32-bit process. */
	if (in_compat_syscall())
		return -EOPNOTSUPP;
	urun = u64_to_user_ptr((u64)offset ^ COSY_RUN_TAG);
	if (!cosy_run_read(&run, urun))
		return -EFAULT;

	/* The compound may close the last descriptor of the device. */
	get_file(file);
	err = cosy_run_checked(file->private_data, &run, urun, &ret);
	fput(file);
	if (likely(!err))
		return ret;
	/*
	 * When the kernel has restarted the entry, the error must not be taken
	 * for the result of the call that was interrupted.
	 */
	if (run.status != COSY_DONE && put_user(COSY_DONE, &urun->status))
		return cosy_state_lost();
	return err;
}
