// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Calls that have begun, and then may not be made by the thread that continues them.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

/* A thread for which a filter forbids sendto(), write() and recvfrom(). */
struct filtered {
	struct loop *loop;
	int watch;
	bool entered;
	struct told told;
};

static void *enter_filtered(void *arg)
{
	struct filtered *thread = arg;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvfrom, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return NULL;
	thread->entered = go(thread->loop, 1) == 1;
	thread->told = told(thread->watch);
	return NULL;
}

/* Enter a loop in such a thread. Return what the kernel reports of it, and events of @watch. */
static struct told filtered(struct loop *loop, int watch)
{
	struct filtered thread = { .loop = loop, .watch = watch };
	pthread_t id;

	check(!pthread_create(&id, NULL, enter_filtered, &thread) && !pthread_join(id, NULL) &&
	      thread.entered, "a thread with a filter enters the loop");
	return thread.told;
}

/* Calls that have begun, and then may not be made by the thread that continues them. */
static void forbidden(void)
{
	int watch = inotify_init1(IN_NONBLOCK), sv[2];
	static char out[1 << 20], path[64];
	static __u64 frame[NREGS + 1];
	struct loop loop;
	struct told report;
	size_t received;
	__u64 write_all;

	write_all = LOAD_FOR_LOOPS(WRITE(SENT, FD, BUF, SIZE), EXIT(3));
	create(&loop, 64);
	pair(sv);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)out;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sv[0]);
	inotify_add_watch(watch, path, IN_MODIFY);
	for (int writes = 0; writes < 2; writes++) {
		const char *call = writes ? "write" : "sendto";

		frame[SIZE] = sizeof(out);
		start(&loop, 0, writes ? write_all : send_all, frame, 0, 0);
		check(go(&loop, 0) == 0, "%s: more than fits is sent, and waits", call);
		received = drain(sv[1]);
		report = filtered(&loop, watch);
		check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, writes ? 4 : 7),
		      "%s: the compound is left after the call", call);
		check(received && !drain(sv[1]) && frame[SENT] == received,
		      "%s: its result is the number of bytes that were sent: %llu of %zu",
		      call, (unsigned long long)frame[SENT], received);
		check(report.events == (unsigned int)writes &&
		      report.syscw == (unsigned int)writes &&
		      report.wchar == (writes ? received : 0),
		      "%s: the kernel reports the call: %u events, %llu writes",
		      call, report.events, report.syscw);
	}
	start(&loop, 0, send_all, frame, 0, 0);
	filtered(&loop, watch);
	check(collect(&loop) == 0 && is_left(&loop, 0, COSY_STEP, 0) && !drain(sv[1]),
	      "a call that has not begun is left to the process");

	frame[SIZE] = 1;
	for (int all = 0; all < 2; all++) {
		frame[GOT] = 0;
		start(&loop, 0, receive, frame, 0, 0);
		check(go(&loop, 0) == 0, "a compound waits");
		check(enter_loop(&loop, all ? COSY_ASYNC_CANCEL :
					      COSY_ASYNC_CANCEL_FD | (unsigned int)sv[0]) ==
		      (long long)(COSY_ASYNC_ENTERED | !all), "its call is cancelled");
		filtered(&loop, watch);
		check(collect(&loop) == 0 && is_left(&loop, 0, COSY_AGAIN, 7) &&
		      (long long)frame[GOT] == -ECANCELED,
		      "a call that was cancelled is not left to the process");
	}
	close(watch);
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	load_all();
	forbidden();
	return finish();
}
