// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A thread that sleeps in a loop. It executes work that is possible without a return to user mode,
 * and leaves for a completion, a descriptor, a signal or a time. Other threads enter, cancel and
 * close the loop meanwhile.
 */

// RUN: %compile %s -o %t
// Kernels that are built here have no binder.
// RUN: %vm sh -c '$(cat /proc/sys/kernel/modprobe) binder_linux || uname -r | grep -q -e -cosy-'
// RUN: %vm %t

#include "../../kernel/loop.h"

#include <linux/android/binder.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>

#define FOR_EVER COSY_ASYNC_FOR_EVER

/* Registers of the compound. */
enum { FD, BUF, SIZE, GOT, SENT, ROUNDS, NREGS };

static __u64 echo, endless;

static void load_all(void)
{
	const struct cosy_op echo_ops[] = {
		SYS(GOT, SYS_recvfrom, 6), ARG(FD), ARG(BUF), ARG(SIZE), ARGI(0), ARGI(0), ARGI(0),
		BR(GOT, SLT, 0, 19), BR(GOT, EQ, 0, 18),
		SYS(SENT, SYS_sendto, 6), ARG(FD), ARG(BUF), ARG(GOT), ARGI(MSG_NOSIGNAL), ARGI(0),
		ARGI(0), ADDI(ROUNDS, ROUNDS, 1), JMP(0), EXIT(0), EXIT(1),
	};
	const struct cosy_op endless_ops[] = { ADDI(ROUNDS, ROUNDS, 1), JMP(0) };

	echo = load_for_loops(echo_ops, sizeof(echo_ops) / sizeof(*echo_ops), NREGS);
	endless = load_for_loops(endless_ops, 2, NREGS);
}

static uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Until @until, or FOR_EVER. */
static long long sleep_in(struct loop *loop, int fd, uint64_t until)
{
	uint64_t begin = until == FOR_EVER ? 0 : clock_now();

	loop->page->sleep_fd = fd;
	loop->page->sleep_ns = until > begin ? until - begin : 0;
	return enter_loop(loop, COSY_ASYNC_SLEEP | COSY_ASYNC_MAX_DONE);
}

/* A thread may leave for pending work of the kernel. Then it enters again. */
static unsigned int sleep_on(struct loop *loop, int fd, uint64_t until)
{
	long long ret;

	do {
		ret = sleep_in(loop, fd, until);
		if ((unsigned long long)ret >> 32 != COSY_ASYNC_ENTERED >> 32)
			return 0xffff;
	} while (!(uint32_t)ret && loop->page->done_tail == loop->head);
	return (uint32_t)ret;
}

struct connection {
	int client, server;
	char buffer[64];
	__u64 frame[NREGS + 1];
};

static void serve(struct loop *loop, uint32_t index, __u64 handle, struct connection *c)
{
	static int error;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		die("socketpair");
	c->client = sv[0];
	c->server = sv[1];
	memset(c->frame, 0, sizeof(c->frame));
	c->frame[FD] = (__u64)sv[1];
	c->frame[BUF] = (uintptr_t)c->buffer;
	c->frame[SIZE] = sizeof(c->buffer);
	submit(loop, index, 0, COSY_ENTRY_COMPOUND, (__u64)device, handle, (uintptr_t)c->frame,
	       (uintptr_t)&error);
	loop->entries[index].args[4] = loop->entries[index].args[5] = 0;
}

static void hang_up(const struct connection *c)
{
	close(c->client);
	close(c->server);
}

static void refused(void)
{
	struct loop loop;

	create(&loop, 64);
	check(loop.page->features & COSY_ASYNC_SLEEPS, "the loop says that threads can sleep in it");
	check(enter_loop(&loop, COSY_ASYNC_SLEEP) == -EINVAL, "EINVAL: a sleep for no completion");
	check(enter_loop(&loop, COSY_ASYNC_SLEEP | 65) == -EINVAL,
	      "EINVAL: a sleep for too many completions");
	check(enter_loop(&loop, COSY_ASYNC_WORK << 2 | 1) == -ESPIPE, "ESPIPE: unknown bits");
	check(sleep_in(&loop, -1, 0) == (long long)(COSY_ASYNC_ENTERED | COSY_ASYNC_TIMEOUT),
	      "a sleep until a time that is over ends at once");
	submit(&loop, 1, 0, SYS_getpid, 0, 0, 0, 0);
	check(sleep_in(&loop, -1, FOR_EVER) == (long long)(COSY_ASYNC_ENTERED | 1) &&
	      collect(&loop) == 1 && entry_result(&loop, 1) == getpid(),
	      "a thread that has a call to execute does not sleep");
	submit(&loop, 1, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && sleep_in(&loop, -1, FOR_EVER) == (long long)COSY_ASYNC_ENTERED,
	      "a thread does not sleep while there are completions");
	destroy(&loop);
}

static void times(void)
{
	struct loop loop;
	uint64_t end;

	create(&loop, 64);
	end = clock_now() + 30000000;
	check(sleep_on(&loop, -1, end) == COSY_ASYNC_TIMEOUT && clock_now() >= end,
	      "a sleep lasts until its time");
	check(sleep_on(&loop, -1, end) == COSY_ASYNC_TIMEOUT,
	      "a sleep until the same time ends at once");
	destroy(&loop);
}

/* Events of other descriptors. */
static void descriptors(void)
{
	int event = eventfd(0, 0), epoll = epoll_create1(0), file = open("/proc/self/exe", O_RDONLY);
	struct epoll_event of_loop = { .events = EPOLLIN };
	const int readable_ones[] = { 1000, -2, file, device };
	struct loop loop;

	create(&loop, 64);
	for (unsigned int i = 0; i < 4; i++)
		check(sleep_on(&loop, readable_ones[i], FOR_EVER) == COSY_ASYNC_READABLE,
		      "descriptor %d has no events to wait for", readable_ones[i]);
	check(sleep_on(&loop, event, clock_now() + 1000000) == COSY_ASYNC_TIMEOUT,
	      "an eventfd without an event does not end the sleep");
	eventfd_write(event, 1);
	check(sleep_on(&loop, event, FOR_EVER) == COSY_ASYNC_READABLE,
	      "an event of an eventfd ends the sleep");
	check(sleep_on(&loop, loop.fd, clock_now() + 1000000) == COSY_ASYNC_TIMEOUT,
	      "the loop's own descriptor does not end the sleep");
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, loop.fd, &of_loop))
		die("EPOLL_CTL_ADD");
	check(sleep_on(&loop, epoll, clock_now() + 1000000) == COSY_ASYNC_TIMEOUT,
	      "an epoll of the loop does not end the sleep");
	close(event);
	close(epoll);
	close(file);
	destroy(&loop);
}

/* A thread that sleeps until it must end, and counts the reasons for wake-ups. */
struct sleeper {
	struct loop *loop;
	int fd;
	pthread_t thread;
	pid_t tid;
	uint64_t until;
	long long ret;
	bool ended;
};

static void *sleeping(void *arg)
{
	struct sleeper *s = arg;

	__atomic_store_n(&s->tid, gettid(), __ATOMIC_RELEASE);
	s->ret = sleep_on(s->loop, s->fd, s->until);
	__atomic_store_n(&s->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The same until a signal. The page is not read, because it may be unmapped. */
static void *sleeping_blindly(void *arg)
{
	struct sleeper *s = arg;

	s->loop->page->sleep_fd = -1;
	s->loop->page->sleep_ns = FOR_EVER;
	__atomic_store_n(&s->tid, gettid(), __ATOMIC_RELEASE);
	do
		s->ret = enter_loop(s->loop, COSY_ASYNC_SLEEP | COSY_ASYNC_MAX_DONE);
	while (s->ret == (long long)COSY_ASYNC_ENTERED);
	return NULL;
}

static void wait_until_asleep(struct sleeper *s)
{
	while (!__atomic_load_n(&s->ended, __ATOMIC_ACQUIRE) &&
	       (!__atomic_load_n(&s->tid, __ATOMIC_ACQUIRE) || !is_asleep(s->tid)))
		sched_yield();
}

static void start_sleeper(struct sleeper *s, struct loop *loop, int fd)
{
	*s = (struct sleeper){ .loop = loop, .fd = fd, .until = FOR_EVER };
	pthread_create(&s->thread, NULL, sleeping, s);
	wait_until_asleep(s);
}

static unsigned int end_of(struct sleeper *s)
{
	pthread_join(s->thread, NULL);
	return (unsigned int)s->ret;
}

static bool echoes(const struct connection *c, const char *text)
{
	const ssize_t n = (ssize_t)strlen(text);
	char got[64];

	return send(c->client, text, (size_t)n, 0) == n &&
	       recv(c->client, got, sizeof(got), 0) == n && !memcmp(got, text, (size_t)n);
}

/* Connections are served while the thread does not return. */
static void serving(void)
{
	static struct connection c[8];
	unsigned int good = 0;
	struct sleeper s;
	struct loop loop;
	int event = eventfd(0, 0);
	eventfd_t value;

	create(&loop, 64);
	for (uint32_t i = 0; i < 8; i++)
		serve(&loop, i, echo, &c[i]);
	/* More iterations than a thread stays for. Then it enters again. */
	start_sleeper(&s, &loop, event);
	for (int i = 0; i < 600; i++)
		good += echoes(&c[i % 8], i & 1 ? "one" : "another");
	check(good == 600 && !__atomic_load_n(&s.ended, __ATOMIC_ACQUIRE),
	      "600 requests are answered while the thread sleeps: %u", good);
	check(!readable(loop.fd), "the loop is not readable for other threads");
	eventfd_write(event, 1);
	check(end_of(&s) == COSY_ASYNC_READABLE, "an event of the other descriptor ends the sleep");
	check(sleep_on(&loop, -1, clock_now() + 1000000) == COSY_ASYNC_TIMEOUT,
	      "the compounds wait during the next sleep");
	start_sleeper(&s, &loop, -1);
	shutdown(c[3].client, SHUT_WR);
	check(end_of(&s) == 1 && collect(&loop) == 3 && entry_result(&loop, 3) == 0 &&
	      c[3].frame[ROUNDS] == 75, "a completion ends the sleep");
	eventfd_read(event, &value);
	start_sleeper(&s, &loop, event);
	check(echoes(&c[1], "x"), "the sleeping thread answers a request");
	wait_until_asleep(&s);
	check(sleep_in(&loop, -1, FOR_EVER) == -EBUSY, "EBUSY: another thread sleeps in the loop");
	submit(&loop, 9, 0, SYS_getpid, 0, 0, 0, 0);
	check(execute(&loop) == 1 && collect(&loop) == 9 && entry_result(&loop, 9) == getpid(),
	      "another thread enters the loop meanwhile");
	check(!__atomic_load_n(&s.ended, __ATOMIC_ACQUIRE), "the thread sleeps on");
	check(enter_loop(&loop, COSY_ASYNC_CANCEL | 1) == (long long)COSY_ASYNC_ENTERED &&
	      end_of(&s) == 1 && collect(&loop) == 1 && entry_result(&loop, 1) == 1,
	      "a compound that another thread cancels ends the sleep");
	start_sleeper(&s, &loop, -1);
	check(enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)c[2].server) ==
	      (long long)(COSY_ASYNC_ENTERED | 1) && end_of(&s) == 1 && collect(&loop) == 2,
	      "a compound whose descriptor another thread cancels ends the sleep");
	start_sleeper(&s, &loop, -1);
	close(dup(loop.fd));
	check(end_of(&s) == 0, "closing a descriptor of the loop ends the sleep");
	good = 0;
	for (int i; (i = collect(&loop)) >= 0;)
		good += loop.entries[i].status == COSY_ENTRY_LEFT;
	check(good == 5, "%u of 5 waiting compounds are given back", good);
	for (int i = 0; i < 8; i++)
		hang_up(&c[i]);
	close(event);
	destroy(&loop);
}

struct binder_user {
	struct loop *loop;
	const struct connection *c;
	int binder;
	pid_t sleeper;
};

static void *end_binder_thread(void *arg)
{
	const struct binder_user *user = arg;

	while (!is_asleep(user->sleeper))
		sched_yield();
	submit(user->loop, 1, 0, SYS_ioctl, (uint64_t)user->binder, BINDER_THREAD_EXIT, 0, 0);
	/* The sleeping thread executes it. */
	send(user->c->client, "x", 1, 0);
	return NULL;
}

/*
 * The queue in which the thread waits is freed before the file. The queue of binder belongs to the
 * thread, until it declares that it is not a thread of binder any more.
 */
static void queue_goes(void)
{
	struct binder_user user = { .binder = open("/dev/binder", O_RDWR), .sleeper = gettid() };
	struct binder_version version;
	pthread_t other;
	struct connection c;
	struct loop loop;

	if (user.binder < 0)
		return;
	create(&loop, 64);
	serve(&loop, 0, echo, &c);
	/* After a thread has used binder, there is no event for it. */
	check(!ioctl(user.binder, BINDER_VERSION, &version) &&
	      sleep_on(&loop, user.binder, clock_now() + 1000000) == COSY_ASYNC_TIMEOUT,
	      "a sleep on binder has no event");
	user.loop = &loop;
	user.c = &c;
	pthread_create(&other, NULL, end_binder_thread, &user);
	check(sleep_on(&loop, user.binder, FOR_EVER) == 1 && collect(&loop) == 1 &&
	      entry_result(&loop, 1) == 0,
	      "the call of an entry frees the queue in which its thread waits");
	pthread_join(other, NULL);
	check(sleep_on(&loop, -1, clock_now() + 1000000) == COSY_ASYNC_TIMEOUT,
	      "the thread can sleep again");
	close(user.binder);
	hang_up(&c);
	destroy(&loop);
}

/* Calls that the thread makes are not woken by events for the thread. */
static void not_woken(void)
{
	struct timespec time = { .tv_nsec = 200000000 };
	uint64_t usr2 = 1ull << (SIGUSR2 - 1);
	struct connection c;
	struct sleeper s;
	struct loop loop;
	int event = eventfd(0, 0), begun = eventfd(0, 0);
	const uint64_t one = 1;

	create(&loop, 64);
	serve(&loop, 0, echo, &c);
	start_sleeper(&s, &loop, event);
	submit(&loop, 2, 0, SYS_write, (uint64_t)begun, (uintptr_t)&one, sizeof(one), 0);
	submit(&loop, 1, 0, SYS_rt_sigtimedwait, (uintptr_t)&usr2, 0, (uintptr_t)&time,
	       sizeof(usr2));
	send(c.client, "x", 1, 0);
	/* Not before it makes calls, because it would leave without them. */
	while (!readable(begun))
		sched_yield();
	while (__atomic_load_n(&loop.page->done_tail, __ATOMIC_ACQUIRE) != loop.head + 2) {
		eventfd_write(event, 1);
		send(c.client, "x", 1, MSG_DONTWAIT);
		usleep(10000);
	}
	check(end_of(&s) == 2 && collect(&loop) == 2 && collect(&loop) == 1 &&
	      entry_result(&loop, 1) == -EAGAIN,
	      "a call that waits is not woken by events of its thread: %lld",
	      entry_result(&loop, 1));
	hang_up(&c);
	close(event);
	close(begun);
	destroy(&loop);
}

static pid_t awaiter;

static void *await(void *loop)
{
	__atomic_store_n(&awaiter, gettid(), __ATOMIC_RELEASE);
	return (void *)enter_loop(loop, COSY_ASYNC_AWAIT | 1);
}

static void wait_until_it_awaits(void)
{
	while (!__atomic_load_n(&awaiter, __ATOMIC_ACQUIRE))
		usleep(1000);
	wait_until_asleep_in_module(awaiter);
}

static void *enter_blocked(void *loop)
{
	long long entered;

	/* When it reads its state, the other thread is inside for a moment. */
	do
		entered = enter_loop(loop, 1);
	while (entered == -EBUSY);
	return (void *)entered;
}

static int handled;

static void handle(int sig)
{
	(void)sig;
	__atomic_add_fetch(&handled, 1, __ATOMIC_RELEASE);
}

static void sleep_busily(struct loop *loop)
{
	struct connection c;

	serve(loop, 0, endless, &c);
	sleep_on(loop, -1, FOR_EVER);
}

static void signals(void)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
	struct connection c;
	struct sleeper s;
	struct loop loop;
	int status;
	pid_t child;

	sigaction(SIGUSR1, &action, NULL);
	create(&loop, 64);
	serve(&loop, 0, echo, &c);
	start_sleeper(&s, &loop, -1);
	pthread_kill(s.thread, SIGUSR1);
	check(end_of(&s) == COSY_ASYNC_SIGNAL, "a signal ends the sleep");
	check(send(c.client, "x", 1, 0) == 1 && readable(loop.fd),
	      "after that, the loop is readable for other threads");
	hang_up(&c);
	destroy(&loop);

	child = start_executing(sleep_busily);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	      "SIGKILL ends a thread that executes during its sleep");
	child = fork();
	if (!child) {
		create(&loop, 64);
		serve(&loop, 0, echo, &c);
		start_sleeper(&s, &loop, -1);
		exit(7);
	}
	waitpid(child, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 7,
	      "a process ends while a thread sleeps");
}

/* Another thread is inside, and does not leave. */
static void awaiting(void)
{
	pthread_t inside, waiting;
	struct loop loop;
	int fds[2], before;
	void *ret;
	char byte;

	if (pipe(fds))
		die("pipe");
	create(&loop, 64);
	submit(&loop, 1, 0, SYS_read, (uint64_t)fds[0], (uintptr_t)&byte, 1, 0);
	pthread_create(&inside, NULL, enter_blocked, &loop);
	while (enter_loop(&loop, COSY_ASYNC_CANCEL | 5) != -EBUSY)
		sched_yield();
	pthread_create(&waiting, NULL, await, &loop);
	wait_until_it_awaits();
	before = __atomic_load_n(&handled, __ATOMIC_ACQUIRE);
	pthread_kill(waiting, SIGUSR1);
	while (__atomic_load_n(&handled, __ATOMIC_ACQUIRE) == before)
		usleep(1000);
	wait_until_it_awaits();
	submit(&loop, 2, 0, SYS_getpid, 0, 0, 0, 0);
	check(enter_loop(&loop, 1) == -EBUSY && collect(&loop) == -1,
	      "EBUSY: another thread is in a call");
	if (write(fds[1], "x", 1) != 1)
		die("write");
	pthread_join(inside, &ret);
	check((long long)ret == (long long)(COSY_ASYNC_ENTERED | 1),
	      "the call of the first thread completes");
	pthread_join(waiting, &ret);
	check((long long)ret == (long long)(COSY_ASYNC_ENTERED | 1),
	      "a thread that has waited to enter completes an entry");
	check(collect(&loop) == 1 && collect(&loop) == 2 && entry_result(&loop, 2) == getpid(),
	      "both entries have their results");
	submit(&loop, 1, 0, SYS_lseek, (uint64_t)loop.fd, COSY_RUN_TAG | COSY_ASYNC_AWAIT | 1,
	       COSY_RUN_WHENCE, 0);
	check(execute(&loop) == 1 && collect(&loop) == 1 && entry_result(&loop, 1) == -EBUSY,
	      "EBUSY: a call of an entry does not wait for its own thread");
	close(fds[0]);
	close(fds[1]);
	destroy(&loop);
}

/* The time expires, and the other descriptor is seen, although there is always work. */
static void busy(void)
{
	struct connection c;
	struct loop loop;
	uint64_t end;
	int event = eventfd(1, 0);

	create(&loop, 64);
	serve(&loop, 0, endless, &c);
	end = clock_now() + 20000000;
	check(sleep_on(&loop, -1, end) == COSY_ASYNC_TIMEOUT && clock_now() >= end,
	      "the time ends a sleep with constant work");
	check(sleep_on(&loop, event, FOR_EVER) == COSY_ASYNC_READABLE,
	      "the other descriptor ends a sleep with constant work");
	hang_up(&c);
	close(event);
	destroy(&loop);
}

/* The loop's descriptors are closed while a thread sleeps by one of them, and it is woken. */
static void closing(void)
{
	struct connection c;
	struct sleeper s;
	struct loop loop;

	create(&loop, 64);
	serve(&loop, 0, echo, &c);
	start_sleeper(&s, &loop, -1);
	close(loop.fd);
	check(end_of(&s) == 0 && collect(&loop) == 0 && loop.entries[0].status == COSY_ENTRY_LEFT,
	      "closing the last descriptor ends the sleep, and gives the compound back");
	munmap(loop.page, loop.size);
	hang_up(&c);
	create(&loop, 64);
	serve(&loop, 0, echo, &c);
	s = (struct sleeper){ .loop = &loop };
	pthread_create(&s.thread, NULL, sleeping_blindly, &s);
	wait_until_asleep(&s);
	munmap(loop.page, loop.size);
	check(echoes(&c, "without a page"),
	      "the sleeping thread answers a request after the page was unmapped");
	/* While it executes, a signal makes it enter again. */
	wait_until_asleep(&s);
	pthread_kill(s.thread, SIGUSR1);
	pthread_join(s.thread, NULL);
	check(s.ret == (long long)(COSY_ASYNC_ENTERED | COSY_ASYNC_SIGNAL),
	      "a signal ends a sleep without a page");
	close(loop.fd);
	hang_up(&c);
}

/* Threads that sleep, enter, send, cancel and close at the same time. No event is lost. */
#define PAIRS 8

static struct {
	struct loop loop;
	struct connection c[PAIRS];
	int event;
	bool stop;
} race;

static void *disturb(void *seed_of_thread)
{
	unsigned int seed = (unsigned int)(uintptr_t)seed_of_thread;

	while (!__atomic_load_n(&race.stop, __ATOMIC_RELAXED)) {
		switch (rand_r(&seed) % 6) {
		case 0:
			enter_loop(&race.loop, 1);
			break;
		case 1:
			eventfd_write(race.event, 1);
			break;
		case 2:
			close(dup(race.loop.fd));
			break;
		case 3:
			sleep_in(&race.loop, race.event, clock_now() + (unsigned int)rand_r(&seed) % 100000);
			break;
		default:
			sched_yield();
			break;
		}
	}
	return NULL;
}

static void *ask(void *asked)
{
	for (int i = 0; i < 2000; i++) {
		if (!echoes(&race.c[i % PAIRS], "data"))
			break;
		++*(unsigned int *)asked;
	}
	eventfd_write(race.event, 1);
	return NULL;
}

static void racing(void)
{
	unsigned int asked = 0, left = 0, ended = 0;
	pthread_t threads[3];
	eventfd_t value;
	int index;

	create(&race.loop, 64);
	race.event = eventfd(0, EFD_NONBLOCK);
	for (uint32_t i = 0; i < PAIRS; i++)
		serve(&race.loop, i, echo, &race.c[i]);
	pthread_create(&threads[0], NULL, disturb, (void *)1);
	pthread_create(&threads[1], NULL, disturb, (void *)2);
	pthread_create(&threads[2], NULL, ask, &asked);
	while (__atomic_load_n(&asked, __ATOMIC_RELAXED) < 2000 && !ended) {
		sleep_in(&race.loop, race.event, FOR_EVER);
		eventfd_read(race.event, &value);
		while ((index = collect(&race.loop)) >= 0) {
			const struct cosy_async_entry *entry = &race.loop.entries[index];
			uint32_t pc = (uint32_t)entry->args[1];

			if (entry->status != COSY_ENTRY_LEFT) {
				ended++;
				continue;
			}
			left++;
			submit(&race.loop, (uint32_t)index, 0, COSY_ENTRY_COMPOUND, (__u64)device, echo,
			       (uintptr_t)race.c[index].frame, (uintptr_t)&value);
			race.loop.entries[index].args[4] = pc;
			race.loop.entries[index].args[5] = COSY_COMPOUND_RESUMED;
		}
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	/*
	 * One may have found the time of this thread in the page. Then it sleeps until there is an
	 * event.
	 */
	eventfd_write(race.event, 1);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	check(asked == 2000 && !ended,
	      "%u of 2000 requests are answered; %u compounds were given back, %u ended",
	      asked, left, ended);
	for (int i = 0; i < PAIRS; i++)
		hang_up(&race.c[i]);
	close(race.event);
	destroy(&race.loop);
}

int main(void)
{
	device = open_device();
	load_all();
	refused();
	times();
	descriptors();
	serving();
	queue_goes();
	not_woken();
	signals();
	awaiting();
	busy();
	closing();
	racing();
	return finish();
}
