// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * inject.c - each request of the module to the kernel fails once, in each operation of its
 * interface: memory, user memory, descriptors, files. Each failure must be reported, the same
 * operation must succeed afterwards, and nothing may leak: memory, quota, descriptors, files,
 * programs, references to the module.
 *
 * Inputs/inject/cosy_inject.c makes the failures. In a separate VM with one CPU, whose kernel is
 * patched by the probes.
 */
// RUN: kernel=${COSY_KERNEL:-6.12}; %root/scripts/build-module --variant inject $kernel test/kernel/Inputs/inject >%t.build 2>&1 || { cat %t.build; exit 1; }
// RUN: %compile-bpf %S/Inputs/functions.bpf.c -o %t.bpf.o
// RUN: %compile %s -o %t -lbpf -lelf -lz
// RUN: kernel=${COSY_KERNEL:-6.12}; sh %S/Inputs/inject-points.sh %build/kernel/$kernel/cosy.ko %S/Inputs/inject/points.def
// RUN: kernel=${COSY_KERNEL:-6.12}; %root/scripts/vm/run --smp 1 --no-module -- sh %S/Inputs/inject.sh %build/kernel/$kernel/inject/cosy_inject.ko %build/kernel/$kernel/cosy.ko %t %t.bpf.o
#include "function.h"
#include "loop.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define SCRATCH		"/tmp/cosy-inject"
#define FILE_NAME	SCRATCH "/file"
#define COPY_NAME	SCRATCH "/copy"
#define LINK_NAME	SCRATCH "/link"
#define NEW_NAME	SCRATCH "/new"
#define LONG_NAME	SCRATCH "/./././././././././././././././././././././file"
#define ATTRIBUTE	"trusted.cosy"
#define FILE_SIZE	(256 << 10)

/* How often charges to the user fail. Leaked charges add up to a compound's size. */
#define CHARGE_REPEATS	32
/* Bytes of a bulk operation: words, and bytes after them. Each access is a point. */
#define LENGTH		100
/* No operation makes this number of requests, so the counting is wrong. */
#define MAX_POINTS	400
/* The result of an operation that SIGSEGV has ended. */
#define CRASHED		(-10000)

static int dev, injector;
static struct segment seg;
static struct bpf_object *object;
static char *buffer;
static __u64 handle, caller_handle;
static sigjmp_buf crashed;

/** struct events - the events of /dev/cosy-inject */
struct events {
	unsigned int seen, held, lost;
	char failed[160];
	char text[8192];
};

static void inject(unsigned int n)
{
	char command[32];

	snprintf(command, sizeof(command), "%d %u", getpid(), n);
	if (write(injector, command, strlen(command)) < 0)
		die("/dev/cosy-inject");
}

/* wait_held() does not list memory that is allocated now. */
static void mark(void)
{
	if (write(injector, "0 0", 3) != 3)
		die("/dev/cosy-inject");
}

static struct events *events(void)
{
	static struct events e;
	ssize_t n = pread(injector, e.text, sizeof(e.text) - 1, 0);

	if (n < 0)
		die("/dev/cosy-inject");
	e.text[n] = 0;
	if (sscanf(e.text, "seen %u\nfailed %159[^\n]\nheld %u\nlost %u", &e.seen, e.failed,
		   &e.held, &e.lost) != 4)
		die("what /dev/cosy-inject says");
	return &e;
}

static bool has_failed(const struct events *e)
{
	return strcmp(e->failed, "nothing");
}

/* Memory is freed a grace period later. */
static bool wait_held(unsigned int held)
{
	for (double end = now() + 60; now() < end; usleep(5000))
		if (events()->held <= held)
			return true;
	return false;
}

static unsigned int read_number(const char *path)
{
	unsigned int value = 0;
	FILE *f = fopen(path, "r");

	if (!f || fscanf(f, "%u", &value) != 1)
		die(path);
	fclose(f);
	return value;
}

static void write_number(const char *path, unsigned int value)
{
	FILE *f = fopen(path, "w");

	if (!f || fprintf(f, "%u\n", value) < 0 || fclose(f))
		die(path);
}

/* The lowest free descriptor. */
static int lowest_descriptor(void)
{
	int fd = dup(injector);

	close(fd);
	return fd;
}

/** struct operation - a request to the module */
struct operation {
	const char *name;
	void (*begin)(void);	/* prepare it; may be NULL */
	long (*act)(void);	/* make it */
	void (*end)(long ret);	/* undo act(); may be NULL */
	long expected;		/* the result of act() without a failure */
	bool exact;		/* it makes no call whose failure is its result */
	unsigned int repeats;	/* further failures of each point */
};

#define OPERATION(n, b, a, e, ...) \
	{ .name = n, .begin = b, .act = a, .end = e, .expected = __VA_ARGS__ }

/* Loading and unloading. */

static struct image *image;

static void no_handle(void)
{
	handle = 0;
}

static long load_it(void)
{
	struct cosy_load load = { .size = sizeof(load), .image = (uintptr_t)image,
				  .image_size = image->h.size };

	if (ioctl(dev, COSY_IOC_LOAD, &load))
		return -errno;
	handle = load.handle;
	return 0;
}

static long unload_it(void)
{
	return ioctl(dev, COSY_IOC_UNLOAD, &handle) ? -errno : 0;
}

static void unload_if(long ret)
{
	if (!ret)
		unload_it();
}

static void unload_unless(long ret)
{
	if (ret)
		unload_it();
}

static void load_small(void)
{
	const struct cosy_op ops[] = { ADDI(0, 0, 1), EXIT(0) };

	no_handle();
	free(image);
	image = make_image(ops, 2, 1, 1, 0, 1);
}

/* Several pages of code, and functions. */
static void load_large(void)
{
	static struct cosy_op ops[1001];

	no_handle();
	free(image);
	for (int i = 0; i < 1000; i++)
		ops[i] = (struct cosy_op)ADDI(0, 0, 1);
	ops[1000] = (struct cosy_op)EXIT(0);
	image = make_image(ops, 1001, 1, 1, 0, 1);
	image->h.nfunctions = 3;
}

static void load_wrong(void)
{
	load_small();
	image->h.magic++;
}

static void load_and_unload(void)
{
	load_small();
	if (load_it())
		die("load");
}

static long open_and_close(void)
{
	int fd = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* A file that is closed while it has compounds. */
static long close_loaded(void)
{
	int kept = dev;
	long ret;

	dev = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	if (dev < 0) {
		ret = -errno;
	} else {
		ret = load_it();
		close(dev);
	}
	dev = kept;
	return ret;
}

static long info(void)
{
	struct {
		struct cosy_info info;
		char more[16];
	} arg = { .info.size = sizeof(arg) };

	return ioctl(dev, COSY_IOC_INFO, &arg) ? -errno : 0;
}

static long hide(void)
{
	int fd = ioctl(dev, COSY_IOC_HIDE);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Runs. */

static __u64 frame[128];
static struct cosy_run run;
static struct cosy_suspended suspended;

static void run_begins(void)
{
	memset(frame, 0, sizeof(frame));
	memset(&run, 0, sizeof(run));
	memset(buffer, 1, 4096);
	for (int i = 1; i < 4; i++)
		buffer[1000 * i + LENGTH] = 0;
	run.handle = handle;
	run.frame = (uintptr_t)frame;
	run.errno_addr = (uintptr_t)&errno;
	for (int i = 1; i < 4; i++)
		frame[i] = (uintptr_t)buffer + 1000 * i;
	frame[4] = LENGTH;
}

/*
 * A run is entered again until it is done: after up-calls, and after faults and denials, which are
 * not repeated.
 */
static long run_it(void)
{
	long ret;

	for (int entries = 0; entries < 1000; entries++) {
		ret = enter(dev, &run);
		if (entries && (ret == -EFAULT || ret == -ENOMEM))
			ret = COSY_RUN_LEFT;
		if (ret != COSY_RUN_LEFT || run.status == COSY_FAILED)
			return ret;
		run.status = COSY_AGAIN;
	}
	return ret;
}

static __u64 arithmetic, counted, many_registers, memory, strings, upcalls;

static void run_arithmetic(void)
{
	handle = arithmetic;
	run_begins();
}

static void run_counted(void)
{
	handle = counted;
	run_begins();
	run.flags = COSY_RUN_COUNT | COSY_RUN_LIMIT;
	run.limit = 40;
}

static void run_many(void)
{
	handle = many_registers;
	run_begins();
}

static void run_memory(void)
{
	handle = memory;
	run_begins();
}

static void run_strings(void)
{
	handle = strings;
	run_begins();
}

static void run_upcalls(void)
{
	handle = upcalls;
	run_begins();
}

static void load_programs(void)
{
	struct cosy_op ops[100];

	arithmetic = must_load(dev, 7, ADDI(0, 0, 5), MOV(1, 0), ADDI(6, 1, 5), EXIT(0));
	counted = must_load(dev, 7, CONST(5, 100), CONST(6, 0), ADDI(0, 0, 1),
			    LOOP(6, 5, 2), EXIT(0));
	for (int i = 0; i < 99; i++)
		ops[i] = (struct cosy_op)ADDI(i, i + 1, 1);
	ops[99] = (struct cosy_op)EXIT(0);
	many_registers = must_load_ops(dev, ops, 100, 100);
	memory = must_load(dev, 7, LOAD(1, 5, 1), LOAD(2, 5, 1), LOAD(4, 5, 1), LOAD(8, 5, 1),
			   STORE(1, 2, 5), STORE(2, 2, 5), STORE(4, 2, 5), STORE(8, 2, 5),
			   COPY(2, 1, 4), FILL(3, 4, 4), COMPARE(5, 1, 2, 4),
			   FIND(6, 1, 5, 4), EXIT(0));
	strings = must_load(dev, 7, STRLEN(5, 1), EXIT(0));
	upcalls = must_load(dev, 7, ADDI(0, 0, 5), UPCALL(1), ADDI(0, 0, 1), UPCALL(2),
			    ADDI(0, 0, 1), EXIT(0));
}

/* Calls. */

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

/* Several calls: the resources of one are released when another one fails. */

static void several_begin(void)
{
	run_begins();
	if (lseek(file, 0, SEEK_SET) || lseek(copy, 0, SEEK_SET))
		die("lseek");
	frame[1] = (uintptr_t)buffer;
}

#define HINTED(d, nr, n, hint) OP(SYS, .dst = d, .width = n, .imm = nr, .c = hint)

static void load_private(void)
{
	handle = must_load(dev, 7,
			   HINTED(0, SYS_openat, 4, COSY_HINT_PRIVATE), ARGI(AT_FDCWD),
			   ARGI(P(FILE_NAME)), ARGI(O_RDONLY), ARGI(0),
			   HINTED(5, SYS_read, 3, COSY_HINT_PRIVATE), ARG(0), ARG(1), ARGI(4096),
			   HINTED(6, SYS_close, 1, COSY_HINT_PRIVATE), ARG(0), EXIT(0));
}

/* It is left while the file is open and not in the table. */
static void load_private_left(void)
{
	handle = must_load(dev, 7,
			   HINTED(0, SYS_openat, 4, COSY_HINT_PRIVATE), ARGI(AT_FDCWD),
			   ARGI(P(FILE_NAME)), ARGI(O_RDONLY), ARGI(0), UPCALL(1),
			   HINTED(5, SYS_read, 3, COSY_HINT_PRIVATE), ARG(0), ARG(1), ARGI(4096),
			   HINTED(6, SYS_close, 1, COSY_HINT_PRIVATE), ARG(0), EXIT(0));
}

static void load_borrow(void)
{
	handle = must_load(dev, 7,
			   HINTED(0, SYS_read, 3, COSY_HINT_BORROW), ARGI(file), ARG(1),
			   ARGI(FILE_SIZE),
			   HINTED(5, SYS_write, 3, COSY_HINT_BORROW), ARGI(copy), ARG(1), ARG(0),
			   EXIT(0));
}

static void load_borrow_left(void)
{
	handle = must_load(dev, 7,
			   HINTED(0, SYS_read, 3, COSY_HINT_BORROW), ARGI(file), ARG(1),
			   ARGI(FILE_SIZE), UPCALL(1),
			   HINTED(5, SYS_write, 3, COSY_HINT_BORROW), ARGI(copy), ARG(1), ARG(0),
			   EXIT(0));
}

static void load_joined(void)
{
	handle = must_load(dev, 7,
			   HINTED(0, SYS_lseek, 3, COSY_HINT_JOIN), ARGI(file), ARGI(100),
			   ARGI(SEEK_SET), SYS(5, SYS_read, 3), ARGI(file), ARG(1), ARGI(64),
			   SYS(6, SYS_write, 3), ARGI(copy), ARG(1), ARGI(64), EXIT(0));
}

/* User functions. */

static struct cosy_bind bind_arg;

static void bind_begins(void)
{
	bind_arg = (struct cosy_bind){ .base = (uintptr_t)seg.base, .pointers = 1 };
}

static long bind_it(void)
{
	return bind_function(dev, caller_handle, function(object, "count_on"), &bind_arg);
}

/* It may have been bound although the answer has failed. */
static void unbind(long ret)
{
	(void)ret;
	bind_begins();
	bind_function(dev, caller_handle, -1, &bind_arg);
}

static void bind_bound(void)
{
	bind_begins();
	if (bind_it())
		die("COSY_IOC_BIND");
	bind_begins();
}

static long unbind_it(void)
{
	return bind_function(dev, caller_handle, -1, &bind_arg);
}

static void function_begins(void)
{
	handle = caller_handle;
	run_begins();
	*(volatile __u64 *)(seg.base + 0x10000) = 0;
	frame[1] = (uintptr_t)seg.base + 0x10000;
	frame[2] = 9;
}

/* It resumes where it was left. */
static void suspended_begins(void)
{
	function_begins();
	suspended = (struct cosy_suspended){ .saved = { 5 }, .resume = 1 };
	run.suspended = (uintptr_t)&suspended;
	run.flags = COSY_RUN_SUSPENDED;
	run.status = COSY_AGAIN;
}

/* It exceeds its time slice, and is left. */
static void leaving_begins(void)
{
	function_begins();
	frame[2] = 3000000;
	run.suspended = (uintptr_t)&suspended;
	run.slice = 1;
}

static long yield_it(void)
{
	struct cosy_yield yield = { .size = sizeof(yield) };

	if (ioctl(dev, COSY_IOC_YIELD, &yield))
		return -errno;
	close(yield.fd);
	return 0;
}

static void crash(int signal)
{
	(void)signal;
	siglongjmp(crashed, 1);
}

static long guarded(long (*act)(void))
{
	return sigsetjmp(crashed, 1) ? CRASHED : act();
}

static bool known_error(long ret)
{
	static const int errors[] = { ENOMEM, EFAULT, EMFILE, ENFILE, EBADF, EROFS, EACCES, EIO,
				      EAGAIN };

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (ret == -errors[i])
			return true;
	return false;
}

/* The results of a run: its registers, and the memory that it may have changed. */
static __u64 result(void)
{
	__u64 hash = 0;

	for (size_t i = 0; i < sizeof(frame) / sizeof(*frame); i++)
		hash = hash * 1000003 + frame[i];
	for (size_t i = 0; i < 4096; i++)
		hash = hash * 1000003 + buffer[i];
	return hash;
}

static __u64 right_result;

/* Make the request once. Return false, with a message, if its result is not allowed. */
static bool once(const struct operation *op, unsigned int n, bool *failed)
{
	int lowest = lowest_descriptor(), lowest_after;
	struct events *e;
	bool fine;
	long ret;

	if (op->begin)
		op->begin();
	inject(n);
	ret = guarded(op->act);
	e = events();
	inject(0);
	*failed = has_failed(e);
	if (op->end)
		op->end(ret);
	/* A killed process has lost the answer and its output. */
	if (ret == CRASHED)
		close_range(lowest, ~0u, 0);
	lowest_after = lowest_descriptor();
	if (!*failed)
		fine = ret == op->expected;
	else
		fine = ret == op->expected || ret == CRASHED || known_error(ret);
	if (fine && op->exact && ret == done(0)) {
		if (n == 0)
			right_result = result();
		else
			fine = result() == right_result;
	}
	if (!fine)
		check(false, "%s: point %u (%s): %#lx %lld", op->name, n, e->failed, ret,
		      (long long)frame[0]);
	if (lowest != lowest_after)
		check(false, "%s: point %u (%s): descriptor %d stays", op->name, n, e->failed,
		      lowest);
	return fine && lowest == lowest_after;
}

/* Make each of its requests to the kernel fail, one after the other. */
static void try(const struct operation *op)
{
	unsigned int held = events()->held, n, points = 0;
	bool fine = true, failed = true, again;

	mark();
	/* The results are compared with those of a run without failures. */
	if (op->exact)
		fine = once(op, 0, &failed);
	failed = true;
	for (n = 1; fine && failed && n < MAX_POINTS; n++) {
		for (unsigned int i = 0; fine && failed && i <= op->repeats; i++)
			fine = once(op, n, &failed);
		points += failed;
		fine = fine && once(op, 0, &again);
	}
	if (fine && n == MAX_POINTS)
		fine = check(false, "%s: no end of points", op->name);
	if (!wait_held(held)) {
		printf("%s", events()->text);
		fine = check(false, "%s: %u objects stay", op->name, events()->held - held);
	}
	if (fine)
		check(points, "%s: %u points", op->name, points);
}

/* The number of compounds that a user with a quota of 1 MiB can load. */
static unsigned int quota_left(void)
{
	unsigned int user_memory = read_number("/sys/module/cosy/parameters/user_memory");
	unsigned int n = 0, held = events()->held;
	int fd = open_device(), kept = dev;

	write_number("/sys/module/cosy/parameters/user_memory", 1);
	dev = fd;
	load_small();
	while (n < 1000 && !load_it())
		n++;
	close(fd);
	dev = kept;
	write_number("/sys/module/cosy/parameters/user_memory", user_memory);
	if (!wait_held(held))
		check(false, "closing a file leaves memory");
	return n;
}

static void try_files(void)
{
	static const struct operation ops[] = {
		OPERATION("open", NULL, open_and_close, NULL, 0),
		OPERATION("close a file with compounds", load_small, close_loaded, NULL, 0,
			  .repeats = CHARGE_REPEATS),
		OPERATION("info", NULL, info, NULL, 0),
		OPERATION("hide", NULL, hide, NULL, 0),
		OPERATION("load", load_small, load_it, unload_if, 0, .repeats = CHARGE_REPEATS),
		OPERATION("load with functions", load_large, load_it, unload_if, 0,
			  .repeats = CHARGE_REPEATS),
		OPERATION("load a wrong image", load_wrong, load_it, NULL, -EINVAL),
		OPERATION("unload", load_and_unload, unload_it, unload_unless, 0),
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		try(&ops[i]);
}

static void try_runs(void)
{
	static const struct operation ops[] = {
		OPERATION("run", run_arithmetic, run_it, NULL, COSY_RUN_DONE, .exact = true),
		OPERATION("run, counted, with a limit", run_counted, run_it, NULL, COSY_RUN_DONE,
			  .exact = true),
		OPERATION("run with many registers", run_many, run_it, NULL, COSY_RUN_DONE, .exact = true),
		OPERATION("run with memory", run_memory, run_it, NULL, COSY_RUN_DONE, .exact = true),
		OPERATION("run with strings", run_strings, run_it, NULL, COSY_RUN_DONE, .exact = true),
		OPERATION("run with up-calls", run_upcalls, run_it, NULL, COSY_RUN_DONE, .exact = true),
	};

	load_programs();
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		try(&ops[i]);
	write_number("/sys/module/cosy/parameters/max_run_operations", 1000000);
	try(&(struct operation)OPERATION("run, limited by the administrator", run_counted, run_it,
					 NULL, COSY_RUN_DONE, .exact = true));
	try(&(struct operation)OPERATION("the same with up-calls", run_upcalls, run_it, NULL,
					 COSY_RUN_DONE, .exact = true));
	write_number("/sys/module/cosy/parameters/max_run_operations", 0);
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

/* Loops. */

static struct loop loop;
static int ends[2];
static char received;

static long make_loop(void)
{
	long ret = create(&loop, 64);

	if (!ret)
		destroy(&loop);
	else if (loop.fd)
		close(loop.fd);
	return ret;
}

static void loop_begins(void)
{
	recreate();
	if (create(&loop, 64) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		die("a loop");
}

static void loop_ends(long ret)
{
	(void)ret;
	close(ends[0]);
	close(ends[1]);
	destroy(&loop);
}

static long entries(void)
{
	submit(&loop, 0, 0, SYS_getpid, 0, 0, 0, 0);
	submit(&loop, 1, 0, SYS_newfstatat, AT_FDCWD, P(FILE_NAME), P(&st), 0);
	if (execute(&loop) != 2 || collect(&loop) != 0 || collect(&loop) != 1 ||
	    entry_result(&loop, 0) != getpid())
		return 1;
	return entry_result(&loop, 1);
}

/* An entry that cannot wait fails, as without a loop. */
static long entry_waits(void)
{
	submit_recv(&loop, 5, ends[0], &received);
	if (execute(&loop))
		return collect(&loop) == 5 ? entry_result(&loop, 5) : 1;
	if (send(ends[1], "x", 1, 0) != 1 || execute(&loop) != 1 || collect(&loop) != 5)
		return 2;
	return entry_result(&loop, 5) == 1 ? 0 : entry_result(&loop, 5);
}

/* It still waits when the loop is closed. */
static long entry_stays(void)
{
	submit_recv(&loop, 6, ends[0], &received);
	if (execute(&loop))
		return collect(&loop) == 6 ? entry_result(&loop, 6) : 1;
	return 0;
}

static void try_loops(void)
{
	static const struct operation ops[] = {
		OPERATION("make a loop", NULL, make_loop, NULL, 0),
		OPERATION("entries", loop_begins, entries, loop_ends, 0),
		OPERATION("an entry that waits", loop_begins, entry_waits, loop_ends, 0),
		OPERATION("an entry that still waits", loop_begins, entry_stays, loop_ends, 0),
	};

	device = dev;
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		try(&ops[i]);
}

static void try_several(void)
{
	static const struct {
		const char *name;
		void (*load)(void);
	} several[] = {
		{ "a private file", load_private },
		{ "a private file, left", load_private_left },
		{ "a borrowed read", load_borrow },
		{ "a borrowed read, left", load_borrow_left },
		{ "a joined read", load_joined },
	};

	recreate();
	file = open(FILE_NAME, O_RDWR | O_CLOEXEC);
	copy = open(COPY_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0 || copy < 0)
		die(FILE_NAME);
	for (size_t i = 0; i < sizeof(several) / sizeof(*several); i++) {
		several[i].load();
		try(&(struct operation)OPERATION(several[i].name, several_begin, run_it, NULL,
						 COSY_RUN_DONE));
		unload_it();
	}
	close(file);
	close(copy);
}

static void try_functions(const char *programs)
{
	struct cosy_info known = { .size = sizeof(known) };

	if (ioctl(dev, COSY_IOC_INFO, &known))
		die("COSY_IOC_INFO");
	if (!(known.features & COSY_FEATURE_FUNCTIONS)) {
		printf("SKIP: user functions, which this kernel lacks BPF arenas for\n");
		return;
	}
	try(&(struct operation)OPERATION("yield", NULL, yield_it, NULL, 0));
	seg = segment_create();
	object = functions_load(dev, programs, &seg);
	caller_handle = load_caller(dev);
	try(&(struct operation)OPERATION("bind", bind_begins, bind_it, unbind, 0,
					 .repeats = CHARGE_REPEATS));
	try(&(struct operation)OPERATION("bind again", bind_bound, bind_it, unbind, 0,
					 .repeats = CHARGE_REPEATS));
	try(&(struct operation)OPERATION("unbind", bind_bound, unbind_it, unbind, 0));
	bind_bound();
	try(&(struct operation)OPERATION("function", function_begins, run_it, NULL, COSY_RUN_DONE,
					 .exact = true));
	try(&(struct operation)OPERATION("function that goes on", suspended_begins, run_it, NULL,
					 COSY_RUN_DONE));
	try(&(struct operation)OPERATION("function that is left", leaving_begins, run_it, NULL,
					 COSY_RUN_DONE));
	handle = caller_handle;
	unload_it();
	bpf_object__close(object);
	close(seg.map);
	munmap(seg.base, SEGMENT_SIZE);
}

/* Programs are freed some time after their last reference. */
static bool wait_programs(void)
{
	__u32 id;

	for (double end = now() + 60; now() < end; usleep(5000))
		if (bpf_prog_get_next_id(0, &id) && errno == ENOENT)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = crash };
	unsigned int left;

	injector = open("/dev/cosy-inject", O_RDWR | O_CLOEXEC);
	if (injector < 0)
		die("/dev/cosy-inject");
	if (argc < 2 || sigaction(SIGSEGV, &action, NULL))
		die("usage: inject PROGRAMS");
	mkdir(SCRATCH, 0700);
	if (mount("none", SCRATCH, "tmpfs", 0, NULL) || chdir(SCRATCH))
		die("mount");
	buffer = must_map(FILE_SIZE);
	memset(buffer, 1, FILE_SIZE);

	left = quota_left();
	check(left > 50, "the quota is enough for %u compounds", left);
	dev = open_device();
	try_files();
	try_runs();
	try_calls();
	try_several();
	try_loops();
	try_functions(argv[1]);
	close(dev);
	check(wait_held(0), "no memory stays");
	check(quota_left() == left, "nor quota");
	check(wait_programs(), "nor a program");
	check(!chdir("/") && !umount(SCRATCH), "nor a file");
	for (double end = now() + 60; read_number("/sys/module/cosy/refcnt") && now() < end;)
		usleep(5000);
	check(!read_number("/sys/module/cosy/refcnt"), "nor a reference to the module");
	check(!events()->lost, "all memory was tracked");
	return finish();
}
