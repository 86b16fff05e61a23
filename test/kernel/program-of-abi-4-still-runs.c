/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program for ABI 4 and compound format 1, the first versions.
 *
 * It includes none of Cosy's headers. Its image, structures and numbers are those of that time,
 * and every later module must run it. So this file is never changed. Additions to the interface
 * get a new file beside it.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t | FileCheck %s
// CHECK: ABI 4 works
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../Inputs/check.h"

/* r1 = 0; do { r1 += getpid(); } while (--r0); up-call 0; exit 2 */
static const _Alignas(8) unsigned char image[] = {
	0x43, 0x4f, 0x53, 0x59, 0x01, 0x00, 0x03, 0x00, 0xe1, 0x00, 0x00, 0x00,
	0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00,
	0x04, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x02, 0x00, 0x01, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00, 0x02, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x27, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0x08, 0x01, 0x00,
	0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0x08, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x16, 0x08, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x23, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x19, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

struct info {
	uint32_t size, flags, abi, oldest_abi, format, oldest_format;
	uint32_t load_flags, run_flags;
	uint64_t features;
	uint32_t max_loads, reserved;
	char version[16];
};

struct load {
	uint32_t size, flags;
	uint64_t image;
	uint32_t image_size, offset;
	uint64_t handle;
	char reason[64];
};

struct run {
	uint64_t handle, frame, errno_addr;
	uint32_t pc, status;
	uint64_t value, limit, calls;
	uint32_t flags, slice;
	uint64_t operations, cpu_time, functions, address;
	uint32_t line, function, wrote, reserved;
	uint64_t suspended;
};

struct bind {
	uint32_t size, flags;
	uint64_t handle;
	uint32_t function;
	int32_t fd;
	uint64_t base;
	uint32_t pointers, trial;
	uint64_t stacks;
	uint32_t stack_size, stack_stride, nstacks, reserved;
	uint64_t data, calls, cycles;
};

struct yield {
	uint32_t size, flags;
	int32_t fd;
	uint32_t id;
};

_Static_assert(sizeof(struct info) == 64 && sizeof(struct load) == 96 &&
	       sizeof(struct run) == 120 && sizeof(struct bind) == 88 &&
	       sizeof(struct yield) == 16, "");

#define INFO	0x5140
#define LOAD	0x5141
#define UNLOAD	0x5142
#define BIND	0x5143
#define YIELD	0x5144

#define RUN_TAG		(1ul << 62)
#define RUN_WHENCE	4
#define RUN_DONE	(1l << 32)
#define RUN_LEFT	(2l << 32)
#define RUN_COUNT	1
#define UPCALL		1
#define AGAIN		2

static int dev;

static long enter(struct run *run)
{
	return syscall(SYS_lseek, dev, RUN_TAG | (uintptr_t)run, RUN_WHENCE);
}

/* Check that a command accepts a structure of another size as the ABI says. */
static int command(unsigned long number, const void *argument, uint32_t size,
		   uint32_t length, unsigned char last)
{
	static _Alignas(8) unsigned char memory[8192];

	memset(memory, 0, sizeof(memory));
	memcpy(memory, argument, size < length ? size : length);
	*(uint32_t *)memory = length;
	if (length > size && length <= sizeof(memory))
		memory[length - 1] = last;
	return ioctl(dev, number, memory) ? -errno : 0;
}

static void sizes(unsigned long number, const void *argument, uint32_t size,
		  int expected)
{
	EQUAL(command(number, argument, size, size, 0), expected);
	EQUAL(command(number, argument, size, 4096, 0), expected);
	EQUAL(command(number, argument, size, 4096, 1), -E2BIG);
	EQUAL(command(number, argument, size, 4097, 0), -E2BIG);
	EQUAL(command(number, argument, size, size - 1, 0), -EINVAL);
	EQUAL(command(number, argument, size, 0, 0), -EINVAL);
}

int main(void)
{
	struct info info = { .size = sizeof(info) };
	struct load load = { .size = sizeof(load), .image = (uintptr_t)image,
			     .image_size = sizeof(image) };
	struct bind bind = { .size = sizeof(bind), .fd = -1 };
	struct yield yield = { .size = sizeof(yield), .flags = 1 };
	uint64_t frame[3] = { 5 };
	struct run run = { .frame = (uintptr_t)frame, .flags = RUN_COUNT,
			   .errno_addr = (uintptr_t)&errno };

	dev = open("/dev/cosy", O_RDWR | O_CLOEXEC);
	CHECK(dev >= 0);
	EQUAL(ioctl(dev, INFO, &info), 0);
	CHECK(info.oldest_abi <= 4 && info.abi >= 4);
	CHECK(info.oldest_format <= 1 && info.format >= 1);
	EQUAL((info.load_flags & 1), 1);
	EQUAL(info.run_flags & 15, 15);
	CHECK(info.size >= sizeof(info));

	EQUAL(ioctl(dev, LOAD, &load), 0);
	CHECK(load.handle);
	EQUAL(load.reason[0], 0);
	run.handle = load.handle;
	EQUAL(enter(&run), RUN_LEFT);
	EQUAL(run.status, UPCALL);
	EQUAL(run.value, 0);
	EQUAL(frame[1], 5 * (uint64_t)getpid());
	EQUAL(run.calls, 5);
	run.status = AGAIN;
	EQUAL(enter(&run), (RUN_DONE | 2));
	EQUAL(frame[1], 5 * (uint64_t)getpid());

	/* New bits are rejected, so an old client never sets them. */
	run.flags = 1u << 31;
	run.pc = 0;
	run.status = 0;
	EQUAL(enter(&run), -1);
	EQUAL(errno, EINVAL);
	load.flags = 1u << 31;
	EQUAL(ioctl(dev, LOAD, &load), -1);
	EQUAL(errno, EINVAL);
	CHECK(load.reason[0]);
	load.flags = 0;

	sizes(INFO, &info, sizeof(info), 0);
	sizes(LOAD, &load, sizeof(load), 0);
	bind.handle = load.handle;
	if (info.features & 1) {
		/* The image calls no function. */
		sizes(BIND, &bind, sizeof(bind), -EINVAL);
		sizes(YIELD, &yield, sizeof(yield), -EINVAL);
	} else {
		EQUAL(ioctl(dev, BIND, &bind), -1);
		EQUAL(errno, EOPNOTSUPP);
		EQUAL(ioctl(dev, YIELD, &yield), -1);
		EQUAL(errno, EOPNOTSUPP);
	}
	EQUAL(ioctl(dev, UNLOAD, &load.handle), 0);
	EQUAL(ioctl(dev, UNLOAD, &load.handle), -1);
	EQUAL(errno, ENOENT);
	EQUAL(ioctl(dev, _IO('Q', 0x7f), 0), -1);
	EQUAL(errno, ENOTTY);
	printf("ABI 4 works\n");
	return 0;
}
