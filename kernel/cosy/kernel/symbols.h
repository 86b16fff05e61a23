/* SPDX-License-Identifier: GPL-2.0 */
/*
 * symbols.h - finds symbols of the kernel that it does not export.
 */
#ifndef COSY_KERNEL_SYMBOLS_H
#define COSY_KERNEL_SYMBOLS_H

int cosy_symbols_init(void);
void *cosy_symbol(const char *name);

#endif /* COSY_KERNEL_SYMBOLS_H */
