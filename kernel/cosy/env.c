// SPDX-License-Identifier: GPL-2.0
/*
 * env.c - the longer paths of the executor's home in the module: bulk memory,
 * and what to do when somebody watches or something waits.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>

#include <cosy/exec.h>

#include "internal.h"

/* Longer operations are left to user mode, which can be interrupted. */
#define BULK_MAX	(1ul << 20)
/* Bytes between two looks at what waits. */
#define BULK_CHUNK	4096ul

#define ONES		(~0ul / 0xff)

/**
 * cosy_env_watched() - the slow path of cosy_env_may_call()
 * @env: the run, the arguments are set
 * @nr:  number of the call
 *
 * Two watchers may have nothing to say about a call: auditing without rules,
 * and seccomp filters that allow it.
 *
 * Return: true if the call, or with COSY_STEP_TRACED all calls from here on, must
 * be made from user mode; env->step says why.
 */
bool cosy_env_watched(struct cosy_env *env, unsigned int nr)
{
	unsigned long work = READ_ONCE(current_thread_info()->syscall_work) &
			     SYSCALL_WORK_ENTER;

	if (work & ~(SYSCALL_WORK_SYSCALL_AUDIT | SYSCALL_WORK_SECCOMP))
		goto watched;
	if (work & SYSCALL_WORK_SYSCALL_AUDIT && cosy_audit_looks())
		goto watched;
	if (work & SYSCALL_WORK_SECCOMP &&
	    !cosy_seccomp_allows(&env->regs, nr)) {
		/* It meets the filters in user mode; the next one may run here. */
		env->step = COSY_STEP_CALL;
		return true;
	}
	return false;

watched:
	env->step = COSY_STEP_TRACED;
	return true;
}

/**
 * cosy_env_work() - the slow path of cosy_env_leave()
 * @env: the run
 *
 * Being preempted is dealt with here. So is TIF_NOTIFY_RESUME without task
 * work, which rseq sets at every context switch: it can wait until the time
 * slice is used up. Task work cannot: the last reference to a file that was
 * closed in the compound is dropped there, and the next operation may count
 * on that.
 *
 * Return: true if the compound has to leave.
 */
bool cosy_env_work(struct cosy_env *env)
{
	unsigned long flags;

	cond_resched();
	flags = read_thread_flags();
	if (flags & (_TIF_SIGPENDING | _TIF_NOTIFY_SIGNAL | _TIF_UPROBE |
		     _TIF_PATCH_PENDING))
		return true;
	return (flags & _TIF_NOTIFY_RESUME) && task_work_pending(current);
}

/* Before each chunk of a bulk operation. */
static bool bulk_leave(struct cosy_env *env)
{
	if (likely(!cosy_env_leave(env)))
		return false;
	env->step = COSY_STEP_BULK;
	return true;
}

static bool bulk_too_long(struct cosy_env *env, u64 len)
{
	if (likely(len <= BULK_MAX))
		return false;
	env->step = COSY_STEP_BULK;
	return true;
}

/* Upwards; the ranges do not overlap. Nonzero is a fault. */
static int copy_chunk(char __user *dst, const char __user *src,
		      unsigned long len)
{
	unsigned long done;
	u64 word;
	u8 byte;

	if (!access_ok(src, len) || !user_access_begin(dst, len))
		return -EFAULT;
	for (done = 0; done + 8 <= len; done += 8) {
		unsafe_get_user(word, (const u64 __user *)(src + done), fault);
		unsafe_put_user(word, (u64 __user *)(dst + done), fault);
	}
	for (; done < len; done++) {
		unsafe_get_user(byte, (const u8 __user *)(src + done), fault);
		unsafe_put_user(byte, (u8 __user *)(dst + done), fault);
	}
	user_access_end();
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

/**
 * cosy_env_copy() - memmove() between two places of the process
 * @env: the run
 * @dst: to
 * @src: from
 * @len: bytes
 *
 * Overlapping ranges go to user mode: copied again after having been half
 * copied, they would come out wrong.
 *
 * Return: false if it is not done, env->step says why.
 */
bool cosy_env_copy(struct cosy_env *env, u64 dst, u64 src, u64 len)
{
	if (bulk_too_long(env, len))
		return false;
	if (dst - src < len || src - dst < len) {
		env->step = COSY_STEP_BULK;
		return false;
	}
	while (len) {
		unsigned long n = min_t(u64, len, BULK_CHUNK);

		if (bulk_leave(env))
			return false;
		if (copy_chunk(u64_to_user_ptr(dst), u64_to_user_ptr(src), n)) {
			env->step = COSY_STEP_FAULT;
			return false;
		}
		dst += n;
		src += n;
		len -= n;
	}
	return true;
}

static int fill_chunk(char __user *dst, u8 byte, unsigned long len)
{
	u64 word = byte * ONES;
	unsigned long done;

	if (!user_access_begin(dst, len))
		return -EFAULT;
	for (done = 0; done + 8 <= len; done += 8)
		unsafe_put_user(word, (u64 __user *)(dst + done), fault);
	for (; done < len; done++)
		unsafe_put_user(byte, (u8 __user *)(dst + done), fault);
	user_access_end();
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

/**
 * cosy_env_fill() - memset() in the process
 * @env:  the run
 * @dst:  where
 * @byte: with what
 * @len:  bytes
 *
 * Return: false if it is not done, env->step says why.
 */
bool cosy_env_fill(struct cosy_env *env, u64 dst, u8 byte, u64 len)
{
	if (bulk_too_long(env, len))
		return false;
	while (len) {
		unsigned long n = min_t(u64, len, BULK_CHUNK);

		if (bulk_leave(env))
			return false;
		if (fill_chunk(u64_to_user_ptr(dst), byte, n)) {
			env->step = COSY_STEP_FAULT;
			return false;
		}
		dst += n;
		len -= n;
	}
	return true;
}

/* Sets @sign, nonzero at the first difference. */
static int compare_chunk(const char __user *a, const char __user *b,
			 unsigned long len, int *sign)
{
	unsigned long done;
	u64 word_a, word_b;
	u8 byte_a, byte_b;

	*sign = 0;
	if (!access_ok(a, len) || !user_access_begin(b, len))
		return -EFAULT;
	for (done = 0; done + 8 <= len; done += 8) {
		unsafe_get_user(word_a, (const u64 __user *)(a + done), fault);
		unsafe_get_user(word_b, (const u64 __user *)(b + done), fault);
		if (word_a != word_b) {
			/* The first byte counts most. */
			*sign = swab64(word_a) < swab64(word_b) ? -1 : 1;
			goto end;
		}
	}
	for (; done < len; done++) {
		unsafe_get_user(byte_a, (const u8 __user *)(a + done), fault);
		unsafe_get_user(byte_b, (const u8 __user *)(b + done), fault);
		if (byte_a != byte_b) {
			*sign = byte_a < byte_b ? -1 : 1;
			goto end;
		}
	}
end:
	user_access_end();
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

/**
 * cosy_env_compare() - memcmp() in the process
 * @env:  the run
 * @a:    one place
 * @b:    the other
 * @len:  bytes
 * @sign: out: less than, equal to or greater than 0
 *
 * Return: false if it is not done, env->step says why.
 */
bool cosy_env_compare(struct cosy_env *env, u64 a, u64 b, u64 len, int *sign)
{
	*sign = 0;
	if (bulk_too_long(env, len))
		return false;
	while (len && !*sign) {
		unsigned long n = min_t(u64, len, BULK_CHUNK);

		if (bulk_leave(env))
			return false;
		if (compare_chunk(u64_to_user_ptr(a), u64_to_user_ptr(b), n,
				  sign)) {
			env->step = COSY_STEP_FAULT;
			return false;
		}
		a += n;
		b += n;
		len -= n;
	}
	return true;
}

/*
 * Where in the @len bytes at @p is @byte? Sets @at to @len if nowhere. Reads
 * no page behind the one where it is found.
 */
static int find_chunk(const char __user *p, u8 byte, unsigned long len,
		      unsigned long *at)
{
	u64 pattern = byte * ONES, word;
	unsigned long i = 0;
	u8 val;

	if (!user_access_begin(p, len))
		return -EFAULT;
	while (i < len) {
		if (IS_ALIGNED((unsigned long)p + i, 8) && i + 8 <= len) {
			unsafe_get_user(word, (const u64 __user *)(p + i),
					fault);
			word ^= pattern;
			word = (word - ONES) & ~word & (ONES << 7);
			if (word) {
				i += __ffs(word) / 8;
				break;
			}
			i += 8;
		} else {
			unsafe_get_user(val, (const u8 __user *)(p + i), fault);
			if (val == byte)
				break;
			i++;
		}
	}
	user_access_end();
	*at = i;
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

/*
 * Search up to @len bytes, chunks ending at page boundaries: a string may end
 * just before memory that is not there.
 */
static bool search(struct cosy_env *env, u64 p, u8 byte, u64 len, u64 *found)
{
	u64 done = 0;

	while (done < len) {
		unsigned long n = BULK_CHUNK - (p + done) % BULK_CHUNK;
		unsigned long at;

		n = min_t(u64, n, len - done);
		if (bulk_leave(env))
			return false;
		if (find_chunk(u64_to_user_ptr(p + done), byte, n, &at)) {
			env->step = COSY_STEP_FAULT;
			return false;
		}
		done += at;
		if (at < n)
			break;
	}
	*found = done;
	return true;
}

/**
 * cosy_env_find() - memchr() in the process
 * @env:  the run
 * @p:    where
 * @byte: what
 * @len:  bytes
 * @at:   out: the address, 0 if there is none
 *
 * Return: false if it is not done, env->step says why.
 */
bool cosy_env_find(struct cosy_env *env, u64 p, u8 byte, u64 len, u64 *at)
{
	u64 n = min_t(u64, len, BULK_MAX), found;

	if (!search(env, p, byte, n, &found))
		return false;
	if (found < n) {
		*at = p + found;
		return true;
	}
	if (bulk_too_long(env, len))
		return false;
	*at = 0;
	return true;
}

/**
 * cosy_env_strlen() - strlen() in the process
 * @env: the run
 * @p:   the string
 * @len: out: its length
 *
 * Return: false if it is not done, env->step says why.
 */
bool cosy_env_strlen(struct cosy_env *env, u64 p, u64 *len)
{
	if (!search(env, p, 0, BULK_MAX, len))
		return false;
	if (*len < BULK_MAX)
		return true;
	env->step = COSY_STEP_BULK;
	return false;
}
