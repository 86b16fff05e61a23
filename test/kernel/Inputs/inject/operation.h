/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * operation.h - an operation of the module's interface, each of whose requests to the kernel fails once.
 * 
 * The operations that a part of the test defines in try_PART() are in the files beside this one.
 */
#ifndef OPERATION_H
#define OPERATION_H

#include "../../function.h"

#include <setjmp.h>
#include <signal.h>
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

static __u64 frame[128];
static struct cosy_run run;
static struct cosy_suspended suspended;

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

#endif /* OPERATION_H */
