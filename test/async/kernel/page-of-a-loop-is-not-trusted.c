// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Whatever the process writes to a loop's page, the module executes only valid entries, and a waiting
 * entry is not changed.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "Inputs/entries.h"

/* Writes that the process should not make. */
static void hostile(void)
{
	char byte, *argv[] = { "/bin/true", NULL };
	struct loop loop;
	int sv[2];

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	submit_index(&loop, 64);
	submit_index(&loop, ~0u);
	submit_index(&loop, 1u << 31);
	check(execute(&loop) == 0 && loop.page->submit_head == loop.tail, "no such entries");

	submit(&loop, 0, 0, SYS_getpid, 0, 0, 0, 0);
	loop.entries[0].colour = 1;
	check(execute(&loop) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == -EINVAL, "a colour");
	submit(&loop, 0, COSY_ENTRY_BUFFERED | COSY_ENTRY_NOWAIT, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == -EINVAL, "flags");
	submit(&loop, 0, 0, COSY_ENTRY_SPECIAL + 1, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == -EINVAL, "special");
	submit(&loop, 0, 0, SYS_execve, (uintptr_t)argv[0], (uintptr_t)argv, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 0 &&
	      loop.entries[0].status == COSY_ENTRY_USER &&
	      loop.entries[0].args[1] == (uintptr_t)argv, "execve is for user mode");
	for (int i = 0; i < 3; i++) {
		static const unsigned int none[] = { 1000, 100000, COSY_ENTRY_SPECIAL - 1 };

		submit(&loop, 0, 0, none[i], 0, 0, 0, 0);
		check(execute(&loop) == 1 && collect(&loop) == 0 &&
		      loop.entries[0].status == COSY_ENTRY_USER, "so is %u, which is no call", none[i]);
	}

	/* The page contradicts the module's state. */
	loop.page->nentries = ~0u;
	loop.page->entries = loop.page->submitted = loop.page->done = 0xfffffff0;
	loop.page->submit_head = loop.page->done_tail = loop.page->done_head = 12345;
	submit(&loop, 0, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && loop.page->submit_head == loop.tail &&
	      entry_result(&loop, 0) == getpid(), "the header is not believed");
	loop.page->done_head = loop.head = loop.page->done_tail;

	/*
	 * The page claims more submitted entries than there are. Entries in the ring are executed
	 * again.
	 */
	for (unsigned int i = 0; i < 64; i++)
		loop.submitted[i] = i & 1 ? ~0u : 0;
	loop.entries[0] = (struct cosy_async_entry){ .nr = SYS_getpid };
	loop.page->submit_tail = loop.tail + (1u << 31);
	for (int i = 0; i < 10; i++)
		enter_loop(&loop, COSY_ASYNC_MAX_DONE);
	check(loop.page->submit_head != loop.tail, "it goes on");
	loop.tail = loop.page->submit_tail = loop.page->submit_head;
	loop.page->done_head = loop.head = loop.page->done_tail;
	check(call_by_entry(&loop, SYS_getpid, 0, 0, 0, 0) == getpid(), "and still works");

	/* An entry that waits is submitted again, and changed. */
	submit_recv(&loop, 5, sv[0], &byte);
	check(execute(&loop) == 0, "it waits");
	submit(&loop, 5, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 0, "it cannot be submitted meanwhile");
	memset(loop.entries, 0xff, 64 * sizeof(*loop.entries));
	check(send(sv[1], "y", 1, 0) == 1 && execute(&loop) == 1 && collect(&loop) == 5 &&
	      entry_result(&loop, 5) == 1 && byte == 'y', "nor changed");

	/* At any address, because the pages of the loop are ordinary memory. */
	check(send(sv[1], "01234567", 8, 0) == 8 &&
	      call_by_entry(&loop, SYS_recvfrom, sv[0], (uintptr_t)&loop.page->submit_head, 4, 0) == 4,
	      "a call writes to the page");
	loop.page->submit_head = loop.tail;
	check(call_by_entry(&loop, SYS_getpid, 0, 0, 0, 0) == getpid(), "which changes nothing");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	hostile();
	return finish();
}
