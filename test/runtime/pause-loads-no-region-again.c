// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// While a process is traced, its entries are not made. Afterwards a region runs by what was loaded
// before: libcosy loads it again only if the file has it no longer. The device is simulated.
// RUN: %compile -U_GNU_SOURCE -I%root/runtime/src %s %root/runtime/src/region/recover.c -o %t
// RUN: %t
#include <cosy.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/message.h"
#include "device/options.h"
#include "region/recover.h"
#include "region/region.h"

#include "../Inputs/check.h"

#define DEVICE	62
#define PAUSED	(-64)

static struct cosy_region region;
static struct cosy_reserved reserved;
static struct cosy_run run;
static int device = DEVICE, loads;

int cosy_device_get(void)
{
	return device;
}

void cosy_device_pause(void)
{
}

bool cosy_device_gone(int error)
{
	return error != -EBUSY;
}

int cosy_reserved_load(struct cosy_region *loaded, uint64_t stale)
{
	EQUAL(stale, loaded->handle);
	loaded->handle++;
	loads++;
	return 0;
}

const char *cosy_reserved_limit(int error)
{
	(void)error;
	return NULL;
}

struct cosy_options cosy_options(void)
{
	return (struct cosy_options){ .debug = false };
}

const char *cosy_number(struct cosy_number *to, uint64_t number)
{
	(void)to;
	(void)number;
	return "";
}

void cosy_message(const char *text, ...)
{
	(void)text;
}

/* An entry by @fd has failed with @ret. */
static bool recovers(int fd, long ret)
{
	return cosy_kernel_recover(&region, &reserved, &run, fd, ret);
}

int main(void)
{
	region.handle = 8;
	run.handle = 7;
	for (int i = 0; i < 5000; i++) {
		CHECK(!recovers(DEVICE, -EBUSY));
		device = -EBUSY;
		CHECK(!recovers(PAUSED, -EBADF));
		device = DEVICE;
		CHECK(recovers(PAUSED, -EBADF));
	}
	/* Another thread has ended the pause between the entry and now. */
	for (int i = 0; i < 5000; i++)
		CHECK(recovers(DEVICE, -EBADF));
	EQUAL(loads, 0);
	EQUAL(run.handle, 7);

	/* The program has closed the descriptor: another file, at another number or at the same. */
	device = DEVICE - 1;
	CHECK(recovers(DEVICE, -EBADF));
	EQUAL(loads, 0);
	CHECK(recovers(DEVICE - 1, -ENOENT));
	EQUAL(loads, 1);
	EQUAL(run.handle, 8);
	CHECK(recovers(DEVICE - 1, -EBADF));
	EQUAL(loads, 1);
	CHECK(recovers(DEVICE - 1, -ENOENT));
	EQUAL(loads, 2);
	EQUAL(run.handle, 9);

	/* The module's other errors are those of the entry. */
	CHECK(!recovers(DEVICE - 1, -EFAULT));
	EQUAL(loads, 2);
	return 0;
}
