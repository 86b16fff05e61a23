/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * library.c - recognises the C library's functions, which a compound may replace.
 *
 * In a dynamically linked program a function is libc's if its address is in
 * libc, or in the vDSO, which libc's time() and gettimeofday() resolve to. The
 * name of a symbol says nothing: any object can define it.
 *
 * For statically linked programs see static-libc.c. A function that is not
 * recognised makes the region run natively, which is always right.
 *
 * Under `cosy run` the wrappers of libcosy-preload.so come before libc's
 * functions. Such a wrapper stands for libc's function unless yet another
 * library interposes it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/auxv.h>

#include "device/library.h"
#include "device/static-libc.h"

/*
 * Find the object that contains an address. Takes no lock, in contrast to dl_iterate_phdr(), and
 * each process with regions does this when it starts.
 */
static bool find_object(uintptr_t address, struct dl_find_object *object)
{
	return !_dl_find_object((void *)address, object);
}

/*
 * Return libc, or the program that contains it, or NULL. It is found by a constant of libc: the
 * address of a function would be looked up at start. Found once, because a program with regions asks
 * for each function that they call.
 */
static const struct link_map *find_libc(void)
{
	static const struct link_map *known;
	const struct link_map *libc = __atomic_load_n(&known, __ATOMIC_RELAXED);
	struct dl_find_object object;

	if (!libc && find_object((uintptr_t)gnu_get_libc_version(), &object)) {
		libc = object.dlfo_link_map;
		__atomic_store_n(&known, libc, __ATOMIC_RELAXED);
	}
	return libc;
}

/* The program itself has an empty name. */
static bool is_static(void)
{
	const struct link_map *libc = find_libc();

	return libc && !*libc->l_name;
}

static bool is_of_library(uintptr_t function)
{
	const struct link_map *libc = find_libc();
	struct dl_find_object object;

	if (!libc || !find_object(function, &object))
		return false;
	if (object.dlfo_link_map != libc)
		return (uintptr_t)object.dlfo_map_start == getauxval(AT_SYSINFO_EHDR);
	return !is_static() ||
	       cosy_static_libc_contains(function, (uintptr_t)object.dlfo_map_end);
}

/*
 * Weak: a static program has none, and nothing is preloaded into it. Its address is
 * never compared: then it would be looked up when a program starts.
 */
extern __typeof__(dlsym) dlsym __attribute__((weak));

/* Return true if @function is a wrapper of `cosy run` for libc's @name. */
static bool is_wrapper(const char *name, uintptr_t function)
{
	struct dl_find_object object, preload;
	void *(*next)(const char *name);

	if (is_static())
		return false;
	next = (void *(*)(const char *))dlsym(RTLD_DEFAULT, "cosy_preload_next");
	return next && find_object(function, &object) && find_object((uintptr_t)next, &preload) &&
	       object.dlfo_link_map == preload.dlfo_link_map && next(name);
}

bool cosy_library_contains(const char *name, uintptr_t address)
{
	return is_of_library(address) || is_wrapper(name, address);
}

bool cosy_library_intercepted(const char *name, uintptr_t address)
{
	/* The names of compiler-rt, the newer one first. */
	static const char *const prefixes[] = { "__interceptor_trampoline_", "___interceptor_" };
	char symbol[64];

	if (is_static())
		return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		int length = snprintf(symbol, sizeof(symbol), "%s%s", prefixes[i], name);

		if (length < (int)sizeof(symbol) &&
		    (uintptr_t)dlsym(RTLD_DEFAULT, symbol) == address)
			return true;
	}
	return false;
}

static bool is_expected(const struct cosy_library_function *function)
{
	return function->own ? function->address == function->own :
			       cosy_library_contains(function->name, function->address);
}

const struct cosy_library_function *cosy_library_foreign(const struct cosy_library *library)
{
	if (!library)
		return NULL;
	for (uint64_t i = 0; i < library->count; i++)
		if (!is_expected(&library->functions[i]))
			return &library->functions[i];
	return NULL;
}
