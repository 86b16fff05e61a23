/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wrapper.h - COSY_WRAP() and COSY_WRAP_CANCEL() define the wrapper of a function
 * of preload.def.
 *
 * A wrapper enters the module with the number and the arguments of its call, or calls the
 * function that it replaces. errno changes only on failure. The prototypes have the calling
 * convention of glibc's: a result of type int is the lower half of a long. A mode that the
 * caller did not pass is the value of its register, which the kernel ignores.
 *
 * A file that includes this one defines
 *	COSY_WRAPPER(function)	the declaration of the wrapper, up to its name
 *	COSY_NEXT(function, type)	the function that it replaces
 *	COSY_IS_LINKED		true if the linker has found that function; otherwise it is
 *				known after cosy_prepare()
 *	COSY_LINKED(function)	its address, if COSY_IS_LINKED
 *	COSY_TEST_CANCEL()	pthread_testcancel(), unless that always exists
 */
#ifndef COSY_PRELOAD_WRAPPER_H
#define COSY_PRELOAD_WRAPPER_H

#include <asm/unistd.h>
#include <stddef.h>

#include "device/call.h"
#include "state.h"

#define likely(x)	__builtin_expect(!!(x), 1)

#define PTHREAD_CANCEL_ASYNCHRONOUS	1

int pthread_setcanceltype(int type, int *old);
void pthread_testcancel(void);
#ifndef COSY_TEST_CANCEL
#define COSY_TEST_CANCEL()	pthread_testcancel()
#endif

static inline __attribute__((always_inline)) bool
may_enter(enum cosy_function function, bool is_linked, void *linked)
{
	int device = __atomic_load_n(&cosy_device.fd, __ATOMIC_RELAXED);
	uint8_t route = __atomic_load_n(&cosy_routes[function],
					__ATOMIC_ACQUIRE);

	if (likely(device >= 0) && likely(route == COSY_ROUTE_MODULE))
		return true;
	/* Calls that stay native return early. */
	if (route == COSY_ROUTE_NEXT ||
	    (device == COSY_DEVICE_OFF &&
	     (is_linked || route == COSY_ROUTE_MODULE)))
		return false;
	if (is_linked)
		__atomic_store_n(&cosy_nexts[function], linked,
				 __ATOMIC_RELAXED);
	return cosy_prepare(function);
}

/*
 * Make the call through the module. Return true if it was made. The memory clobber is needed
 * because the call reads and writes memory at its arguments.
 */
static inline __attribute__((always_inline)) bool
make(enum cosy_function function, struct cosy_call *call, long *result)
{
	int fd = __atomic_load_n(&cosy_device.fd, __ATOMIC_RELAXED);
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"((long)__NR_lseek),
			   "D"((long)fd),
			   "S"(COSY_RUN_TAG | (uint64_t)(uintptr_t)call),
			   "d"((long)COSY_CALL_WHENCE)
			 : "rcx", "r11", "memory");
	*result = (int)ret;
	if (likely(cosy_call_is_made(ret)))
		return true;
	return cosy_not_made(function, call, ret, fd);
}

/*
 * The two struct timespec of utimensat(), made from what older functions take, as glibc makes them.
 * They exist as long as the block that contains the call.
 */
struct cosy_times {
	long words[4];
};

static inline struct cosy_times cosy_from_utimbuf(const long *seconds)
{
	return (struct cosy_times){ { seconds[0], 0, seconds[1], 0 } };
}

static inline struct cosy_times cosy_from_timevals(const unsigned long *t)
{
	return (struct cosy_times){ { (long)t[0], (long)(t[1] * 1000),
				      (long)t[2], (long)(t[3] * 1000) } };
}

#define COSY_FROM_UTIMBUF(times) \
	((times) ? (struct cosy_times[1]) { cosy_from_utimbuf(times) } : NULL)
#define COSY_FROM_TIMEVALS(times) \
	((times) ? (struct cosy_times[1]) { cosy_from_timevals(times) } : NULL)

/* SET(call, x, ...): set the arguments, each as a 64-bit number. */
#define SET_1(call, i, a)	(call).args[i] = (uint64_t)(a)
#define SET_2(call, i, a, ...)	SET_1(call, i, a), SET_1(call, i + 1, __VA_ARGS__)
#define SET_3(call, i, a, ...)	SET_1(call, i, a), SET_2(call, i + 1, __VA_ARGS__)
#define SET_4(call, i, a, ...)	SET_1(call, i, a), SET_3(call, i + 1, __VA_ARGS__)
#define SET_5(call, i, a, ...)	SET_1(call, i, a), SET_4(call, i + 1, __VA_ARGS__)
#define NTH(a, b, c, d, e, f, ...) f
#define SET(call, ...)							\
	NTH(__VA_ARGS__, SET_5, SET_4, SET_3, SET_2, SET_1)(call, 0, __VA_ARGS__)

/*
 * make() as a cancellation point: like in glibc, the thread can be cancelled during the call, and
 * a cancellation that was requested before takes effect. Only other threads can request one during the call.
 * With these, glibc before 2.41 makes the cancellation asynchronous during the call. A file that was just
 * opened can stay open then, and a handler that leaves the call by siglongjmp() leaves the type asynchronous.
 * Since 2.41, glibc recognises by the address of the instruction whether the call has been made, which works
 * only for its own instruction. There, processes with threads make these calls natively.
 */
static inline __attribute__((always_inline)) bool
make_cancellable(enum cosy_function function, struct cosy_call *call, long *result)
{
	const char *single = __atomic_load_n(&cosy_single_threaded, __ATOMIC_RELAXED);
	bool made;
	int type;

	if (single && *(const volatile char *)single) {
		COSY_TEST_CANCEL();
		return make(function, call, result);
	}
	if (__atomic_load_n(&cosy_exact_cancellation, __ATOMIC_RELAXED))
		return false;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	made = make(function, call, result);
	pthread_setcanceltype(type, &type);
	return made;
}

/* The module reads six arguments, but only uses those of the call. */
#define COSY_WRAP_BY(make, function, name, condition, params, names, ...) \
COSY_WRAPPER(function) params;						\
COSY_WRAPPER(function) params						\
{									\
	struct cosy_call call;						\
	long result;							\
									\
	if (may_enter(COSY_FN_##function, COSY_IS_LINKED,		\
		      COSY_LINKED(function)) && (condition)) {		\
		call.nr = __NR_##name;					\
		call.status = 0;					\
		SET(call, __VA_ARGS__);					\
		if (likely(make(COSY_FN_##function, &call, &result)))	\
			return likely(result >= 0) ? result :		\
						     cosy_failed(result); \
	}								\
	return COSY_NEXT(function, long (*) params) names;		\
}

#define COSY_WRAP(function, ...)					\
	COSY_WRAP_BY(make, function, __VA_ARGS__)
#define COSY_WRAP_CANCEL(function, ...)					\
	COSY_WRAP_BY(make_cancellable, function, __VA_ARGS__)

#endif /* COSY_PRELOAD_WRAPPER_H */
