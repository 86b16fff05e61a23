// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The registers of waiting compounds count towards the user's limit, and the loop gives all of it back.
 */
// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

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
	      "%u wait, then there is no more memory for this user", n);
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
	return n;
}

static void charged(void)
{
	const struct cosy_op ops[] = { RECV(GOT, FD, BUF, SIZE, 0), EXIT(2) };
	const uid_t uid = 61001;
	unsigned int first;
	__u64 handle;

	if (!geteuid() && setresuid(uid, uid, uid))
		die("setresuid");
	handle = load_for_loops(ops, sizeof(ops) / sizeof(*ops), COSY_MAX_REGS);
	first = wait_until_refused(handle);
	check(wait_until_refused(handle) == first, "the loop gives all of it back");
}

int main(void)
{
	device = open_device();
	load_all();
	charged();
	return finish();
}
