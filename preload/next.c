// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * next.c - looks up a symbol in the libraries loaded after this one.
 *
 * Libraries that are loaded at the start of the program are never unloaded. The C library is
 * one of them, so the search ends before libraries that may be loaded or unloaded now.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>

#include "device/probe.h"
#include "device/sys.h"
#include "next.h"
#include "symbols.h"

/* This library's dynamic section. link.h does not declare it as hidden. */
extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC")
	__attribute__((visibility("hidden")));
/* Weak, because other C libraries do not have it. Their dlsym() finds the functions then. */
extern struct r_debug _r_debug __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));

/* Return the address at which the kernel has mapped the dynamic linker; 0 if it is unknown. */
static uintptr_t linker_address(void)
{
	uintptr_t base = 0, headers = 0;
	ElfW(auxv_t) entry = { .a_type = AT_IGNORE };
	long fd = cosy_sys(__NR_openat, AT_FDCWD, (long)"/proc/self/auxv", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	while (entry.a_type != AT_NULL &&
	       cosy_sys(__NR_read, fd, (long)&entry, sizeof(entry)) == sizeof(entry)) {
		if (entry.a_type == AT_BASE)
			base = entry.a_un.a_val;
		if (entry.a_type == AT_PHDR)
			headers = entry.a_un.a_val;
	}
	cosy_sys(__NR_close, fd, 0, 0);
	/* If the dynamic linker was executed as a command, it is the program. */
	return base ? base : headers & -COSY_PAGE;
}

/*
 * Return the dynamic linker's description of the libraries before this library has been relocated. Then its
 * references are NULL, but a function that chooses another one (IFUNC), in a library that is relocated
 * before, may call the functions here.
 */
static const struct r_debug *debug_before_relocation(void)
{
	struct link_map linker = { .l_addr = linker_address() };
	const ElfW(Ehdr) *elf = (const void *)linker.l_addr;
	const ElfW(Phdr) *header;

	if (!elf)
		return NULL;
	header = (const void *)(linker.l_addr + elf->e_phoff);
	for (int i = 0; i < elf->e_phnum; i++) {
		if (header[i].p_type == PT_DYNAMIC)
			linker.l_ld = (ElfW(Dyn) *)(linker.l_addr + header[i].p_vaddr);
	}
	return linker.l_ld ? cosy_symbol(&linker, "_r_debug") : NULL;
}

/* Return true if the C library is another one, which does not have the dynamic linker's list. */
static bool has_other_libc(void)
{
	return !&_r_debug && dlsym;
}

/* Return this library in the dynamic linker's list; NULL if there is no such list. */
static const struct link_map *own_map(void)
{
	const struct r_debug *debug = &_r_debug;
	const struct link_map *map;

	if (!debug && !has_other_libc())
		debug = debug_before_relocation();
	map = debug ? debug->r_map : NULL;
	while (map && map->l_ld != own_dynamic)
		map = map->l_next;
	return map;
}

/* Find the function. @libc is set to the library that has it if that is the C library, else to NULL. */
static void *find(const char *name, const struct link_map **libc)
{
	const struct link_map *map;
	void *next;

	*libc = NULL;
	if (has_other_libc())
		return dlsym(RTLD_NEXT, name);
	map = own_map();
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
