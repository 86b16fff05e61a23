/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * programs.h - compounds that no compiler would emit: random operations and calls with random
 * hints on files and memory that threads share.
 *
 * The includer defines the source of the choices: any(n), a number below n.
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "compound.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#define THREADS		3
#define PAGES		64
#define PAGE		4096ul

/* Registers: the first ones contain numbers of open files. */
#define NREGS		24
#define FD_REGS		4
#define COUNT_REG	20
#define STRING_REG	8

/* The descriptors of make_files(). A pair of pipes or sockets has two numbers. */
enum {
	FD_FIRST = 3,
	FD_DIRECTORY = FD_FIRST + 3,
	FD_PIPE = FD_DIRECTORY + 4,
	FD_STREAM = FD_PIPE + 2,
	FD_PACKETS = FD_STREAM + 2,
	FD_MEMFD = FD_PACKETS + 2,
	FD_EVENT,
	FD_LISTENING,
	FD_TCP,
	FD_UDP = FD_TCP + 2,
	FD_DISK,
	FD_DEVICE,
	/* And some more that compounds open. */
	FD_END = FD_DEVICE + 6,
};

static char *arena;
static struct cosy_run *runs;
static int dev;

static unsigned int any(unsigned int n);

static bool rarely(void)
{
	return !any(12);
}

static __s64 number(void)
{
	static const __s64 special[] = {
		-1, -4095, -4096, 4096, 65536, 1 << 20, 0x7fffffff, 0xffffffffll,
		1ll << 47, (1ll << 47) - 1, (1ll << 47) - 4096, 1ll << 62,
		0x7fffffffffffffffll, -0x7fffffffffffffffll, -(1ll << 24),
	};

	switch (any(3)) {
	case 0:
		return any(20);
	case 1:
		return special[any(sizeof(special) / sizeof(*special))];
	default:
		return any(70000);
	}
}

/* --- compounds ---------------------------------------------------------------- */

struct program {
	struct cosy_op ops[256];
	unsigned int n;
};

static struct cosy_op *add(struct program *p, struct cosy_op op)
{
	p->ops[p->n] = op;
	return &p->ops[p->n++];
}

/* In the arena, unless it was overwritten: a message of one piece. */
#define MESSAGE_AT	2048
struct message {
	struct msghdr header;
	struct iovec piece;
};

static __s64 memory(void)
{
	__s64 at = (__s64)(uintptr_t)arena + any(PAGES) * PAGE;

	if (rarely())
		return number();
	return any(2) ? at : at + any(PAGE);
}

/* At the beginning of the arena, unless they were overwritten. */
static const char names[][32] = {
	"a", "b", "dir/c", "dir", "link", "loop", "hole", ".", "..", "", "dir/sub",
	"/proc/self/fd/4", "/proc/self/maps", "/dev/zero", "/dev/full", "/dev/cosy",
	"/dev/shm", "/proc/self/fd", "missing/x", "fifo", "/dev/null", "dir/../a",
	"new", "dir/new", "/", "/proc/self/status", "disk/d", "disk/dir", "disk/dir/e",
	"user.attribute",
};
#define NAMES (sizeof(names) / sizeof(*names))

static __s64 name(void)
{
	if (rarely())
		return memory();
	return (__s64)(uintptr_t)arena + any(NAMES) * 32;
}

static __s64 flags(void)
{
	static const int known[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_CREAT,
				     O_RDWR | O_APPEND, O_RDWR | O_CREAT | O_TRUNC,
				     O_RDONLY | O_DIRECT, O_RDONLY | O_CLOEXEC,
				     O_PATH, O_RDONLY | O_DIRECTORY, O_RDWR | O_SYNC,
				     O_RDWR | O_NONBLOCK, O_TMPFILE | O_RDWR };

	return rarely() ? number() : known[any(sizeof(known) / sizeof(*known))];
}

static void arg_register(struct program *p, unsigned int reg)
{
	add(p, (struct cosy_op)ARG(reg));
}

static void arg_number(struct program *p, __s64 val)
{
	add(p, (struct cosy_op)ARGI(val));
}

/* Flags and modes, of calls with names and of others. */
static __s64 integer(void)
{
	static const int at_flags[] = { AT_SYMLINK_NOFOLLOW, AT_REMOVEDIR, AT_SYMLINK_FOLLOW,
					AT_NO_AUTOMOUNT, AT_EMPTY_PATH, AT_EACCESS };

	switch (any(4)) {
	case 0:
		return flags();
	case 1:
		return at_flags[any(sizeof(at_flags) / sizeof(*at_flags))];
	case 2:
		return any(01000);
	default:
		return any(8);
	}
}

/* An argument of the kind in syscalls.def; @kinds: its kind and those after it. */
static __s64 value(const char *kinds)
{
	switch (*kinds) {
	case 'd':
		if (kinds[1] == 's' && any(4))
			return any(2) ? AT_FDCWD : FD_DIRECTORY;
		return rarely() ? AT_FDCWD : FD_FIRST + any(FD_END - FD_FIRST);
	case 's':
		return name();
	case 'r':
	case 'w':
		return memory();
	case 'x':
		return any(3) ? memory() : (__s64)(uintptr_t)(arena + MESSAGE_AT);
	case 'n':
		return any(3) ? any(70000) : any(64) * 4096;
	case 'o':
		return any(4) ? any(200000) : memory();
	default:
		return integer();
	}
}

/* The same as an operation. */
static void arg(struct program *p, const char *kinds)
{
	if (rarely())
		arg_register(p, any(NREGS));
	else if (*kinds == 'd' && kinds[1] != 's' && any(4))
		arg_register(p, any(FD_REGS));
	else
		arg_number(p, value(kinds));
}

static const struct call {
	int nr;
	const char *args;
	bool nested;
} calls[] = {
#define NESTED	true
#define LEAVE	false
#define COSY_SYSCALL(nr, name, args, nested) { nr, args, nested },
#include <syscalls.def>
#undef NESTED
#undef LEAVE
};

/* They would end or stop unrelated processes, take too long, or leave files. */
static bool harmful(int nr)
{
	return nr == SYS_kill || nr == SYS_tkill || nr == SYS_tgkill ||
	       nr == SYS_rt_sigqueueinfo || nr == SYS_rt_tgsigqueueinfo ||
	       nr == SYS_pidfd_send_signal || nr == SYS_sync || nr == SYS_syncfs ||
	       nr == SYS_vhangup || nr == SYS_setpriority || nr == SYS_ptrace ||
	       nr == SYS_sched_setscheduler || nr == SYS_sched_setattr ||
	       nr == SYS_shmget || nr == SYS_semget || nr == SYS_msgget ||
	       nr == SYS_mq_open;
}

static cosy_u16 hints(void)
{
	return any(3) ? 0 : any(1u << COSY_NR_HINTS);
}

static struct cosy_op *call_op(struct program *p, unsigned int dst, int nr,
			       unsigned int nargs, cosy_u16 known)
{
	struct cosy_op *op = add(p, (struct cosy_op)SYS(dst, nr, nargs));

	if (any(2))
		op->code = COSY_OP_LIBC;
	op->c = any(8) ? known : hints();
	return op;
}

/* Most calls with fast paths, and calls that conflict with them. */
static const int fast[] = {
	SYS_read, SYS_write, SYS_open, SYS_openat, SYS_close, SYS_stat, SYS_lstat,
	SYS_fstat, SYS_newfstatat, SYS_lseek, SYS_pread64, SYS_pwrite64, SYS_access,
	SYS_rename, SYS_mkdir, SYS_rmdir, SYS_link, SYS_unlink, SYS_symlink,
	SYS_readlink, SYS_chmod, SYS_chown, SYS_truncate, SYS_statx, SYS_renameat2,
	SYS_faccessat, SYS_faccessat2, SYS_renameat, SYS_mkdirat, SYS_unlinkat, SYS_linkat,
	SYS_symlinkat, SYS_readlinkat, SYS_fchmodat, SYS_lchown, SYS_fchownat,
	SYS_utimensat, SYS_getxattr, SYS_lgetxattr, SYS_listxattr, SYS_llistxattr,
	SYS_setxattr, SYS_sendto, SYS_recvfrom, SYS_chdir,
	SYS_dup2, SYS_close_range, SYS_getdents64, SYS_fcntl, SYS_unshare,
	SYS_ftruncate, SYS_fallocate, SYS_sendfile, SYS_munmap, SYS_mprotect,
};
#define NR_FAST	(sizeof(fast) / sizeof(*fast))

static const struct call *call_of(int nr)
{
	const struct call *call = calls;

	while (call->nr != nr)
		call++;
	return call;
}

static const struct call *choose_call(void)
{
	const struct call *call;

	if (any(3))
		return call_of(fast[any(NR_FAST)]);
	do
		call = &calls[any(sizeof(calls) / sizeof(*calls))];
	while (!call->nested || harmful(call->nr));
	return call;
}

static void some_call(struct program *p)
{
	const struct call *call = choose_call();

	call_op(p, any(2) ? any(FD_REGS) : any(NREGS), call->nr,
		(unsigned int)strlen(call->args), hints());
	for (const char *kinds = call->args; *kinds; kinds++)
		arg(p, kinds);
}

/* Memory and strings, many bytes at a time. */
static void bulk(struct program *p)
{
	const unsigned int a = STRING_REG, b = a + 1, c = a + 2, dst = FD_REGS + any(4);
	const struct cosy_op ops[] = {
		OP(STRLEN, .dst = dst, .a = a), OP(STRNLEN, .dst = dst, .a = a, .b = c),
		OP(STRCHR, .dst = dst, .a = a, .b = c), OP(STRRCHR, .dst = dst, .a = a, .b = c),
		OP(STPCPY, .dst = dst, .a = a, .b = b),
		OP(STRCMP, .dst = dst, .a = a, .b = b, .c = c),
		COMPARE(dst, a, b, c), FIND(dst, a, b, c), COPY(a, b, c), FILL(a, b, c),
		LOAD(1, dst, a), LOAD(2, dst, a), LOAD(4, dst, a),
		STORE(1, a, c), STORE(2, a, c), STORE(8, a, c),
	};

	add(p, (struct cosy_op)CONST(a, memory()));
	add(p, (struct cosy_op)CONST(b, any(3) ? memory() : name()));
	add(p, (struct cosy_op)CONST(c, any(2) ? any(10000) : number()));
	add(p, ops[any(sizeof(ops) / sizeof(*ops))]);
}

static void something(struct program *p)
{
	unsigned int a = any(NREGS), b = any(NREGS), c = any(NREGS);

	switch (any(14)) {
	case 0:
		add(p, (struct cosy_op)CONST(a, memory()));
		break;
	case 1:
		add(p, (struct cosy_op)CONST(a, number()));
		break;
	case 2:
		add(p, (struct cosy_op)ADDI(a, b, number()));
		break;
	case 3:
		add(p, (struct cosy_op)LOAD(8, a, b));
		break;
	case 4:
		add(p, (struct cosy_op)STORE(4, a, b));
		break;
	case 5:
		add(p, (struct cosy_op)COPY(a, b, c));
		break;
	case 6:
		add(p, (struct cosy_op)FILL(a, b, c));
		break;
	case 7:
		add(p, (struct cosy_op)MOV(a, b));
		break;
	case 8:
		if (rarely())
			add(p, (struct cosy_op)OP(UPCALL, .imm = any(4), .a = a,
						  .c = 1 + any(NREGS - a)));
		break;
	case 9:
	case 10:
		bulk(p);
		break;
	default:
		some_call(p);
	}
}

static void maybe_something(struct program *p)
{
	if (!any(5))
		something(p);
}

/* Like a compiler's output, with some errors. */
static void open_read_close(struct program *p)
{
	unsigned int fd = any(FD_REGS), n = FD_REGS + any(4), again;
	__s64 buffer = memory(), size = 1 + any(5000);

	call_op(p, fd, SYS_open, 3, COSY_HINT_PRIVATE);
	arg_number(p, name());
	arg_number(p, flags());
	arg_number(p, 0600);
	maybe_something(p);
	again = p->n;
	call_op(p, n, SYS_read, 3, COSY_HINT_REST);
	arg_register(p, fd);
	arg_number(p, buffer);
	arg_number(p, size);
	maybe_something(p);
	add(p, (struct cosy_op)ADDI(COUNT_REG, COUNT_REG, 1));
	add(p, (struct cosy_op)BR(COUNT_REG, ULT, 30, again));
	if (!any(4))
		return;
	call_op(p, n, SYS_close, 1, 0);
	arg_register(p, fd);
}

static void read_write(struct program *p)
{
	unsigned int from = any(FD_REGS), to = any(FD_REGS), n = FD_REGS + any(4);
	unsigned int again = p->n;
	bool at = any(2);
	__s64 buffer = memory();

	call_op(p, n, at ? SYS_pread64 : SYS_read, at ? 4 : 3, COSY_HINT_BORROW);
	arg_register(p, from);
	arg_number(p, buffer);
	arg_number(p, 1 + any(100000));
	if (at)
		arg_number(p, any(100000));
	maybe_something(p);
	if (!any(3)) {
		call_op(p, n + 4, SYS_sendto, 6, COSY_HINT_BORROW);
		arg_number(p, any(3) ? FD_STREAM + any(4) : FD_TCP + any(2));
		arg_number(p, buffer);
		arg_register(p, n);
		for (unsigned int i = 0; i < 3; i++)
			arg_number(p, rarely() ? number() : 0);
	} else {
		at = any(2);
		call_op(p, n + 4, at ? SYS_pwrite64 : SYS_write, at ? 4 : 3, COSY_HINT_BORROW);
		arg_register(p, to);
		arg_number(p, buffer);
		arg_register(p, n);
		if (at)
			arg_number(p, any(100000));
	}
	add(p, (struct cosy_op)ADDI(COUNT_REG + 1, COUNT_REG + 1, 1));
	add(p, (struct cosy_op)BR(COUNT_REG + 1, ULT, 8, again));
}

static void seek(struct program *p)
{
	unsigned int fd = any(FD_REGS), at = FD_REGS + any(4), nr = any(2) ? SYS_read : SYS_write;

	call_op(p, at, SYS_lseek, 3, COSY_HINT_JOIN);
	arg_register(p, fd);
	arg_number(p, any(100000));
	arg_number(p, any(8) ? SEEK_SET : any(6));
	if (any(2))
		add(p, (struct cosy_op)BR(at, EQ, -1, 0));
	maybe_something(p);
	call_op(p, at + 4, (int)nr, 3, 0);
	arg_register(p, fd);
	arg_number(p, memory());
	arg_number(p, any(10000));
}

/* Enter another run, or this one. */
static void nest(struct program *p)
{
	call_op(p, FD_REGS + any(4), SYS_lseek, 3, hints());
	arg_number(p, dev);
	arg_number(p, (__s64)(COSY_RUN_TAG | (__u64)(uintptr_t)&runs[any(THREADS)]));
	arg_number(p, COSY_RUN_WHENCE);
}

static void make(struct program *p)
{
	unsigned int pieces = 1 + any(6);

	p->n = 0;
	while (pieces--) {
		switch (any(8)) {
		case 0:
		case 1:
			open_read_close(p);
			break;
		case 2:
		case 3:
			read_write(p);
			break;
		case 4:
			seek(p);
			break;
		case 5:
			if (!any(4))
				nest(p);
			break;
		default:
			something(p);
		}
	}
	add(p, (struct cosy_op)EXIT(any(4)));
	/* Sometimes an operation that must be rejected, or is unusual. */
	if (rarely())
		((unsigned char *)p->ops)[any(p->n * sizeof(p->ops[0]))] ^= 1 << any(8);
}

/* --- running them -------------------------------------------------------------- */

/* Requests to the device, with any values. */
static void ask(void)
{
	static const unsigned long commands[] = { COSY_IOC_INFO, COSY_IOC_LOAD, COSY_IOC_UNLOAD,
						  COSY_IOC_BIND, COSY_IOC_YIELD, COSY_IOC_ASYNC,
						  COSY_IOC_HIDE, COSY_IOC_SHARE };
	__u64 words[32];

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		words[i] = any(3) ? any(20) : (__u64)(any(2) ? memory() : number());
	if (any(4))
		*(__u32 *)words = any(2 * sizeof(words));
	ioctl(dev, commands[any(sizeof(commands) / sizeof(*commands))],
	      any(4) ? (__s64)(uintptr_t)words : memory());
}

/* A single call, by its fast path. */
static void single_call(void)
{
	static const int numbers[] = {
#define COSY_PRELOAD_IF(function, name, ...) SYS_##name,
#include <preload.def>
	};
	const int nr = numbers[any(sizeof(numbers) / sizeof(*numbers))];
	const char *kinds = call_of(nr)->args;
	struct cosy_call here, *made = &here;

	/* Other threads may change it meanwhile. */
	if (rarely())
		made = (struct cosy_call *)(arena + (1 + any(PAGES - 2)) * PAGE);
	memset(made, 0, sizeof(*made));
	made->nr = rarely() ? (__u32)number() : rarely() ? COSY_CALL_REALPATH : (__u32)nr;
	for (unsigned int i = 0; kinds[i]; i++)
		made->args[i] = (__u64)(rarely() ? number() : value(kinds + i));
	syscall(SYS_lseek, dev, COSY_RUN_TAG | (__u64)(uintptr_t)made, COSY_CALL_WHENCE);
}

/* Run it, and enter again where it was left, or at any place. */
static void run_some(struct cosy_run *run, __u64 *frame, const struct program *p)
{
	struct image *im = make_image(p->ops, p->n, NREGS, NREGS, 0, NREGS);
	struct cosy_load load = { .size = sizeof(load), .image = (__u64)(uintptr_t)im,
				  .image_size = im->h.size,
				  .flags = rarely() ? COSY_LOAD_PLAIN : 0 };

	if (ioctl(dev, COSY_IOC_LOAD, &load) == 0) {
		memset(run, 0, sizeof(*run));
		run->handle = load.handle;
		run->frame = (__u64)(uintptr_t)frame;
		run->errno_addr = (__u64)(uintptr_t)&errno;
		for (int i = 0; i < NREGS; i++)
			frame[i] = i < FD_REGS ? FD_FIRST + any(FD_END - FD_FIRST) :
						 (__u64)number();
		frame[COUNT_REG] = frame[COUNT_REG + 1] = 0;
		for (unsigned int entries = any(12); entries; entries--) {
			run->flags = rarely() ? any(8) : 0;
			run->limit = rarely() ? (__u64)number() : 0;
			enter(dev, run);
			run->status = any(3) ? COSY_AGAIN : any(COSY_NR_STATUS);
			if (run->status == COSY_DONE || rarely())
				run->pc = any(p->n);
		}
		ioctl(dev, COSY_IOC_UNLOAD, &load.handle);
	} else if (errno == EBADF || errno == ENOTTY) {
		int fresh = open(COSY_DEVICE, O_RDWR);

		if (fresh >= 0)
			dev = fresh;
	}
	free(im);
}

static void write_file(const char *file, size_t size)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);

	for (size_t i = 0; i < size; i += sizeof(names))
		if (write(fd, names, sizeof(names)) < 0)
			break;
	close(fd);
}

/* A listening socket, and a connected pair. */
static void make_tcp(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *address = (struct sockaddr *)&at;
	int listening = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(at);

	if (bind(listening, address, size) || listen(listening, 10) ||
	    getsockname(listening, address, &size) || connect(fd, address, size) ||
	    accept4(listening, NULL, NULL, SOCK_NONBLOCK) < 0 ||
	    fcntl(listening, F_SETFL, O_NONBLOCK) || fcntl(fd, F_SETFL, O_NONBLOCK))
		die("TCP");
}

/* It sends to itself. */
static void make_udp(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *address = (struct sockaddr *)&at;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	socklen_t size = sizeof(at);

	if (bind(fd, address, size) || getsockname(fd, address, &size) ||
	    connect(fd, address, size))
		die("UDP");
}

/* The files that they use, in the current directory; open from FD_FIRST on. */
static void make_files(void)
{
	struct message *message;
	int pair[2];

	mkdir("dir", 0700);
	mkdir("dir/sub", 0700);
	write_file("a", 100000);
	write_file("b", 5000);
	write_file("dir/c", 20000);
	write_file("hole", 0);
	if (truncate("hole", 200000) || symlink("a", "link") || symlink("loop", "loop") ||
	    mkfifo("fifo", 0600) || setxattr("a", "user.attribute", "value", 5, 0))
		errno = 0;
	arena = must_map(PAGES * PAGE);
	runs = must_map(PAGE);
	memcpy(arena, names, sizeof(names));
	message = (struct message *)(arena + MESSAGE_AT);
	message->header.msg_iov = &message->piece;
	message->header.msg_iovlen = 1;
	message->piece = (struct iovec){ arena + PAGE, 500 };
	for (unsigned int i = 0; i < 3; i++)
		open(names[i], O_RDWR);
	open(".", O_RDONLY);
	open("dir/c", O_RDWR | O_APPEND);
	open("/dev/zero", O_RDWR);
	open("/proc/self/maps", O_RDONLY);
	if (pipe2(pair, O_NONBLOCK) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair))
		die("pipes and sockets");
	syscall(SYS_memfd_create, "memfd", 0);
	eventfd(0, EFD_NONBLOCK);
	make_tcp();
	make_udp();
	/* On a disk, if there is one. */
	if (open("disk/d", O_RDWR) < 0)
		open("a", O_RDWR);
	dev = open(COSY_DEVICE, O_RDWR);
}

#endif /* PROGRAMS_H */
