// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A thread sets a seccomp filter that kills for an entry, while another thread opens the
 * device: the device is turned off all the same, for both.
 */

// RUN: %cc -O1 -Wall -pthread -rdynamic %s -o %t
// RUN: %vm %t native
// RUN: %vm %build/bin/cosy run %t

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "Inputs/device.h"

static sem_t opening, filtered;
static bool asked;

/*
 * The library asks for COSY_RUN_EXCEPT before it opens the device, by this function
 * instead of the C library's: so the filter comes just then.
 */
char *getenv(const char *name)
{
	if (!strcmp(name, "COSY_RUN_EXCEPT") && !asked) {
		asked = true;
		CHECK(!sem_post(&opening) && !sem_wait(&filtered));
	}
	return NULL;
}

static void *open_device(void *native)
{
	warm_up();
	if (native)
		CHECK(!sem_post(&opening) && !sem_wait(&filtered));
	else
		CHECK(asked);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_lseek, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	pthread_t thread;

	CHECK(!sem_init(&opening, 0, 0) && !sem_init(&filtered, 0, 0));
	CHECK(!pthread_create(&thread, NULL, open_device, argc > 1 ? argv[1] : NULL));
	CHECK(!sem_wait(&opening));
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	/* For this thread only; but the descriptor would be the process's. */
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	CHECK(!sem_post(&filtered));
	CHECK(!pthread_join(thread, NULL));
	warm_up();
	CHECK(device() < 0);
	return 0;
}
