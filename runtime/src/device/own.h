/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * own.h - the program or library that contains this copy of libcosy.
 */
#ifndef COSY_OWN_H
#define COSY_OWN_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>

/* The linker defines it at the address of the ELF header. */
extern const Elf64_Ehdr __ehdr_start
	__attribute__((weak, visibility("hidden")));

/**
 * cosy_in_program() - test whether this copy is in the program itself
 *
 * Return: true if the copy is unloaded only when the process ends. Then the kernel frees its
 * resources. Async-signal-safe, thread-safe.
 */
static inline bool cosy_in_program(void)
{
	return &__ehdr_start &&
	       getauxval(AT_PHDR) ==
		       (uintptr_t)&__ehdr_start + __ehdr_start.e_phoff;
}

#endif /* COSY_OWN_H */
