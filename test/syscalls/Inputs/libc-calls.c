// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * libc-calls.c - are the functions that syscalls.def calls thin really thin?
 *
 * Makes every call twice, once by glibc's function and once by syscall(2) with
 * the arguments as the map says, with the same arguments from several sets.
 *
 *	libc-calls compare DIR	compares result, errno, how the child ended and
 *				the memory the calls wrote; DIR is an empty
 *				directory for what they do to files
 *	libc-calls trace DIR	only makes them, between markers, for strace
 *
 * Each call is made in a child of its own. Exit status 0, or 1 after a line for
 * every difference.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COND_EQ, COND_NE, COND_ULE };

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

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

/* Where the arguments come from. */
enum set {
	SET_GARBAGE,	/* numbers nobody expects, addresses that are valid */
	SET_UNMAPPED,	/* the same with addresses that are not mapped */
	SET_KERNEL,	/* the same with addresses of the kernel */
	SET_FILE,	/* a regular file and its name */
	SET_NEW,	/* a directory and the name of a file that is not there */
	SET_DIRECTORY,	/* a directory and its name */
	SET_SOCKET,	/* a connected socket that has something to read */
	SET_PIPE,	/* the ends of a pipe that has something to read */
	SET_CLOSED,	/* no descriptor */
	NR_SETS
};

static const char *const set_names[NR_SETS] = {
	"garbage", "unmapped", "kernel", "file", "new", "directory", "socket",
	"pipe", "closed",
};

/* What a child reports; shared between it and its parent. */
struct report {
	long ret;
	int err;
	bool returned;
	int status;
	unsigned char memory[6][4096];
};

#define MARK_BEGIN 0x434f5301l
#define MARK_END 0x434f5302l

static bool in(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/* Results that are 64 bits; of the others only 32 count. */
static const char *const wide[] = {
	"lseek", "lseek64", "mmap", "mmap64", "mremap", "shmat", "time",
	"sendfile", "sendfile64", "copy_file_range", "splice", "tee", NULL,
};

/* Results that are different each time: only the sign is compared. */
static const char *const result_varies[] = {
	"getpid", "gettid", "getpgid", "getpgrp", "getsid", "setsid", "mmap",
	"mmap64", "mremap", "shmat", "time", "pidfd_open", "msgget", "semget",
	"shmget", NULL,
};

/* Memory that is different each time. */
static const char *const memory_varies[] = {
	"fstat", "fstat64", "stat", "stat64", "lstat", "lstat64", "fstatat",
	"fstatat64", "statx", "statfs", "statfs64", "fstatfs", "fstatfs64",
	"getrusage", "clock_gettime", "gettimeofday", "time", "getcpu",
	"sysinfo", "getrandom", "getsockname", "getpeername",
	"name_to_handle_at", "wait3", "wait4", "getitimer", "setitimer",
	"mincore", "getdents64", NULL,
};

/* Natively in the vDSO: a bad address ends the program. */
static const char *const vdso[] = {
	"clock_gettime", "clock_getres", "gettimeofday", "time", "getcpu", NULL,
};

/* Would leave something in the system behind, or disturb others. */
static bool harmful(const char *name, enum set set)
{
	static const char *const ipc[] = { "msgget", "semget", "shmget", NULL };

	/* A key of 0 makes a new one each time. */
	return set != SET_GARBAGE && in(name, ipc);
}

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	abort();
}

/* The kind of the function's n-th argument, from that of the call's. */
static char kind_of(const struct function *f, const struct call *call, int n)
{
	const char *map = f->map;

	for (int i = 0; *map; i++) {
		if (map[0] == '$' && map[1] - '0' == n)
			return call->args[i];
		map = strchr(map, ',');
		if (!map++)
			break;
	}
	return 'i';
}

static int nargs_of(const struct function *f)
{
	int nargs = f->if_arg + 1;

	for (const char *p = f->map; (p = strchr(p, '$')); p++)
		if (p[1] - '0' >= nargs)
			nargs = p[1] - '0' + 1;
	return nargs;
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
	default:
		return arg <= f->if_value;
	}
}

/* Opens what the set is about; the descriptors get fixed numbers. */
static void set_up(enum set set, const char *dir, int fds[2])
{
	int dirfd, fd[2] = { -1, -1 };

	if (chdir(dir))
		abort();
	unlink("new");
	rmdir("new");
	unlink("file");
	rmdir("directory");
	if (mkdir("directory", 0700))
		abort();
	fd[0] = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd[0] < 0 || write(fd[0], "some contents of a file\n", 24) != 24 ||
	    lseek(fd[0], 0, SEEK_SET))
		abort();
	switch (set) {
	case SET_NEW:
	case SET_DIRECTORY:
		dirfd = open(".", O_RDONLY | O_DIRECTORY);
		fd[0] = fd[1] = dirfd;
		break;
	case SET_SOCKET:
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) ||
		    write(fd[1], "message", 7) != 7)
			abort();
		break;
	case SET_PIPE:
		if (pipe(fd) || write(fd[1], "message", 7) != 7)
			abort();
		break;
	default:
		fd[1] = open("file", O_RDWR);
		break;
	}
	if (set == SET_GARBAGE || set == SET_UNMAPPED || set == SET_KERNEL) {
		fds[0] = 0x7e000001;
		fds[1] = 0x7e000011;
	} else if (set == SET_CLOSED) {
		fds[0] = -1;
		fds[1] = -100;
	} else {
		fds[0] = dup2(fd[0], 100);
		fds[1] = dup2(fd[1], 101);
	}
}

static void choose(enum set set, const struct function *f,
		   const struct call *call, struct report *r, const int *fds,
		   long *args)
{
	bool garbage = set <= SET_KERNEL;
	int nd = 0;

	for (int n = 0; n < nargs_of(f); n++) {
		char kind = kind_of(f, call, n);

		switch (kind) {
		case 'd':
			args[n] = fds[nd++ & 1];
			break;
		case 's':
			if (set == SET_UNMAPPED)
				args[n] = 0x10000 * (n + 1);
			else if (set == SET_KERNEL)
				args[n] = 0xffff888000000000ul + 0x1000 * n;
			else
				args[n] = (long)(set == SET_FILE ? "file" :
						 set == SET_DIRECTORY ?
						 "directory" : "new");
			break;
		case 'r':
		case 'w':
		case 'x':
			if (set == SET_UNMAPPED)
				args[n] = 0x10000 * (n + 1);
			else if (set == SET_KERNEL)
				args[n] = 0xffff888000000000ul + 0x1000 * n;
			else
				args[n] = (long)r->memory[n];
			break;
		case 'n':
			args[n] = garbage ? 0x7e000020 + n : 16;
			break;
		case 'o':
			/* At a page, else mmap() fails without a call. */
			args[n] = garbage ? 0x7e000000 + 0x10000 * n : 0;
			break;
		default:
			args[n] = garbage ? 0x7e000040 + n : 0;
			break;
		}
	}
	/* Unknown flags fail without a call. */
	if (!strcmp(f->name, "mremap"))
		args[3] = MREMAP_MAYMOVE | MREMAP_FIXED;
	if (!satisfied(f, args))
		args[f->if_arg] = f->if_cond == COND_NE ? (long)f->if_value + 1 :
							 (long)f->if_value;
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
	int fds[2];

	function = (long (*)(long, long, long, long, long, long))
		dlsym(RTLD_DEFAULT, f->name);
	if (!function)
		_exit(2);
	set_up(set, dir, fds);
	choose(set, f, call, r, fds, args);
	alarm(2);
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
	pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	if (!pid)
		child(f, set, libc, dir, r);
	while (waitpid(pid, &r->status, 0) < 0)
		;
	if (WIFEXITED(r->status) && WEXITSTATUS(r->status) == 2) {
		fprintf(stderr, "%s: this libc does not have it\n", f->name);
		exit(2);
	}
}

static long comparable(const struct function *f, long ret)
{
	if (!in(f->name, wide))
		ret = (int)ret;
	if (in(f->name, result_varies))
		ret = ret == -1 ? -1 : 1;
	return ret;
}

static int compare(const struct function *f, enum set set, const char *dir,
		   struct report *libc, struct report *raw)
{
	make(f, set, true, dir, libc);
	make(f, set, false, dir, raw);
	if ((set == SET_UNMAPPED || set == SET_KERNEL) && in(f->name, vdso) &&
	    WIFSIGNALED(libc->status) && WTERMSIG(libc->status) == SIGSEGV &&
	    raw->returned && raw->ret == -1 && raw->err == EFAULT)
		return 0;
	if (libc->status == raw->status && libc->returned == raw->returned &&
	    libc->err == raw->err &&
	    comparable(f, libc->ret) == comparable(f, raw->ret) &&
	    (in(f->name, memory_varies) ||
	     !memcmp(libc->memory, raw->memory, sizeof(raw->memory))))
		return 0;
	printf("%s, set %s: libc %ld errno %d status %#x, the call %ld errno %d status %#x%s\n",
	       f->name, set_names[set], libc->ret, libc->err, libc->status,
	       raw->ret, raw->err, raw->status,
	       memcmp(libc->memory, raw->memory, sizeof(raw->memory)) ?
	       ", memory differs" : "");
	return 1;
}

static bool chosen(const struct function *f, const char *only)
{
	return !only || !strcmp(f->name, only);
}

int main(int argc, char **argv)
{
	struct report *reports;
	int differences = 0, made = 0;
	bool trace = argc > 1 && !strcmp(argv[1], "trace");
	const char *only = argc > 3 ? argv[3] : NULL;

	if (argc < 3 || (!trace && strcmp(argv[1], "compare"))) {
		fprintf(stderr, "usage: libc-calls compare|trace DIR [FUNCTION]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	reports = mmap(NULL, 2 * sizeof(*reports), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reports == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		const struct function *f = &functions[i];

		for (int set = 0; set < NR_SETS; set++) {
			if (!chosen(f, only) || harmful(f->name, set))
				continue;
			if (trace) {
				/* What glibc passes does not depend on the set. */
				if (set > SET_GARBAGE)
					continue;
				make(f, set, true, argv[2], reports);
				make(f, set, false, argv[2], reports);
			} else {
				differences += compare(f, set, argv[2],
						       reports, reports + 1);
			}
			made++;
		}
	}
	printf("%zu functions, %d pairs of calls, %d differences\n",
	       ARRAY_SIZE(functions), made, differences);
	return differences != 0;
}
