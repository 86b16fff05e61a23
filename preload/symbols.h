/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * symbols.h - the symbols of the libraries of this process.
 *
 * All functions are async-signal-safe and thread-safe: they take no lock. The
 * library must not be unloaded meanwhile.
 */
#ifndef COSY_PRELOAD_SYMBOLS_H
#define COSY_PRELOAD_SYMBOLS_H

#include <stdbool.h>

struct link_map;

/**
 * cosy_symbol() - look a function up in a library
 * @map:  the library
 * @name: name of the function
 *
 * Return: what a reference without a version means, which is not always a
 * function; NULL if the library does not define it.
 */
void *cosy_symbol(const struct link_map *map, const char *name)
	__attribute__((visibility("hidden")));

/**
 * cosy_is_libc() - test whether a library is glibc
 * @map: the library
 */
bool cosy_is_libc(const struct link_map *map)
	__attribute__((visibility("hidden")));

/**
 * cosy_is_slot() - test whether a library has a function's address at a place in memory
 * @map:  the library, or the program
 * @name: name of the function
 * @slot: the place
 *
 * Return: true if the library's calls of the function go through the place, which
 * the dynamic linker fills in. False for variables of the library.
 */
bool cosy_is_slot(const struct link_map *map, const char *name,
		  void *const *slot) __attribute__((visibility("hidden")));

#endif /* COSY_PRELOAD_SYMBOLS_H */
