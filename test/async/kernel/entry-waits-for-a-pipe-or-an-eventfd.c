// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * An entry waits for a pipe or an eventfd. For other files, and without the flag, it fails instead.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/entries.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>

static void not_waited_for(void)
{
	struct loop loop;
	uint64_t count;
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), datagrams;
	char byte;

	create(&loop, 64);
	/* It has no flag to wait. Its peer is not needed. */
	datagrams = socket(AF_UNIX, SOCK_DGRAM, 0);
	submit(&loop, 0, COSY_ENTRY_WAIT_IN, SYS_read, timer, (uintptr_t)&count, 8, 0);
	submit(&loop, 1, 0, SYS_recvfrom, datagrams, (uintptr_t)&byte, 1, MSG_DONTWAIT);
	submit(&loop, 2, COSY_ENTRY_WAIT_IN, SYS_recvfrom, -1, (uintptr_t)&byte, 1, MSG_DONTWAIT);
	check(execute(&loop) == 3, "they do not wait");
	check(entry_result(&loop, 0) == -EAGAIN && entry_result(&loop, 1) == -EAGAIN &&
	      entry_result(&loop, 2) == -EBADF, "but fail");
	close(timer);
	close(datagrams);
	destroy(&loop);
}

/* Entries wait for pipes only since Linux 6.5. */
static void pipes_and_eventfds(void)
{
	struct loop loop;
	uint64_t count = 0;
	int fds[2], event = eventfd(0, EFD_NONBLOCK);
	bool waits;
	char byte = 0;

	create(&loop, 64);
	check(!pipe2(fds, O_NONBLOCK), "a pipe");
	submit(&loop, 0, COSY_ENTRY_WAIT_IN, SYS_read, fds[0], (uintptr_t)&byte, 1, 0);
	waits = execute(&loop) == 0;
	check(waits || entry_result(&loop, 0) == -EAGAIN, "it waits or fails");
	check(write(fds[1], "p", 1) == 1 && (!waits || execute(&loop) == 1) && collect(&loop) == 0 &&
	      (!waits || (entry_result(&loop, 0) == 1 && byte == 'p')), "what is written is read");
	submit(&loop, 1, COSY_ENTRY_WAIT_IN, SYS_read, event, (uintptr_t)&count, 8, 0);
	check(execute(&loop) == 0, "an eventfd is waited for");
	check(!eventfd_write(event, 7) && execute(&loop) == 1 && collect(&loop) == 1 &&
	      entry_result(&loop, 1) == 8 && count == 7, "and read");
	close(fds[0]);
	close(fds[1]);
	close(event);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	pipes_and_eventfds();
	not_waited_for();
	return finish();
}
