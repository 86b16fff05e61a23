// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * auto.c - decides whether a function that a program calls is the C library's.
 *
 * The program may define the function itself, and a library before libc may
 * interpose it: fakeroot, a sanitizer, libcosy-preload.so. Then the linkers have found
 * that function, and it must see the calls.
 *
 * In a dynamically linked program a call goes to a stub, which jumps through a slot
 * of the procedure linkage table. The address in the slot is compared with that of libc's
 * own function. In most programs the dynamic linker stores it at the first call. The address
 * is not predicted, because auditors (LD_AUDIT) may choose it: the first call of each
 * function is native.
 *
 * The list of libraries is found without a lock, and without a symbol of the dynamic linker,
 * which static programs do not have.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "device/own.h"
#include "device/static-libc.h"
#include "next.h"
#include "state.h"
#include "symbols.h"

/* After this many calls, a slot without the address of libc's function is not read again. */
#define MAX_CHECKS	4

/* The end of the code, from the linker. Hidden, so that no shared library exports it. */
extern const char etext[] __attribute__((visibility("hidden")));

/* The program headers, which are mapped with the program. */
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

/* Return the dynamic linker's list of libraries, or NULL. */
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

/* Return true if the bytes at @code begin with the @size bytes of @expected. */
static bool begins(const unsigned char *code, const char *expected, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (code[i] != (unsigned char)expected[i])
			return false;
	return true;
}

/*
 * Return the slot from which the stub at @function reads its address; NULL if it is not a stub.
 * A function of the program may begin with the same jump, through a pointer that the program
 * changes later.
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
 * Return the members of the link map that cosy_is_slot() needs, for the program or shared
 * library that contains this file. It is not searched in the list of libraries, because a
 * library there may be unloaded during the search. No relocation is needed: the first word of
 * the offset table is the address that the linker gave _DYNAMIC.
 */
static struct link_map own_map(void)
{
	const uintptr_t *offsets;
	uintptr_t dynamic;

	__asm__(".weak _DYNAMIC\n\t"
		".hidden _DYNAMIC\n\t"
		"lea _DYNAMIC(%%rip), %0\n\t"
		"lea _GLOBAL_OFFSET_TABLE_(%%rip), %1"
		: "=&r"(dynamic), "=r"(offsets));
	return (struct link_map){ .l_addr = dynamic - offsets[0],
				  .l_ld = (ElfW(Dyn) *)dynamic };
}

/* Only the C library of a static program defines it for this file. */
extern const char __libc_single_threaded __attribute__((weak));

/* A static program contains the C library that this file is compiled for. */
static void find_static_cancellation(void)
{
	__atomic_store_n(&cosy_single_threaded, &__libc_single_threaded, __ATOMIC_RELAXED);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 41)
	__atomic_store_n(&cosy_exact_cancellation, true, __ATOMIC_RELAXED);
#endif
}

/* Return true if the dynamic linker has stored the address of libc's function in @slot. */
static bool is_libc_function(const struct program *program, const char *name,
			     void *const *slot)
{
	const struct link_map *libc = libraries(program);
	const struct link_map own = own_map();

	while (libc && !cosy_is_libc(libc))
		libc = libc->l_next;
	if (!libc)
		return false;
	cosy_find_cancellation(libc);
	return __atomic_load_n(slot, __ATOMIC_RELAXED) ==
		       cosy_symbol(libc, name) &&
	       cosy_is_slot(&own, name, slot);
}

void *cosy_next(enum cosy_function function, enum cosy_route *route)
{
	static uint8_t checks[COSY_FUNCTIONS];
	void *linked = __atomic_load_n(&cosy_nexts[function], __ATOMIC_RELAXED);
	const struct program self = program();
	void *const *slot = NULL;
	bool is_libc;

	if (!header(&self, PT_INTERP)) {
		is_libc = cosy_static_libc_contains((uintptr_t)linked,
						    (uintptr_t)etext);
		find_static_cancellation();
	} else {
		slot = slot_of(linked);
		is_libc = slot && is_libc_function(&self,
						   cosy_function_name(function),
						   slot);
	}
	if (is_libc)
		*route = COSY_ROUTE_MODULE;
	else if (slot && __atomic_fetch_add(&checks[function], 1,
					    __ATOMIC_RELAXED) < MAX_CHECKS)
		*route = COSY_ROUTE_UNKNOWN;	/* it has not been called */
	else
		*route = COSY_ROUTE_NEXT;
	return linked;
}

/* The descriptor of libcosy. Weak, because a program may have no regions. */
extern int cosy_device_fd __attribute__((weak, visibility("hidden")));

int cosy_shared_device(void)
{
	return &cosy_device_fd ?
		       __atomic_load_n(&cosy_device_fd, __ATOMIC_RELAXED) :
		       COSY_DEVICE_CLOSED;
}

/*
 * Close the device for good, because the shared library that contains this file is unloaded, or
 * the process ends. The library's other destructors have made their calls before.
 */
__attribute__((destructor(101))) static void unload(void)
{
	if (__atomic_load_n(&cosy_device.fd, __ATOMIC_RELAXED) >= 0 && !cosy_in_program())
		cosy_before_filter();
}
