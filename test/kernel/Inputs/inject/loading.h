/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loading.h - loading and unloading of compounds, and what that charges to a user.
 */
#ifndef LOADING_H
#define LOADING_H

#include "operation.h"

static struct image *image;

static void no_handle(void)
{
	handle = 0;
}

static long load_it(void)
{
	struct cosy_load load = { .size = sizeof(load), .image = (uintptr_t)image,
				  .image_size = image->h.size };

	if (ioctl(dev, COSY_IOC_LOAD, &load))
		return -errno;
	handle = load.handle;
	return 0;
}

static long unload_it(void)
{
	return ioctl(dev, COSY_IOC_UNLOAD, &handle) ? -errno : 0;
}

static void unload_if(long ret)
{
	if (!ret)
		unload_it();
}

static void unload_unless(long ret)
{
	if (ret)
		unload_it();
}

static void load_small(void)
{
	const struct cosy_op ops[] = { ADDI(0, 0, 1), EXIT(0) };

	no_handle();
	free(image);
	image = make_image(ops, 2, 1, 1, 0, 1);
}

/* Several pages of code, and functions. */
static void load_large(void)
{
	static struct cosy_op ops[1001];

	no_handle();
	free(image);
	for (int i = 0; i < 1000; i++)
		ops[i] = (struct cosy_op)ADDI(0, 0, 1);
	ops[1000] = (struct cosy_op)EXIT(0);
	image = make_image(ops, 1001, 1, 1, 0, 1);
	image->h.nfunctions = 3;
}

static void load_wrong(void)
{
	load_small();
	image->h.magic++;
}

static void load_and_unload(void)
{
	load_small();
	if (load_it())
		die("load");
}

static long open_and_close(void)
{
	int fd = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* A file that is closed while it has compounds. */
static long close_loaded(void)
{
	int kept = dev;
	long ret;

	dev = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);
	if (dev < 0) {
		ret = -errno;
	} else {
		ret = load_it();
		close(dev);
	}
	dev = kept;
	return ret;
}

static long info(void)
{
	struct {
		struct cosy_info info;
		char more[16];
	} arg = { .info.size = sizeof(arg) };

	return ioctl(dev, COSY_IOC_INFO, &arg) ? -errno : 0;
}

static long hide(void)
{
	int fd = ioctl(dev, COSY_IOC_HIDE);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* The number of compounds that a user with a quota of 1 MiB can load. */
static unsigned int quota_left(void)
{
	unsigned int user_memory = read_number("/sys/module/cosy/parameters/user_memory");
	unsigned int n = 0, held = events()->held;
	int fd = open_device(), kept = dev;

	write_number("/sys/module/cosy/parameters/user_memory", 1);
	dev = fd;
	load_small();
	while (n < 1000 && !load_it())
		n++;
	close(fd);
	dev = kept;
	write_number("/sys/module/cosy/parameters/user_memory", user_memory);
	if (!wait_held(held))
		check(false, "closing a file leaves memory");
	return n;
}

static void try_files(void)
{
	static const struct operation ops[] = {
		OPERATION("open", NULL, open_and_close, NULL, 0),
		OPERATION("close a file with compounds", load_small, close_loaded, NULL, 0,
			  .repeats = CHARGE_REPEATS),
		OPERATION("info", NULL, info, NULL, 0),
		OPERATION("hide", NULL, hide, NULL, 0),
		OPERATION("load", load_small, load_it, unload_if, 0, .repeats = CHARGE_REPEATS),
		OPERATION("load with functions", load_large, load_it, unload_if, 0,
			  .repeats = CHARGE_REPEATS),
		OPERATION("load a wrong image", load_wrong, load_it, NULL, -EINVAL),
		OPERATION("unload", load_and_unload, unload_it, unload_unless, 0),
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		try(&ops[i]);
}

#endif /* LOADING_H */
