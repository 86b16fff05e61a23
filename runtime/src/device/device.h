/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.h - the descriptor of /dev/cosy.
 *
 * Each copy of libcosy in a process has one descriptor, at a number that programs do not notice
 * (descriptor.c). The program may close it at any time, and a child process shares its parent's
 * file. After an entry that fails for that reason, the caller calls cosy_device_get() again.
 */
#ifndef COSY_DEVICE_H
#define COSY_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * cosy_device_fd - the descriptor; negative if there is none, or if it must not be used
 *
 * The run path reads it relaxed, and does not check to which file it refers: an entry through
 * another file fails without an effect (linux/cosy.h).
 */
extern int cosy_device_fd __attribute__((visibility("hidden")));

/**
 * cosy_device_get() - return a descriptor that refers to /dev/cosy now
 *
 * Opens the device if it is not open, and checks the versions of the module's interface.
 * Async-signal-safe, thread-safe.
 *
 * Return: the descriptor, which stays libcosy's, or -errno: -EPROTO if the module has another
 * version, -ENODEV if /dev/cosy is not the module's, -EPERM after cosy_device_block(), -EBUSY while
 * the process is traced, or if a child of vfork() has closed the device.
 */
int cosy_device_get(void);

/**
 * cosy_device_get_own() - return a descriptor of a file that no other process shares
 *
 * After fork() the child shares its parent's file, and what the child loads would stay in that
 * file when the child ends. So a process that loads compounds has a file of its own. A child of vfork() gets
 * -EBUSY.
 *
 * Return: like cosy_device_get().
 */
int cosy_device_get_own(void);

/**
 * cosy_device_is_own() - test whether this process has opened a file of the device
 * @fd: its descriptor
 *
 * Return: false if an ancestor has. Async-signal-safe, thread-safe.
 */
bool cosy_device_is_own(int fd);

/**
 * cosy_device_is_in_vfork() - test whether this process has the memory of its parent
 *
 * Its parent does not have the descriptors that it opens, so libcosy's variables must not name them.
 *
 * Return: true in a child of vfork(), and of clone(). Async-signal-safe, thread-safe.
 */
bool cosy_device_is_in_vfork(void);

/**
 * cosy_device_available() - test whether the kernel can run regions in this process
 * @explain: if it cannot, print the reason on standard error, once per process
 *
 * The first call decides for the lifetime of the process. Thread-safe.
 */
bool cosy_device_available(bool explain);

/**
 * cosy_device_block() - make no system call on the device from now on
 *
 * Called when a seccomp filter does not allow the next entry, and may kill the process for it. The
 * filter stays in force for ever, also in child processes. Async-signal-safe, thread-safe.
 */
void cosy_device_block(void);

/**
 * cosy_device_pause() - make no system call on the device for a few seconds
 *
 * Called when the process is traced: regions run natively, and the tracer sees only an
 * occasional attempt to enter. Async-signal-safe, thread-safe.
 */
void cosy_device_pause(void);

/** cosy_device_is_paused() - return true until that time has passed */
bool cosy_device_is_paused(void);

/** cosy_device_is_blocked() - test whether cosy_device_block() has been called */
bool cosy_device_is_blocked(void);

/**
 * cosy_device_file() - return the descriptor also during a pause
 *
 * For what must be undone in the module then, too. Async-signal-safe, thread-safe.
 *
 * Return: the descriptor, or a negative number.
 */
int cosy_device_file(void);

/** cosy_device_close() - close the device; the next cosy_device_get() opens it again */
void cosy_device_close(void);

/**
 * cosy_device_gone() - test whether a failure to open the device is permanent
 * @error: the error of cosy_device_get()
 *
 * Return: false if the failure may be temporary, such as -EMFILE.
 */
bool cosy_device_gone(int error);

#endif /* COSY_DEVICE_H */
