// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A user binds user functions and removes them as fast as possible. Programs that
 * another user has unloaded are still given back.
 */
// REQUIRES: root
// Linux 6.1 has no BPF arenas.
// UNSUPPORTED: kernel-6.1
// RUN: %compile-bpf %S/Inputs/functions.bpf.c -o %t.bpf.o
// RUN: %compile-dynamic %s -o %t -lbpf
// RUN: %vm %t %t.bpf.o
#include "function.h"

#include <signal.h>
#include <sys/wait.h>

#define BINDERS	2
#define BOUND	1000
#define OPS	60000
#define MOST	1000
#define AGAIN	10

/*
 * Each binding replaces the previous one while the parent lives, because its signals would not
 * reach a process of root while it is another user. @bound: counts them. Ends if none succeeds any more.
 */
static void bind_on(int dev, __u64 handle, int fd, const struct segment *seg, unsigned int *bound)
{
	struct cosy_bind bind = { .base = (uintptr_t)seg->base, .pointers = 1 };
	pid_t parent = getppid();
	int failures = 0;

	while (getppid() == parent && failures < BOUND) {
		if (bind_function(dev, handle, fd, &bind)) {
			failures++;
			continue;
		}
		failures = 0;
		__atomic_add_fetch(bound, 1, __ATOMIC_RELAXED);
	}
	if (failures)
		perror("the last binding");
	_exit(1);
}

/* Load the maximum, then unload and load again; return how often that is rejected. */
static int refusals(void)
{
	static struct cosy_op ops[OPS];
	static __u64 handles[MOST];
	int dev, loaded = 0, refused = 0;
	struct image *im;

	for (int i = 0; i < OPS - 1; i++)
		ops[i] = (struct cosy_op)ADDI(0, 0, 1);
	ops[OPS - 1] = (struct cosy_op)EXIT(0);
	im = make_image(ops, OPS, 4, 4, 0, 4);
	if (setresuid(65533, 65533, 0))
		die("setresuid");
	dev = open_device();
	while (loaded < MOST && (handles[loaded] = load_image(dev, im)))
		loaded++;
	if (loaded < AGAIN || loaded == MOST || errno != EDQUOT)
		die("the limit of a user's memory");
	for (int i = 0; i < AGAIN; i++) {
		if (ioctl(dev, COSY_IOC_UNLOAD, &handles[i]))
			die("COSY_IOC_UNLOAD");
		refused += !load_image(dev, im);
	}
	if (setresuid(0, 0, 0))
		die("setresuid");
	return refused;
}

int main(int argc, char **argv)
{
	unsigned int *bound = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct bpf_object *object;
	pid_t binders[BINDERS];
	struct segment seg;
	int dev, refused;
	__u64 handle;

	if (argc < 2 || bound == MAP_FAILED)
		return 2;
	dev = open_device();
	seg = segment_create();
	object = functions_load(dev, argv[1], &seg);
	handle = must_bind(dev, object, &seg, "load");
	for (int i = 0; i < BINDERS; i++) {
		binders[i] = fork();
		if (!binders[i])
			bind_on(dev, handle, function(object, "load"), &seg, bound);
	}
	/* So many that what they replace is queued. */
	while (__atomic_load_n(bound, __ATOMIC_RELAXED) < BOUND && !waitpid(-1, NULL, WNOHANG))
		usleep(1000);
	refused = refusals();
	for (int i = 0; i < BINDERS; i++)
		check(!kill(binders[i], SIGKILL) && waitpid(binders[i], NULL, 0) == binders[i],
		      "the process that binds has ended");
	/* A grace period may take over a second on a busy machine. Behind a queue, all are refused. */
	check(refused <= AGAIN / 2, "what is unloaded is given back while others bind (%d of %d refused)",
	      refused, AGAIN);
	return finish();
}
