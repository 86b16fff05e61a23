/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cosy_env.h - the executor's environment in the module: the state of a run, access to
 * the process's memory, and when to leave.
 *
 * <cosy/exec.h> includes this file, and lists what an environment provides. call/call.h,
 * fast/fast.h and function/function.h declare the parts of higher layers: calls, their
 * fast paths, user functions. run/ir-exec.c includes them for the executor. The fast
 * paths are inline here, the slow paths are in memory.c and leave.c.
 */
#ifndef COSY_ENV_H
#define COSY_ENV_H

#include <linux/entry-common.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>

#include <cosy/function.h>
#include <linux/cosy.h>

#include "compat/compat.h"
#include "limit/limit.h"

struct cosy_borrowed;
struct cosy_coroutine;
struct cosy_functions;
struct cosy_insn;

/**
 * struct cosy_private - an open file that is not in the process's table
 * @file: the file
 * @fd:   the descriptor number that is reserved for it
 */
struct cosy_private {
	struct file *file;
	int fd;
};

#define COSY_PRIVATES	4

/**
 * struct cosy_prefetch - data read ahead for later reads, see fast/prefetch.c
 * @ip:     slot of these reads, NULL if there is no such data
 * @file:   file that was read
 * @fd:     its descriptor
 * @buffer: buffer of the next read
 * @size:   bytes of each read except the last
 * @left:   bytes that were not read yet
 * @end:    the end of the file follows these bytes
 */
struct cosy_prefetch {
	const struct cosy_insn *ip;
	struct file *file;
	int fd;
	u64 buffer;
	u64 size;
	u64 left;
	bool end;
};

/**
 * struct cosy_suspended_function - a user function that was suspended
 * @valid: the next CALL resumes it; if false, @state is unused
 * @stacks: with @valid: where its stack comes from; holds a reference. NULL if the process has had
 *	   the state meanwhile
 * @state: its state
 */
struct cosy_suspended_function {
	bool valid;
	struct cosy_stacks *stacks;
	struct cosy_suspended state;
};

/**
 * struct cosy_env - the state of a run besides pc and registers
 * @regs:      arguments of the call being made; nothing else in it is used
 * @step:      why an operation is not executed here (enum cosy_step)
 * @functions: number of user functions called
 * @bound:     programs of the compound's user functions
 * @seccomp:   cosy_seccomp_state() at the entry
 * @borrowed:  data that was read but not copied, see fast/borrow.c; or NULL
 * @failure:   where a function has failed
 * @suspended: a user function that was suspended, or NULL
 * @coroutine: the coroutine that runs it, if its calls park it
 * @nprivate:  number of private files, see fast/open.c; 0 while the compound does not run
 * @parked:    a call has returned COSY_PARKED
 * @timed:     @slice counts
 * @chunks:    number of chunks of bulk operations, modulo 2^16
 * @slice:     the CPU time, if there is reason to count it
 * @private:   the private files
 * @prefetch:  data read ahead; empty while no file is private
 */
struct cosy_env {
	struct pt_regs regs;
	int step;
	u32 functions;
	unsigned int nprivate;
	bool parked;
	bool timed;
	u16 chunks;
	struct cosy_slice slice;
	struct cosy_private private[COSY_PRIVATES];
	struct cosy_prefetch prefetch;
	u64 seccomp;
	const struct cosy_functions *bound;
	struct cosy_function_failure failure;
	struct cosy_borrowed *borrowed;
	struct cosy_suspended_function *suspended;
	struct cosy_coroutine *coroutine;
};

/* Initialise what every run needs. These are eight bytes, and compilers emit one store. */
static __always_inline void cosy_env_init(struct cosy_env *env)
{
	env->nprivate = 0;
	env->parked = false;
	env->timed = false;
	env->chunks = 0;
}

/* Begin to count the CPU time of a run, unless it is counted. */
static inline void cosy_env_begin_slice(struct cosy_env *env)
{
	if (!env->timed)
		cosy_slice_begin(&env->slice);
	env->timed = true;
}

/*
 * The asm writes *@val itself. unsafe_get_user() needs three more instructions, except with
 * asm goto with outputs, which the kernel uses with few compilers.
 */
#define COSY_ENV_LOAD(insn, to)						\
	asm goto("1:	" insn " %[from], %%" to "\n"			\
		 "	movq %%rax, %[val]\n"				\
		 _ASM_EXTABLE_UA(1b, %l[fault])				\
		 : : [from] "m" (*(__force const u8 *)p),		\
		     [val] "m" (*val)					\
		 : "rax", "memory" : fault)

static __always_inline bool cosy_env_load(struct cosy_env *env, u64 addr,
					  unsigned int width, u64 *val)
{
	const void __user *p = u64_to_user_ptr(addr);

	if (!cosy_user_begin(&p, width))
		return false;
	switch (width) {
	case 1:
		COSY_ENV_LOAD("movzbl", "eax");
		break;
	case 2:
		COSY_ENV_LOAD("movzwl", "eax");
		break;
	case 4:
		COSY_ENV_LOAD("movl", "eax");
		break;
	default:
		COSY_ENV_LOAD("movq", "rax");
		break;
	}
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

#undef COSY_ENV_LOAD

static __always_inline bool cosy_env_store(struct cosy_env *env, u64 addr,
					   unsigned int width, u64 val)
{
	const void __user *p = u64_to_user_ptr(addr);

	if (!cosy_user_begin(&p, width))
		return false;
	switch (width) {
	case 1:
		unsafe_put_user((u8)val, (u8 __user *)p, fault);
		break;
	case 2:
		unsafe_put_user((u16)val, (u16 __user *)p, fault);
		break;
	case 4:
		unsafe_put_user((u32)val, (u32 __user *)p, fault);
		break;
	default:
		unsafe_put_user(val, (u64 __user *)p, fault);
		break;
	}
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

/*
 * As for COSY_ENV_LOAD, the asm writes *@val itself. @extend clears the upper bits of rax, also
 * those of the old value, which are not part of the comparison.
 */
#define COSY_ENV_CMPXCHG(insn, new_size, extend)			\
	asm goto("	movq %[old], %%rax\n"				\
		 "1:	lock " insn " %" new_size "[new], %[mem]\n"	\
		 "	" extend "\n"					\
		 "	movq %%rax, %[val]\n"				\
		 _ASM_EXTABLE_UA(1b, %l[fault])				\
		 : : [old] "r" (old), [new] "r" (new),			\
		     [mem] "m" (*(__force u8 *)p), [val] "m" (*val)	\
		 : "rax", "memory", "cc" : fault)

static __always_inline bool cosy_env_cmpxchg(struct cosy_env *env, u64 addr,
					     unsigned int width, u64 old,
					     u64 new, u64 *val)
{
	const void __user *p = u64_to_user_ptr(addr);

	if (!cosy_user_begin(&p, width))
		return false;
	/*
	 * In kernel mode a locked access across cache lines can be a fatal split lock. Check @p: a
	 * kernel address may have been changed to one that is not aligned.
	 */
	if (!IS_ALIGNED((unsigned long)p, width))
		goto fault;
	switch (width) {
	case 1:
		COSY_ENV_CMPXCHG("cmpxchgb", "b", "movzbl %%al, %%eax");
		break;
	case 2:
		COSY_ENV_CMPXCHG("cmpxchgw", "w", "movzwl %%ax, %%eax");
		break;
	case 4:
		COSY_ENV_CMPXCHG("cmpxchgl", "k", "movl %%eax, %%eax");
		break;
	default:
		COSY_ENV_CMPXCHG("cmpxchgq", "q", "");
		break;
	}
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

#undef COSY_ENV_CMPXCHG

/* The same as task_pid_vnr(current), which takes a call and 40 instructions. */
static __always_inline u32 cosy_env_tid(struct cosy_env *env)
{
	const struct pid *pid = task_pid(current);

	return pid->numbers[pid->level].nr;
}

/**
 * cosy_write_nothing() - write to the process's memory without changing it
 * @addr: address
 *
 * Concurrent writes of other threads are not lost.
 *
 * Return: true if the byte is writable.
 */
static __always_inline bool cosy_write_nothing(u64 addr)
{
	const void __user *p = u64_to_user_ptr(addr);

	if (!cosy_user_begin(&p, 1))
		return false;
	asm goto("1:	lock orb $0, %0\n"
		 _ASM_EXTABLE_UA(1b, %l[fault])
		 : : "m" (*(__force u8 *)p) : "memory", "cc" : fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

bool cosy_ordinary(u64 addr, u64 len);
bool cosy_writable_pages(u64 addr, u64 len);

/**
 * cosy_writable() - take the page faults of a write, without changing the memory
 * @addr: address
 * @len:  bytes, not 0; cosy_ordinary()
 *
 * Return: true if all of the memory is writable.
 */
static __always_inline bool cosy_writable(u64 addr, u64 len)
{
	return offset_in_page(addr) + len <= PAGE_SIZE ?
		       cosy_write_nothing(addr) :
		       cosy_writable_pages(addr, len);
}

bool cosy_env_copy(struct cosy_env *env, u64 dst, u64 src, u64 len);
bool cosy_env_fill(struct cosy_env *env, u64 dst, u8 byte, u64 len);
bool cosy_env_compare(struct cosy_env *env, u64 a, u64 b, u64 len, u64 *sign);
bool cosy_env_find(struct cosy_env *env, u64 p, u8 byte, u64 len, u64 *at);
bool cosy_env_strcmp(struct cosy_env *env, u64 a, u64 b, u64 max, u64 *diff);
bool cosy_env_strlen(struct cosy_env *env, u64 p, u64 max, u64 *len);
bool cosy_env_strchr(struct cosy_env *env, u64 p, u8 byte, u64 *at);
bool cosy_env_strrchr(struct cosy_env *env, u64 p, u8 byte, u64 *at);
bool cosy_env_stpcpy(struct cosy_env *env, u64 dst, u64 src, u64 *end);

/* Return (READ_ONCE(*@word) & @bits) != 0. Compilers emit three instructions for that. */
static __always_inline bool cosy_any_bits(const unsigned long *word,
					  const u32 bits)
{
	bool any;

	asm volatile("testl %[bits], %[word]"
		     : "=@ccnz" (any)
		     : [word] "m" (*word), [bits] "i" (bits));
	return any;
}

typedef struct thread_info cosy_self;

static __always_inline cosy_self *cosy_env_self(struct cosy_state *st)
{
	return current_thread_info();
}

bool cosy_env_work(void);

static __always_inline bool cosy_env_leave(cosy_self *self)
{
	if (likely(!cosy_any_bits(&self->flags, EXIT_TO_USER_MODE_WORK)))
		return false;
	/* rseq sets COSY_TIF_SWITCHED at every context switch. It can wait. */
	if (!(READ_ONCE(self->flags) & EXIT_TO_USER_MODE_WORK &
	      ~COSY_TIF_SWITCHED) && !cosy_has_resume_work())
		return false;
	return cosy_env_work();
}

/**
 * cosy_env_called() - report a quiescent state of RCU tasks, after each call
 * @self: the current thread
 *
 * Natively that is the return to user mode. Being preempted is none, and the time slice is checked
 * only at back-edges: grace periods would have to wait for all long calls of a compound.
 */
static __always_inline void cosy_env_called(cosy_self *self)
{
#ifdef CONFIG_TASKS_RCU
	struct task_struct *task = container_of(self, struct task_struct, thread_info);
	bool holds;

	BUILD_BUG_ON(sizeof(task->rcu_tasks_holdout) != 1);
	/* Compilers emit three instructions for READ_ONCE() and the test. */
	asm volatile("cmpb $0, %[holdout]"
		     : "=@ccnz" (holds)
		     : [holdout] "m" (task->rcu_tasks_holdout));
	if (unlikely(holds))
		rcu_tasks_classic_qs(task, false);
#endif
}
#define cosy_env_called	cosy_env_called

#endif /* COSY_ENV_H */
