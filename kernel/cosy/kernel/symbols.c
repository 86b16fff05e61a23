// SPDX-License-Identifier: GPL-2.0
/*
 * symbols.c - finds symbols of the kernel that it does not export.
 *
 * A kprobe yields the address of kallsyms_lookup_name(), which finds all other symbols.
 * It must be called directly: on machines with indirect branch tracking the entry of a
 * function that is not exported does not accept indirect calls.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include "kernel/symbols.h"

static unsigned long cosy_no_lookup(const char *name)
{
	return 0;
}

DEFINE_STATIC_CALL(cosy_lookup, cosy_no_lookup);

/* Return the offset of @addr in its function: a probe may be after the first instruction. */
static unsigned long cosy_offset_in_symbol(unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN];	/* name+0x4/0x1a0 */
	unsigned long offset = 0;
	char *begin, *end;

	sprint_symbol(text, addr);
	begin = strrchr(text, '+');
	end = strrchr(text, '/');
	if (begin && end && begin < end) {
		*end = '\0';
		if (kstrtoul(begin + 1, 0, &offset))
			offset = 0;
	}
	return offset;
}

/**
 * cosy_symbols_init() - prepare cosy_symbol()
 *
 * Return: 0, or an error, with a message.
 */
int cosy_symbols_init(void)
{
	static struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long addr;
	int err;

	err = register_kprobe(&probe);
	if (err == -ENOMEM) {
		pr_err("there is not enough memory to find kallsyms_lookup_name\n");
		return err;
	}
	if (err) {
		pr_err("cannot find kallsyms_lookup_name (%d): this kernel needs CONFIG_KPROBES and CONFIG_KALLSYMS\n",
		       err);
		return err;
	}
	addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);

	addr -= cosy_offset_in_symbol(addr);
	static_call_update(cosy_lookup,
			   (unsigned long (*)(const char *))addr);
	return 0;
}

/**
 * cosy_symbol() - return the address of a symbol of the kernel
 * @name: its name
 *
 * Return: the address, or NULL if there is no such symbol.
 */
void *cosy_symbol(const char *name)
{
	return (void *)static_call(cosy_lookup)(name);
}
