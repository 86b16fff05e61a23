// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The calls reach the function that the linker has resolved: the program's own one in another
 * file, that of a preloaded library, or that of a sanitizer. For every kind of linking, the
 * wrapper detects whether it is libc's.
 */

// RUN: %cosy-cc -O2 -Wall -fcosy-auto -c %s -o %t.o
// RUN: %cc -O2 -Wall -DOWN -c %s -o %t.own.o
// RUN: %cosy-cc %t.o %t.own.o -o %t && %vm %t | FileCheck --check-prefix=OWN %s
// RUN: %cosy-cc -static %t.o %t.own.o -o %t && %vm %t | FileCheck --check-prefix=OWN %s
// OWN: size 77, not open

// RUN: %cc -O2 -Wall -DOWN -shared -fPIC %s -o %t.so
// RUN: %cosy-cc %t.o -o %t && %vm env LD_PRELOAD=%t.so %t | FileCheck --check-prefix=OWN %s
// RUN: %vm %t | FileCheck --check-prefix=LIBC %s
// LIBC: size 5, open

// From the first call, before the dynamic linker has resolved the function.
// RUN: for options in -no-pie -Wl,-z,ibtplt -fuse-ld=lld '-fuse-ld=lld -Wl,-z,now'; do \
// RUN:   echo "$options" && %cosy-cc $options %t.o -o %t && %vm env COSY_EXECUTOR=kernel %t | FileCheck --check-prefix=LIBC %s && \
// RUN:   %vm env COSY_EXECUTOR=kernel LD_PRELOAD=%t.so %t | FileCheck --check-prefix=SEEN %s || exit 1; done
// SEEN: size 77,

// A function of a static program that does more than its system call.
// RUN: %cc -O2 -Wall -DOWN -DSYSCALL -c %s -o %t.syscall.o
// RUN: for executor in kernel auto; do %cosy-cc -static %t.o %t.syscall.o -o %t && %vm env COSY_EXECUTOR=$executor %t | FileCheck --check-prefix=SEEN %s && \
// RUN:   %cosy-cc -static %t.o -o %t && %vm env COSY_EXECUTOR=$executor %t | FileCheck --check-prefix=LIBC %s || exit 1; done

// A library with the older hash table, a function without a type, and a choice by an auditor.
// RUN: %cc -O2 -Wall -DOWN -shared -fPIC -Wl,--hash-style=sysv %s -o %t.sysv.so && %cc -O2 -Wall -DOWN -DUNTYPED -shared -fPIC %s -o %t.untyped.so
// RUN: %cc -O2 -Wall -DAUDITOR -shared -fPIC %s -o %t.auditor.so
// RUN: for options in '' -Wl,-z,now; do %cosy-cc $options %t.o -o %t || exit 1; for executor in kernel auto; do \
// RUN:   for variable in LD_PRELOAD=%t.sysv.so LD_PRELOAD=%t.untyped.so LD_AUDIT=%t.auditor.so; do \
// RUN:   echo "$options $executor $variable" && %vm env COSY_EXECUTOR=$executor $variable %t | FileCheck --check-prefix=SEEN %s || exit 1; done; done; done
// RUN: for library in sysv untyped; do %cc -O2 -Wall %s %t.$library.so -o %t && %vm %build/bin/cosy run %t | FileCheck --check-prefix=SEEN %s || exit 1; done

// The program's own function begins like a stub of the linker. Its target changes later.
// RUN: %cc -O2 -Wall -DOWN -DJUMP -c %s -o %t.jump.o && objdump -d %t.jump.o | FileCheck --check-prefix=JUMP %s
// JUMP:      <stat>:
// JUMP-NEXT: jmp *{{.*}}(%rip)
// RUN: %cosy-cc %t.o %t.jump.o -o %t && for executor in kernel auto; do %vm env COSY_EXECUTOR=$executor %t | FileCheck --check-prefix=SEEN %s || exit 1; done

// A shared library, also one that defines the function itself.
// RUN: %cc -O2 -Wall -DPROGRAM %s -c -o %t.program.o
// RUN: %cosy-cc -O2 -Wall -fcosy-auto -DLIBRARY -fPIC %s -c -o %t.library.o
// RUN: %cosy-cc -shared %t.library.o -o %t.library.so && %cc %t.program.o %t.library.so -o %t
// RUN: for variable in COSY_EXECUTOR=kernel LD_BIND_NOW=1; do %vm env $variable %t | FileCheck --check-prefix=LIBC %s || exit 1; \
// RUN:   %vm env $variable LD_PRELOAD=%t.so %t | FileCheck --check-prefix=SEEN %s || exit 1; done
// RUN: %cc -O2 -Wall -DOWN -fPIC %s -c -o %t.own.o && %cosy-cc -shared %t.library.o %t.own.o -o %t.library.so
// RUN: for executor in kernel auto; do %vm env COSY_EXECUTOR=$executor %t | FileCheck --check-prefix=SEEN %s || exit 1; done

// The symbolizer runs here, because it takes much longer in the VM.
// RUN: %cosy-cc -O1 -fcosy-auto -fsanitize=address -DOVERFLOW %s -o %t
// RUN: not %vm env ASAN_OPTIONS=strict_string_checks=1:symbolize=0 %t >%t.asan 2>&1
// RUN: FileCheck --check-prefix=ASAN %s <%t.asan
// RUN: sed -n 's|.*(%t+\(0x[0-9a-f]*\)).*|\1|p' %t.asan | llvm-symbolizer --obj=%t | FileCheck --check-prefix=FRAME %s
// ASAN: AddressSanitizer: stack-buffer-overflow
// FRAME: {{stat|open}}

#define _GNU_SOURCE
#include <asm/unistd.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef OWN

static int own(const char *path, struct stat *to)
{
	(void)path;
	to->st_size = 77;
#ifdef SYSCALL
	long result = __NR_getpid;

	__asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#endif
	return 0;
}

#ifdef JUMP
int (*volatile where)(const char *path, struct stat *to);

__attribute__((naked)) int stat(const char *path, struct stat *to)
{
	__asm__("jmp *where(%rip)");
}

__attribute__((constructor)) static void begin(void)
{
	where = (int (*)(const char *, struct stat *))dlsym(RTLD_NEXT, "stat");
}

void change(void)
{
	where = own;
}
#elif defined UNTYPED
__asm__(".globl stat\n"
	"stat: jmp *where(%rip)");
__attribute__((visibility("hidden"), used)) int (*where)(const char *path,
							 struct stat *to) = own;
#else
int stat(const char *path, struct stat *to)
{
	return own(path, to);
}
#endif

#elif defined AUDITOR

#include <link.h>

static int own(const char *path, struct stat *to)
{
	(void)path;
	to->st_size = 77;
	return 0;
}

unsigned int la_version(unsigned int version)
{
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned int la_objopen(struct link_map *map, Lmid_t list, uintptr_t *cookie)
{
	(void)map, (void)list, (void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int index, uintptr_t *from,
		       uintptr_t *to, unsigned int *flags, const char *name)
{
	(void)index, (void)from, (void)to, (void)flags;
	return strcmp(name, "stat") ? symbol->st_value : (uintptr_t)own;
}

#else

#include "../run/Inputs/device.h"

/* In the program whose own function begins like a stub. */
void change(void) __attribute__((weak));

void look(const char *name, struct stat *st);

#ifndef PROGRAM
void look(const char *name, struct stat *st)
{
	for (int i = 0; i < 100; i++)
		EQUAL(stat(name, st), 0);
}
#endif

#ifndef LIBRARY
int main(void)
{
	char name[] = "/tmp/interposed-XXXXXX";
	struct stat st = { 0 };
	int fd = mkstemp(name);

	CHECK(fd >= 0);
	EQUAL(write(fd, "12345", 5), 5);
#ifdef OVERFLOW
	/* The interceptor checks the path, which has no end within the array. */
	name[sizeof(name) - 1] = 'x';
#endif
	look(name, &st);
	if (change) {
		change();
		look(name, &st);
	}
	EQUAL(unlink(name), 0);
	printf("size %ld, %sopen\n", (long)st.st_size, device() < 0 ? "not " : "");
	return 0;
}
#endif

#endif
