// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * next.c - looks up a symbol in the libraries loaded after this one.
 *
 * Libraries that are loaded at the start of the program are never unloaded. The C library is
 * one of them, so the search ends before libraries that may be loaded or unloaded now.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "next.h"
#include "symbols.h"

/* This library's dynamic section. link.h does not declare it as hidden. */
extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC")
	__attribute__((visibility("hidden")));
/* Weak, because other C libraries do not have it. Their dlsym() finds the functions then. */
extern struct r_debug _r_debug __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));

/* Return this library in the dynamic linker's list; NULL if there is no such list. */
static const struct link_map *own_map(void)
{
	const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;

	while (map && map->l_ld != own_dynamic)
		map = map->l_next;
	return map;
}

/* Find the function. @libc is set to the library that has it if that is the C library, else to NULL. */
static void *find(const char *name, const struct link_map **libc)
{
	const struct link_map *map = own_map();
	void *next;

	*libc = NULL;
	if (!&_r_debug)
		return dlsym ? dlsym(RTLD_NEXT, name) : NULL;
	if (!map)
		return NULL;
	while ((map = map->l_next)) {
		next = cosy_symbol(map, name);
		if (next) {
			if (cosy_is_libc(map))
				*libc = map;
			return next;
		}
	}
	return NULL;
}

void *cosy_next(enum cosy_function function, enum cosy_route *route)
{
	const struct link_map *libc;
	void *next = find(cosy_function_name(function), &libc);

	if (libc)
		cosy_find_cancellation(libc);
	*route = libc ? COSY_ROUTE_MODULE : COSY_ROUTE_NEXT;
	return next;
}

void *cosy_next_named(const char *name)
{
	const struct link_map *libc;

	return find(name, &libc);
}

void *cosy_preload_next(const char *name)
{
	const struct link_map *libc;
	void *next = find(name, &libc);

	return libc ? next : NULL;
}

const struct link_map *cosy_libc(void)
{
	const struct link_map *map = own_map();

	while (map && !cosy_is_libc(map))
		map = map->l_next;
	return map;
}

const char *cosy_own_path(void)
{
	const struct link_map *map = own_map();

	return map ? map->l_name : NULL;
}

/* The regions of the program have their own descriptor, which is not shared. */
int cosy_shared_device(void)
{
	return COSY_DEVICE_CLOSED;
}
