// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A compound closes a socket that the process declares unused. A close of another file is left to the
 * process.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

/* close() of a socket that the process declares unused. */
static void closing(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 1 };
	static __u64 frames[2][NREGS + 1];
	struct sockaddr_in name = { .sin_family = AF_INET };
	__u8 used[32] = { 0 };
	__u64 end, wait_and_end;
	struct loop loop;
	int sv[2], lingering, zero = open("/dev/zero", O_RDONLY);
	char buffer[8];

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_CLOSES, "the loop says that it closes sockets");
	end = LOAD_FOR_LOOPS(SYS(GOT, SYS_close, 1), ARG(FD), EXIT(2));
	wait_and_end = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), SYS(SENT, SYS_close, 1),
				      ARG(FD), EXIT(3));
	pair(sv);
	for (int i = 0; i < 2; i++) {
		frames[i][FD] = (__u64)sv[0];
		frames[i][BUF] = (uintptr_t)buffer;
		frames[i][SIZE] = sizeof(buffer);
	}
	/* The map: none, one that contains it, one at an unmapped address. */
	for (int i = 0; i < 3; i++) {
		loop.page->nused = 256;
		loop.page->used = i == 0 ? 0 : i == 1 ? (uintptr_t)used : 8;
		used[sv[0] / 8] = (__u8)(1 << sv[0] % 8);
		start(&loop, 1, end, frames[1], 0, 0);
		check(go(&loop, 1) == 1 && collect(&loop) == 1 && is_left(&loop, 1, COSY_STEP, 0) &&
		      entry_result(&loop, 1) == COSY_STEP_CALL && fcntl(sv[0], F_GETFD) >= 0,
		      "a close of a descriptor that may be used is left to the process");
	}
	used[sv[0] / 8] = (__u8)~used[sv[0] / 8];
	loop.page->used = (uintptr_t)used;
	start(&loop, 0, wait_and_end, frames[0], 0, 0);
	check(go(&loop, 0) == 0, "a compound waits for the socket");
	start(&loop, 1, end, frames[1], 0, 0);
	/*
	 * Before 6.6 the socket is closed on the return to user mode, and the other one ends
	 * first.
	 */
	check(go(&loop, 2) == 2 && collect(&loop) + collect(&loop) == 1 &&
	      entry_result(&loop, 1) == 2 && frames[1][GOT] == 0 &&
	      fcntl(sv[0], F_GETFD) < 0, "another compound closes the socket");
	check(recv(sv[1], buffer, 1, 0) == 0, "the peer sees the end of the connection");
	check(is_left(&loop, 0, COSY_STEP, 7) && (long long)frames[0][GOT] == -ECANCELED,
	      "ECANCELED: the compound that waits fails, and its close is left to the process");
	close(sv[1]);

	/* No data after the map is used. */
	pair(sv);
	loop.page->nused = 0;
	frames[0][FD] = (__u64)sv[0];
	start(&loop, 0, wait_and_end, frames[0], 0, 0);
	check(go(&loop, 0) == 0 && send(sv[1], "x", 1, 0) == 1 && go(&loop, 1) == 1 &&
	      collect(&loop) == 0 && frames[0][SENT] == 0 && recv(sv[1], buffer, 1, 0) == 0,
	      "a compound closes the socket that it has waited for");
	close(sv[1]);

	/* Other sockets may take longer, and do more work. */
	lingering = socket(AF_INET, SOCK_STREAM, 0);
	check(!bind(lingering, (struct sockaddr *)&name, sizeof(name)) &&
	      !setsockopt(lingering, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) &&
	      zero >= 0, "a lingering socket and /dev/zero are opened");
	for (int i = 0; i < 5; i++) {
		const int fds[] = { lingering, zero, device, loop.fd, -1 };

		frames[1][FD] = (__u64)fds[i];
		start(&loop, 1, end, frames[1], 0, 0);
		check(go(&loop, 1) == 1 && collect(&loop) == 1 && is_left(&loop, 1, COSY_STEP, 0),
		      "a close of another file is left to the process");
	}
	close(lingering);
	close(zero);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	load_all();
	closing();
	return finish();
}
