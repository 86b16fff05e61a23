// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The module cannot be unloaded while a user function runs, whatever else was
 * removed, and while there is a program that could call it. In a separate VM, where no other
 * process uses the module.
 */
// Linux 6.1 has no BPF arenas.
// UNSUPPORTED: kernel-6.1
// RUN: %compile-bpf %S/Inputs/functions.bpf.c -o %t.bpf.o
// RUN: %compile-dynamic %s -o %t -lbpf
// RUN: %root/scripts/vm/run --one-thread --no-module -- sh %S/Inputs/unload-function.sh %build/kernel/${COSY_KERNEL:-6.12}/cosy.ko %t %t.bpf.o
#include "function.h"

#include <pthread.h>

static int dev;
static __u64 handle;
static struct segment seg;

static void *spin(void *arg)
{
	__u64 frame[7] = { 0 };
	struct cosy_run run;

	(void)arg;
	call(dev, handle, frame, &run, seg.base + 0x10000, 0, 0);
	printf("FAILED: the function has ended\n");
	exit(1);
}

/* The kernel's limit of iterations ends the function soon. */
static void wait_for_end(const char *ready)
{
	close(creat(ready, 0600));
	pause();
}

int main(int argc, char **argv)
{
	struct cosy_bind bind = { 0 };
	struct bpf_object *object;
	pthread_t thread;

	if (argc < 4)
		return 2;
	dev = open_device();
	seg = segment_create();
	object = functions_load(dev, argv[1], &seg);
	*(volatile __u64 *)(seg.base + 0x10000) = 0;
	if (!strcmp(argv[2], "loaded")) {
		close(dev);
		wait_for_end(argv[3]);
	}
	handle = must_bind(dev, object, &seg, "spin");
	pthread_create(&thread, NULL, spin, NULL);
	while (!*(volatile __u64 *)(seg.base + 0x10000))
		usleep(1000);
	bind.base = (uintptr_t)seg.base;
	if (bind_function(dev, handle, -1, &bind))
		die("unbind");
	bpf_object__close(object);
	close(seg.map);
	close(dev);
	wait_for_end(argv[3]);
	return 0;
}
