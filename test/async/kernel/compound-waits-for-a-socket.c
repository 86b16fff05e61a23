// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Compounds wait for sockets when their recvfrom or sendto would block, and resume with their
 * registers. Those that wait for one socket take turns.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

static bool echoes(struct loop *loop, int fd, const char *text)
{
	char got[64];
	ssize_t n = (ssize_t)strlen(text);

	if (send(fd, text, n, 0) != n || go(loop, 0))
		return false;
	return recv(fd, got, sizeof(got), MSG_DONTWAIT) == n && !memcmp(got, text, n);
}

static void serving(void)
{
	static char buffers[64][64];
	static __u64 frames[64][NREGS + 1];
	int sv[64][2];
	unsigned int good = 0;
	struct loop loop;

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_COMPOUNDS, "the loop says that it runs compounds");
	for (uint32_t i = 0; i < 64; i++) {
		pair(sv[i]);
		frames[i][FD] = (__u64)sv[i][0];
		frames[i][BUF] = (uintptr_t)buffers[i];
		frames[i][SIZE] = sizeof(buffers[i]);
		start(&loop, i, echo, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0 && loop.page->submit_head == loop.tail,
	      "64 compounds wait for their sockets");
	check(!readable(loop.fd), "the loop is not readable while all wait");
	for (int i = 0; i < 64; i++)
		good += echoes(&loop, sv[i][1], i & 1 ? "one" : "another") &&
			echoes(&loop, sv[i][1], "and again");
	check(good == 64, "each compound answers twice: %u of 64", good);
	for (int i = 0; i < 64; i++)
		send(sv[i][1], "together", 8, 0);
	check(readable(loop.fd) && go(&loop, 0) == 0 && !readable(loop.fd),
	      "the loop is readable until the woken compounds are executed");
	good = 0;
	for (int i = 0; i < 64; i++) {
		char got[64];

		good += recv(sv[i][1], got, 64, MSG_DONTWAIT) == 8;
		close(sv[i][1]);
	}
	check(good == 64, "each compound answers in one execution of the loop: %u of 64", good);
	check(go(&loop, 64) == 64, "each compound ends with its connection");
	good = 0;
	for (int i; (i = collect(&loop)) >= 0; close(sv[i][0]))
		good += loop.entries[i].status == COSY_ENTRY_DONE && entry_result(&loop, i) == 0 &&
			frames[i][ROUNDS] == 3 && frames[i][GOT] == 0;
	check(good == 64, "each one has its exit and its outputs: %u of 64", good);
	destroy(&loop);
}

static void sending(void)
{
	static char out[1 << 20], in[1 << 20];
	static __u64 frame[NREGS + 1];
	size_t received = 0;
	struct loop loop;
	int sv[2], ended = 0;

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7 + (i >> 8));
	create(&loop, 64);
	pair(sv);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)out;
	frame[SIZE] = sizeof(out);
	start(&loop, 0, send_all, frame, 0, 0);
	check(go(&loop, 0) == 0, "a send of more than fits waits");
	while (received < sizeof(in)) {
		ssize_t n = recv(sv[1], in + received, sizeof(in) - received, MSG_DONTWAIT);

		if (n > 0)
			received += (size_t)n;
		ended += execute(&loop);
	}
	check(ended == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == 3 &&
	      frame[SENT] == sizeof(out) && !memcmp(in, out, sizeof(in)),
	      "the receiver gets all data once, and the send returns its size");
	start(&loop, 0, send_all, frame, 0, 0);
	check(go(&loop, 0) == 0 && enter_loop(&loop, COSY_ASYNC_CANCEL | 0) ==
	      (long long)COSY_ASYNC_ENTERED && go(&loop, 1) == 1 && collect(&loop) == 0,
	      "a waiting send is cancelled");
	received = drain(sv[1]);
	check(received && frame[SENT] == received,
	      "a cancelled send returns what it has sent: %llu of %zu",
	      (unsigned long long)frame[SENT], received);
	close(sv[1]);
	check(run(&loop, send_all, frame, 0, 0) == 3 && (long long)frame[SENT] == -EPIPE,
	      "EPIPE: the peer has closed the socket");
	close(sv[0]);
	destroy(&loop);
}

/*
 * All compounds that wait for a socket receive before one of them receives again. That is the
 * first one, unless the kernel had work between its two calls, which delays it.
 */
static void taking_turns(void)
{
	static __u64 frames[3][NREGS + 1];
	char bytes[] = "---";
	struct loop loop;
	int sv[2], ended;
	__u64 twice;

	create(&loop, 64);
	pair(sv);
	twice = receive_twice();
	for (uint32_t i = 0; i < 3; i++) {
		frames[i][FD] = (__u64)sv[0];
		frames[i][BUF] = (uintptr_t)&bytes[i];
		frames[i][SIZE] = 1;
		start(&loop, i, twice, frames[i], 0, 0);
	}
	check(go(&loop, 0) == 0, "three compounds wait for a socket");
	send(sv[1], "abcd", 4, 0);
	check(go(&loop, 1) == 1, "one of them receives twice and ends");
	ended = collect(&loop);
	/* Its second byte follows its first one. */
	check(ended >= 0 && ended < 3 && bytes[ended] == 'd' && strspn(bytes, "abcd") == 3 &&
	      bytes[0] != bytes[1] && bytes[1] != bytes[2] && bytes[0] != bytes[2],
	      "no compound receives again before the others: %s, %d has ended", bytes, ended);
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

/* If poll() and recvfrom() disagree, the call is made. */
static void not_asked(void)
{
	static __u64 frame[NREGS + 1];
	struct sockaddr_in name = { .sin_family = AF_INET };
	int low = 100, sv[2], listener;
	char buffer[8];
	struct loop loop;
	__u64 answer;

	create(&loop, 64);
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = sizeof(buffer);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	check(!bind(listener, (struct sockaddr *)&name, sizeof(name)) && !listen(listener, 1),
	      "a socket listens");
	frame[FD] = (__u64)listener;
	check(run(&loop, receive, frame, 0, 0) == 2 && (long long)frame[GOT] == -ENOTCONN,
	      "ENOTCONN: a receive from a socket that listens does not wait");
	close(listener);

	pair(sv);
	frame[FD] = (__u64)sv[0];
	check(!setsockopt(sv[0], SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)) &&
	      send(sv[1], "0123456789", 10, 0) == 10,
	      "the socket has less data than its low-water mark");
	check(run(&loop, receive, frame, 0, 0) == 2 && frame[GOT] == sizeof(buffer),
	      "a receive of even less does not wait");
	close(sv[0]);
	close(sv[1]);

	/* The sender is not notified when the receiver of a datagram has room again. */
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sv))
		die("socketpair");
	answer = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), SEND(SENT, FD, BUF, SIZE, 0), EXIT(1));
	frame[FD] = (__u64)sv[0];
	while (send(sv[0], "x", 1, MSG_DONTWAIT) == 1)
		;
	start(&loop, 0, answer, frame, 0, 0);
	check(go(&loop, 0) == 0, "a compound waits for a datagram");
	send(sv[1], "x", 1, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 0 && is_left(&loop, 0, COSY_STEP, 7),
	      "a send to a full datagram socket is left to the process");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

/* Connect two TCP sockets. */
static void tcp_pair(int sv[2])
{
	int listener = listen_for(1);

	sv[1] = connect_one();
	sv[0] = accept(listener, NULL, NULL);
	if (sv[0] < 0)
		die("accept");
	close(listener);
}

/* What TCP sockets report without poll(): nothing, data, urgent data, the end, an error. */
static void waiting_for_tcp(void)
{
	const struct linger reset = { .l_onoff = 1 };
	static __u64 frame[NREGS + 1];
	char buffer[8] = "";
	struct loop loop;
	int sv[2];

	create(&loop, 64);
	frame[BUF] = (uintptr_t)buffer;
	frame[SIZE] = sizeof(buffer);
	for (int waits = 0; waits < 2; waits++) {
		tcp_pair(sv);
		frame[FD] = (__u64)sv[0];
		for (int i = 0; i < 4; i++) {
			if (waits) {
				start(&loop, 0, receive, frame, 0, 0);
				check(go(&loop, 0) == 0, "a receive waits for TCP data");
			}
			if (i == 0)
				send(sv[1], "abc", 3, 0);
			else if (i == 1)
				send(sv[1], "dx", 2, MSG_OOB);
			else if (i == 2)
				send(sv[1], "e", 1, 0);
			else
				shutdown(sv[1], SHUT_WR);
			if (!waits)
				start(&loop, 0, receive, frame, 0, 0);
			check(go(&loop, 1) == 1 && collect(&loop) == 0 &&
			      entry_result(&loop, 0) == 2, "the receive completes");
			check(i == 0 ? frame[GOT] == 3 && !memcmp(buffer, "abc", 3) :
			      i == 1 ? frame[GOT] == 1 && buffer[0] == 'd' :
			      i == 2 ? frame[GOT] == 1 && buffer[0] == 'e' :
				       frame[GOT] == 0,
			      "message %d: %lld, '%c'", i, (long long)frame[GOT], buffer[0]);
		}
		close(sv[0]);
		close(sv[1]);

		tcp_pair(sv);
		frame[FD] = (__u64)sv[0];
		if (waits) {
			start(&loop, 0, receive, frame, 0, 0);
			check(go(&loop, 0) == 0, "a receive waits for TCP data");
		}
		setsockopt(sv[1], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(sv[1]);
		if (!waits)
			start(&loop, 0, receive, frame, 0, 0);
		check(go(&loop, 1) == 1 && collect(&loop) == 0 &&
		      (long long)frame[GOT] == -ECONNRESET,
		      "ECONNRESET: the peer has reset the connection: %lld", (long long)frame[GOT]);
		close(sv[0]);
	}
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	load_all();
	serving();
	sending();
	taking_turns();
	not_asked();
	waiting_for_tcp();
	return finish();
}
