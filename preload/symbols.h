/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * symbols.h - looks up symbols of the libraries of this process.
 *
 * All functions are async-signal-safe and thread-safe: they take no lock. The
 * library must not be unloaded meanwhile.
 */
#ifndef COSY_PRELOAD_SYMBOLS_H
#define COSY_PRELOAD_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

struct link_map;

/**
 * cosy_symbol() - look up a function in a library
 * @map:  the library
 * @name: name of the function
 *
 * Return: the address that a reference without a version has, which is not always a
 * function's; NULL if the library does not define it.
 */
void *cosy_symbol(const struct link_map *map, const char *name)
	__attribute__((visibility("hidden")));

/**
 * cosy_symbol_range() - look up a function in a library, with its size
 * @map:  the library
 * @name: name of the function
 * @size: out: its size in bytes
 *
 * Return: its first byte; NULL if the library does not define it, or chooses it at run time.
 */
const unsigned char *cosy_symbol_range(const struct link_map *map, const char *name,
				       size_t *size) __attribute__((visibility("hidden")));

/**
 * cosy_is_libc() - test whether a library is glibc
 * @map: the library
 */
bool cosy_is_libc(const struct link_map *map)
	__attribute__((visibility("hidden")));

/**
 * cosy_is_slot() - test whether an address is a library's slot for a function
 * @map:  the library, or the program
 * @name: name of the function
 * @slot: the address
 *
 * Return: true if the library calls the function through the slot, in which the dynamic
 * linker stores its address. False for variables of the library.
 */
bool cosy_is_slot(const struct link_map *map, const char *name,
		  void *const *slot) __attribute__((visibility("hidden")));

/**
 * cosy_find_cancellation() - set cosy_single_threaded and cosy_exact_cancellation
 * @libc: the C library
 */
void cosy_find_cancellation(const struct link_map *libc)
	__attribute__((visibility("hidden")));

#endif /* COSY_PRELOAD_SYMBOLS_H */
