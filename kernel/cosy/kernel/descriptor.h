/* SPDX-License-Identifier: GPL-2.0 */
/*
 * descriptor.h - makes a descriptor at a number that the process cannot use.
 */
#ifndef COSY_KERNEL_DESCRIPTOR_H
#define COSY_KERNEL_DESCRIPTOR_H

struct file;

long cosy_descriptor_hide(struct file *file);

#endif /* COSY_KERNEL_DESCRIPTOR_H */
