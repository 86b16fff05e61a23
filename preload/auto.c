// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * auto.c - is a function that a program calls the C library's?
 *
 * The program may define the function itself, and a library before libc may
 * interpose it: fakeroot, a sanitizer, libcosy-preload.so. The linkers have found
 * that function then, and it has to see the calls.
 *
 * In a dynamically linked program the address is compared with that of libc's own
 * function. The list of libraries is found without a symbol of the dynamic
 * linker, which a static program does not have, and without a lock.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "next.h"
#include "static-libc.h"
#include "symbols.h"

/* Where the linker says that the program's code ends. */
extern const char etext[];

/* The program headers; they are mapped with the program. */
struct program {
	const ElfW(Phdr) *headers;
	size_t count;
};

static struct program program(void)
{
	return (struct program){ (const void *)getauxval(AT_PHDR),
				 getauxval(AT_PHNUM) };
}

static const ElfW(Phdr) *header(const struct program *program, uint32_t type)
{
	for (size_t i = 0; i < program->count; i++)
		if (program->headers[i].p_type == type)
			return &program->headers[i];
	return NULL;
}

/* Return: the dynamic linker's list of libraries, NULL if there is none. */
static const struct link_map *libraries(const struct program *program)
{
	const ElfW(Phdr) *self = header(program, PT_PHDR);
	const ElfW(Phdr) *dynamic = header(program, PT_DYNAMIC);
	const struct r_debug *debug;
	uintptr_t base;

	if (!self || !dynamic)
		return NULL;
	base = (uintptr_t)program->headers - self->p_vaddr;
	for (const ElfW(Dyn) *d = (const void *)(base + dynamic->p_vaddr);
	     d->d_tag != DT_NULL; d++) {
		if (d->d_tag != DT_DEBUG)
			continue;
		debug = (const void *)d->d_un.d_ptr;
		return debug ? debug->r_map : NULL;
	}
	return NULL;
}

static bool is_libc_function(const char *name, const void *function)
{
	const struct program self = program();
	const struct link_map *map;

	if (!header(&self, PT_INTERP))
		return cosy_static_libc_contains((uintptr_t)function,
						 (uintptr_t)etext);
	for (map = libraries(&self); map; map = map->l_next)
		if (cosy_is_libc(map))
			return cosy_symbol(map, name) == function;
	return false;
}

void *cosy_next(enum cosy_function function, bool *is_libc)
{
	void *linked = __atomic_load_n(&cosy_nexts[function], __ATOMIC_RELAXED);

	*is_libc = is_libc_function(cosy_function_name(function), linked);
	return linked;
}
