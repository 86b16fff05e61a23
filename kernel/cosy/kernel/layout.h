/* SPDX-License-Identifier: GPL-2.0 */
/*
 * layout.h - where members are in structures that the kernel keeps to itself.
 */
#ifndef COSY_KERNEL_LAYOUT_H
#define COSY_KERNEL_LAYOUT_H

int cosy_layout_offset(const char *type, const char *member);

#endif /* COSY_KERNEL_LAYOUT_H */
