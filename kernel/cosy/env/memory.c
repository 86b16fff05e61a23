// SPDX-License-Identifier: GPL-2.0
/*
 * memory.c - bulk operations on the process's memory.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include <cosy/exec.h>

/* Longer operations run in user mode, which can be interrupted. */
#define BULK_MAX	(1ul << 20)
/* Bytes between two checks for pending work. */
#define BULK_CHUNK	4096ul
/* Chunks between two looks at the clock. */
#define BULK_CHECK	64
/* libc's memcmp() reads at most this many bytes at once. */
#define BLOCK_MAX	512

#define ONES		(~0ul / 0xff)

/*
 * Return true once the run has used its time slice. It is checked at back-edges, too, but a
 * compound can consist of bulk operations in a straight line.
 */
static bool bulk_slice_over(struct cosy_env *env)
{
	if (likely(++env->chunks % BULK_CHECK))
		return false;
	cosy_env_begin_slice(env);
	cosy_slice_look(&env->slice);
	return env->slice.used >= cosy_time_slice();
}

/*
 * Return true if a bulk operation must leave before its next chunk. As in user mode, it holds up no
 * grace period of RCU tasks.
 */
static bool bulk_leave(struct cosy_env *env)
{
	cosy_self *self = current_thread_info();

	cosy_env_called(self);
	if (likely(!cosy_env_leave(self) && !bulk_slice_over(env)))
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

/* Return true if the @len bytes at @p can be accessed. @len is not 0. */
static __always_inline bool accessible(u64 p, u64 len, bool write)
{
	u64 last = p + len - 1;
	u8 byte __maybe_unused;

	for (;; p = (p | ~PAGE_MASK) + 1) {
		if (write ? !cosy_write_nothing(p) :
			    get_user(byte, (u8 __user *)u64_to_user_ptr(p)))
			return false;
		if ((p ^ last) < PAGE_SIZE)
			return true;
	}
}

/**
 * cosy_writable_pages() - cosy_writable() for more than one page
 * @addr: address
 * @len:  bytes, not 0
 *
 * Return: true if all of the memory is writable.
 */
bool cosy_writable_pages(u64 addr, u64 len)
{
	return accessible(addr, len, true);
}

/**
 * cosy_ordinary() - return true if memory of the process is not a device's
 * @addr: address
 * @len:  bytes
 *
 * Accesses to a device's memory can have side effects. Only the program's own
 * accesses may reach it, unchanged.
 *
 * Return: true if all memory up to the first unmapped address is ordinary. Accesses beyond it
 * fault. False also if the thread is killed.
 */
bool cosy_ordinary(u64 addr, u64 len)
{
	struct mm_struct *mm = current->mm;
	const u64 end = addr + len;
	struct vm_area_struct *vma;
	bool ordinary = true;

	/* As a page fault of the program: a killed thread does not wait. */
	if (mmap_read_lock_killable(mm))
		return false;
	while (ordinary && addr < end) {
		vma = vma_lookup(mm, addr);
		if (!vma)
			break;
		ordinary = !(vma->vm_flags & (VM_IO | VM_PFNMAP));
		addr = vma->vm_end;
	}
	mmap_read_unlock(mm);
	return ordinary;
}

/*
 * Return true if all of the memory can be accessed. Checked before the first write,
 * because it is unknown how much libc writes before it faults. A range within one page
 * needs no check, because it faults at its first byte.
 */
static bool all_accessible(u64 p, u64 len, bool write)
{
	return (p ^ (p + len - 1)) < PAGE_SIZE || accessible(p, len, write);
}

/* Return true if all_accessible() may access the memory, or does not access it. */
static bool may_access(u64 p, u64 len)
{
	return (p ^ (p + len - 1)) < PAGE_SIZE || cosy_ordinary(p, len);
}

/* Copy upwards. The ranges must not overlap. Return 0, or -EFAULT. */
static int copy_chunk(char __user *dst, const char __user *src,
		      unsigned long len)
{
	unsigned long done;
	u64 word;
	u8 byte;

	if (!cosy_access_ok(src, len) || !cosy_user_access_begin(dst, len))
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
 * cosy_env_copy() - memmove() in the process
 * @env: the run
 * @dst: destination
 * @src: source
 * @len: bytes
 *
 * Overlapping ranges are copied in user mode: after a part was copied, a copy that
 * starts again would give a wrong result.
 *
 * Return: false if it was not done; env->step has the reason.
 */
bool cosy_env_copy(struct cosy_env *env, u64 dst, u64 src, u64 len)
{
	if (bulk_too_long(env, len))
		return false;
	if (dst - src < len || src - dst < len ||
	    !may_access(src, len) || !may_access(dst, len)) {
		env->step = COSY_STEP_BULK;
		return false;
	}
	if (len && !(all_accessible(src, len, false) && all_accessible(dst, len, true))) {
		env->step = COSY_STEP_FAULT;
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

	if (!cosy_user_access_begin(dst, len))
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
 * @dst:  destination
 * @byte: the value of each byte
 * @len:  bytes
 *
 * Return: false if it was not done; env->step has the reason.
 */
bool cosy_env_fill(struct cosy_env *env, u64 dst, u8 byte, u64 len)
{
	if (bulk_too_long(env, len))
		return false;
	if (!may_access(dst, len)) {
		env->step = COSY_STEP_BULK;
		return false;
	}
	if (len && !all_accessible(dst, len, true)) {
		env->step = COSY_STEP_FAULT;
		return false;
	}
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

/* Return a word whose lowest nonzero byte is at the lowest byte where @x equals @pattern. */
static __always_inline u64 matching(u64 x, u64 pattern)
{
	x ^= pattern;
	return (x - ONES) & ~x & (ONES << 7);
}

/*
 * Compare up to @len bytes, or up to a 0 byte if @string. Sets @at to the index of
 * the bytes that ended the comparison, or to @len, and @diff to the difference of these
 * bytes, or to 0.
 */
static int compare_chunk(const char __user *a, const char __user *b,
			 unsigned long len, bool string, int *diff,
			 unsigned long *at)
{
	unsigned long i = 0;
	u64 word_a, word_b;
	u8 byte_a, byte_b;

	*diff = 0;
	if (!cosy_access_ok(a, len) || !cosy_user_access_begin(b, len))
		return -EFAULT;
	for (; i + 8 <= len; i += 8) {
		unsafe_get_user(word_a, (const u64 __user *)(a + i), fault);
		unsafe_get_user(word_b, (const u64 __user *)(b + i), fault);
		if (word_a == word_b && !(string && matching(word_a, 0)))
			continue;
		/* Little-endian: the first byte is the lowest. */
		for (;; i++, word_a >>= 8, word_b >>= 8) {
			*diff = (int)(u8)word_a - (int)(u8)word_b;
			if (*diff || (string && !(u8)word_a))
				goto end;
		}
	}
	for (; i < len; i++) {
		unsafe_get_user(byte_a, (const u8 __user *)(a + i), fault);
		unsafe_get_user(byte_b, (const u8 __user *)(b + i), fault);
		*diff = (int)byte_a - (int)byte_b;
		if (*diff || (string && !byte_a))
			break;
	}
end:
	user_access_end();
	*at = i;
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

/*
 * Return true if the last byte of the first block at @p is readable. memcmp() reads
 * blocks, and may fault at their end although an earlier byte differs.
 */
static bool block_readable(u64 p, u64 len)
{
	const char __user *last;
	char byte __maybe_unused;

	len = min_t(u64, len, BLOCK_MAX);
	last = u64_to_user_ptr(p + len - 1);
	return (p ^ (p + len - 1)) < PAGE_SIZE || !get_user(byte, last);
}

/**
 * cosy_env_compare() - memcmp() in the process
 * @env:  the run
 * @a:    first address
 * @b:    second address
 * @len:  bytes
 * @sign: out: -1, 0 or 1, in 32 bits
 *
 * Return: false if it was not done; env->step has the reason.
 */
bool cosy_env_compare(struct cosy_env *env, u64 a, u64 b, u64 len, u64 *sign)
{
	unsigned long at;
	int found = 0;

	if (bulk_too_long(env, len))
		return false;
	while (len && !found) {
		unsigned long n = min_t(u64, len, BULK_CHUNK);

		if (bulk_leave(env))
			return false;
		if (compare_chunk(u64_to_user_ptr(a), u64_to_user_ptr(b), n,
				  false, &found, &at))
			goto fault;
		a += at;
		b += at;
		len -= at;
	}
	if (found && !(block_readable(a, len) && block_readable(b, len)))
		goto fault;
	*sign = (u32)((found > 0) - (found < 0));
	return true;
fault:
	env->step = COSY_STEP_FAULT;
	return false;
}

/* Return the number of bytes from @p to the end of its page. */
static unsigned long to_page_end(u64 p)
{
	return PAGE_SIZE - offset_in_page(p);
}

/**
 * cosy_env_strcmp() - strncmp() in the process
 * @env:  the run
 * @a:    first string
 * @b:    second string
 * @max:  maximum number of bytes
 * @diff: out: difference of the first bytes that differ, in 32 bits
 *
 * Reads no page after those where the strings differ or end.
 *
 * Return: false if it was not done; env->step has the reason.
 */
bool cosy_env_strcmp(struct cosy_env *env, u64 a, u64 b, u64 max, u64 *diff)
{
	u64 left = min_t(u64, max, BULK_MAX);
	unsigned long n, at;
	int found = 0;

	for (; left; left -= n, a += n, b += n) {
		n = min3((unsigned long)left, to_page_end(a), to_page_end(b));
		if (bulk_leave(env))
			return false;
		if (compare_chunk(u64_to_user_ptr(a), u64_to_user_ptr(b), n,
				  true, &found, &at)) {
			env->step = COSY_STEP_FAULT;
			return false;
		}
		if (at < n)
			goto end;
	}
	if (bulk_too_long(env, max))
		return false;
end:
	*diff = (u32)found;
	return true;
}

/*
 * Find the first @byte or @other in the @len bytes at @p. Sets @at to its index and
 * @val to its value, or @at to @len if there is none.
 */
static int find_chunk(const char __user *p, u8 byte, u8 other,
		      unsigned long len, unsigned long *at, u8 *val)
{
	u64 pattern = byte * ONES, pattern2 = other * ONES, word, match;
	unsigned long i = 0;

	if (!cosy_user_access_begin(p, len))
		return -EFAULT;
	while (i < len) {
		if (IS_ALIGNED((unsigned long)p + i, 8) && i + 8 <= len) {
			unsafe_get_user(word, (const u64 __user *)(p + i),
					fault);
			match = matching(word, pattern) |
				matching(word, pattern2);
			if (match) {
				*val = word >> (__ffs(match) & ~7);
				i += __ffs(match) / 8;
				break;
			}
			i += 8;
		} else {
			unsafe_get_user(*val, (const u8 __user *)(p + i),
					fault);
			if (*val == byte || *val == other)
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
 * find_chunk() for up to @len bytes, in chunks that end at page boundaries: a string
 * may end just before memory that is not mapped.
 */
static bool search(struct cosy_env *env, u64 p, u8 byte, u8 other, u64 len,
		   u64 *found, u8 *val)
{
	u64 done = 0;

	while (done < len) {
		unsigned long n = min_t(u64, to_page_end(p + done), len - done);
		unsigned long at;

		if (bulk_leave(env))
			return false;
		if (find_chunk(u64_to_user_ptr(p + done), byte, other, n, &at,
			       val)) {
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

/* Find @byte or the end of a string. Fails if neither is in the first BULK_MAX bytes. */
static bool search_string(struct cosy_env *env, u64 p, u8 byte, u64 *found,
			  u8 *val)
{
	if (!search(env, p, byte, 0, BULK_MAX, found, val))
		return false;
	if (*found < BULK_MAX)
		return true;
	env->step = COSY_STEP_BULK;
	return false;
}

/**
 * cosy_env_find() - memchr() in the process
 * @env:  the run
 * @p:    address
 * @byte: byte to find
 * @len:  bytes
 * @at:   out: the address, 0 if there is none
 *
 * Return: false if it was not done; env->step has the reason.
 */
bool cosy_env_find(struct cosy_env *env, u64 p, u8 byte, u64 len, u64 *at)
{
	u64 n = min_t(u64, len, BULK_MAX), found;
	u8 val;

	if (!search(env, p, byte, byte, n, &found, &val))
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
 * cosy_env_strlen() - strnlen() in the process
 * @env: the run
 * @p:   the string
 * @max: maximum number of bytes
 * @len: out: its length
 *
 * Return: false if it was not done; env->step has the reason.
 */
bool cosy_env_strlen(struct cosy_env *env, u64 p, u64 max, u64 *len)
{
	u64 n = min_t(u64, max, BULK_MAX);
	u8 val;

	if (!search(env, p, 0, 0, n, len, &val))
		return false;
	return *len < n || !bulk_too_long(env, max);
}

/**
 * cosy_env_strchr() - strchr() in the process
 * @env:  the run
 * @p:    the string
 * @byte: byte to find
 * @at:   out: the address, 0 if there is none
 *
 * Return: false if it was not done; env->step has the reason.
 */
bool cosy_env_strchr(struct cosy_env *env, u64 p, u8 byte, u64 *at)
{
	u64 found;
	u8 val;

	if (!search_string(env, p, byte, &found, &val))
		return false;
	*at = val == byte ? p + found : 0;
	return true;
}

/**
 * cosy_env_strrchr() - strrchr() in the process
 * @env:  the run
 * @p:    the string
 * @byte: byte to find
 * @at:   out: the address of the last one, 0 if there is none
 *
 * Return: false if it was not done; env->step has the reason.
 */
bool cosy_env_strrchr(struct cosy_env *env, u64 p, u8 byte, u64 *at)
{
	u64 begin = p, last = 0, found;
	u8 val;

	do {
		/* Also limit the total length. */
		if (bulk_too_long(env, p - begin) ||
		    !search_string(env, p, byte, &found, &val))
			return false;
		p += found;
		if (val == byte)
			last = p;
		p++;
	} while (val);
	*at = last;
	return true;
}

/**
 * cosy_env_stpcpy() - stpcpy() in the process
 * @env: the run
 * @dst: destination
 * @src: the string
 * @end: out: the address of the copy's 0 byte
 *
 * Return: false if it was not done; env->step has the reason.
 */
bool cosy_env_stpcpy(struct cosy_env *env, u64 dst, u64 src, u64 *end)
{
	u64 len;

	if (!cosy_env_strlen(env, src, ~0ull, &len) ||
	    !cosy_env_copy(env, dst, src, len + 1))
		return false;
	*end = dst + len;
	return true;
}
