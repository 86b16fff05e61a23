/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * compound.h - compounds for the module's tests without the plugin: operations as C initialisers,
 * which are made into an image, loaded and run through /dev/cosy.
 *
 * A test calls check() for each claim and ends with `return finish();`: 0 if all were true,
 * otherwise 1. A claim that is false is printed with its condition, and with what the functions of
 * this header and of loop.h have returned.
 */
#ifndef COMPOUND_H
#define COMPOUND_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cosy/format.h>
#include <cosy/status.h>
#include <linux/cosy.h>

/* Operations; registers are numbers, targets are slot numbers. */
#define NONE		COSY_NONE
#define OP(name, ...)	{ .code = COSY_OP_##name, __VA_ARGS__ }
#define CONST(d, v)	OP(CONST, .dst = d, .imm = (cosy_s64)(v))
#define MOV(d, s)	OP(MOV, .dst = d, .a = s)
#define ADDI(d, s, v)	OP(ADD, .width = 8, .dst = d, .a = s, .b = NONE, .imm = v)
#define JMP(t)		OP(JMP, .target = t)
#define BR(x, c, v, t)	OP(BR, .width = 8, .a = x, .b = NONE, .cond = COSY_COND_##c, \
			   .imm = v, .target = t)
#define LOOP(d, n, t)	OP(LOOP, .width = 8, .dst = d, .b = n, .imm = 1, \
			   .cond = COSY_COND_ULT, .target = t)
#define EXIT(n)		OP(EXIT, .imm = n)
#define UPCALL(n)	OP(UPCALL, .imm = n)
#define LOAD(w, d, s)	OP(LOAD, .width = w, .dst = d, .a = s)
#define STORE(w, d, s)	OP(STORE, .width = w, .a = d, .b = s)
#define COPY(d, s, n)	OP(COPY, .a = d, .b = s, .c = n)
#define FILL(d, v, n)	OP(FILL, .a = d, .b = v, .c = n)
#define COMPARE(d, x, y, n) OP(COMPARE, .dst = d, .a = x, .b = y, .c = n)
#define FIND(d, p, v, n) OP(FIND, .dst = d, .a = p, .b = v, .c = n)
#define STRLEN(d, p)	OP(STRLEN, .dst = d, .a = p)
#define SYS(d, nr, n)	OP(SYS, .dst = d, .width = n, .imm = nr)
#define LIBC(d, nr, n)	OP(LIBC, .dst = d, .width = n, .imm = nr)
#define ARG(r)		OP(ARG, .a = r)
#define ARGI(v)		OP(ARG, .a = NONE, .imm = (cosy_s64)(v))

/** struct image - an image under construction; the data after the operations belongs to the test */
struct image {
	struct cosy_header h;
	struct cosy_op ops[];
};

static int failures;

/* What the thread's calls have returned since its last check, and the last frame. */
static __thread struct {
	struct {
		const char *function;
		long long value;
		unsigned int times;
	} calls[8];
	unsigned int ncalls;
	const __u64 *frame;
	unsigned int nregs;
} came;

/** returned() - note a result for the message of a check that fails; returns it */
__attribute__((unused))
static long long returned(const char *function, long long value)
{
	const unsigned int size = sizeof(came.calls) / sizeof(*came.calls);
	unsigned int last = (came.ncalls - 1) % size;

	if (came.ncalls && came.calls[last].function == function &&
	    came.calls[last].value == value) {
		came.calls[last].times++;
		return value;
	}
	last = came.ncalls++ % size;
	came.calls[last].function = function;
	came.calls[last].value = value;
	came.calls[last].times = 1;
	return value;
}

static void print_what_came(void)
{
	const unsigned int size = sizeof(came.calls) / sizeof(*came.calls);
	unsigned int i = came.ncalls > size ? came.ncalls - size : 0;
	__u64 regs[16];
	/* The frame may be unmapped. */
	struct iovec to = { regs, came.nregs * sizeof(*regs) };
	struct iovec from = { (void *)came.frame, to.iov_len };

	printf("\tcame: errno %d", errno);
	for (; i < came.ncalls; i++) {
		printf(", %s %lld", came.calls[i % size].function, came.calls[i % size].value);
		if (came.calls[i % size].times > 1)
			printf(" (%u times)", came.calls[i % size].times);
	}
	if (came.frame && process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)to.iov_len) {
		printf(", registers");
		for (i = 0; i < came.nregs; i++)
			printf(" %lld", (long long)regs[i]);
	}
	printf("\n");
}

__attribute__((format(printf, 5, 6), unused))
static bool check_at(bool held, const char *file, int line, const char *condition,
		     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf(held ? "ok: " : "FAILED: ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
	if (!held) {
		printf("\texpected (%s:%d): %s\n", file, line, condition);
		print_what_came();
	}
	fflush(stdout);
	came.ncalls = 0;
	failures += !held;
	return held;
}

/** check() - check that a condition holds; the other arguments are those of printf() */
#define check(condition, ...) \
	check_at(condition, __FILE__, __LINE__, #condition, __VA_ARGS__)

__attribute__((unused))
static int finish(void)
{
	printf("%s\n", failures ? "FAILED" : "passed");
	return failures != 0;
}

__attribute__((unused))
static void die(const char *what)
{
	printf("FAILED: %s: %s\n", what, strerror(errno));
	exit(1);
}

/*
 * Become a user of whom no other test loads anything, if this is root. A test that reaches the limit
 * of a user's memory would make other tests fail, which run as root at the same time.
 */
static inline void become_user(uid_t uid)
{
	if (!geteuid() && setresuid(uid, uid, uid))
		die("setresuid");
}

__attribute__((unused))
static void *must_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

/** make_image() - create an image of @nops operations; free() it */
__attribute__((unused))
static struct image *make_image(const struct cosy_op *ops, unsigned int nops,
				unsigned int nregs, unsigned int ninputs,
				unsigned int out_first, unsigned int nout)
{
	size_t size = sizeof(struct cosy_header) + nops * sizeof(*ops) + 1;
	struct image *im = calloc(1, size);

	if (!im)
		die("calloc");
	im->h.magic = COSY_MAGIC;
	im->h.version = COSY_VERSION;
	im->h.nregs = nregs;
	im->h.size = size;
	im->h.nops = nops;
	im->h.strings_size = 1;
	im->h.ninputs = ninputs;
	im->h.out_first = out_first;
	im->h.nout = nout;
	im->h.nexits = 4;
	im->h.nupcalls = 4;
	im->h.limit = COSY_DEFAULT_LIMIT;
	memcpy(im->ops, ops, nops * sizeof(*ops));
	return im;
}

/** load_image() - load an image, return its handle; 0 with errno if it is rejected */
__attribute__((unused))
static __u64 load_image(int dev, const struct image *im)
{
	struct cosy_load load = { .size = sizeof(load),
				  .image = (__u64)(uintptr_t)im,
				  .image_size = im->h.size };

	if (ioctl(dev, COSY_IOC_LOAD, &load)) {
		if (errno == EINVAL)
			printf("rejected at %u: %.64s\n", load.offset, load.reason);
		return 0;
	}
	return load.handle;
}

/** must_load() - load operations whose registers are all inputs and outputs */
#define must_load(dev, nregs, ...) ({					\
	const struct cosy_op ops__[] = { __VA_ARGS__ };			\
	must_load_ops(dev, ops__, sizeof(ops__) / sizeof(*ops__), nregs); \
})
__attribute__((unused))
static __u64 must_load_ops(int dev, const struct cosy_op *ops,
			   unsigned int nops, unsigned int nregs)
{
	struct image *im = make_image(ops, nops, nregs, nregs, 0, nregs);
	__u64 handle = load_image(dev, im);

	if (!handle)
		die("load");
	free(im);
	return handle;
}

/** enter() - make one entry; returns the result of the kernel */
__attribute__((unused))
static long enter(int dev, struct cosy_run *run)
{
	long ret;
	register long r10 __asm__("r10") = 0;

	__asm__ volatile("syscall" : "=a" (ret)
			 : "0" ((long)SYS_lseek), "D" ((long)dev),
			   "S" (COSY_RUN_TAG | (__u64)(uintptr_t)run),
			   "d" ((long)COSY_RUN_WHENCE), "r" (r10)
			 : "rcx", "r11", "memory");
	return returned("enter", ret);
}

/** done() - the result of an entry when the compound is done by exit @number */
__attribute__((unused))
static long done(long number)
{
	return COSY_RUN_DONE | number;
}

/**
 * run_frame() - run until a result other than AGAIN or a time limit
 *
 * Return: as enter().
 */
__attribute__((unused))
static long run_on(int dev, struct cosy_run *run)
{
	long ret;

	do {
		ret = enter(dev, run);
		if (ret == COSY_RUN_LEFT && run->status == COSY_LIMIT &&
		    run->value == COSY_LIMIT_TIME)
			run->status = COSY_AGAIN;
	} while (ret == COSY_RUN_LEFT && run->status == COSY_AGAIN);
	return ret;
}

__attribute__((unused))
static long run_frame(int dev, __u64 handle, __u64 *frame, struct cosy_run *run)
{
	memset(run, 0, sizeof(*run));
	run->handle = handle;
	run->frame = (__u64)(uintptr_t)frame;
	run->errno_addr = (__u64)(uintptr_t)&errno;
	return run_on(dev, run);
}

__attribute__((unused))
static int open_device(void)
{
	int dev = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);

	if (dev < 0) {
		printf("SKIP: %s: %s\n", COSY_DEVICE, strerror(errno));
		exit(77);
	}
	return dev;
}

__attribute__((unused))
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

#endif /* COMPOUND_H */
