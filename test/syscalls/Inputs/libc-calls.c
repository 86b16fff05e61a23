// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * libc-calls.c - check that the functions that syscalls.def lists as thin are thin
 *
 * Makes every call twice, by glibc's function and by syscall(2) with the arguments of the map,
 * with the same arguments from several sets.
 *
 *	libc-calls compare DIR [FUNCTION]
 *		compares result, errno, the end of the child and the memory that the
 *		calls wrote; DIR is an empty directory for changes to files
 *	libc-calls trace DIR [FUNCTION]
 *		only makes the calls, between markers, for strace
 *
 * Each call is made in a separate child. Exit status 0, or 1 after a line for every difference.
 */
#include "sets.h"
#include "child.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { COND_EQ, COND_NE, COND_ULE, COND_SGE };

static const struct call {
	const char *name;
	const char *args;
	long nr;
} calls[] = {
#define COSY_SYSCALL(nr, name, args, nested) { #name, args, nr },
#include "../../../compound-ir/syscalls.def"
};

static const struct function {
	const char *name;
	const char *call;
	const char *map;
	int if_arg;
	int if_cond;
	uint64_t if_value;
} functions[] = {
#define COSY_LIBC(function, name, map) { #function, #name, map, -1, 0, 0 },
#define COSY_LIBC_IF(function, name, map, arg, cond, value) \
	{ #function, #name, map, arg, COND_##cond, value },
#include "../../../compound-ir/syscalls.def"
};

#define MARK_BEGIN 0x434f5301l
#define MARK_END 0x434f5302l

/* Results that have 64 bits; only 32 bits of others count. */
static const char *const wide[] = {
	"lseek", "lseek64", "mmap", "mmap64", "mremap", "shmat", "time",
	"sendfile", "sendfile64", "copy_file_range", "splice", "tee", NULL,
};

/* Results that differ each time: only the sign is compared. */
static const char *const result_varies[] = {
	"getpid", "gettid", "getpgid", "getpgrp", "getsid", "setsid", "mmap",
	"mmap64", "mremap", "shmat", "time", "pidfd_open", "msgget", "semget",
	"shmget", NULL,
};

/* Memory that differs each time. */
static const char *const memory_varies[] = {
	"fstat", "fstat64", "stat", "stat64", "lstat", "lstat64", "fstatat",
	"fstatat64", "statx", "statfs", "statfs64", "fstatfs", "fstatfs64",
	"getrusage", "clock_gettime", "gettimeofday", "time", "getcpu",
	"sysinfo", "getrandom", "getsockname", "getpeername",
	"name_to_handle_at", "wait3", "wait4", "getitimer", "setitimer",
	"mincore", "getdents64", NULL,
};

/* Of which the size and the type of the file must still be the same. */
static const char *const fills_stat[] = {
	"fstat", "fstat64", "stat", "stat64", "lstat", "lstat64", "fstatat",
	"fstatat64", NULL,
};

/* Natively in the vDSO, so an invalid address ends the program. */
static const char *const vdso[] = {
	"clock_gettime", "clock_getres", "gettimeofday", "time", "getcpu", NULL,
};

/*
 * Calls that are made only once: a key of 0 would leave an object in the system each time, and
 * writing all files back takes long.
 */
static bool once(const char *name)
{
	static const char *const names[] = {
		"msgget", "semget", "shmget", "sync", "syncfs", NULL,
	};

	return in(name, names);
}

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	abort();
}

/* The resource is the first argument; of prlimit() and prlimit64(), the second. */
static const char *const sets_limit[] = {
	"setrlimit", "setrlimit64", "prlimit", "prlimit64", NULL,
};

/* The kinds of the function's arguments, from those of the call's arguments. */
static void kinds_of(const struct function *f, const struct call *call,
		     char kinds[7])
{
	const char *map = f->map;
	int nargs = f->if_arg + 1;

	memset(kinds, 0, 7);
	memset(kinds, 'i', nargs);
	for (int i = 0; *map; i++) {
		if (map[0] == '$') {
			int n = map[1] - '0';

			for (; nargs <= n; nargs++)
				kinds[nargs] = 'i';
			kinds[n] = call->args[i];
		}
		map = strchr(map, ',');
		if (!map++)
			break;
	}
}

static bool satisfied(const struct function *f, const long *args)
{
	uint64_t arg;

	if (f->if_arg < 0)
		return true;
	arg = args[f->if_arg];
	switch (f->if_cond) {
	case COND_EQ:
		return arg == f->if_value;
	case COND_NE:
		return arg != f->if_value;
	case COND_SGE:
		return (int)arg >= (int)f->if_value;
	default:
		return arg <= f->if_value;
	}
}

static long call_raw(const struct function *f, const struct call *call,
		     const long *args)
{
	long a[6] = { 0 };
	const char *map = f->map;

	for (int i = 0; *map; i++) {
		a[i] = *map == '$' ? args[map[1] - '0'] : atol(map);
		map = strchr(map, ',');
		if (!map++)
			break;
	}
	return syscall(call->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void child(const struct function *f, enum set set, bool libc,
		  const char *dir, struct report *r)
{
	const struct call *call = find_call(f->call);
	long (*function)(long, long, long, long, long, long);
	long args[6] = { 0 };
	char kinds[7];
	int fds[2];

	function = (long (*)(long, long, long, long, long, long))
		dlsym(RTLD_DEFAULT, f->name);
	if (!function) {
		fprintf(stderr, "this libc does not have %s\n", f->name);
		_exit(3);
	}
	set_up(set, dir, fds);
	kinds_of(f, call, kinds);
	choose(set, kinds, fds, r, args);
	/* Unknown flags fail without a call. */
	if (!strcmp(f->name, "mremap"))
		args[3] = MREMAP_MAYMOVE | MREMAP_FIXED;
	/* The kernel kills a child that may use no time of the CPU, at a time of its own. */
	if (in(f->name, sets_limit) && (int)args[f->name[0] == 'p'] == RLIMIT_CPU)
		args[f->name[0] == 'p'] = RLIMIT_CORE;
	if (!satisfied(f, args))
		args[f->if_arg] = f->if_cond == COND_NE ? (long)f->if_value + 1 :
							 (long)f->if_value;
	syscall(SYS_prctl, MARK_BEGIN, f - functions, libc, set, 0);
	errno = 0;
	if (libc)
		r->ret = function(args[0], args[1], args[2], args[3], args[4],
				  args[5]);
	else
		r->ret = call_raw(f, call, args);
	r->err = errno;
	r->returned = true;
	syscall(SYS_prctl, MARK_END, 0, 0, 0, 0);
	_exit(0);
}

static void make(const struct function *f, enum set set, bool libc,
		 const char *dir, struct report *r)
{
	pid_t pid;

	memset(r, 0, sizeof(*r));
	pid = fork_child();
	must(pid >= 0, "fork");
	if (!pid)
		child(f, set, libc, dir, r);
	r->status = end_of_child(pid);
	if (WIFEXITED(r->status) && WEXITSTATUS(r->status))
		exit(2);
}

static long comparable(const struct function *f, long ret)
{
	if (!in(f->name, wide))
		ret = (int)ret;
	if (in(f->name, result_varies))
		ret = ret == -1 ? -1 : 1;
	return ret;
}

static bool same_memory(const struct function *f, const struct report *libc,
			const struct report *raw)
{
	if (in(f->name, fills_stat))
		for (int i = 0; i < 6; i++) {
			const struct stat *a = (const void *)libc->memory[i];
			const struct stat *b = (const void *)raw->memory[i];

			if (a->st_mode != b->st_mode || a->st_size != b->st_size)
				return false;
		}
	return in(f->name, memory_varies) ||
	       !memcmp(libc->memory, raw->memory, sizeof(raw->memory));
}

static int compare(const struct function *f, enum set set, const char *dir,
		   struct report *libc, struct report *raw)
{
	make(f, set, true, dir, libc);
	make(f, set, false, dir, raw);
	if (in(f->name, vdso) && raw->returned && raw->ret == -1 &&
	    raw->err == EFAULT && WIFSIGNALED(libc->status) &&
	    WTERMSIG(libc->status) == SIGSEGV)
		return 0;
	if (libc->status == raw->status && libc->returned == raw->returned &&
	    libc->err == raw->err &&
	    comparable(f, libc->ret) == comparable(f, raw->ret) &&
	    same_memory(f, libc, raw))
		return 0;
	printf("%s, set %s: libc %ld errno %d status %#x, the call %ld errno %d status %#x%s\n",
	       f->name, set_names[set], libc->ret, libc->err, libc->status,
	       raw->ret, raw->err, raw->status,
	       same_memory(f, libc, raw) ? "" : ", memory differs");
	return 1;
}

int main(int argc, char **argv)
{
	struct report *reports = map_reports();
	int differences = 0, made = 0;
	bool trace = argc > 1 && !strcmp(argv[1], "trace");

	if (argc < 3 || (!trace && strcmp(argv[1], "compare"))) {
		fprintf(stderr, "usage: libc-calls compare|trace DIR [FUNCTION]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		const struct function *f = &functions[i];
		char kinds[7];

		kinds_of(f, find_call(f->call), kinds);
		for (int set = 0; set < NR_SETS; set++) {
			if (argc > 3 && strcmp(f->name, argv[3]))
				continue;
			if (!set_applies(set, kinds) ||
			    (once(f->name) && set != SET_GARBAGE))
				continue;
			made++;
			if (!trace) {
				differences += compare(f, set, argv[2],
						       reports, reports + 1);
				continue;
			}
			make(f, set, true, argv[2], reports);
			make(f, set, false, argv[2], reports);
			/* The arguments that glibc passes do not depend on the set. */
			break;
		}
	}
	printf("glibc %s: %zu functions, %d pairs of calls, %d differences\n", gnu_get_libc_version(),
	       ARRAY_SIZE(functions), made, differences);
	return differences != 0;
}
