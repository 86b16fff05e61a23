// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A signal handler leaves a region by siglongjmp() while libcosy tells the module the program of its
 * function. Afterwards nothing is locked, and the function runs in the kernel. A filter stops the thread
 * in this call.
 */
// RUN: %clang -O2 -Wall -Werror -pthread -I%root/kernel/cosy/uapi %s -o %t -L%lib -l:libcosy.a
// RUN: %vm env COSY_FUNCTIONS=kernel COSY_STATS=1 %t > %t.out 2> %t.err
// RUN: cat %t.out %t.err | %FileCheck %s
//
// CHECK: left 1, sum 10, child 0, destroyed
// CHECK: function sum: executor=kernel upcalls=1{{$}}
#include <cosy.h>
#include <linux/cosy.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf out;
static pthread_t main_thread;
static int listener;

COSY_FUNCTION
static uint64_t sum(const uint64_t *p, uint64_t n)
{
	uint64_t r = 0;

	for (uint64_t i = 0; i < n; i++)
		r += p[i % 8];
	return r;
}

static uint64_t sums(const uint64_t *p)
{
	uint64_t r;

	COSY_START;
	getppid();
	r = sum(p, 4);
	COSY_END;
	return r;
}

static void leave(int signal)
{
	siglongjmp(out, signal);
}

/* Let each call go on; before the first one does, interrupt it. */
static void *supervise(void *unused)
{
	struct seccomp_notif call;
	struct seccomp_notif_resp answer;

	for (int n = 0;; n++) {
		call = (struct seccomp_notif){ .id = 0 };
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
			continue;
		if (!n) {
			pthread_kill(main_thread, SIGUSR1);
			usleep(100000);
		}
		answer = (struct seccomp_notif_resp){
			.id = call.id,
			.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
		};
		/* Fails if the call was interrupted. */
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return unused;
}

static void filter_binds(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, COSY_IOC_BIND, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	pthread_t thread;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener < 0 || pthread_create(&thread, NULL, supervise, NULL))
		abort();
}

int main(void)
{
	struct cosy_segment *segment = cosy_segment_create(1 << 20);
	volatile int left = 0;
	int status = 1;
	uint64_t *p, r;
	pid_t child;

	cosy_segment_use(segment);
	p = cosy_calloc(8, sizeof(*p));
	for (uint64_t i = 0; i < 8; i++)
		p[i] = i + 1;
	main_thread = pthread_self();
	signal(SIGUSR1, leave);
	filter_binds();
	/* What is left locked would let the program wait for ever. */
	alarm(30);
	if (sigsetjmp(out, 1))
		left++;
	else
		sums(p);
	r = sums(p);
	child = fork();
	if (!child)
		_exit(sums(p) != 10);
	waitpid(child, &status, 0);
	cosy_segment_destroy(segment);
	printf("left %d, sum %d, child %d, destroyed\n", left, (int)r, status);
	fflush(stdout);
	return 0;
}
