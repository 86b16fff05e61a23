/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tsan.h - tells ThreadSanitizer in the program how a team orders callbacks.
 *
 * Each colour is a fiber for the sanitizer. So callbacks of one colour are ordered, and those of two
 * colours are not, even if the same worker runs them: it reports data that two colours use. A callback
 * is ordered after the code that has queued it.
 *
 * Each fiber has a stack of its own, too. Otherwise local variables of two colours could have the same
 * address, and the sanitizer would take them for data that both use.
 */
#ifndef COSY_TEAM_TSAN_H
#define COSY_TEAM_TSAN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "async/tsan.h"
#include "device/sys.h"

/* More fibers than the sanitizer has threads end the process. */
#define TSAN_MAX_FIBERS		4000u
#define TSAN_NO_SYNC		1u
/* Of a fiber; memory is taken where it is touched. */
#define TSAN_STACK		((size_t)1 << 20)

void *__tsan_get_current_fiber(void) __attribute__((weak));
void *__tsan_create_fiber(unsigned int flags) __attribute__((weak));
void __tsan_destroy_fiber(void *fiber) __attribute__((weak));
void __tsan_switch_to_fiber(void *fiber, unsigned int flags) __attribute__((weak));

/**
 * tsan_enter() - begin to run callbacks of a colour
 *
 * Return: the worker's own fiber; NULL if there are too many fibers: then callbacks of the colour are
 * ordered with each other, and with all others of the same worker.
 */
static inline void *tsan_enter(void **fiber)
{
	static unsigned int fibers;
	void *own;

	if (!tsan_is_used())
		return NULL;
	/* Sanitizers of old compilers have no fibers. */
	if (!*fiber && __tsan_switch_to_fiber &&
	    __atomic_fetch_add(&fibers, 1, __ATOMIC_RELAXED) < TSAN_MAX_FIBERS)
		*fiber = __tsan_create_fiber(0);
	if (!*fiber) {
		__tsan_acquire(fiber);
		return NULL;
	}
	own = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(*fiber, TSAN_NO_SYNC);
	return own;
}

/** tsan_leave() - end that; @own: what tsan_enter() has returned */
static inline void tsan_leave(void **fiber, void *own)
{
	if (own)
		__tsan_switch_to_fiber(own, TSAN_NO_SYNC);
	else
		tsan_release(fiber);
}

/* Get a stack, or NULL. The sanitizer does not see that, because it would write to all of its shadow. */
static inline void *tsan_new_stack(void)
{
	const long start = cosy_sys6(SYS_mmap, 0, (long)TSAN_STACK, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	return start < 0 ? NULL : (void *)start;
}

static __attribute__((noinline, cold, unused)) void tsan_call_on(void *stack, void (*fn)(void *arg), void *arg)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %1, %%rsp\n\t"
			 "call *%2\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(arg)
			 : "r"((char *)stack + TSAN_STACK), "r"(fn)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
			   "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
			   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}

/**
 * tsan_call() - call a function on the stack of a fiber
 * @fiber: the fiber that was entered; NULL: call it here
 * @stack: its stack, or NULL: it gets one if there is memory
 */
static inline void tsan_call(const void *fiber, void **stack, void (*fn)(void *arg), void *arg)
{
	if (__builtin_expect(fiber != NULL, 0) && !*stack)
		*stack = tsan_new_stack();
	if (__builtin_expect(fiber != NULL, 0) && *stack)
		tsan_call_on(*stack, fn, arg);
	else
		fn(arg);
}

static inline void tsan_destroy(void *fiber, void *stack)
{
	if (fiber)
		__tsan_destroy_fiber(fiber);
	/* With this function, the sanitizer forgets what was there. */
	if (stack)
		munmap(stack, TSAN_STACK);
}

#endif /* COSY_TEAM_TSAN_H */
