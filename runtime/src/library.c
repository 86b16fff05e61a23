/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * library.c - recognises the C library's functions, which a compound may replace.
 *
 * In a dynamically linked program a function is libc's if its address is in
 * libc's code, or in that of the vDSO, which libc's time() and gettimeofday()
 * resolve to. The name of a symbol says nothing: any object can define it.
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

#include "library.h"
#include "static-libc.h"

/* Where code of libc is: it stays there as long as the process lives. */
struct library_code {
	struct {
		uintptr_t first;
		uintptr_t end;
	} ranges[4];
	size_t count;
	bool is_static;
};

static bool object_contains(const struct dl_phdr_info *info, uintptr_t address)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD &&
		    address - (info->dlpi_addr + ph->p_vaddr) < ph->p_memsz)
			return true;
	}
	return false;
}

static bool has_interpreter(const struct dl_phdr_info *info)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			return true;
	return false;
}

/* Called for each object, the program itself first. */
static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	/* A constant of libc's: to take a function's address, it would be looked up at start. */
	bool is_libc = object_contains(info, (uintptr_t)gnu_get_libc_version());
	bool is_vdso = object_contains(info, getauxval(AT_SYSINFO_EHDR));
	struct library_code *code = arg;

	(void)size;
	if (!is_libc && !is_vdso)
		return 0;
	/* libc is no program and nobody's interpreter, unless it is run itself. */
	if (is_libc && !*info->dlpi_name && !has_interpreter(info))
		code->is_static = true;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) ||
		    code->count == sizeof(code->ranges) / sizeof(*code->ranges))
			continue;
		code->ranges[code->count].first =
			info->dlpi_addr + ph->p_vaddr;
		code->ranges[code->count].end =
			info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
		code->count++;
	}
	return 0;
}

/*
 * Found by the first thread that asks; pthread_once() would be one more function to
 * look up at start.
 */
static struct library_code library_code(void)
{
	enum { UNKNOWN, FINDING, KNOWN };
	static struct library_code known;
	static int state;
	struct library_code code = { .count = 0 };
	int unknown = UNKNOWN;

	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == KNOWN)
		return known;
	dl_iterate_phdr(add_object, &code);
	if (__atomic_compare_exchange_n(&state, &unknown, FINDING, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		known = code;
		__atomic_store_n(&state, KNOWN, __ATOMIC_RELEASE);
	}
	return code;
}

static bool is_of_library(uintptr_t function)
{
	const struct library_code code = library_code();

	for (size_t i = 0; i < code.count; i++) {
		if (function < code.ranges[i].first ||
		    function >= code.ranges[i].end)
			continue;
		return !code.is_static ||
		       cosy_static_libc_contains(function, code.ranges[i].end);
	}
	return false;
}

/*
 * Weak: a static program has none, and nothing is preloaded into it. Its address is
 * never compared: then it would be looked up when a program starts.
 */
extern __typeof__(dlsym) dlsym __attribute__((weak));

struct two_addresses {
	uintptr_t first;
	uintptr_t second;
};

/* Return 1, which ends the search, if an object contains both addresses. */
static int contains_both(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct two_addresses *both = arg;

	(void)size;
	return object_contains(info, both->first) &&
	       object_contains(info, both->second);
}

/* Return true if @function is a wrapper of `cosy run` for libc's @name. */
static bool is_wrapper(const char *name, uintptr_t function)
{
	struct two_addresses both = { .first = function };
	void *(*next)(const char *name);

	if (library_code().is_static)
		return false;
	next = (void *(*)(const char *))dlsym(RTLD_DEFAULT,
					      "cosy_preload_next");
	both.second = (uintptr_t)next;
	return next && dl_iterate_phdr(contains_both, &both) && next(name);
}

bool cosy_library_contains(const char *name, uintptr_t address)
{
	return is_of_library(address) || is_wrapper(name, address);
}

bool cosy_library_intercepted(const char *name, uintptr_t address)
{
	/* The names of compiler-rt, the newer one first. */
	static const char *const prefixes[] = { "__interceptor_trampoline_",
						"___interceptor_" };
	char symbol[64];

	if (library_code().is_static)
		return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		int length = snprintf(symbol, sizeof(symbol), "%s%s",
				      prefixes[i], name);

		if (length < (int)sizeof(symbol) &&
		    (uintptr_t)dlsym(RTLD_DEFAULT, symbol) == address)
			return true;
	}
	return false;
}

const char *cosy_library_foreign(const struct cosy_library *library)
{
	if (!library)
		return NULL;
	for (uint64_t i = 0; i < library->count; i++)
		if (!cosy_library_contains(library->functions[i].name,
					   library->functions[i].address))
			return library->functions[i].name;
	return NULL;
}
