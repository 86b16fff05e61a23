// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Attacks on loops of the module by a process that can write to its page, use its descriptors and
 * end its threads at any moment.
 */

// RUN: %compile %s -o %t
// RUN: %vm %t

#include "../../kernel/loop.h"
#include "../../kernel/uring.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

static unsigned int max_waiters(void)
{
	FILE *f = fopen("/sys/module/cosy/parameters/max_waiters", "r");
	unsigned int value = 0;

	if (!f || fscanf(f, "%u", &value) != 1)
		die("max_waiters");
	fclose(f);
	return value;
}

/* Submit entries that receive a byte; return the number that could not wait. */
static unsigned int receive_many(struct loop *loop, int fd, unsigned int n)
{
	static char bytes[4096];
	unsigned int refused = 0;
	int index;

	for (uint32_t i = 0; i < n; i++)
		submit_recv(loop, i, fd, &bytes[i]);
	while (loop->page->submit_head != loop->tail)
		execute(loop);
	while ((index = collect(loop)) >= 0)
		refused += loop->entries[index].status == COSY_ENTRY_LEFT;
	return refused;
}

/* A wake-up visits all waiters of a socket, so their number is limited, over all loops. */
static void too_many_wait(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int max = max_waiters();
	struct loop first, second;
	int sv[2], epoll = epoll_create1(EPOLL_CLOEXEC);

	create(&first, 1024);
	create(&second, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	check(receive_many(&first, sv[0], max + 6) == 6,
	      "%u entries wait for a socket, and all others are refused", max);
	check(receive_many(&second, sv[0], 1) == 1,
	      "no entry of another loop can wait for the socket");
	check(enter_loop(&first, COSY_ASYNC_CANCEL | 3) == (long long)COSY_ASYNC_ENTERED &&
	      execute(&first) == 1 && receive_many(&second, sv[0], 2) == 1,
	      "in the place of one that is cancelled");
	check(send(sv[1], "xy", 2, 0) == 2 && execute(&first) == 2 && execute(&second) == 0,
	      "all waiting entries are woken, and two receive");
	check(receive_many(&second, sv[0], 64) == 64 - 2 - 1, "two more entries can wait again");
	destroy(&second);
	destroy(&first);
	/* Waiters by other means also count, because the list is as long. */
	create(&first, 1024);
	check(!epoll_ctl(epoll, EPOLL_CTL_ADD, sv[0], &event) &&
	      receive_many(&first, sv[0], max) == 1,
	      "a waiter of epoll takes the place of one entry");
	destroy(&first);
	close(epoll);
	close(sv[0]);
	close(sv[1]);
}

static struct {
	struct loop loop;
	uint64_t word[2];
	const char *text[2];
	bool stop;
} page;

static void *change_word(void *unused)
{
	for (unsigned int i = 0; !__atomic_load_n(&page.stop, __ATOMIC_RELAXED); i++)
		__atomic_store_n((uint64_t *)&page.loop.entries[0], page.word[i & 1],
				 __ATOMIC_RELAXED);
	return unused;
}

static uint64_t first_word(unsigned int flags, unsigned int nr)
{
	const struct cosy_async_entry entry = { .flags = (uint8_t)flags, .nr = nr };
	uint64_t word;

	memcpy(&word, &entry, sizeof(word));
	return word;
}

/* The flags are those that were submitted with the number. */
static void changing_entry(void)
{
	unsigned int made = 0, refused = 0, wrong = 0;
	pthread_t thread;

	create(&page.loop, 64);
	page.word[0] = first_word(0, SYS_getpid);
	page.word[1] = first_word(COSY_ENTRY_TAKE, SYS_getppid);
	memcpy(&page.loop.entries[0], page.word, sizeof(*page.word));
	page.stop = false;
	pthread_create(&thread, NULL, change_word, NULL);
	for (int i = 0; i < 200000 && (i < 2000 || !made || !refused); i++) {
		submit_index(&page.loop, 0);
		execute(&page.loop);
		if (collect(&page.loop) != 0 || (entry_result(&page.loop, 0) != getpid() &&
						 entry_result(&page.loop, 0) != -EINVAL))
			wrong++;
		else if (entry_result(&page.loop, 0) == -EINVAL)
			refused++;
		else
			made++;
	}
	page.stop = true;
	pthread_join(thread, NULL);
	check(!wrong && made && refused,
	      "the flags belong to the number of the same submission: %u calls made, %u refused, %u neither",
	      made, refused, wrong);
	destroy(&page.loop);
}

static void *change_argument(void *unused)
{
	for (unsigned int i = 0; !__atomic_load_n(&page.stop, __ATOMIC_RELAXED); i++)
		__atomic_store_n(&page.loop.entries[0].args[1],
				 (uint64_t)(uintptr_t)page.text[i & 1], __ATOMIC_RELAXED);
	return unused;
}

static void filter(struct sock_filter *code, unsigned short size)
{
	const struct sock_fprog program = { size, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(100);
}

/* In a child: the call has the arguments that the filter has checked. */
static int change_after_the_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	int file = (int)syscall(SYS_memfd_create, "changed", 0);
	unsigned int made = 0, user = 0;
	pthread_t thread;
	char byte;

	page.text[0] = "good";
	page.text[1] = "bad";
	code[3].k = (uint32_t)(uintptr_t)page.text[0];
	page.stop = false;
	if (create(&page.loop, 64) || pthread_create(&thread, NULL, change_argument, NULL))
		return 101;
	filter(code, sizeof(code) / sizeof(*code));
	page.loop.entries[0] = (struct cosy_async_entry){ .nr = SYS_pwrite64 };
	for (int i = 0; i < 200000 && (i < 2000 || !made || !user); i++) {
		page.loop.entries[0].args[0] = (uint64_t)file;
		page.loop.entries[0].args[2] = 1;
		page.loop.entries[0].args[3] = 0;
		submit_index(&page.loop, 0);
		if (execute(&page.loop) != 1 || collect(&page.loop) != 0)
			return 1;
		if (page.loop.entries[0].status == COSY_ENTRY_USER)
			user++;
		else
			made++;
		if (made && (pread(file, &byte, 1, 0) != 1 || byte != 'g'))
			return 2;
	}
	page.stop = true;
	pthread_join(thread, NULL);
	return made && user ? 0 : 3;
}

/* In a child: an entry installs a filter that forbids another entry. */
static int filter_blocks_entry(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_lseek, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	pid_t parent = getppid();
	unsigned int done = 0;
	struct loop loop;
	long long ret;

	if (create(&loop, 64) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 101;
	submit(&loop, 0, 0, SYS_getppid, 0, 0, 0, 0);
	submit(&loop, 1, 0, SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (uintptr_t)&program, 0);
	submit(&loop, 2, 0, SYS_getpid, 0, 0, 0, 0);
	submit(&loop, 3, 0, SYS_getppid, 0, 0, 0, 0);
	/* It may leave after any entry, for pending work of the kernel. */
	do {
		ret = enter_loop(&loop, COSY_ASYNC_MAX_DONE);
		if (ret < 0)
			return 1;
		done += (unsigned int)ret;
	} while (done < 2);
	if ((unsigned long long)ret >> 32 != COSY_ASYNC_SECCOMP_BLOCKED >> 32)
		return 2;
	if (entry_result(&loop, 0) != parent || entry_result(&loop, 1) ||
	    (done > 2 && entry_result(&loop, 2) != getpid()))
		return 3;
	if (done > 3 && loop.entries[3].status != COSY_ENTRY_USER)
		return 5;
	return enter_loop(&loop, 1) == -EXDEV ? 0 : 4;
}

static int change_user(void)
{
	static const char name[] = "/tmp/cosy-async-secret";
	struct loop loop;
	int fd;

	if (create(&loop, 64))
		return 101;
	fd = open(name, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || (!geteuid() && fchown(fd, 0, 0)))
		return 102;
	submit(&loop, 0, 0, SYS_openat, AT_FDCWD, (uintptr_t)name, O_RDONLY, 0);
	if (!geteuid() && setresuid(65534, 65534, 65534))
		return 103;
	fd = execute(&loop) == 1 && collect(&loop) == 0 ? (int)entry_result(&loop, 0) : -1;
	/* Without root it cannot become another user. */
	return fd == -EACCES || getuid() != 65534 ? 0 : 1;
}

static void in_child(const char *what, int (*act)(void))
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(act());
	waitpid(child, &status, 0);
	check(!status, "%s: %#x", what, status);
}

/* The page is unmapped, and moved, while an entry waits. */
static void unmapped(void)
{
	struct loop loop;
	char byte = 0;
	void *place;
	int sv[2];

	create(&loop, 64);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	submit_recv(&loop, 9, sv[0], &byte);
	check(execute(&loop) == 0 && !munmap(loop.page, loop.size),
	      "an entry waits, and the page of its loop is unmapped");
	check(send(sv[1], "a", 1, 0) == 1 &&
	      enter_loop(&loop, 1) == (long long)COSY_ASYNC_ENTERED + 1 && byte == 'a',
	      "an entry completes while its page is not mapped");
	place = mmap(NULL, loop.size, PROT_READ | PROT_WRITE, MAP_SHARED, loop.fd, 0);
	check(place != MAP_FAILED, "the page can be mapped again");
	loop.entries = (void *)((char *)place + ((char *)loop.entries - (char *)loop.page));
	loop.submitted = (void *)((char *)place + ((char *)loop.submitted - (char *)loop.page));
	loop.done = (void *)((char *)place + ((char *)loop.done - (char *)loop.page));
	loop.page = place;
	check(collect(&loop) == 9 && entry_result(&loop, 9) == 1,
	      "the page has the completion and its result");
	place = mmap(NULL, loop.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	place = mremap(loop.page, loop.size, loop.size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	check(place != MAP_FAILED && !memcmp(place, &(uint32_t){ sizeof(struct cosy_async_page) }, 4),
	      "the page can be moved");
	munmap(place, loop.size);
	close(loop.fd);
	close(sv[0]);
	close(sv[1]);
}

static struct {
	struct loop loop;
	long long entered;
} blocked;

static void *enter_blocked(void *unused)
{
	/* When it reads its state, the other thread is inside for a moment. */
	do
		blocked.entered = enter_loop(&blocked.loop, COSY_ASYNC_MAX_DONE);
	while (blocked.entered == -EBUSY);
	return unused;
}

/* A call that blocks has exclusive use of the loop. */
static void two_threads(void)
{
	pthread_t thread;
	int fds[2];
	char byte;

	create(&blocked.loop, 64);
	check(!pipe(fds), "a pipe is opened");
	submit(&blocked.loop, 0, 0, SYS_read, fds[0], (uintptr_t)&byte, 1, 0);
	pthread_create(&thread, NULL, enter_blocked, NULL);
	while (enter_loop(&blocked.loop, COSY_ASYNC_CANCEL | 1) != -EBUSY)
		;
	check(enter_loop(&blocked.loop, 1) == -EBUSY &&
	      enter_loop(&blocked.loop, COSY_ASYNC_CANCEL | 0) == -EBUSY && !readable(blocked.loop.fd),
	      "EBUSY: no thread enters or cancels while another one is in a call");
	check(write(fds[1], "b", 1) == 1, "the pipe is written to");
	pthread_join(thread, NULL);
	check(blocked.entered == (long long)COSY_ASYNC_ENTERED + 1 && entry_result(&blocked.loop, 0) == 1,
	      "the call of the first thread completes");
	close(fds[0]);
	close(fds[1]);
	destroy(&blocked.loop);
}

static int alarm_pipe;
static volatile int alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
	if (alarms == 3 && write(alarm_pipe, "s", 1) != 1)
		_exit(1);
}

/* A call that a signal interrupts is repeated, because it has not completed. */
static void signals(void)
{
	const struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm };
	int fds[2], done = 0, entries = 0;
	struct loop loop;
	char byte = 0;

	create(&loop, 64);
	check(!pipe(fds), "a pipe is opened");
	alarm_pipe = fds[1];
	/* Without SA_RESTART. */
	sigaction(SIGALRM, &action, NULL);
	submit(&loop, 0, 0, SYS_read, fds[0], (uintptr_t)&byte, 1, 0);
	submit(&loop, 1, 0, SYS_getpid, 0, 0, 0, 0);
	setitimer(ITIMER_REAL, &often, NULL);
	while (done >= 0 && done < 2) {
		int ret = execute(&loop);

		done = ret < 0 ? ret : done + ret;
		entries++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	check(done == 2 && collect(&loop) == 0 && entry_result(&loop, 0) == 1 && byte == 's' &&
	      collect(&loop) == 1 && entry_result(&loop, 1) == getpid() && collect(&loop) == -1,
	      "signals lose no call: %d alarms, %d times entered, %d completions",
	      alarms, entries, done);
	close(fds[0]);
	close(fds[1]);
	destroy(&loop);
}

static void killed(void)
{
	struct loop loop;
	int fds[2], status;
	pid_t child;

	check(!pipe(fds), "a pipe is opened");
	child = fork();
	if (!child) {
		char byte;

		if (create(&loop, 64))
			_exit(1);
		submit(&loop, 0, 0, SYS_read, fds[0], (uintptr_t)&byte, 1, 0);
		execute(&loop);
		_exit(2);
	}
	for (;;) {
		if (is_asleep_in_module(child))
			break;
		if (waitpid(child, &status, WNOHANG)) {
			check(false, "the child has not ended before it was killed: %#x", status);
			return;
		}
	}
	kill(child, SIGKILL);
	check(waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGKILL,
	      "SIGKILL ends a thread that sleeps in the call of an entry");
	close(fds[0]);
	close(fds[1]);
}

/* io_uring closes the loop that has been entered; later work continues. */
static void closed_by_uring(void)
{
	int rounds = 0, closed = 0, sv[2];
	struct loop loop;
	struct ring ring;
	char byte;

	socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	for (; rounds < 20; rounds++) {
		create(&loop, 64);
		if (!ring_make(&ring, IORING_OP_CLOSE, loop.fd, NULL, 0))
			break;
		if (rounds & 1)
			ring.request->flags = IOSQE_ASYNC;
		submit_recv(&loop, 0, sv[0], &byte);
		submit(&loop, 1, 0, SYS_munmap, (uintptr_t)loop.page, loop.size, 0, 0);
		loop.entries[2] = (struct cosy_async_entry){
			.nr = SYS_io_uring_enter,
			.args = { (uint64_t)ring.fd, 1, 1, IORING_ENTER_GETEVENTS },
		};
		submit_index(&loop, 2);
		for (uint32_t i = 3; i < 60; i++)
			submit(&loop, i, 0, SYS_getpid, 0, 0, 0, 0);
		/* It may leave before, for pending work of the kernel. */
		while (enter_loop(&loop, COSY_ASYNC_MAX_DONE) >= 0)
			;
		closed += !ring_result(&ring) && fcntl(loop.fd, F_GETFD) < 0;
		ring_end(&ring);
	}
	check(closed == rounds,
	      "io_uring closes the loop that makes its call: %d of %d times", closed, rounds);
	check(send(sv[1], "x", 1, 0) == 1, "the socket has no waiting entry after that");
	close(sv[0]);
	close(sv[1]);
}

/* Bytes are sent to one of several sockets, and received one after the other. */
#define SOCKETS	8
#define BYTES	3000

static struct {
	int sv[SOCKETS][2];
	unsigned int sent, received;
} traffic;

static void *send_all(void *unused)
{
	unsigned int seed = 1;

	while (traffic.sent < BYTES) {
		unsigned int n = traffic.sent + 1 + rand_r(&seed) % 3;

		for (; traffic.sent < n && traffic.sent < BYTES; traffic.sent++)
			send(traffic.sv[rand_r(&seed) % SOCKETS][1], "x", 1, 0);
		while (__atomic_load_n(&traffic.received, __ATOMIC_ACQUIRE) != traffic.sent)
			sched_yield();
	}
	return unused;
}

/*
 * A thread that sleeps in epoll_wait() is woken for each byte, while it collects one completion at
 * a time.
 */
static void wakes_pollers(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC), index;
	static char bytes[SOCKETS];
	struct loop loop;
	pthread_t thread;

	create(&loop, 64);
	epoll_ctl(epoll, EPOLL_CTL_ADD, loop.fd, &event);
	for (uint32_t i = 0; i < SOCKETS; i++) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, traffic.sv[i]);
		submit_recv(&loop, i, traffic.sv[i][0], &bytes[i]);
	}
	execute(&loop);
	pthread_create(&thread, NULL, send_all, NULL);
	while (traffic.received < BYTES) {
		/* Submitting wakes no thread. A lost wake-up ends here, on any machine. */
		if (loop.page->submit_head == loop.tail &&
		    epoll_wait(epoll, &event, 1, 120000) != 1 && errno != EINTR) {
			check(false,
			      "each byte wakes the thread; none did after %u bytes: %s",
			      traffic.received, strerror(errno));
			_exit(1);
		}
		enter_loop(&loop, 1);
		while ((index = collect(&loop)) >= 0) {
			__atomic_add_fetch(&traffic.received, entry_result(&loop, index) == 1,
					   __ATOMIC_RELEASE);
			submit_recv(&loop, (uint32_t)index, traffic.sv[index][0], &bytes[index]);
		}
	}
	pthread_join(thread, NULL);
	check(traffic.received == BYTES,
	      "epoll_wait() is woken for each of %u bytes", traffic.received);
	for (int i = 0; i < SOCKETS; i++) {
		close(traffic.sv[i][0]);
		close(traffic.sv[i][1]);
	}
	close(epoll);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	too_many_wait();
	changing_entry();
	in_child("arguments that change after the filter has seen them", change_after_the_filter);
	in_child("a filter blocks the next entry", filter_blocks_entry);
	in_child("a call is made with the rights of the thread that enters", change_user);
	unmapped();
	two_threads();
	signals();
	killed();
	closed_by_uring();
	wakes_pollers();
	return finish();
}
