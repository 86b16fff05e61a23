// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * auto.c - is a function that a program calls the C library's?
 *
 * The program may define the function itself, and a library before libc may
 * interpose it: fakeroot, a sanitizer, libcosy-preload.so. The linkers have found
 * that function then, and it has to see the calls.
 *
 * In a dynamically linked program a call goes to a stub, which jumps through a slot
 * of the procedure linkage table. The address there is compared with that of libc's
 * own function. Before the first call of the function most programs have none there
 * yet, and nothing is gained by having it looked up early: most processes make few
 * calls.
 *
 * The list of libraries is found without a symbol of the dynamic linker, which a
 * static program does not have, and without a lock.
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

/* Do the bytes at @code begin with the @size bytes of @expected? */
static bool begins(const unsigned char *code, const char *expected, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (code[i] != (unsigned char)expected[i])
			return false;
	return true;
}

/*
 * Where the stub at @function has its address from; NULL if it is no stub. A
 * function of the program may begin with the same jump. Then it does what the
 * function does that it jumps to, as a stub.
 */
static void *const *slot_of(const void *function)
{
	const unsigned char *code = function;
	int32_t offset;

	if (begins(code, "\xf3\x0f\x1e\xfa", 4))	/* endbr64 */
		code += 4;
	if (begins(code, "\xf2", 1))			/* bnd */
		code++;
	if (!begins(code, "\xff\x25", 2))		/* jmp *offset(%rip) */
		return NULL;
	code += 2;
	__builtin_memcpy(&offset, code, sizeof(offset));
	return (void *const *)(code + sizeof(offset) + offset);
}

/*
 * The main program's slots: the dynamic linker stores in them what it finds first in
 * the list, which begins with the program.
 */
static bool is_first_in_list(const struct program *program, const char *name,
			     void *const *slot, const void *function)
{
	const struct link_map *map = libraries(program);
	const void *first = NULL;

	if (!cosy_is_slot(map, name, slot))
		return false;
	for (; map && !first; map = map->l_next)
		first = cosy_symbol(map, name);
	return first == function;
}

static const void *libc_function(const struct program *program, const char *name)
{
	const struct link_map *map = libraries(program);

	while (map && !cosy_is_libc(map))
		map = map->l_next;
	return map ? cosy_symbol(map, name) : NULL;
}

static bool is_libc_function(const struct program *program, const char *name,
			     void *const *slot)
{
	const void *function = slot ? libc_function(program, name) : NULL;

	return function &&
	       (__atomic_load_n(slot, __ATOMIC_RELAXED) == function ||
		is_first_in_list(program, name, slot, function));
}

void *cosy_next(enum cosy_function function, enum cosy_route *route)
{
	static bool asked[COSY_FUNCTIONS];
	void *linked = __atomic_load_n(&cosy_nexts[function], __ATOMIC_RELAXED);
	const struct program self = program();
	void *const *slot = NULL;
	bool is_libc;

	if (!header(&self, PT_INTERP)) {
		is_libc = cosy_static_libc_contains((uintptr_t)linked,
						    (uintptr_t)etext);
	} else {
		slot = slot_of(linked);
		is_libc = is_libc_function(&self, cosy_function_name(function),
					   slot);
	}
	if (is_libc)
		*route = COSY_ROUTE_MODULE;
	else if (slot && !__atomic_exchange_n(&asked[function], true,
					      __ATOMIC_RELAXED))
		*route = COSY_ROUTE_UNKNOWN;	/* it has not been called */
	else
		*route = COSY_ROUTE_NEXT;
	return linked;
}
