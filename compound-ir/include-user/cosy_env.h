/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * cosy_env.h - the executor's environment in user mode (see cosy/exec.h).
 *
 * Memory is accessed directly, so a bad address raises SIGSEGV in the process at that
 * access. System calls are plain instructions. A division error is a real one. A signal
 * handler may return or siglongjmp() from any of them: no lock is held, and the operation
 * has had no effect yet.
 */
#ifndef COSY_ENV_H
#define COSY_ENV_H

#ifndef __x86_64__
#error "cosy: the user-mode executor supports x86-64 only; build for that target"
#endif

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cosy/function.h>

/**
 * struct cosy_env - the environment's part of a run
 * @single: leave with COSY_AGAIN after the next call or the next back-edge. So user
 *	    mode executes what the kernel could not, and then returns to the kernel
 * @step:   never set here, because nothing is refused
 * @args:   arguments of the next call
 * @call:   makes the calls, given the environment and the call's number, and returns
 *	    what the kernel returns; NULL: they are plain system calls
 */
struct cosy_env {
	bool single;
	unsigned int step;
	long args[6];
	long (*call)(const struct cosy_env *env, unsigned int nr);
};

/*
 * volatile, so that each operation makes exactly one access, in program order. The types
 * may alias any other and need no alignment.
 */
#define COSY_ENV_TYPE(bits) \
	typedef uint##bits##_t cosy_env_u##bits \
		__attribute__((may_alias, aligned(1)))
COSY_ENV_TYPE(8);
COSY_ENV_TYPE(16);
COSY_ENV_TYPE(32);
COSY_ENV_TYPE(64);
#undef COSY_ENV_TYPE

static inline bool cosy_env_load(struct cosy_env *env, uint64_t addr,
				 unsigned int width, uint64_t *val)
{
	(void)env;
	switch (width) {
	case 1:
		*val = *(const volatile cosy_env_u8 *)addr;
		break;
	case 2:
		*val = *(const volatile cosy_env_u16 *)addr;
		break;
	case 4:
		*val = *(const volatile cosy_env_u32 *)addr;
		break;
	default:
		*val = *(const volatile cosy_env_u64 *)addr;
		break;
	}
	return true;
}

static inline bool cosy_env_store(struct cosy_env *env, uint64_t addr,
				  unsigned int width, uint64_t val)
{
	(void)env;
	switch (width) {
	case 1:
		*(volatile cosy_env_u8 *)addr = (uint8_t)val;
		break;
	case 2:
		*(volatile cosy_env_u16 *)addr = (uint16_t)val;
		break;
	case 4:
		*(volatile cosy_env_u32 *)addr = (uint32_t)val;
		break;
	default:
		*(volatile cosy_env_u64 *)addr = val;
		break;
	}
	return true;
}

#define COSY_ENV_CMPXCHG(bits) do {					\
	uint##bits##_t was = (uint##bits##_t)old;			\
									\
	__asm__ volatile("lock cmpxchg %[new], %[mem]"			\
			 : "+a"(was),					\
			   [mem] "+m"(*(volatile cosy_env_u##bits *)addr) \
			 : [new] "r"((uint##bits##_t)new)		\
			 : "memory", "cc");				\
	*val = was;							\
} while (0)

static inline bool cosy_env_cmpxchg(struct cosy_env *env, uint64_t addr,
				    unsigned int width, uint64_t old,
				    uint64_t new, uint64_t *val)
{
	(void)env;
	switch (width) {
	case 1:
		COSY_ENV_CMPXCHG(8);
		break;
	case 2:
		COSY_ENV_CMPXCHG(16);
		break;
	case 4:
		COSY_ENV_CMPXCHG(32);
		break;
	default:
		COSY_ENV_CMPXCHG(64);
		break;
	}
	return true;
}

#undef COSY_ENV_CMPXCHG

/*
 * libc knows the number and stores it in a mutex of this type. gettid() would be a system call that
 * the program does not make natively.
 */
static __attribute__((noinline, unused)) uint32_t cosy_env_tid(struct cosy_env *env)
{
	pthread_mutex_t mutex = { .__data = { .__kind = PTHREAD_MUTEX_ERRORCHECK } };
	uint32_t tid;

	(void)env;
	pthread_mutex_lock(&mutex);
	tid = (uint32_t)mutex.__data.__owner;
	pthread_mutex_unlock(&mutex);
	return tid;
}

static inline bool cosy_env_copy(struct cosy_env *env, uint64_t dst,
				 uint64_t src, uint64_t len)
{
	(void)env;
	memmove((void *)dst, (const void *)src, len);
	return true;
}

static inline bool cosy_env_fill(struct cosy_env *env, uint64_t dst,
				 uint8_t byte, uint64_t len)
{
	(void)env;
	memset((void *)dst, byte, len);
	return true;
}

/*
 * The functions below call those of libc, with the same values and the same faults. The
 * value of memcmp(), except for its sign, depends on the CPU.
 */
static inline bool cosy_env_compare(struct cosy_env *env, uint64_t a,
				    uint64_t b, uint64_t len, uint64_t *sign)
{
	int diff = memcmp((const void *)a, (const void *)b, len);

	(void)env;
	*sign = (uint32_t)((diff > 0) - (diff < 0));
	return true;
}

static inline bool cosy_env_find(struct cosy_env *env, uint64_t p, uint8_t byte,
				 uint64_t len, uint64_t *at)
{
	(void)env;
	*at = (uint64_t)memchr((const void *)p, byte, len);
	return true;
}

static inline bool cosy_env_strcmp(struct cosy_env *env, uint64_t a, uint64_t b,
				   uint64_t max, uint64_t *diff)
{
	(void)env;
	*diff = (uint32_t)(max == ~0ull ?
			   strcmp((const char *)a, (const char *)b) :
			   strncmp((const char *)a, (const char *)b, max));
	return true;
}

static inline bool cosy_env_strlen(struct cosy_env *env, uint64_t p,
				   uint64_t max, uint64_t *len)
{
	(void)env;
	*len = max == ~0ull ? strlen((const char *)p) :
			      strnlen((const char *)p, max);
	return true;
}

static inline bool cosy_env_strchr(struct cosy_env *env, uint64_t p,
				   uint8_t byte, uint64_t *at)
{
	(void)env;
	*at = (uint64_t)strchr((const char *)p, byte);
	return true;
}

static inline bool cosy_env_strrchr(struct cosy_env *env, uint64_t p,
				    uint8_t byte, uint64_t *at)
{
	(void)env;
	*at = (uint64_t)strrchr((const char *)p, byte);
	return true;
}

static inline bool cosy_env_stpcpy(struct cosy_env *env, uint64_t dst,
				   uint64_t src, uint64_t *end)
{
	(void)env;
	*end = (uint64_t)stpcpy((char *)dst, (const char *)src);
	return true;
}

typedef struct cosy_env cosy_self;

#define cosy_env_self(st)	(&(st)->env)

static inline bool cosy_env_may_call(cosy_self *self, struct cosy_state *st,
				     const struct cosy_insn *ip)
{
	(void)self;
	(void)st;
	(void)ip;
	return true;
}

static inline void cosy_env_arg(struct cosy_env *env, unsigned int i,
				uint64_t val)
{
	env->args[i] = (long)val;
}

/* The number is sufficient. */
static inline uint16_t cosy_env_callee(unsigned int nr)
{
	(void)nr;
	return 0;
}

/* Missing arguments are undefined, as in any raw system call. */
static inline long cosy_env_plain_call(const struct cosy_env *env,
				       unsigned int nr)
{
	register long r10 __asm__("r10") = env->args[3];
	register long r8 __asm__("r8") = env->args[4];
	register long r9 __asm__("r9") = env->args[5];
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"((long)nr), "D"(env->args[0]), "S"(env->args[1]),
			   "d"(env->args[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long cosy_env_call(struct cosy_env *env, unsigned int nr,
				 unsigned int callee)
{
	(void)callee;
	return __builtin_expect(env->call != NULL, 0) ?
		       env->call(env, nr) :
		       cosy_env_plain_call(env, nr);
}

/* Functions run natively. */
static inline enum cosy_function_end
cosy_env_function(struct cosy_env *env, unsigned int nr, const uint64_t *args,
		  unsigned int nargs, uint64_t *val)
{
	(void)env;
	(void)nr;
	(void)args;
	(void)nargs;
	(void)val;
	return COSY_FUNCTION_NATIVE;
}

/* The kernel restarts calls itself on the return to user mode. */
static inline bool cosy_env_restart(struct cosy_env *env, long ret)
{
	(void)env;
	(void)ret;
	return false;
}

static inline bool cosy_env_leave(cosy_self *self)
{
	return self->single;
}

/* Execute a real division by zero. If a handler skips the instruction, the result is 0. */
#define cosy_env_divide_error cosy_env_divide_error
static inline bool cosy_env_divide_error(struct cosy_env *env)
{
	unsigned int low = 1, high = 0;

	(void)env;
	__asm__ volatile("divl %2" : "+a"(low), "+d"(high) : "r"(0) : "cc");
	return true;
}

#endif /* COSY_ENV_H */
