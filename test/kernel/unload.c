// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * unload.c - the module can be unloaded whenever nothing uses it, and only then.
 * In a VM of its own, where nobody else needs the module.
 */
// RUN: %compile %s -o %t
// RUN: %root/scripts/vm/run --no-module -- sh %S/Inputs/unload.sh %build/kernel/${COSY_KERNEL:-6.12}/cosy.ko %t
#include "compound.h"

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
			free(im);
		}
	}
	return 0;
}
