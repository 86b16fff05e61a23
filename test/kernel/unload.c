// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * unload.c - the module can be unloaded whenever nothing uses it, and only then.
 * In a VM of its own, where nobody else needs the module.
 */
// RUN: %compile %s -o %t
// RUN: %root/scripts/vm/run --no-module -- sh %S/Inputs/unload.sh %build/kernel/${COSY_KERNEL:-6.12}/cosy.ko %t
#include "loop.h"

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "open";
	struct timespec an_hour = { .tv_sec = 3600 };
	__u64 frame[4] = { 0 };
	struct cosy_run run;
	__u64 handle;
	int dev;

	if (!strcmp(what, "open")) {
		dev = open_device();
		pause();
	} else if (!strcmp(what, "closed")) {
		/*
		 * Close the device, then sleep until killed. A run that is left between
		 * the two, for the kernel's own work, cannot be entered again.
		 */
		for (;;) {
			dev = open_device();
			frame[1] = dev;
			frame[2] = (__u64)(uintptr_t)&an_hour;
			handle = must_load(dev, 4, SYS(0, SYS_close, 1), ARG(1),
					   SYS(0, SYS_nanosleep, 2), ARG(2), ARGI(0), EXIT(0));
			run_frame(dev, handle, frame, &run);
		}
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
		/* A loop that has closed itself keeps it while its next call waits. */
		for (;;) {
			struct loop loop;

			device = open_device();
			if (create(&loop, 64))
				die("a loop");
			close(device);
			submit(&loop, 0, 0, SYS_munmap, (uintptr_t)loop.page, loop.size, 0, 0);
			loop.entries[1] = (struct cosy_async_entry){
				.nr = SYS_close,
				.args = { (uint64_t)loop.fd },
			};
			submit(&loop, 2, 0, SYS_nanosleep, (uintptr_t)&an_hour, 0, 0, 0);
			loop.submitted[1] = 1;
			loop.submitted[2] = 2;
			__atomic_store_n(&loop.page->submit_tail, 3, __ATOMIC_RELEASE);
			/* Once it is closed, there is no way back in. */
			while (enter_loop(&loop, COSY_ASYNC_MAX_DONE) >= 0)
				;
		}
	} else {
		/* For a second, as fast as possible; the device may be missing. */
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
