// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * nested.c - every call that may run inside a compound, natively and in the
 * kernel.
 *
 *	nested DIR [CALL]	DIR is an empty directory
 *
 * Makes each NESTED call with the arguments of several sets, and the calls of working[] with
 * arguments for which they succeed, once from user mode and once by a compound of one operation,
 * each in a separate child. Compares the result, the end of the child and the memory that the call
 * wrote. A compound that leaves to user mode for the call is a difference, too. Exit status 0, or
 * 1 after a line for every difference.
 */
#include "../../kernel/compound.h"
#include "sets.h"
#include "child.h"

#include <signal.h>

enum { NESTED = 1, LEAVE = 0 };

static const struct call {
	const char *name;
	const char *args;
	long nr;
	int nested;
} calls[] = {
#define COSY_SYSCALL(nr, name, args, nested) { #name, args, nr, nested },
#include "../../../compound-ir/syscalls.def"
};

/* In place of an argument: the address of a part of the memory. */
#define MEM_TAG	0x434f000000000000l
#define MEM(n)	(MEM_TAG + (n) * 4096)
#define ZERO	MEM(0)	/* nothing */
#define VEC	MEM(1)	/* a vector of 16 bytes at OUT */
#define OUT	MEM(2)	/* nothing, to be written */
#define ONE	MEM(3)	/* the number 1; as a signal set, SIGHUP */
#define MSEC	MEM(4)	/* a millisecond, as a struct timespec */
#define POLLFD	MEM(5)	/* a struct pollfd that waits to read from FD_PIPE */
#define STR(s)	((long)(s))
#define CWD	AT_FDCWD

/* With the descriptors and files of set_up_all(). */
static const struct working {
	const char *name;
	long args[6];
} working[] = {
	{ "read", { FD_FILE, OUT, 16 } },
	{ "write", { FD_FILE, ZERO, 16 } },
	{ "pread64", { FD_FILE, OUT, 16, 5 } },
	{ "pwrite64", { FD_FILE, ZERO, 16, 5 } },
	{ "readv", { FD_FILE, VEC, 1 } },
	{ "writev", { FD_FILE, VEC, 1 } },
	{ "preadv", { FD_FILE, VEC, 1, 3 } },
	{ "pwritev", { FD_FILE, VEC, 1, 3 } },
	{ "preadv2", { FD_FILE, VEC, 1, 3, 0, 0 } },
	{ "pwritev2", { FD_FILE, VEC, 1, 3, 0, 0 } },
	{ "lseek", { FD_FILE, 5, SEEK_SET } },
	{ "close", { FD_FILE } },
	{ "close_range", { 90, 110, 0 } },
	{ "dup", { FD_FILE } },
	{ "dup2", { FD_FILE, FD_FILE2 } },
	{ "dup2", { FD_FILE, FD_FILE } },
	{ "dup3", { FD_FILE, 120, O_CLOEXEC } },
	{ "fcntl", { FD_FILE, F_GETFL } },
	{ "fcntl", { FD_FILE, F_DUPFD, 120 } },
	{ "flock", { FD_FILE, 2 } },
	{ "fsync", { FD_FILE } },
	{ "fdatasync", { FD_FILE } },
	{ "ftruncate", { FD_FILE, 100 } },
	{ "fallocate", { FD_FILE, 0, 0, 4096 } },
	{ "fadvise64", { FD_FILE, 0, 0, 3 } },
	{ "readahead", { FD_FILE, 0, 4096 } },
	{ "sync_file_range", { FD_FILE, 0, 0, 2 } },
	{ "cachestat", { FD_FILE, ZERO, OUT, 0 } },
	{ "fchmod", { FD_FILE, 0640 } },
	{ "fchown", { FD_FILE, -1, -1 } },
	{ "fstat", { FD_FILE, OUT } },
	{ "fstatfs", { FD_FILE, OUT } },
	{ "utimensat", { FD_FILE, 0, 0, 0 } },
	{ "sendfile", { FD_PIPE2, FD_FILE, 0, 16 } },
	{ "splice", { FD_FILE, 0, FD_PIPE2, 0, 16, 0 } },
	{ "vmsplice", { FD_PIPE2, VEC, 1, 0 } },
	{ "copy_file_range", { FD_FILE, 0, FD_FILE2, OUT, 0, 0 } },
	{ "getdents64", { FD_DIR, OUT, 4096 } },
	{ "getdents", { FD_DIR, OUT, 4096 } },
	{ "fchdir", { FD_DIR } },
	{ "open", { STR("file"), O_RDONLY } },
	{ "openat", { FD_DIR, STR("created"), O_CREAT | O_EXCL | O_WRONLY, 0600 } },
	{ "openat2", { CWD, STR("file"), ZERO, 24 } },
	{ "stat", { STR("link"), OUT } },
	{ "lstat", { STR("link"), OUT } },
	{ "newfstatat", { FD_FILE, STR(""), OUT, AT_EMPTY_PATH } },
	{ "statx", { CWD, STR("file"), 0, 0x7ff, OUT } },
	{ "access", { STR("file"), R_OK } },
	{ "faccessat2", { CWD, STR("file"), R_OK, AT_EACCESS } },
	{ "mkdirat", { FD_DIR, STR("created"), 0700 } },
	{ "mknodat", { FD_DIR, STR("created"), S_IFIFO | 0600, 0 } },
	{ "rmdir", { STR("directory") } },
	{ "unlink", { STR("link") } },
	{ "unlinkat", { CWD, STR("file"), 0 } },
	{ "rename", { STR("file"), STR("renamed") } },
	{ "renameat2", { CWD, STR("file"), CWD, STR("directory"), 2 } },
	{ "link", { STR("file"), STR("linked") } },
	{ "symlink", { STR("file"), STR("linked") } },
	{ "readlink", { STR("link"), OUT, 100 } },
	{ "chdir", { STR("directory") } },
	{ "getcwd", { OUT, 4096 } },
	{ "setxattr", { STR("file"), STR("trusted.a"), ONE, 8, 0 } },
	{ "umask", { 022 } },
	{ "pipe2", { OUT, O_CLOEXEC } },
	{ "poll", { POLLFD, 1, 1000 } },
	{ "ppoll", { POLLFD, 1, MSEC, ONE, 8 } },
	{ "poll", { ZERO, 0, 1 } },
	{ "select", { 0, 0, 0, 0, OUT } },
	{ "pselect6", { 0, 0, 0, 0, MSEC, 0 } },
	{ "epoll_create1", { 0 } },
	{ "eventfd2", { 3, 0 } },
	{ "signalfd4", { -1, ONE, 8, 0 } },
	{ "timerfd_create", { CLOCK_MONOTONIC, 0 } },
	{ "inotify_init1", { 0 } },
	{ "memfd_create", { STR("name"), 0 } },
	{ "socket", { AF_INET, SOCK_STREAM, 0 } },
	{ "socketpair", { AF_UNIX, SOCK_DGRAM, 0, OUT } },
	{ "sendto", { FD_SOCKET2, ZERO, 8, 0, 0, 0 } },
	{ "recvfrom", { FD_SOCKET, OUT, 16, 0, 0, 0 } },
	{ "recvfrom", { FD_SOCKET2, OUT, 16, MSG_DONTWAIT, 0, 0 } },
	{ "getsockopt", { FD_SOCKET, SOL_SOCKET, SO_TYPE, OUT, ONE } },
	{ "setsockopt", { FD_SOCKET, SOL_SOCKET, SO_PASSCRED, ONE, 4 } },
	{ "shutdown", { FD_SOCKET, SHUT_WR } },
	{ "ioctl", { FD_PIPE, FIONREAD, OUT } },
	{ "mmap", { 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 } },
	{ "mmap", { 0, 4096, PROT_READ, MAP_SHARED, FD_FILE, 0 } },
	{ "mprotect", { OUT, 4096, PROT_READ | PROT_WRITE } },
	{ "madvise", { OUT, 4096, MADV_WILLNEED } },
	{ "msync", { OUT, 4096, MS_SYNC } },
	{ "mlock", { OUT, 4096 } },
	{ "mlock2", { OUT, 4096, 1 } },
	{ "munlock", { OUT, 4096 } },
	{ "brk", { 0 } },
	{ "rt_sigaction", { SIGUSR1, ZERO, OUT, 8 } },
	{ "rt_sigprocmask", { SIG_BLOCK, ONE, OUT, 8 } },
	{ "rt_sigpending", { OUT, 8 } },
	{ "rt_sigtimedwait", { ONE, OUT, MSEC, 8 } },
	{ "nanosleep", { MSEC, OUT } },
	{ "clock_nanosleep", { CLOCK_MONOTONIC, 0, MSEC, OUT } },
	{ "clock_gettime", { CLOCK_REALTIME, OUT } },
	{ "clock_getres", { CLOCK_REALTIME, OUT } },
	{ "gettimeofday", { OUT, 0 } },
	{ "times", { OUT } },
	{ "timer_create", { CLOCK_MONOTONIC, 0, OUT } },
	{ "alarm", { 100 } },
	{ "futex", { ONE, 1, 1 } },
	{ "futex", { ONE, 0, 7 } },
	{ "futex", { ONE, 0, 1, MSEC } },
	{ "kill", { 0, 0 } },
	{ "wait4", { -1, OUT, 1, ZERO } },
	{ "sched_yield", { 0 } },
	{ "sched_getaffinity", { 0, 128, OUT } },
	{ "sched_setaffinity", { 0, 8, ONE } },
	{ "sched_getparam", { 0, OUT } },
	{ "setpriority", { 0, 0, 5 } },
	{ "getpriority", { 0, 0 } },
	{ "prlimit64", { 0, 7, 0, OUT } },
	{ "getrusage", { 0, OUT } },
	{ "getresuid", { OUT, OUT + 8, OUT + 16 } },
	{ "setfsuid", { 1000 } },
	{ "setsid", { 0 } },
	{ "uname", { OUT } },
	{ "sysinfo", { OUT } },
	{ "getrandom", { OUT, 16, 0 } },
	{ "getcpu", { OUT, OUT + 4, 0 } },
	{ "membarrier", { 0, 0, 0 } },
	{ "io_setup", { 8, ZERO } },
	{ "pidfd_open", { 1, 0 } },
	{ "lsm_list_modules", { OUT, ONE, 0 } },
};

/* Results that differ each time: only the sign is compared. */
static const char *const result_varies[] = {
	"getpid", "gettid", "getpgid", "getpgrp", "getsid", "setsid", "mmap",
	"mremap", "shmat", "time", "times", "msgget", "semget", "shmget", "brk",
	NULL,
};

/* Memory that differs each time. */
static const char *const memory_varies[] = {
	"fstat", "stat", "lstat", "newfstatat", "statx", "statfs", "fstatfs",
	"ustat", "getrusage", "clock_gettime", "gettimeofday", "time", "times",
	"getcpu", "sysinfo", "getrandom", "getsockname", "getpeername",
	"name_to_handle_at", "wait4", "waitid", "getitimer", "setitimer",
	"mincore", "getdents", "getdents64", "io_setup", "timer_create",
	"nanosleep", "clock_nanosleep", "cachestat", "select", "pselect6",
	"ppoll", "lsm_list_modules", NULL,
};

/*
 * A key of 0 would leave an object each time, writing back is slow, and a limit of no CPU time
 * takes effect at any moment.
 */
static const char *const once[] = {
	"msgget", "semget", "shmget", "sync", "syncfs", "setrlimit",
	"prlimit64", NULL,
};

static int dev;

static void set_up_all(const char *dir, struct report *r)
{
	struct iovec *vec = (void *)r->memory[1];
	struct timespec *msec = (void *)r->memory[4];
	struct pollfd *pollfd = (void *)r->memory[5];
	int from[7];

	set_up_directory(dir);
	from[0] = open("file", O_RDWR);
	from[1] = open("file", O_RDWR);
	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, from + 2) &&
	     write(from[3], "message", 7) == 7, "socket");
	must(!pipe(from + 4) && write(from[5], "message", 7) == 7, "pipe");
	from[6] = open(".", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 7; i++)
		must(dup2(from[i], FD_FILE + i) >= 0 && !close(from[i]), "dup2");
	vec->iov_base = r->memory[2];
	vec->iov_len = 16;
	r->memory[3][0] = 1;
	msec->tv_nsec = 1000000;
	pollfd->fd = FD_PIPE;
	pollfd->events = POLLIN;
}

/* From user mode, with the kernel's own result. */
static long call_native(long nr, const long *args)
{
	long ret;
	register long r10 __asm__("r10") = args[3];
	register long r8 __asm__("r8") = args[4];
	register long r9 __asm__("r9") = args[5];

	__asm__ volatile("syscall" : "=a" (ret)
			 : "0" (nr), "D" (args[0]), "S" (args[1]),
			   "d" (args[2]), "r" (r10), "r" (r8), "r" (r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* By the compound @handle, whose inputs are the arguments. */
static long call_compound(__u64 handle, const long *args, struct report *r)
{
	__u64 frame[7];
	struct cosy_run run;
	long ret;

	memcpy(frame, args, 6 * sizeof(*frame));
	ret = run_frame(dev, handle, frame, &run);
	if (ret == done(0))
		return frame[6];
	/* The entry was interrupted and returned the call's result. */
	if (run.status == COSY_RESULT)
		return ret;
	r->err = run.status << 8 | run.value;
	return ret;
}

static __u64 load_call(const struct call *call)
{
	struct cosy_op ops[8] = { SYS(6, call->nr, strlen(call->args)) };
	unsigned int nops = 1;
	struct image *im;
	__u64 handle;

	for (; call->args[nops - 1]; nops++)
		ops[nops] = (struct cosy_op)ARG(nops - 1);
	ops[nops++] = (struct cosy_op)EXIT(0);
	im = make_image(ops, nops, 7, 6, 6, 1);
	handle = load_image(dev, im);
	if (!handle)
		die(call->name);
	free(im);
	return handle;
}

/* @working is NULL for the arguments of @set. */
static void make(const struct call *call, enum set set,
		 const struct working *working, __u64 handle, const char *dir,
		 struct report *r)
{
	long args[6] = { 0 };
	int fds[2];
	pid_t pid;

	memset(r, 0, sizeof(*r));
	pid = fork_child();
	must(pid >= 0, "fork");
	if (!pid) {
		if (working) {
			set_up_all(dir, r);
			memcpy(args, working->args, sizeof(args));
			for (int i = 0; i < 6; i++)
				if (args[i] >= MEM_TAG && args[i] < MEM(6))
					args[i] += (long)r->memory - MEM_TAG;
		} else {
			set_up(set, dir, fds);
			choose(set, call->args, fds, r, args);
		}
		r->ret = handle ? call_compound(handle, args, r) :
				  call_native(call->nr, args);
		r->returned = true;
		_exit(0);
	}
	r->status = end_of_child(pid);
	if (WIFEXITED(r->status) && WEXITSTATUS(r->status))
		exit(2);
}

static bool same_result(const struct call *call, long a, long b)
{
	if (in(call->name, result_varies))
		return (a < 0) == (b < 0);
	return a == b;
}

static int compare(const struct call *call, enum set set,
		   const struct working *working, __u64 handle, const char *dir,
		   struct report *r)
{
	struct report *native = r, *nested = r + 1;
	bool same_memory;

	/* Both at the same addresses, because some calls return them. */
	make(call, set, working, handle, dir, native);
	memcpy(nested, native, sizeof(*nested));
	make(call, set, working, 0, dir, native);

	same_memory = in(call->name, memory_varies) ||
		      !memcmp(native->memory, nested->memory,
			      sizeof(native->memory));
	if (native->status == nested->status &&
	    native->returned == nested->returned && !nested->err &&
	    same_result(call, native->ret, nested->ret) && same_memory)
		return 0;
	printf("%s, %s: native %ld status %#x, nested %ld status %#x, left %#x%s\n",
	       call->name, working ? "working" : set_names[set], native->ret,
	       native->status, nested->ret, nested->status, nested->err,
	       same_memory ? "" : ", memory differs");
	return 1;
}

int main(int argc, char **argv)
{
	struct report *reports = map_reports();
	int differences = 0, ncalls = 0, made = 0, succeeded = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: nested DIR [CALL]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	dev = dup3(open_device(), 200, O_CLOEXEC);
	must(dev == 200, "dup3");
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *call = &calls[i];
		__u64 handle;

		if (!call->nested || (argc > 2 && strcmp(call->name, argv[2])))
			continue;
		ncalls++;
		handle = load_call(call);
		for (int set = 0; set < NR_SETS; set++) {
			if (!set_applies(set, call->args) ||
			    (in(call->name, once) && set != SET_GARBAGE))
				continue;
			differences += compare(call, set, NULL, handle, argv[1],
					       reports);
			made++;
		}
		for (size_t j = 0; j < ARRAY_SIZE(working); j++) {
			if (strcmp(working[j].name, call->name))
				continue;
			differences += compare(call, NR_SETS, &working[j],
					       handle, argv[1], reports);
			succeeded += reports->ret >= 0;
			made++;
		}
		must(!ioctl(dev, COSY_IOC_UNLOAD, &handle), "unload");
	}
	printf("%d calls, %d pairs, %d working, %d differences\n", ncalls, made,
	       succeeded, differences);
	return differences != 0;
}
