// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Loops in the module. A submitted entry completes once, with the call's own result. An entry that
 * waits for a socket does not keep its file open. Writes of the process to the page, and
 * operations on its descriptors, do no harm. Nothing remains when the process ends.
 */

// RUN: %compile %s -o %t
// RUN: %vm timeout 900 %t

#include "../../kernel/loop.h"

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

static void creating(void)
{
	struct cosy_async_create c = { .size = sizeof(c), .nentries = 64 };
	static const unsigned int wrong[] = { 0, 1, 63, 65, 32, 3 << 10, COSY_ASYNC_MAX_ENTRIES * 2,
					      ~0u };
	struct cosy_info info = { .size = sizeof(info) };
	struct loop loop;

	check(!ioctl(device, COSY_IOC_INFO, &info) && info.features & COSY_FEATURE_ASYNC,
	      "the module says that it makes loops");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		c.nentries = wrong[i];
		check(ioctl(device, COSY_IOC_ASYNC, &c) == -1 && errno == EINVAL,
		      "%u entries are invalid", wrong[i]);
	}
	c.nentries = 64;
	c.flags = 1;
	check(ioctl(device, COSY_IOC_ASYNC, &c) == -1 && errno == EINVAL, "unknown flags");
	c.flags = 0;
	c.size = 4;
	check(ioctl(device, COSY_IOC_ASYNC, &c) == -1 && errno == EINVAL, "too small a structure");
	check(ioctl(device, COSY_IOC_ASYNC, NULL) == -1 && errno == EFAULT, "no structure");
	check(create(&loop, COSY_ASYNC_MAX_ENTRIES) == -EDQUOT, "more than a user may have");

	/*
	 * The answer cannot be written. There must be no descriptor that the process does not
	 * know.
	 */
	int next = dup(0);

	close(next);
	struct cosy_async_create *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = (struct cosy_async_create){ .size = sizeof(*page), .nentries = 64 };
	mprotect(page, 4096, PROT_READ);
	check(ioctl(device, COSY_IOC_ASYNC, page) == -1 && errno == EFAULT, "read-only");
	check(dup(0) == next, "no descriptor is left behind");
	close(next);

	check(!create(&loop, 64), "a loop");
	check(fcntl(loop.fd, F_GETFD) == FD_CLOEXEC, "close-on-exec");
	check(loop.page->size == sizeof(*loop.page) && loop.page->version == COSY_ASYNC_VERSION &&
	      loop.page->nentries == 64 && loop.page->entries % 64 == 0 &&
	      loop.page->features & COSY_ASYNC_WAITS, "the page's header");
	check(mmap(NULL, loop.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, loop.fd, 0) == MAP_FAILED,
	      "no private mapping");
	check(mmap(NULL, loop.size, PROT_READ | PROT_EXEC, MAP_SHARED, loop.fd, 0) == MAP_FAILED,
	      "no executable mapping");
	check(mprotect(loop.page, loop.size, PROT_READ | PROT_EXEC) == -1, "nor later");
	check(mmap(NULL, loop.size + 4096, PROT_READ, MAP_SHARED, loop.fd, 0) == MAP_FAILED,
	      "not more than there is");
	check(mmap(NULL, loop.size, PROT_READ, MAP_SHARED, loop.fd, 4096) == MAP_FAILED,
	      "nothing behind it");
	check(mremap(loop.page, loop.size, loop.size * 2, MREMAP_MAYMOVE) == MAP_FAILED,
	      "it does not grow");
	check(enter_loop(&loop, 0) == -EINVAL && enter_loop(&loop, COSY_ASYNC_MAX_DONE + 1) == -EINVAL,
	      "the number of completions");
	check(lseek(loop.fd, 0, SEEK_SET) == -1 && errno == ESPIPE, "an ordinary lseek");
	check(lseek(loop.fd, 1, COSY_RUN_WHENCE) == -1 && errno == ESPIPE, "one without the tag");
	check(read(loop.fd, &c, 1) == -1 && write(loop.fd, &c, 1) == -1, "neither read nor written");
	destroy(&loop);
}

static void calls(void)
{
	static char st[256];
	struct loop loop;
	unsigned int good = 0;
	int fds[2];

	create(&loop, 128);
	check(execute(&loop) == 0, "nothing to do");
	for (uint32_t i = 0; i < 100; i++)
		submit(&loop, i, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 64, "64 at a time");
	check(execute(&loop) == 36, "then the rest");
	check(execute(&loop) == 0, "and no more");
	for (int i = 0; i < 100; i++)
		good += collect(&loop) == i && entry_result(&loop, i) == getpid() &&
			loop.entries[i].status == COSY_ENTRY_DONE &&
			loop.entries[i].user_data == (uint64_t)i;
	check(good == 100 && collect(&loop) == -1, "each has the result");
	check(call_by_entry(&loop, SYS_statx, AT_FDCWD, (uintptr_t)"/nonexistent", 0, 0x7ff) < 0,
	      "a fast path");
	check(call_by_entry(&loop, SYS_newfstatat, AT_FDCWD, (uintptr_t)"/", (uintptr_t)st, 0) == 0,
	      "another one");
	check(call_by_entry(&loop, SYS_newfstatat, AT_FDCWD, (uintptr_t)"/", 8, 0) == -EFAULT, "EFAULT");
	check(call_by_entry(&loop, SYS_pipe2, (uintptr_t)fds, O_NONBLOCK, 0, 0) == 0, "a plain call");
	check(call_by_entry(&loop, SYS_write, fds[1], (uintptr_t)"x", 1, 0) == 1, "write");
	check(call_by_entry(&loop, SYS_close, fds[0], 0, 0, 0) == 0, "close");
	signal(SIGPIPE, SIG_IGN);
	check(call_by_entry(&loop, SYS_write, fds[1], (uintptr_t)"x", 1, 0) == -EPIPE, "EPIPE");
	close(fds[1]);

	submit(&loop, 3, COSY_ENTRY_SILENT, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == -1 &&
	      loop.entries[3].status == COSY_ENTRY_FREE, "silent");
	destroy(&loop);
}

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

/* A connected pair of the kind under test. */
static int pair(int kind, int sv[2])
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(addr);
	int listener;

	if (kind < 3) {
		static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };

		return socketpair(AF_UNIX, types[kind], 0, sv);
	}
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (void *)&addr, size) || listen(listener, 1) ||
	    getsockname(listener, (void *)&addr, &size))
		return -1;
	sv[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(sv[1], (void *)&addr, size))
		return -1;
	sv[0] = accept(listener, NULL, NULL);
	close(listener);
	return 0;
}

static void waiting(void)
{
	static const char *const kinds[] = { "stream", "seqpacket", "dgram", "tcp" };
	struct loop loop;
	char byte = 0, other;
	int sv[2];

	create(&loop, 64);
	for (int kind = 0; kind < 4; kind++) {
		if (!check(!pair(kind, sv), "%s: a pair", kinds[kind]))
			continue;
		submit_recv(&loop, 7, sv[0], &byte);
		check(execute(&loop) == 0 && !readable(loop.fd), "%s: it waits", kinds[kind]);
		check(send(sv[1], "a", 1, 0) == 1 && readable(loop.fd), "%s: it is ready", kinds[kind]);
		check(execute(&loop) == 1 && readable(loop.fd) && collect(&loop) == 7 &&
		      entry_result(&loop, 7) == 1 && byte == 'a' && !readable(loop.fd),
		      "%s: it has received", kinds[kind]);
		submit_recv(&loop, 7, sv[0], &byte);
		execute(&loop);
		check(send(sv[1], "b", 1, 0) == 1 && recv(sv[0], &other, 1, 0) == 1 &&
		      execute(&loop) == 0 && !readable(loop.fd), "%s: another reader", kinds[kind]);
		check(send(sv[1], "c", 1, 0) == 1 && execute(&loop) == 1 && collect(&loop) == 7 &&
		      byte == 'c', "%s: then this one", kinds[kind]);
		submit_recv(&loop, 7, sv[0], &byte);
		execute(&loop);
		close(sv[1]);
		if (kind != 2)
			check(execute(&loop) == 1 && collect(&loop) == 7 && entry_result(&loop, 7) == 0,
			      "%s: the end", kinds[kind]);
		else
			check(enter_loop(&loop, COSY_ASYNC_CANCEL | 7) == (long long)COSY_ASYNC_ENTERED,
			      "%s: it waits for ever", kinds[kind]);
		close(sv[0]);
	}
	destroy(&loop);
}

static void sending(void)
{
	static char data[1 << 16];
	struct loop loop;
	int sv[2];
	ssize_t n;

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	while (send(sv[0], data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	submit(&loop, 2, COSY_ENTRY_WAIT_OUT, SYS_sendto, sv[0], (uintptr_t)data, 1, MSG_DONTWAIT);
	check(execute(&loop) == 0 && !readable(loop.fd), "there is no room");
	while ((n = recv(sv[1], data, sizeof(data), MSG_DONTWAIT)) > 0)
		;
	check(readable(loop.fd) && execute(&loop) == 1 && collect(&loop) == 2 &&
	      entry_result(&loop, 2) == 1, "there is");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

static void accepting(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(addr);
	struct loop loops[2];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), client, done = 0;

	check(!bind(listener, (void *)&addr, size) && !listen(listener, 8) &&
	      !getsockname(listener, (void *)&addr, &size), "a listener");
	for (int i = 0; i < 2; i++) {
		create(&loops[i], 64);
		submit(&loops[i], 0, COSY_ENTRY_WAIT_IN, SYS_accept4, listener, 0, 0, 0);
		check(execute(&loops[i]) == 0, "accept waits");
	}
	client = socket(AF_INET, SOCK_STREAM, 0);
	check(!connect(client, (void *)&addr, size), "connect");
	/* The cancelled one has not taken the connection from the other one. */
	enter_loop(&loops[0], COSY_ASYNC_CANCEL | 0);
	done = execute(&loops[1]);
	check(done == 1 && entry_result(&loops[1], 0) >= 0, "the other loop accepts");
	close((int)entry_result(&loops[1], 0));
	close(client);
	close(listener);
	destroy(&loops[0]);
	destroy(&loops[1]);
}

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

static void cancelling(void)
{
	struct loop loop;
	char byte = 0;
	int sv[2];

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == -ENOENT, "nothing waits");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 64) == -ENOENT, "nor is there such an entry");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 0xffffffff) == -ENOENT, "nor such a one");
	submit_recv(&loop, 3, sv[0], &byte);
	execute(&loop);
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == (long long)COSY_ASYNC_ENTERED, "cancelled");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == -ENOENT, "once");
	check(send(sv[1], "a", 1, 0) == 1 && !readable(loop.fd) && execute(&loop) == 0 &&
	      collect(&loop) == -1, "it does not complete");
	submit_recv(&loop, 3, sv[0], &byte);
	check(execute(&loop) == 1 && collect(&loop) == 3 && byte == 'a', "and lost nothing");
	/* One whose socket is already ready. */
	submit_recv(&loop, 3, sv[0], &byte);
	execute(&loop);
	check(send(sv[1], "b", 1, 0) == 1 && readable(loop.fd) &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == (long long)COSY_ASYNC_ENTERED &&
	      !readable(loop.fd) && execute(&loop) == 0, "ready and cancelled");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

/* Return the number of entries that the loop holds, as /proc tells. */
static int held(const struct loop *loop)
{
	char path[64], line[64];
	int n = -1;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", loop->fd);
	info = fopen(path, "r");
	while (info && fgets(line, sizeof(line), info))
		sscanf(line, "held: %d", &n);
	if (info)
		fclose(info);
	return n;
}

static bool receives(struct loop *loop, int from, char expected, char *byte)
{
	return send(from, &expected, 1, 0) == 1 && readable(loop->fd) && execute(loop) == 1 &&
	       collect(loop) == 3 && entry_result(loop, 3) == 1 && *byte == expected &&
	       !readable(loop->fd);
}

/* Such addresses are refused before a call looks at its socket. */
#define KERNEL_ADDRESS 0xffff888000000000ul

/* What an entry has waited for is kept for the next entry with its index, and has no other effect. */
static void idle(void)
{
	struct loop loop;
	int sv[2], other[2], last[2];
	char byte = 0;

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	socketpair(AF_UNIX, SOCK_STREAM, 0, other);
	for (int round = 0; round < 3; round++) {
		submit_recv(&loop, 3, sv[0], &byte);
		check(execute(&loop) == 0 && held(&loop) == 1 && receives(&loop, sv[1], 'a', &byte) &&
		      held(&loop) == 0, "it waits again: %d", round);
	}
	check(send(sv[1], "b", 1, 0) == 1 && !readable(loop.fd) && execute(&loop) == 0 &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == -ENOENT, "no entry waits");
	submit_recv(&loop, 3, sv[0], &byte);
	check(execute(&loop) == 1 && collect(&loop) == 3 && byte == 'b', "it receives at once");
	submit_recv(&loop, 3, sv[0], (char *)KERNEL_ADDRESS);
	check(execute(&loop) == 1 && collect(&loop) == 3 && entry_result(&loop, 3) == -EFAULT,
	      "a call that natively fails does not wait");
	submit_recv(&loop, 3, other[0], &byte);
	check(execute(&loop) == 0 && send(sv[1], "c", 1, 0) == 1 && !readable(loop.fd) &&
	      receives(&loop, other[1], 'd', &byte), "it waits for another socket");
	submit_recv(&loop, 3, other[0], &byte);
	check(execute(&loop) == 0 &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == (long long)COSY_ASYNC_ENTERED &&
	      enter_loop(&loop, COSY_ASYNC_CANCEL | 3) == -ENOENT && held(&loop) == 0 &&
	      send(other[1], "e", 1, 0) == 1 && !readable(loop.fd), "it is cancelled");
	submit(&loop, 3, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 3 && entry_result(&loop, 3) == getpid(),
	      "another call");
	submit(&loop, 3, 0, COSY_ENTRY_COMPOUND, (uint64_t)device, 1000, 0, 0);
	loop.entries[3].args[5] = COSY_COMPOUND_RESUMED;
	check(execute(&loop) == 1 && collect(&loop) == 3 && entry_result(&loop, 3) < 0,
	      "no compound is resumed");
	submit_recv(&loop, 3, sv[0], &byte);
	check(execute(&loop) == 1 && collect(&loop) == 3 && byte == 'c', "what was sent meanwhile");
	submit_recv(&loop, 3, sv[0], &byte);
	check(execute(&loop) == 0 && receives(&loop, sv[1], 'f', &byte), "it waits");
	close(sv[0]);
	check(recv(sv[1], &byte, 1, 0) == 0, "it does not hold the file");
	dup2(other[0], sv[0]);
	recv(other[0], &byte, 1, 0);
	submit_recv(&loop, 3, sv[0], &byte);
	check(execute(&loop) == 0 && receives(&loop, other[1], 'g', &byte),
	      "the number refers to another socket");
	/* Two entries on one socket. */
	submit_recv(&loop, 3, sv[0], &byte);
	submit_recv(&loop, 4, other[0], &byte);
	check(execute(&loop) == 0 && send(other[1], "h", 1, 0) == 1 && execute(&loop) == 1 &&
	      held(&loop) == 1, "one of two receives");
	check(send(other[1], "i", 1, 0) == 1 && execute(&loop) == 1 && held(&loop) == 0 &&
	      collect(&loop) + collect(&loop) == 7, "then the other one");
	/* Many without a wait: from some time on nothing is kept. */
	for (int i = 0; i < 10; i++) {
		byte = 0;
		send(other[1], "j", 1, 0);
		submit_recv(&loop, 3, sv[0], &byte);
		check(execute(&loop) == 1 && collect(&loop) == 3 && byte == 'j', "at once: %d", i);
	}
	/* The end of a connection wakes all waiters, whatever their events. */
	socketpair(AF_UNIX, SOCK_STREAM, 0, last);
	submit_recv(&loop, 3, last[0], &byte);
	check(execute(&loop) == 0 && receives(&loop, last[1], 'k', &byte), "it waits again");
	close(last[1]);
	check(!readable(loop.fd), "there is nothing to execute");
	submit_recv(&loop, 3, last[0], &byte);
	check(execute(&loop) == 1 && collect(&loop) == 3 && entry_result(&loop, 3) == 0, "the end");
	close(last[0]);
	close(sv[0]);
	close(sv[1]);
	close(other[0]);
	close(other[1]);
	destroy(&loop);
}

static void closing(void)
{
	struct loop loop;
	char byte = 0;
	int sv[2], copy, other[2];

	create(&loop, 64);
	for (int kind = 0; kind < 4; kind += 3) {
		check(!pair(kind, sv), "a pair");
		submit_recv(&loop, 0, sv[0], &byte);
		check(execute(&loop) == 0, "it waits");
		close(sv[0]);
		check(recv(sv[1], &byte, 1, 0) == 0, "what waits does not hold the file");
		enter_loop(&loop, COSY_ASYNC_CANCEL | 0);
		close(sv[1]);
	}
	/* The number belongs to another file when the first one becomes ready. */
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	socketpair(AF_UNIX, SOCK_STREAM, 0, other);
	copy = dup(sv[0]);
	submit_recv(&loop, 0, sv[0], &byte);
	execute(&loop);
	dup2(other[0], sv[0]);
	check(send(other[1], "o", 1, 0) == 1 && send(sv[1], "f", 1, 0) == 1, "both have something");
	byte = 0;
	check(execute(&loop) == 1 && collect(&loop) == 0 && entry_result(&loop, 0) == -ECANCELED && !byte,
	      "it is cancelled, and takes nothing");
	check(recv(copy, &byte, 1, 0) == 1 && byte == 'f' && recv(sv[0], &byte, 1, 0) == 1 &&
	      byte == 'o', "all is still there");
	/* A loop is destroyed while entries wait, ready or not. */
	submit_recv(&loop, 1, copy, &byte);
	submit_recv(&loop, 2, other[0], &byte);
	execute(&loop);
	send(sv[1], "x", 1, 0);
	destroy(&loop);
	check(send(sv[1], "x", 1, 0) == 1 && send(other[1], "x", 1, 0) == 1, "nobody is woken");
	close(sv[0]);
	close(sv[1]);
	close(copy);
	close(other[0]);
	close(other[1]);
}

static void recursion(void)
{
	static struct loop loop, outer;
	int fds[2];
	char bytes[4];

	create(&loop, 64);
	check(call_by_entry(&loop, SYS_lseek, loop.fd, COSY_RUN_TAG | 64, COSY_RUN_WHENCE, 0) == -EBUSY,
	      "it is not entered from inside");
	create(&outer, 64);
	submit(&loop, 2, 0, SYS_getpid, 0, 0, 0, 0);
	check(call_by_entry(&outer, SYS_lseek, loop.fd, COSY_RUN_TAG | 64, COSY_RUN_WHENCE, 0) ==
	      (long long)COSY_ASYNC_ENTERED + 1 && collect(&loop) == 2, "another one is");

	/*
	 * The loop is destroyed while it is entered. Submitted entries are executed nevertheless.
	 */
	check(!pipe(fds), "a pipe");
	submit(&loop, 0, 0, SYS_close, loop.fd, 0, 0, 0);
	submit(&loop, 1, 0, SYS_munmap, (uintptr_t)loop.page, loop.size, 0, 0);
	submit(&loop, 2, 0, SYS_write, fds[1], (uintptr_t)"x", 1, 0);
	enter_loop(&loop, COSY_ASYNC_MAX_DONE);
	/* It may leave between them, to release the file. Then it cannot be entered any more. */
	check(fcntl(loop.fd, F_GETFD) == -1, "it has closed itself");
	munmap(loop.page, loop.size);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	check(read(fds[0], bytes, sizeof(bytes)) <= 1, "what came after it, at most once");
	close(fds[0]);
	close(fds[1]);
	destroy(&outer);
}

static void send_descriptor(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'd';
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	check(sendmsg(socket, &msg, 0) == 1, "a descriptor is sent");
}

/* Loops of this size: a user can have fewer than ten of them. */
#define LARGE 32768

static unsigned int how_many(void)
{
	static struct loop loops[64];
	unsigned int n = 0;

	while (n < 64 && !create(&loops[n], LARGE))
		n++;
	for (unsigned int i = 0; i < n; i++)
		destroy(&loops[i]);
	return n;
}

/* Resources of others may be freed in the background. */
static int create_large(struct loop *loop)
{
	int err = -EDQUOT;

	for (int i = 0; i < 600 && err == -EDQUOT; i++) {
		if (i)
			usleep(100000);
		err = create(loop, LARGE);
	}
	return err;
}

/* Become a user without other charges. */
static void become_alone(void)
{
	const uid_t uid = 61000;

	if (!geteuid() && setresuid(uid, uid, uid))
		die("setresuid");
}

/* A user's charge is unchanged after @leave has run in a child often enough to reach the limit. */
static void leaves_nothing(const char *what, void (*leave)(void))
{
	unsigned int before = how_many(), after;
	int status;

	for (unsigned int i = 0; i < before + 2; i++) {
		pid_t child = fork();

		if (!child) {
			leave();
			_exit(9);
		}
		waitpid(child, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			check(false, "%s: child %u ended with status %#x", what, i, status);
			return;
		}
	}
	/* Messages in flight are freed in the background. */
	for (int i = 0; i < 600 && (after = how_many()) != before; i++)
		usleep(100000);
	check(before > 1 && after == before, "%s leaves nothing: %u loops, then %u", what, before,
	      after);
}

/* Each takes about 2 ms with the kernel's checkers, and seven processes have this number. */
#define PARKED 2048

static void park_thousands(struct loop *loop)
{
	static char bytes[PARKED];
	unsigned int parked = 0;
	int sv[2];

	if (create_large(loop))
		_exit(2);
	for (uint32_t i = 0; i < PARKED; i++) {
		if (i % 64 == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
			_exit(3);
		submit_recv(loop, i, sv[0], &bytes[i]);
	}
	while (loop->page->submit_head != loop->tail)
		parked += execute(loop) == 0;
	/* Those of the last socket are ready. */
	send(sv[1], "x", 1, 0);
	if (!parked)
		_exit(4);
}

static void leave_by_exit(void)
{
	static struct loop loop;

	park_thousands(&loop);
	_exit(0);
}

static void leave_by_exec(void)
{
	static struct loop loop;

	park_thousands(&loop);
	execl("/proc/self/exe", "async", "execed", NULL);
	_exit(5);
}

static void leave_in_flight(void)
{
	static struct loop loop;
	int sv[2], cycle[2];
	char byte;

	if (create_large(&loop) || socketpair(AF_UNIX, SOCK_STREAM, 0, sv) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, cycle))
		_exit(2);
	/* On the socket of the message; and on one that is in flight itself. */
	submit_recv(&loop, 0, sv[0], &byte);
	submit_recv(&loop, 1, cycle[0], &byte);
	if (execute(&loop))
		_exit(3);
	send_descriptor(sv[1], loop.fd);
	send_descriptor(sv[1], device);
	send_descriptor(cycle[1], loop.fd);
	send_descriptor(cycle[1], cycle[0]);
	_exit(failures ? 4 : 0);
}

static void children(void)
{
	struct loop loop;
	int sv[2], status;
	char byte;
	pid_t child;

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	submit_recv(&loop, 0, sv[0], &byte);
	execute(&loop);
	child = fork();
	if (!child) {
		unsigned char resident;
		int bad = 0;

		bad |= (mincore(loop.page, 1, &resident) != -1 || errno != ENOMEM) << 0;
		bad |= (enter_loop(&loop, 1) != -EPERM) << 1;
		bad |= (enter_loop(&loop, COSY_ASYNC_CANCEL | 0) != -EPERM) << 2;
		bad |= (mmap(NULL, loop.size, PROT_READ, MAP_SHARED, loop.fd, 0) != MAP_FAILED ||
			errno != EPERM) << 3;
		bad |= readable(loop.fd) << 4;
		close(loop.fd);
		_exit(bad);
	}
	waitpid(child, &status, 0);
	check(status == 0, "a child has no loop: %#x", status);
	check(send(sv[1], "p", 1, 0) == 1 && execute(&loop) == 1 && byte == 'p',
	      "the parent still has");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

static void watched(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { 4, filter };
	struct loop loop;
	int status;

	for (int traced = 0; traced < 2; traced++) {
		pid_t child = fork();

		if (!child) {
			char byte;
			int sv[2], bad = 0;

			if (create(&loop, 64) || socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
				_exit(100);
			submit_recv(&loop, 2, sv[0], &byte);
			execute(&loop);
			if (traced) {
				if (ptrace(PTRACE_TRACEME, 0, 0, 0))
					_exit(101);
			} else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
				   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
				_exit(102);
			}
			submit(&loop, 0, 0, SYS_getppid, 0, 0, 0, 0);
			submit(&loop, 1, 0, SYS_getpid, 0, 0, 0, 0);
			bad |= (execute(&loop) != 2) << 0;
			bad |= (loop.entries[0].status != COSY_ENTRY_USER) << 1;
			bad |= (loop.entries[1].status !=
				(traced ? COSY_ENTRY_USER : COSY_ENTRY_DONE)) << 2;
			send(sv[1], "x", 1, 0);
			bad |= (execute(&loop) != 1) << 3;
			bad |= (loop.entries[2].status !=
				(traced ? COSY_ENTRY_USER : COSY_ENTRY_DONE)) << 4;
			_exit(bad);
		}
		waitpid(child, &status, 0);
		check(status == 0, "%s sees calls from user mode: %#x",
		      traced ? "who traces" : "a filter", status);
	}
}

/* Threads send, close and enter at the same time. Each entry completes or is cancelled. */
#define PAIRS 16
/* Each takes about 10 ms with the kernel's checkers. */
#define STEPS 2000

static struct {
	struct loop loop;
	int sv[PAIRS][2];
	bool stop;
} race;

static void *sender(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		/* The last one gets no data, so that it can be cancelled. */
		int i = rand_r(&seed) % (PAIRS - 1);

		send(race.sv[i][1], "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (rand_r(&seed) % 8 == 0)
			recv(race.sv[i][0], &seed, 1, MSG_DONTWAIT);
	}
	return NULL;
}

static void *intruder(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		long long ret = enter_loop(&race.loop, COSY_ASYNC_CANCEL | 63);

		if (ret != -EBUSY && ret != -ENOENT)
			check(false, "an intruder gets %lld", ret);
		readable(race.loop.fd);
	}
	return NULL;
}

static void races(void)
{
	unsigned int submitted = 0, completed = 0, cancelled = 0, waits = 0;
	bool inside[PAIRS] = { false };
	pthread_t threads[3];
	unsigned int seed = 1;
	char bytes[PAIRS];
	int index;

	create(&race.loop, 64);
	for (int i = 0; i < PAIRS; i++)
		pair(i % 2 ? 0 : 3, race.sv[i]);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, sender, (void *)(i + 1));
	pthread_create(&threads[2], NULL, intruder, NULL);
	for (int step = 0; step < STEPS || !completed || !cancelled; step++) {
		int i = rand_r(&seed) % PAIRS;
		long long ret;

		if (!inside[i]) {
			submit_recv(&race.loop, (uint32_t)i, race.sv[i][0], &bytes[i]);
			inside[i] = true;
			submitted++;
		} else if (rand_r(&seed) % 4 == 0 &&
			   race.loop.page->submit_head == race.loop.tail) {
			while ((ret = enter_loop(&race.loop, COSY_ASYNC_CANCEL | (unsigned int)i)) == -EBUSY)
				;
			if (ret == (long long)COSY_ASYNC_ENTERED) {
				cancelled++;
				inside[i] = false;
			}
		} else if (rand_r(&seed) % 256 == 0) {
			/* Another connection replaces this one. */
			close(race.sv[i][1]);
			close(race.sv[i][0]);
			pair(i % 2 ? 0 : 3, race.sv[i]);
		}
		enter_loop(&race.loop, COSY_ASYNC_MAX_DONE);
		while ((index = collect(&race.loop)) >= 0) {
			if (index >= PAIRS || !inside[index])
				check(false, "entry %d completes twice", index);
			else
				inside[index] = false;
			completed++;
		}
	}
	race.stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	while (race.loop.page->submit_head != race.loop.tail)
		execute(&race.loop);
	while ((index = collect(&race.loop)) >= 0) {
		inside[index] = false;
		completed++;
	}
	for (unsigned int i = 0; i < PAIRS; i++) {
		if (inside[i])
			waits += enter_loop(&race.loop, COSY_ASYNC_CANCEL | i) ==
				 (long long)COSY_ASYNC_ENTERED;
	}
	check(submitted == completed + cancelled + waits,
	      "%u submitted, %u completed, %u cancelled, %u waited", submitted, completed, cancelled,
	      waits);
	for (int i = 0; i < PAIRS; i++) {
		close(race.sv[i][0]);
		close(race.sv[i][1]);
	}
	destroy(&race.loop);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return 0;
	device = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	if (!check(device >= 0, "the device"))
		return 1;
	creating();
	calls();
	hostile();
	waiting();
	sending();
	accepting();
	not_waited_for();
	pipes_and_eventfds();
	cancelling();
	idle();
	closing();
	recursion();
	children();
	watched();
	races();
	become_alone();
	leaves_nothing("exit", leave_by_exit);
	leaves_nothing("exec", leave_by_exec);
	leaves_nothing("a loop in flight", leave_in_flight);
	return finish();
}
