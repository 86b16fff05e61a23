// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The registers of waiting compounds count towards the user's limit, and the loop gives all of it back.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

/* So many compounds wait that their registers exceed the user's limit. */
static unsigned int wait_until_refused(__u64 handle)
{
	static __u64 frame[COSY_MAX_REGS];
	static char byte;
	unsigned int n = 0;
	struct loop loop;
	int sv[2];

	if (create(&loop, 1 << 14))
		die("a loop");
	frame[BUF] = (uintptr_t)&byte;
	frame[SIZE] = 1;
	for (;; n++) {
		if (n % 32 == 0) {
			pair(sv);
			frame[FD] = (__u64)sv[0];
		}
		start(&loop, n, handle, frame, 0, 0);
		if (go(&loop, 0))
			break;
		if (n % 32 == 31) {
			close(sv[0]);
			close(sv[1]);
		}
	}
	check(n && collect(&loop) == (int)n && entry_result(&loop, (int)n) == -EDQUOT,
	      "EDQUOT: the registers of %u waiting compounds reach the user's limit", n);
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
	return n;
}

static void charged(void)
{
	const struct cosy_op ops[] = { RECV(GOT, FD, BUF, SIZE, 0), EXIT(2) };
	unsigned int first;
	__u64 handle;

	become_user(61001);
	handle = load_for_loops(ops, sizeof(ops) / sizeof(*ops), COSY_MAX_REGS);
	first = wait_until_refused(handle);
	check(wait_until_refused(handle) == first,
	      "the same number can wait after the loop is destroyed");
}

int main(void)
{
	device = open_device();
	load_all();
	charged();
	return finish();
}
