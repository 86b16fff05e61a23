/* SPDX-License-Identifier: GPL-2.0 */
/*
 * symbols.h - find symbols of the kernel that it does not export.
 */
#ifndef COSY_KERNEL_SYMBOLS_H
#define COSY_KERNEL_SYMBOLS_H

#include <linux/static_call.h>

int cosy_symbols_init(void);
void *cosy_symbol(const char *name);

/**
 * COSY_FIND() - find a function of the kernel
 * @call: a static call that is to be it
 * @name: its name
 *
 * Return: true if the kernel has the function; @call then calls it.
 */
#define COSY_FIND(call, name) ({					\
	void *_symbol = cosy_symbol(name);				\
									\
	if (_symbol)							\
		static_call_update(call, _symbol);			\
	_symbol != NULL;						\
})

#endif /* COSY_KERNEL_SYMBOLS_H */
