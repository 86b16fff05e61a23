/* SPDX-License-Identifier: GPL-2.0 */
/*
 * descriptor.h - a descriptor whose number the process does not miss.
 */
#ifndef COSY_KERNEL_DESCRIPTOR_H
#define COSY_KERNEL_DESCRIPTOR_H

struct file;

long cosy_descriptor_hide(struct file *file);

#endif /* COSY_KERNEL_DESCRIPTOR_H */
