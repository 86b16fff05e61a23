/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * calls.h - calls with fast paths, in compounds and alone.
 */
#ifndef CALLS_H
#define CALLS_H

#include "loading.h"
#include "runs.h"

/** struct made_call - a call with a fast path, with arguments for which it succeeds */
struct made_call {
	const char *name;
	int nr;
	unsigned int nargs;
	__u64 args[6];
	__u16 hints;
	bool opens;
};

static struct stat st;
static char statx_result[256];
static const struct timespec times[2] = { { 1, 2 }, { 3, 4 } };
static char text[64];
static int file = -1, copy = -1;

#define P(p)	((__u64)(uintptr_t)(p))
#define CALL_OF(call, n, ...) { .name = #call, .nr = SYS_##call, .nargs = n, .args = { __VA_ARGS__ } }
static struct made_call calls[] = {
	CALL_OF(stat, 2, P(FILE_NAME), P(&st)),
	CALL_OF(lstat, 2, P(LINK_NAME), P(&st)),
	CALL_OF(newfstatat, 4, (__u64)AT_FDCWD, P(FILE_NAME), P(&st), 0),
	CALL_OF(newfstatat, 4, (__u64)AT_FDCWD, P(LONG_NAME), P(&st), 0),
	CALL_OF(statx, 5, (__u64)AT_FDCWD, P(FILE_NAME), 0, 0x7ff, P(statx_result)),
	CALL_OF(access, 2, P(FILE_NAME), R_OK),
	CALL_OF(faccessat2, 4, (__u64)AT_FDCWD, P(FILE_NAME), R_OK, AT_EACCESS),
	CALL_OF(readlink, 3, P(LINK_NAME), P(text), sizeof(text)),
	CALL_OF(unlink, 1, P(FILE_NAME)),
	CALL_OF(mkdir, 2, P(NEW_NAME), 0700),
	CALL_OF(rename, 2, P(FILE_NAME), P(NEW_NAME)),
	CALL_OF(link, 2, P(FILE_NAME), P(NEW_NAME)),
	CALL_OF(symlink, 2, P("nowhere"), P(NEW_NAME)),
	CALL_OF(chmod, 2, P(FILE_NAME), 0640),
	CALL_OF(chown, 3, P(FILE_NAME), 0, 0),
	CALL_OF(truncate, 2, P(FILE_NAME), 100),
	CALL_OF(utimensat, 4, (__u64)AT_FDCWD, P(FILE_NAME), P(times), 0),
	CALL_OF(getxattr, 4, P(FILE_NAME), P(ATTRIBUTE), P(text), sizeof(text)),
	CALL_OF(llistxattr, 3, P(FILE_NAME), P(text), sizeof(text)),
	{ "open", SYS_open, 3, { P(FILE_NAME), O_RDONLY }, .opens = true },
	{ "open of an entry", SYS_open, 3, { P("file"), O_RDONLY }, .opens = true },
	{ "openat of a new file", SYS_openat, 4, { (__u64)AT_FDCWD, P(NEW_NAME), O_RDWR | O_CREAT, 0600 },
	  .opens = true },
};

static const struct made_call *made;
static int descriptor;

static void recreate(void)
{
	int fd;

	unlink(NEW_NAME);
	rmdir(NEW_NAME);
	fd = open(FILE_NAME, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, FILE_SIZE) || close(fd))
		die(FILE_NAME);
	if (setxattr(FILE_NAME, ATTRIBUTE, "value", 5, 0))
		die(ATTRIBUTE);
	if (symlink("file", LINK_NAME) && errno != EEXIST)
		die(LINK_NAME);
}

static void call_begins(void)
{
	recreate();
	run_begins();
	descriptor = -1;
}

static long call_in_compound(void)
{
	long ret = run_it();

	if (ret != done(0))
		return ret;
	if (made->opens && (int)frame[0] >= 0)
		descriptor = frame[0];
	return (long)frame[0] < 0 ? (long)frame[0] : 0;
}

static long call_alone(void)
{
	struct cosy_call call = { .nr = made->nr };
	register long r10 __asm__("r10") = 0;
	long ret;

	memcpy(call.args, made->args, sizeof(call.args));
	__asm__ volatile("syscall" : "=a" (ret)
			 : "0" ((long)SYS_lseek), "D" ((long)dev),
			   "S" (COSY_RUN_TAG | (__u64)(uintptr_t)&call),
			   "d" ((long)COSY_CALL_WHENCE), "r" (r10)
			 : "rcx", "r11", "memory");
	/* Not in preload.def. */
	if (ret == (long)(COSY_CALL_LEFT | COSY_CALL_UNKNOWN))
		return 0;
	if ((__u64)ret >> 32 != COSY_CALL_DONE >> 32)
		return ret;
	if (made->opens && (int)ret >= 0)
		descriptor = (int)ret;
	return (int)ret < 0 ? (int)ret : 0;
}

static void close_descriptor(long ret)
{
	(void)ret;
	if (descriptor >= 0)
		close(descriptor);
}

static void load_call(void)
{
	struct cosy_op ops[8] = {
		{ .code = COSY_OP_SYS, .dst = 0, .width = made->nargs, .imm = made->nr,
		  .c = made->hints },
	};

	for (unsigned int i = 0; i < made->nargs; i++)
		ops[1 + i] = (struct cosy_op)ARGI(made->args[i]);
	ops[1 + made->nargs] = (struct cosy_op)EXIT(0);
	handle = must_load_ops(dev, ops, made->nargs + 2, 1);
}

static void try_calls(void)
{
	char name[64];

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		made = &calls[i];
		load_call();
		snprintf(name, sizeof(name), "%s", made->name);
		try(&(struct operation)OPERATION(name, call_begins, call_in_compound,
						 close_descriptor, 0));
		snprintf(name, sizeof(name), "%s, a single call", made->name);
		try(&(struct operation)OPERATION(name, call_begins, call_alone, close_descriptor,
						 0));
		unload_it();
	}
}

#endif /* CALLS_H */
