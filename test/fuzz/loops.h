/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loops.h - what module.c does with a loop that all threads of a child share: calls and
 * compounds that wait for sockets, threads that make calls or sleep, cancelling and closing.
 *
 * The choices come from any(), as in programs.h. No thread waits for another one: of what they
 * write to the page at the same time the kernel has to make something.
 */
#ifndef LOOPS_H
#define LOOPS_H

#include "../kernel/loop.h"
#include "../kernel/programs.h"

#define ENTRIES		64
#define HANDLES		4

static struct loop loop;
static __u64 handles[HANDLES];

static void make_loop(void)
{
	device = dev;
	if (create(&loop, ENTRIES))
		die("a loop");
}

/* Where make_files() has a file that is a socket. */
static int socket_fd(void)
{
	return 12 + (int)any(4);
}

/* A compound that waits for sockets, and does something else in between. */
static void load_parking(void)
{
	unsigned int pieces = 1 + any(4);
	struct cosy_load load = { .size = sizeof(load), .flags = COSY_LOAD_PARKS };
	struct program p = { .n = 0 };
	struct image *im;

	while (pieces--) {
		static const int transfers[] = { SYS_recvfrom, SYS_sendto, SYS_read, SYS_write,
						 SYS_accept4, SYS_close };
		unsigned int which = any(sizeof(transfers) / sizeof(*transfers)), begin = p.n;

		call_op(&p, FD_REGS + any(4), transfers[which], which < 2 ? 6 : which < 4 ? 3 :
			which == 4 ? 4 : 1, 0);
		arg_number(&p, socket_fd());
		if (which < 5) {
			arg_number(&p, which == 4 ? 0 : memory());
			arg_number(&p, which == 4 ? 0 : 1 + any(3000));
		}
		if (which < 2 || which == 4)
			arg_number(&p, any(2) ? MSG_DONTWAIT : any(256));
		if (which < 2) {
			arg_number(&p, 0);
			arg_number(&p, 0);
		}
		if (any(2))
			something(&p);
		if (any(2)) {
			add(&p, (struct cosy_op)ADDI(COUNT_REG, COUNT_REG, 1));
			add(&p, (struct cosy_op)BR(COUNT_REG, ULT, 30, begin));
		}
	}
	add(&p, (struct cosy_op)EXIT(any(4)));
	im = make_image(p.ops, p.n, NREGS, NREGS, 0, NREGS);
	load.image = (__u64)(uintptr_t)im;
	load.image_size = im->h.size;
	if (ioctl(dev, COSY_IOC_LOAD, &load) == 0)
		handles[any(HANDLES)] = load.handle;
	free(im);
}

static void enter_compound(unsigned int index)
{
	__u64 *frame = (__u64 *)(arena + any(PAGES) * PAGE);
	struct cosy_async_entry *entry = &loop.entries[index];

	frame[COUNT_REG] = 0;
	entry->flags = 0;
	entry->nr = COSY_ENTRY_COMPOUND;
	entry->args[0] = (__u64)dev;
	entry->args[1] = entry->user_data = handles[any(HANDLES)];
	entry->args[2] = any(4) ? (uintptr_t)frame : (__u64)memory();
	entry->args[3] = (uintptr_t)&errno;
	entry->args[4] = any(4) ? 0 : any(40);
	entry->args[5] = any(4) ? 0 : any(4);
}

/* A compound that was left goes on. */
static void resume_compound(unsigned int index)
{
	struct cosy_async_entry *entry = &loop.entries[index];

	entry->args[4] = (__u32)entry->args[1] + any(2);
	entry->args[0] = (__u64)dev;
	entry->args[1] = entry->user_data;
	entry->args[5] = COSY_COMPOUND_RESUMED;
	submit_index(&loop, index);
}

static void enter_call(unsigned int index)
{
	static const __u8 known[] = {
		0, COSY_ENTRY_SILENT, COSY_ENTRY_WAIT_IN, COSY_ENTRY_WAIT_OUT,
		COSY_ENTRY_WAIT_IN | COSY_ENTRY_SILENT, COSY_ENTRY_THREAD,
		COSY_ENTRY_THREAD | COSY_ENTRY_LONG, COSY_ENTRY_THREAD | COSY_ENTRY_TAKE,
		COSY_ENTRY_THREAD | COSY_ENTRY_SILENT, COSY_ENTRY_NOWAIT, COSY_ENTRY_BUFFERED,
	};
	struct cosy_async_entry *entry = &loop.entries[index];
	const struct call *call = choose_call();

	entry->flags = rarely() ? (__u8)any(256) : known[any(sizeof(known))];
	if (entry->flags & (COSY_ENTRY_WAIT_IN | COSY_ENTRY_WAIT_OUT) && any(4)) {
		entry->nr = entry->flags & COSY_ENTRY_WAIT_IN ? SYS_recvfrom : SYS_sendto;
		entry->args[0] = (__u64)socket_fd();
		entry->args[1] = (__u64)memory();
		entry->args[2] = 1 + any(3000);
		entry->args[3] = MSG_DONTWAIT;
		entry->args[4] = entry->args[5] = 0;
		return;
	}
	entry->nr = rarely() ? (__u32)number() : (__u32)call->nr;
	for (unsigned int i = 0; i < 6 && call->args[i]; i++)
		entry->args[i] = (__u64)value(call->args[i]);
}

static void submit_some(void)
{
	unsigned int index = any(ENTRIES);

	if (any(3))
		enter_call(index);
	else
		enter_compound(index);
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

/* Enter the loop, for anything for which it can be entered. */
static void enter_some(void)
{
	__u64 what = 1 + any(COSY_ASYNC_MAX_DONE);

	switch (any(12)) {
	case 0:
		what = COSY_ASYNC_CANCEL | any(ENTRIES + 1);
		break;
	case 1:
		what = COSY_ASYNC_CANCEL_FD | (__u64)socket_fd();
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

/* What others do to the loop and to what its entries wait for. */
static void disturb_loop(void)
{
	struct pollfd poll_loop = { .fd = loop.fd, .events = POLLIN };

	switch (any(8)) {
	case 0:
		close(dup(loop.fd));
		break;
	case 1:
		/* It may have threads again. */
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
	default:
		send(socket_fd(), arena, 1 + any(3000), MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

static void use_loop(void)
{
	unsigned int steps = 1 + any(12);

	while (steps--) {
		switch (any(8)) {
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
		default:
			enter_some();
		}
	}
}

#endif /* LOOPS_H */
