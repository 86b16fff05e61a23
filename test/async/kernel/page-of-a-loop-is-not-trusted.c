// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Whatever the process writes to a loop's page, the module executes only valid entries, and a waiting
 * entry is not changed.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/entries.h"

/* Writes that the process should not make. */
static void hostile(void)
{
	char *argv[] = { "/bin/true", NULL };
	struct loop loop;

	create(&loop, 64);
	submit_index(&loop, 64);
	submit_index(&loop, ~0u);
	submit_index(&loop, 1u << 31);
	check(execute(&loop) == 0 && loop.page->submit_head == loop.tail,
	      "indices after the last entry are skipped");

	submit(&loop, 0, 0, SYS_getpid, 0, 0, 0, 0);
	loop.entries[0].colour = 1;
	check(execute(&loop) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == -EINVAL,
	      "an entry with a colour is invalid");
	submit(&loop, 0, COSY_ENTRY_BUFFERED | COSY_ENTRY_THREAD, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == -EINVAL,
	      "an entry with the flags BUFFERED and THREAD is invalid");
	for (int flag = 0; flag < 8; flag++) {
		if (COSY_ENTRY_FLAGS & 1u << flag)
			continue;
		submit(&loop, 0, 1u << flag, SYS_getpid, 0, 0, 0, 0);
		check(execute(&loop) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == -EINVAL,
		      "unknown flag %#x", 1u << flag);
	}
	submit(&loop, 0, 0, COSY_ENTRY_SPECIAL + 1, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == -EINVAL,
	      "EINVAL: the special number is unknown");
	submit(&loop, 0, 0, SYS_execve, (uintptr_t)argv[0], (uintptr_t)argv, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 0 &&
	      loop.entries[0].status == COSY_ENTRY_USER &&
	      loop.entries[0].args[1] == (uintptr_t)argv,
	      "execve() is given back with its arguments");
	for (int i = 0; i < 3; i++) {
		static const unsigned int none[] = { 1000, 100000, COSY_ENTRY_SPECIAL - 1 };

		submit(&loop, 0, 0, none[i], 0, 0, 0, 0);
		check(execute(&loop) == 1 && collect(&loop) == 0 &&
		      loop.entries[0].status == COSY_ENTRY_USER,
		      "call %u, which does not exist, is given back", none[i]);
	}

	/* The page contradicts the module's state. */
	loop.page->nentries = ~0u;
	loop.page->entries = loop.page->submitted = loop.page->done = 0xfffffff0;
	loop.page->submit_head = loop.page->done_tail = loop.page->done_head = 12345;
	submit(&loop, 0, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && loop.page->submit_head == loop.tail &&
	      entry_result(&loop, 0) == getpid(),
	      "a wrong header changes nothing of the next call");
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
	check(loop.page->submit_head != loop.tail,
	      "an execution of more entries than there are ends");
	loop.tail = loop.page->submit_tail = loop.page->submit_head;
	loop.page->done_head = loop.head = loop.page->done_tail;
	check(call_by_entry(&loop, SYS_getpid, 0, 0, 0, 0) == getpid(), "the next call completes");

	destroy(&loop);
}

/* An entry that waits is submitted again, and changed; and a call writes to the page. */
static void waiting(void)
{
	struct loop loop;
	char byte;
	int sv[2];

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	submit_recv(&loop, 5, sv[0], &byte);
	check(execute(&loop) == 0, "an entry waits");
	submit(&loop, 5, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 0,
	      "an entry that waits is not executed when it is submitted again");
	memset(loop.entries, 0xff, 64 * sizeof(*loop.entries));
	check(send(sv[1], "y", 1, 0) == 1 && execute(&loop) == 1 && collect(&loop) == 5 &&
	      entry_result(&loop, 5) == 1 && byte == 'y',
	      "an entry that waits completes with its own arguments when its place is overwritten");

	/* At any address, because the pages of the loop are ordinary memory. */
	check(send(sv[1], "01234567", 8, 0) == 8 &&
	      call_by_entry(&loop, SYS_recvfrom, sv[0], (uintptr_t)&loop.page->submit_head, 4, 0) == 4,
	      "a call writes to the page of its loop");
	loop.page->submit_head = loop.tail;
	check(call_by_entry(&loop, SYS_getpid, 0, 0, 0, 0) == getpid(), "the next call completes");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	hostile();
	waiting();
	return finish();
}
