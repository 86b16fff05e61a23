// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The module can be unloaded exactly if nothing uses it. In a separate VM, where no
 * other process uses the module.
 */
// RUN: %compile %s -o %t
// RUN: %root/scripts/vm/run --one-thread --no-module -- sh %S/Inputs/unload.sh %build/kernel/${COSY_KERNEL:-6.12}/cosy.ko %t
#include "loop.h"
#include "uring.h"

/*
 * The call that closes @fd. Before 6.6 close(2) releases the file on the return to user mode, for
 * which every compound and loop must leave; io_uring releases it in its own call.
 */
static struct cosy_call closing_call(struct ring *ring, bool by_uring, int fd)
{
	if (!by_uring)
		return (struct cosy_call){ .nr = SYS_close, .args = { (__u64)fd } };
	if (!ring_make(ring, IORING_OP_CLOSE, fd, NULL, 0))
		die("io_uring");
	return (struct cosy_call){
		.nr = SYS_io_uring_enter,
		.args = { (__u64)ring->fd, 1, 1, IORING_ENTER_GETEVENTS },
	};
}

/*
 * Close the device in a compound that then sleeps until it is killed. A run that is left between
 * the two, for pending work of the kernel, cannot be entered again.
 */
static void run_closed(bool by_uring)
{
	struct timespec an_hour = { .tv_sec = 3600 };

	for (;;) {
		int dev = open_device();
		struct ring ring;
		struct cosy_call call = closing_call(&ring, by_uring, dev);
		__u64 handle = must_load(dev, 1, SYS(0, call.nr, 4), ARGI(call.args[0]),
					 ARGI(call.args[1]), ARGI(call.args[2]),
					 ARGI(call.args[3]), SYS(0, SYS_nanosleep, 2),
					 ARGI((uintptr_t)&an_hour), ARGI(0), EXIT(0));
		__u64 frame[1] = { 0 };
		struct cosy_run run;

		run_frame(dev, handle, frame, &run);
		if (by_uring)
			ring_end(&ring);
	}
}

/* The same in an entry of a loop, which another entry closes. */
static void enter_closed(bool by_uring)
{
	struct timespec an_hour = { .tv_sec = 3600 };

	for (;;) {
		struct cosy_call call;
		struct loop loop;
		struct ring ring;

		device = open_device();
		if (create(&loop, 64))
			die("a loop");
		close(device);
		call = closing_call(&ring, by_uring, loop.fd);
		submit(&loop, 0, 0, SYS_munmap, (uintptr_t)loop.page, loop.size, 0, 0);
		loop.entries[1] = (struct cosy_async_entry){ .nr = call.nr };
		memcpy(loop.entries[1].args, call.args, sizeof(call.args));
		submit(&loop, 2, 0, SYS_nanosleep, (uintptr_t)&an_hour, 0, 0, 0);
		loop.submitted[1] = 1;
		loop.submitted[2] = 2;
		__atomic_store_n(&loop.page->submit_tail, 3, __ATOMIC_RELEASE);
		/* After it is closed, it cannot be entered any more. */
		while (enter_loop(&loop, COSY_ASYNC_MAX_DONE) >= 0)
			;
		if (by_uring)
			ring_end(&ring);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "open";
	__u64 frame[4] = { 0 };
	struct cosy_run run;
	__u64 handle;
	int dev;

	if (!strcmp(what, "open")) {
		dev = open_device();
		pause();
	} else if (!strcmp(what, "handle")) {
		printf("%llu\n", (unsigned long long)must_load(open_device(), 1, EXIT(0)));
	} else if (!strcmp(what, "closed")) {
		run_closed(false);
	} else if (!strcmp(what, "closed-by-uring")) {
		run_closed(true);
	} else if (!strcmp(what, "loop")) {
		/* A loop keeps the module without the device, while an entry waits. */
		struct loop loop;
		char byte;
		int sv[2];

		device = open_device();
		if (create(&loop, 64) || socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
			die("a loop");
		submit_recv(&loop, 0, sv[0], &byte);
		execute(&loop);
		close(device);
		pause();
	} else if (!strcmp(what, "closed-loop")) {
		enter_closed(false);
	} else if (!strcmp(what, "closed-loop-by-uring")) {
		enter_closed(true);
	} else {
		/* For a second, as fast as possible; the device may not exist. */
		for (double end = now() + 1; now() < end;) {
			const struct cosy_op ops[] = { SYS(0, SYS_close, 1), ARG(1),
						       SYS(0, SYS_getpid, 0), EXIT(0) };
			struct image *im = make_image(ops, 4, 4, 4, 0, 4);

			dev = open(COSY_DEVICE, O_RDWR);
			if (dev >= 0) {
				frame[1] = dev;
				handle = load_image(dev, im);
				run_frame(dev, handle, frame, &run);
				close(dev);
			}
			device = open(COSY_DEVICE, O_RDWR);
			if (device >= 0) {
				struct loop loop;

				if (!create(&loop, 64)) {
					submit(&loop, 0, 0, SYS_close, loop.fd, 0, 0, 0);
					execute(&loop);
					munmap(loop.page, loop.size);
				}
				close(device);
			}
			free(im);
		}
	}
	return 0;
}
