/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * file.h - opens, recognises and hides a file of /dev/cosy.
 *
 * Needs no C library: preload/ includes it, too. All functions are async-signal-safe and
 * thread-safe, and keep errno.
 */
#ifndef COSY_FILE_H
#define COSY_FILE_H

#include <asm/unistd.h>
#include <linux/cosy.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/sys.h"

/** cosy_file_open() - open the device; returns the lowest free descriptor, or -errno */
static inline int cosy_file_open(void)
{
	return (int)cosy_sys(__NR_openat, AT_FDCWD, (long)COSY_DEVICE,
			     O_RDWR | O_CLOEXEC);
}

/** cosy_file_close() - close a descriptor of libcosy */
static inline void cosy_file_close(int fd)
{
	cosy_sys(__NR_close, fd, 0, 0);
}

/**
 * cosy_file_is_device() - test whether a descriptor is one of a device that makes single calls
 * @fd: any number
 *
 * Return: false if not, or if the thread is traced.
 */
static inline bool cosy_file_is_device(int fd)
{
	struct cosy_call none = { .nr = ~0u };

	return cosy_sys(__NR_lseek, fd, (long)(COSY_RUN_TAG | (uintptr_t)&none),
			COSY_CALL_WHENCE) ==
	       (long)(COSY_CALL_LEFT | COSY_CALL_UNKNOWN);
}

/**
 * cosy_file_hide() - move the device to a number that no call returns to the process
 * @fd: the descriptor, which is closed
 *
 * Such a number makes forks slower. cosy_descriptor_hide() chooses one that does not, but that the
 * process gets once it has opened nearly all others.
 *
 * Return: the descriptor, close-on-exec; or -errno if the process uses all these numbers.
 */
static inline int cosy_file_hide(int fd)
{
	int hidden = (int)cosy_sys(__NR_ioctl, fd, COSY_IOC_HIDE, 0);

	if (hidden == -ERANGE)
		hidden = (int)cosy_sys(__NR_fcntl, fd, F_DUPFD_CLOEXEC, COSY_HIDE_MAX);
	cosy_file_close(fd);
	return hidden;
}

#endif /* COSY_FILE_H */
