/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.h - the descriptor of /dev/cosy.
 *
 * One per process and copy of libcosy. It is kept out of the program's sight
 * (descriptor.c), but the program may close it at any time, or fork:
 * whoever finds it gone calls cosy_device_get() again.
 */
#ifndef COSY_DEVICE_H
#define COSY_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * cosy_device_fd - the descriptor; negative if there is none, or none to be used
 *
 * Read relaxed by the run path, which does not check what it refers to: an
 * entry through another file fails without doing anything (linux/cosy.h).
 */
extern int cosy_device_fd __attribute__((visibility("hidden")));

/**
 * cosy_device_get() - a descriptor that refers to /dev/cosy now
 *
 * Opens the device if it is not open (any more) and checks that the module
 * speaks our language. Async-signal-safe, thread-safe.
 *
 * Return: the descriptor, or -errno; -EPROTO if the module is of another
 * version, -ENODEV if /dev/cosy is not the module's, -EPERM after
 * cosy_device_bar(), -EBUSY while the process is traced.
 */
int cosy_device_get(void);

/**
 * cosy_device_get_own() - the same, but a file not shared with another process
 *
 * After fork() the child shares its parent's file. What a child loads would
 * stay in it when the child dies, so whoever loads gets a file of its own.
 *
 * Return: as cosy_device_get().
 */
int cosy_device_get_own(void);

/**
 * cosy_device_available() - test whether the kernel can run regions in this process
 * @explain: if not, say why on stderr, once per process
 *
 * The first call decides, for as long as the process lives. Thread-safe.
 */
bool cosy_device_available(bool explain);

/**
 * cosy_device_bar() - from now on, make no system call on the device
 *
 * A seccomp filter does not allow the next entry, and may kill for it. It stays
 * in force for ever, in child processes too. Async-signal-safe, thread-safe.
 */
void cosy_device_bar(void);

/**
 * cosy_device_park() - for a few seconds, make no system call on the device
 *
 * Called when the process is traced: regions run natively, and the tracer sees only
 * an occasional attempt to enter. Async-signal-safe, thread-safe.
 */
void cosy_device_park(void);

/** cosy_device_parked() - test whether that time has not passed yet */
bool cosy_device_parked(void);

/** cosy_device_barred() - test whether cosy_device_bar() has been called */
bool cosy_device_barred(void);

/** cosy_device_close() - close the device; who needs it again opens it again */
void cosy_device_close(void);

/**
 * cosy_device_gone() - test whether the device cannot be opened again
 * @error: what cosy_device_get() returned
 *
 * Return: false if the failure may pass, such as -EMFILE.
 */
bool cosy_device_gone(int error);

#endif /* COSY_DEVICE_H */
