// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * x32.c - calls by their x32 numbers. Such a process must not run compounds, because nested calls
 * would use x32 calls.
 */
#include "../compound.h"

#define X32(nr)	((long)(nr) | 0x40000000)

static long call(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall" : "=a" (ret)
			 : "0" (nr), "D" (a), "S" (b), "d" (c)
			 : "rcx", "r11", "memory");
	return ret;
}

int main(void)
{
	int dev = open_device();
	__u64 frame[1] = { 0 };
	struct cosy_info info = { .size = sizeof(info) };
	struct cosy_run run = { .frame = (__u64)(uintptr_t)frame };

	if (call(X32(SYS_getpid), 0, 0, 0) != getpid()) {
		printf("FAILED: boot with syscall.x32=y\n");
		return 1;
	}
	run.handle = must_load(dev, 1, CONST(0, 7), EXIT(0));
	check(call(X32(SYS_lseek), dev, COSY_RUN_TAG | (__u64)(uintptr_t)&run,
		   COSY_RUN_WHENCE) == -EOPNOTSUPP && !frame[0],
	      "no run by an x32 lseek");
	/* The number of the native ioctl, which is different for x32. */
	check(call(X32(SYS_ioctl), dev, COSY_IOC_INFO, (long)&info) < 0,
	      "no ioctl by its native number");
	check(call(X32(514), dev, COSY_IOC_INFO, (long)&info) < 0, "no x32 ioctl");
	check(call(X32(SYS_openat), AT_FDCWD, (long)COSY_DEVICE, O_RDWR) ==
		      -EOPNOTSUPP, "no x32 open of the device");
	check(run_frame(dev, run.handle, frame, &run) == done(0) && frame[0] == 7,
	      "a 64-bit call of the same process runs it");
	return finish();
}
