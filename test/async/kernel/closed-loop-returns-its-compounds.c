// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A waiting compound needs neither the compound's handle, nor the device, nor the loop's descriptor.
 * Closing a descriptor of the loop returns it to the process.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

#include <pthread.h>

/* The compound is unloaded, and descriptors of the loop are closed, while it waits. */
static void giving_back(void)
{
	static __u64 frame[NREGS + 1];
	__u64 handle = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), ADDI(ROUNDS, ROUNDS, 5),
				      RECV(SENT, FD, BUF, SIZE, 0), EXIT(1));
	struct loop loop, other;
	char byte;
	int sv[2], fd;

	create(&loop, 64);
	pair(sv);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)&byte;
	frame[SIZE] = 1;
	start(&loop, 0, handle, frame, 0, 0);
	check(go(&loop, 0) == 0 && !ioctl(device, COSY_IOC_UNLOAD, &handle),
	      "a compound is unloaded while it waits");
	send(sv[1], "x", 1, 0);
	check(go(&loop, 0) == 0, "it continues, and waits again");
	fd = dup(loop.fd);
	close(fd);
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 8) && frame[GOT] == 1 &&
	      frame[ROUNDS] == 5,
	      "it is given back with its registers when a descriptor of the loop is closed");
	start(&loop, 0, 0, frame, 8, COSY_COMPOUND_RESUMED);
	check(go(&loop, 0) == 0, "the loop resumes it without its handle");
	close(loop.fd);
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 8),
	      "it is given back when the last descriptor is closed");
	munmap(loop.page, loop.size);
	create(&loop, 64);
	start(&loop, 0, echo, frame, 0, 0);
	check(go(&loop, 0) == 0 && enter_loop(&loop, COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
	      (long long)(COSY_ASYNC_ENTERED | 1),
	      "a waiting call is interrupted by its descriptor");
	close(dup(loop.fd));
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 7) &&
	      (long long)frame[GOT] == -ECANCELED,
	      "ECANCELED: the interrupted call is given back with its result");
	frame[ROUNDS] = 5;
	create(&other, 64);
	handle = LOAD_FOR_LOOPS(RECV(GOT, FD, BUF, SIZE, 0), ADDI(ROUNDS, ROUNDS, 5),
				RECV(SENT, FD, BUF, SIZE, 0), EXIT(1));
	start(&other, 3, handle, frame, 8, COSY_COMPOUND_RESUMED);
	send(sv[1], "x", 1, 0);
	check(go(&other, 1) == 1 && collect(&other) == 3 && entry_result(&other, 3) == 1 &&
	      frame[ROUNDS] == 5 && frame[SENT] == 1,
	      "a compound that was given back resumes in another loop, and ends");
	destroy(&loop);
	close(sv[0]);
	close(sv[1]);
	destroy(&other);
}

/* A thread that enters a loop; @tid is 0 until it runs. */
struct entrant {
	struct loop *loop;
	uint64_t what;
	pthread_t thread;
	pid_t tid;
	long long entered;
};

static void *enter_in_thread(void *arg)
{
	struct entrant *entrant = arg;

	__atomic_store_n(&entrant->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	entrant->entered = enter_loop(entrant->loop, entrant->what);
	return NULL;
}

/* Return when the thread sleeps. It sleeps only for this reason. */
static void begin_to_enter(struct entrant *entrant, struct loop *loop, uint64_t what)
{
	*entrant = (struct entrant){ .loop = loop, .what = what };
	pthread_create(&entrant->thread, NULL, enter_in_thread, entrant);
	while (!__atomic_load_n(&entrant->tid, __ATOMIC_ACQUIRE) || !is_asleep(entrant->tid))
		usleep(1000);
}

/*
 * A thread has found the loop's file, and enters after the last descriptor was closed. No thread
 * can enter after it, so it must not leave a waiting compound.
 */
static void closed_before_entered(uint64_t what)
{
	static __u64 frame[NREGS + 1];
	struct entrant blocked, late;
	struct loop loop;
	int sv[2], pipes[2];
	char byte, got;

	create(&loop, 64);
	loop.page->sleep_ns = COSY_ASYNC_FOR_EVER;
	loop.page->sleep_fd = -1;
	pair(sv);
	if (pipe(pipes))
		die("pipe");
	submit(&loop, 0, 0, SYS_read, (uint64_t)pipes[0], (uintptr_t)&byte, 1, 0);
	begin_to_enter(&blocked, &loop, 1);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)&got;
	frame[SIZE] = 1;
	start(&loop, 1, receive, frame, 0, 0);
	begin_to_enter(&late, &loop, COSY_ASYNC_AWAIT | what | COSY_ASYNC_MAX_DONE);
	close(loop.fd);
	check(write(pipes[1], "x", 1) == 1 && !pthread_join(blocked.thread, NULL) &&
	      blocked.entered == (long long)(COSY_ASYNC_ENTERED | 1) && collect(&loop) == 0,
	      "the first thread leaves when its call has returned");
	pthread_join(late.thread, NULL);
	check(late.entered == (long long)COSY_ASYNC_ENTERED && loop.page->submit_head == loop.tail,
	      "the second one has executed what was submitted: %#llx", late.entered);
	check(collect(&loop) == 1 && is_left(&loop, 1, COSY_AGAIN, 0),
	      "the second one gives the waiting compound back");
	munmap(loop.page, loop.size);
	for (int i = 0; i < 2; i++) {
		close(sv[i]);
		close(pipes[i]);
	}
}

int main(void)
{
	device = open_device();
	load_all();
	giving_back();
	closed_before_entered(0);
	closed_before_entered(COSY_ASYNC_SLEEP);
	return finish();
}
