/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loops.h - the operations of module.c on a loop that all threads of a child share: calls and
 * compounds that wait for sockets, threads that make calls or sleep, cancelling and closing.
 *
 * The choices come from any(), as in programs.h. No thread waits for another one. The kernel must
 * handle all concurrent writes to the page.
 */
#ifndef LOOPS_H
#define LOOPS_H

#include <sys/file.h>

#include "../kernel/loop.h"
#include "functions.h"

#define ENTRIES		64
#define HANDLES		4

static struct loop loop;
static __u64 handles[HANDLES];
static unsigned int nr_loaded;

static void make_loop(void)
{
	device = dev;
	if (create(&loop, ENTRIES))
		die("a loop");
}

/* Descriptors of make_files() that entries wait for. */
static int waiting_fd(void)
{
	static const int fds[] = {
		FD_PIPE, FD_PIPE + 1, FD_STREAM, FD_STREAM + 1, FD_PACKETS, FD_PACKETS + 1,
		FD_EVENT, FD_LISTENING, FD_TCP, FD_TCP + 1, FD_UDP,
	};

	return fds[any(sizeof(fds) / sizeof(*fds))];
}

/* A compound that waits for files, with other operations between. */
static void load_parking(void)
{
	static const int parks[] = {
#define COSY_PARKS(name) SYS_##name,
#include <syscalls.def>
	};
	unsigned int pieces = 1 + any(4);
	const bool has_function = !any(3);
	struct cosy_load load = { .size = sizeof(load), .flags = COSY_LOAD_PARKS };
	struct program p = { .n = 0 };
	struct image *im;

	while (pieces--) {
		const struct call *call = call_of(parks[any(sizeof(parks) / sizeof(*parks))]);
		unsigned int begin = p.n;
		int fd = waiting_fd();

		if ((call->nr == SYS_accept || call->nr == SYS_accept4) && any(4))
			fd = FD_LISTENING;
		call_op(&p, FD_REGS + any(4), call->nr, (unsigned int)strlen(call->args), 0);
		arg_number(&p, fd);
		for (const char *kinds = call->args + 1; *kinds; kinds++) {
			/* An address, or its length, is seldom used. */
			if (kinds - call->args > 3 || fd == FD_LISTENING)
				arg_number(&p, rarely() ? value(kinds) : 0);
			else if (*kinds == 'n')
				arg_number(&p, any(3) ? 8 + any(300) : any(70000));
			else if (*kinds == 'i')
				arg_number(&p, any(3) ? 0 : any(2) ? MSG_DONTWAIT : any(512));
			else
				arg_number(&p, value(kinds));
		}
		if (any(2))
			something(&p);
		if (has_function)
			function_call(&p);
		if (any(2)) {
			add(&p, (struct cosy_op)ADDI(COUNT_REG, COUNT_REG, 1));
			add(&p, (struct cosy_op)BR(COUNT_REG, ULT, 30, begin));
		}
	}
	add(&p, (struct cosy_op)EXIT(any(4)));
	im = make_image(p.ops, p.n, NREGS, NREGS, 0, NREGS);
	im->h.nfunctions = has_function;
	load.image = (__u64)(uintptr_t)im;
	load.image_size = im->h.size;
	if (ioctl(dev, COSY_IOC_LOAD, &load) == 0) {
		if (has_function && any(8))
			bind_some(load.handle);
		handles[nr_loaded++ % HANDLES] = load.handle;
	}
	free(im);
}

/* Usually the compound that was loaded last. */
static __u64 choose_handle(void)
{
	return handles[(any(4) ? nr_loaded - 1 : any(HANDLES)) % HANDLES];
}

static void set_entry_compound(unsigned int index)
{
	__u64 *frame = (__u64 *)(arena + any(PAGES) * PAGE);
	struct cosy_async_entry *entry = &loop.entries[index];

	if (!nr_loaded)
		load_parking();
	frame[COUNT_REG] = 0;
	entry->flags = 0;
	entry->nr = COSY_ENTRY_COMPOUND;
	entry->args[0] = (__u64)dev;
	entry->args[1] = entry->user_data = choose_handle();
	entry->args[2] = any(4) ? (uintptr_t)frame : (__u64)memory();
	entry->args[3] = (uintptr_t)&errno;
	entry->args[4] = any(4) ? 0 : any(40);
	entry->args[5] = any(4) ? 0 : any(4);
}

/* Resume a compound that was left. */
static void resume_compound(unsigned int index)
{
	struct cosy_async_entry *entry = &loop.entries[index];

	entry->args[4] = (__u32)entry->args[1] + any(2);
	entry->args[0] = (__u64)dev;
	entry->args[1] = entry->user_data;
	entry->args[5] = COSY_COMPOUND_RESUMED | (any(2) ? COSY_COMPOUND_MOVES : 0);
	submit_index(&loop, index);
}

static void set_entry_call(unsigned int index)
{
	static const __u8 known[] = {
		0, COSY_ENTRY_SILENT, COSY_ENTRY_THREAD,
		COSY_ENTRY_THREAD | COSY_ENTRY_LONG, COSY_ENTRY_THREAD | COSY_ENTRY_TAKE,
		COSY_ENTRY_THREAD | COSY_ENTRY_SILENT, COSY_ENTRY_BUFFERED,
	};
	struct cosy_async_entry *entry = &loop.entries[index];
	const struct call *call = choose_call();

	entry->flags = rarely() ? (__u8)any(256) : known[any(sizeof(known))];
	if (entry->flags & COSY_ENTRY_BUFFERED && any(8)) {
		call = call_of(any(2) ? SYS_read : SYS_pread64);
		if (any(2) && !fdatasync(FD_DISK))
			posix_fadvise(FD_DISK, 0, 0, POSIX_FADV_DONTNEED);
	}
	entry->nr = rarely() ? (__u32)number() : (__u32)call->nr;
	for (unsigned int i = 0; i < 6 && call->args[i]; i++)
		entry->args[i] = (__u64)value(call->args + i);
	if (entry->flags & COSY_ENTRY_BUFFERED && any(8)) {
		entry->args[0] = FD_DISK;
		entry->args[3] = any(200000);
	}
}

static void submit_some(void)
{
	unsigned int index = any(ENTRIES);

	if (any(3))
		set_entry_call(index);
	else
		set_entry_compound(index);
	loop.entries[index].status = COSY_ENTRY_SUBMITTED;
	submit_index(&loop, rarely() ? (uint32_t)number() : index);
}

static void collect_all(void)
{
	int index;

	while ((index = collect(&loop)) >= 0) {
		if (index < ENTRIES && loop.entries[index].status == COSY_ENTRY_LEFT && any(4))
			resume_compound((unsigned int)index);
	}
}

/* Enter the loop, for each possible purpose. */
static void enter_some(void)
{
	__u64 what = 1 + any(COSY_ASYNC_MAX_DONE);

	switch (any(12)) {
	case 0:
		what = COSY_ASYNC_CANCEL | any(ENTRIES + 1);
		break;
	case 1:
		what = COSY_ASYNC_CANCEL_FD | (__u64)waiting_fd();
		break;
	case 2:
		loop.page->recall = any(4);
		what = COSY_ASYNC_WORK | COSY_ASYNC_CANCEL;
		break;
	case 3:
	case 4:
		what = COSY_ASYNC_WORK | loop.page->id | (any(3) ? 0 : COSY_WORK_LONG);
		break;
	case 5:
	case 6:
		loop.page->sleep_fd = any(3) ? -1 : 3 + (int)any(24);
		loop.page->sleep_ns = any(4) ? any(5000000) : COSY_ASYNC_FOR_EVER;
		what |= COSY_ASYNC_SLEEP;
		break;
	case 7:
		what |= COSY_ASYNC_AWAIT;
		break;
	case 8:
		what = (__u64)number() | (__u64)any(32) << 32;
		break;
	}
	enter_loop(&loop, what);
}

/* Threads make calls that sleep until the lock is released or they are cancelled. */
static void sleep_in_calls(void)
{
	unsigned int n = 1 + any(4), index = 0;
	int fd = open("a", O_RDWR);

	if (fd >= 0)
		flock(fd, LOCK_EX);
	while (n--) {
		index = any(ENTRIES);
		submit(&loop, index, COSY_ENTRY_THREAD | (any(4) ? 0 : COSY_ENTRY_LONG), SYS_flock,
		       FD_FIRST, LOCK_EX, 0, 0);
	}
	enter_loop(&loop, 1 + any(COSY_ASYNC_MAX_DONE));
	if (any(2))
		enter_loop(&loop, COSY_ASYNC_WORK | loop.page->id | (any(4) ? 0 : COSY_WORK_LONG));
	if (any(2))
		enter_loop(&loop, COSY_ASYNC_CANCEL | index);
	flock(FD_FIRST, LOCK_UN);
	close(fd);
}

/* Read that of a loop, or a share, like `cosy stat`. */
static void read_fdinfo(int of)
{
	char path[64], text[512];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", of);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text)) < 0)
		errno = 0;
	close(fd);
}

static void connect_tcp(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct sockaddr_in at;
	socklen_t size = sizeof(at);

	if (!getsockname(FD_LISTENING, (struct sockaddr *)&at, &size))
		connect(fd, (struct sockaddr *)&at, size);
	if (any(2))
		close(fd);
}

/* The other end of a pipe or a pair of sockets; other descriptors have none. */
static int peer_of(int fd)
{
	if (fd == FD_TCP || fd == FD_TCP + 1)
		return FD_TCP + ((fd - FD_TCP) ^ 1);
	if (fd < FD_MEMFD)
		return FD_PIPE + ((fd - FD_PIPE) ^ 1);
	return fd;
}

/* Make a descriptor readable or writable. */
static void feed(int fd)
{
	static const char bytes[8] = { 1 };
	char *into = arena + (1 + any(PAGES - 2)) * PAGE;

	if (fd == FD_LISTENING)
		connect_tcp();
	else if (any(3) ? write(peer_of(fd), bytes, sizeof(bytes)) < 0 :
			  read(peer_of(fd), into, PAGE) < 0)
		errno = 0;
}

/* A compound waits, and resumes once for each time that its descriptors become ready. */
static void wait_and_feed(void)
{
	unsigned int index = any(ENTRIES), times = 1 + any(4);

	load_parking();
	set_entry_compound(index);
	loop.entries[index].status = COSY_ENTRY_SUBMITTED;
	submit_index(&loop, index);
	enter_loop(&loop, 1 + any(COSY_ASYNC_MAX_DONE));
	while (times--) {
		feed(waiting_fd());
		enter_loop(&loop, 1 + any(COSY_ASYNC_MAX_DONE));
		collect_all();
	}
}

/* Operations of others on the loop and on the files of its entries. */
static void disturb_loop(void)
{
	struct pollfd poll_loop = { .fd = loop.fd, .events = POLLIN };

	int fd = waiting_fd();

	switch (any(10)) {
	case 0:
		close(dup(loop.fd));
		break;
	case 1:
		/* Allow threads again. */
		close(dup(loop.fd));
		mmap(loop.page, loop.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, loop.fd, 0);
		break;
	case 2:
		poll(&poll_loop, 1, (int)any(3));
		break;
	case 3:
		loop.page->used = (uintptr_t)memory();
		loop.page->nused = any(64);
		break;
	case 4:
		read_fdinfo(loop.fd);
		break;
	case 5:
		connect_tcp();
		break;
	case 6:
		if (read(fd, arena + (1 + any(PAGES - 2)) * PAGE, PAGE) < 0)
			errno = 0;
		break;
	case 7:
		/* Nothing more can be received or sent. */
		if (rarely())
			shutdown(fd, (int)any(3));
		break;
	default:
		/* The size for an eventfd. */
		if (write(fd, arena, any(2) ? 8 : 1 + any(3000)) < 0)
			errno = 0;
	}
}

static void use_loop(void)
{
	unsigned int steps = 1 + any(12);

	while (steps--) {
		switch (any(10)) {
		case 0:
			load_parking();
			break;
		case 1:
			disturb_loop();
			break;
		case 2:
			collect_all();
			break;
		case 3:
		case 4:
		case 5:
			submit_some();
			break;
		case 8:
			wait_and_feed();
			break;
		case 9:
			sleep_in_calls();
			break;
		default:
			enter_some();
		}
	}
}

#endif /* LOOPS_H */
