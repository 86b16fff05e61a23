// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With -flto, functions of other files become a part of the compound in the link step.
//
// Without it they are up-calls.
// RUN: %cosy-cc -O2 -w -Rpass=cosy -c %s -o %t.o 2>&1 | FileCheck --check-prefix=ALONE %s
// RUN: %cosy-cc -flto -O2 -w -Rpass=cosy -c %s -o %t.o 2>&1 | count 0
// RUN: %cosy-cc -flto -O2 -w -c %S/Inputs/lto-callees.c -o %t-callees.o
// RUN: %cosy-cc -flto -O2 -Rpass=cosy -Rpass-missed=cosy %t.o %t-callees.o -o %t 2>&1 | FileCheck --check-prefixes=LINK,FULL %s
// RUN: %run-all %t | FileCheck --check-prefix=OUT %s
//
// RUN: for options in -O0 -O1 -O3 -Os '-O2 -g' '-O0 -g' '-O2 -static' '-O2 -no-pie' '-O2 -fPIC' '-O2 -Wl,--lto-O0' \
// RUN:     '-O2 -fsanitize=undefined' '-O2 -fcosy-auto' '-O1 -finstrument-functions' '-O2 -fprofile-instr-generate=/dev/null'; do \
// RUN:   echo "$options" && %cosy-cc -flto $options -w %s %S/Inputs/lto-callees.c -o %t.1 && \
// RUN:   COSY_EXECUTOR=user COSY_STATS=%t.stats %t.1 | FileCheck --check-prefix=OUT %s && FileCheck --check-prefix=RAN %s <%t.stats || exit 1; \
// RUN: done
//
// With ThinLTO, too: the linker copies the functions into the region's module, except those that
// contain a region.
// RUN: %cosy-cc -flto=thin -O2 -w -Rpass=cosy -c %s -o %t.thin.o 2>&1 | count 0
// RUN: %cosy-cc -flto=thin -O2 -w -c %S/Inputs/lto-callees.c -o %t-callees.thin.o
// RUN: %cosy-cc -flto=thin -O2 -Rpass=cosy -Rpass-missed=cosy %t.thin.o %t-callees.thin.o -o %t.thin 2>&1 | FileCheck --check-prefixes=LINK,THIN %s
// RUN: %run-all %t.thin | FileCheck --check-prefix=OUT %s
// RUN: for options in -O0 -O1 -O3 -Os '-O2 -g' '-O0 -g' '-O2 -static' '-O2 -no-pie' '-O2 -fPIC' '-O2 -Wl,--lto-O1' \
// RUN:     '-O2 -fsanitize=undefined' '-O2 -fcosy-auto' '-O1 -finstrument-functions' '-O2 -fprofile-instr-generate=/dev/null'; do \
// RUN:   echo "$options" && %cosy-cc -flto=thin $options -w %s %S/Inputs/lto-callees.c -o %t.1 && \
// RUN:   COSY_EXECUTOR=user COSY_STATS=%t.stats %t.1 | FileCheck --check-prefix=OUT %s && FileCheck --check-prefix=RAN %s <%t.stats || exit 1; \
// RUN: done
//
// Functions of an archive are included, too. Those that are machine code, from any compiler, are
// up-calls.
// RUN: rm -f %t.a && llvm-ar rcs %t.a %t-callees.o
// RUN: %cosy-cc -flto -w %t.o %t.a -o %t.1
// RUN: COSY_EXECUTOR=user COSY_STATS=%t.stats %t.1 | FileCheck --check-prefix=OUT %s && FileCheck --check-prefix=RAN %s <%t.stats
// RUN: %cc -flto -O2 -w -I%include -c %S/Inputs/lto-callees.c -o %t-clang.o && %cosy-cc -flto -w %t.o %t-clang.o -o %t.1
// RUN: COSY_EXECUTOR=user COSY_STATS=%t.stats %t.1 | FileCheck --check-prefix=OUT %s && FileCheck --check-prefix=RAN %s <%t.stats
// RUN: gcc-12 -O2 -w -I%include -c %S/Inputs/lto-callees.c -o %t-gcc.o && %cosy-cc -flto -O2 -Wno-cosy -c %s -o %t.quiet.o
// RUN: %cosy-cc -flto -Wl,--fatal-warnings %t.quiet.o %t-gcc.o -o %t.gcc && %run-all %t.gcc | FileCheck --check-prefix=OUT %s
//
// Objects that are also for other linkers, and sanitized code, are compiled as without -flto.
// RUN: for options in '-flto -ffat-lto-objects' '-flto -save-temps=obj' '-flto -fsanitize=address' '-flto -fno-lto'; do \
// RUN:   echo "$options" && %cosy-cc -O2 $options -fuse-ld=lld -w %s %S/Inputs/lto-callees.c -o %t.1 && \
// RUN:   COSY_EXECUTOR=user COSY_STATS=%t.stats %t.1 | FileCheck --check-prefix=OUT %s && grep -q 'lto.c:.* upcalls=' %t.stats || exit 1; \
// RUN: done
//
// Messages of the link step have their places, and obey the options of the compile step.
// RUN: %cosy-cc -flto -O2 -c %s -o %t.warn.o && %cosy-cc -flto %t.warn.o %t-gcc.o -o %t.1 2>&1 | FileCheck --check-prefix=WARN %s
// RUN: %cosy-cc -flto -O2 -Werror=cosy-no-system-call -c %s -o %t.error.o
// RUN: not %cosy-cc -flto %t.error.o %t-gcc.o -o %t.1 2>&1 | FileCheck --check-prefix=ERROR %s
//
// Other kinds of linking print the remedy.
// RUN: not %cc -flto -fuse-ld=lld %t.o %t-callees.o -L%lib -l:libcosy.a -o %t.1 2>&1 | FileCheck --check-prefix=PLAIN %s
// PLAIN: undefined symbol: __cosy_region_not_compiled__link_by_cosy_cc_with_flto
// RUN: not %cc -flto=thin -fuse-ld=lld %t.thin.o %t-callees.o -L%lib -l:libcosy.a -o %t.1 2>&1 | FileCheck --check-prefix=PLAIN %s
// RUN: not %cosy-cc -flto -fuse-ld=bfd %t.o %t-callees.o -o %t.1 2>&1 | FileCheck --check-prefix=LINKER %s
// LINKER: cosy-cc: -flto links by lld, since other linkers cannot load the plugin (try: -fuse-ld=lld instead of -fuse-ld=bfd)
#include <cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "Inputs/lto.h"

static int alone(void)
{
	int n = 0;

	COSY_START;
	n += getpid() > 0;
	COSY_END;
	return n;
}

// The host may be inlined, and copied.
static long sizes(const char *const *names)
{
	long total = 0, n;

	// ALONE: lto.c:[[#@LINE+5]]:2: remark: region became a compound: {{.*}}, 0 system calls, {{.*}}, 1 up-call, 2 exits
	// LINK: lto.c:[[#@LINE+4]]:2: region became a compound: {{[0-9]+}} operations, 1 system call, {{[0-9]+}} inputs, {{[0-9]+}} output{{s?}}, {{[0-9]+}} registers, 2 exits{{$}}
	// WARN: warning: {{.*}}lto.c:[[#@LINE+3]]:2: region makes no system call; as a compound it always takes longer than natively: remove its markers [-Wcosy-no-system-call]
	// ERROR: error: {{.*}}lto.c:[[#@LINE+2]]:2: region makes no system call; as a compound it always takes longer than natively: remove its markers [-Werror,-Wcosy-no-system-call]
	// RAN: lto.c:[[#@LINE+1]]: executor=user runs=3 syscalls=7 entries=0{{$}}
	COSY_START;
	for (; *names; names++) {
		n = size_of(*names);
		if (n < 0)
			return n;
		total += n;
	}
	COSY_END;
	return total;
}

// Local variables whose addresses are passed to functions of other files.
static int pointers(void)
{
	long size = 0;
	unsigned char calls = 253;
	int errors[3] = { 0, 0, 0 }, i;

	// LINK: lto.c:[[#@LINE+1]]:2: region became a compound: {{[0-9]+}} operations, 1 system call, {{[0-9]+}} inputs, {{[0-9]+}} output{{s?}}, {{[0-9]+}} registers{{$}}
	COSY_START;
	for (i = 0; i < 5; i++)
		size_by_pointer(i % 2 ? "/nonexistent" : "/dev/null", &size, &calls, errors);
	COSY_END;
	printf("pointers: %ld %d %d %d %d\n", size, calls, errors[0], errors[1], errors[2]);
	return i;
}

// In a compound another function's region is native code; one for debugging stays outside.
static int nested(void)
{
	int n = 0;

	// FULL: lto.c:[[#@LINE+2]]:2: region became a compound: {{[0-9]+}} operations, 2 system calls, {{[0-9]+}} inputs, {{[0-9]+}} output{{s?}}, {{[0-9]+}} registers, 1 up-call
	// THIN: lto.c:[[#@LINE+1]]:2: region became a compound: {{[0-9]+}} operations, 0 system calls, {{.*}}, 1 up-call
	COSY_START;
	n = parents(3);
	// THIN: lto.c:[[#@LINE-1]]:6: leaves the kernel for an up-call: call of parents;
	// FULL: lto.c:[[#@LINE+1]]:7: leaves the kernel for an up-call: call of parents_native;
	n += parents_native(4);
	COSY_END;
	return n;
}

// At most an up-call, and no vectors in it.
static unsigned int sums(void)
{
	unsigned int numbers[64], s = 0;
	int i;

	for (i = 0; i < 64; i++)
		numbers[i] = i;
	// LINK: lto.c:[[#@LINE+1]]:2: region became a compound: {{[0-9]+}} operations, 1 system call,
	COSY_START;
	for (i = 0; i < 3; i++)
		s += sum(numbers, 2 + (getpid() > 0));
	COSY_END;
	return s;
}

// This function is called, not the weak one; and recursion is an up-call.
int overridden(void)
{
	return 2;
}

static int others(void)
{
	int n = 0;

	COSY_START;
	n += overridden() + 10 * (getppid() > 0);
	n += 100 * depth(3);
	COSY_END;
	return n;
}

// A region between native pieces.
static int pieces(int n)
{
	int i, sum = 0;

	COSY_START;
	for (i = 0; i < n; i++) {
		char buf[n];
		long size;

		// LINK: part of the region became a compound: {{[0-9]+}} operations, 2 system calls,
		size = size_of("/dev/null");
		sum += getppid() > 0;
		buf[i] = size + 1;
		sum += *(volatile char *)(buf + i);
	}
	COSY_END;
	return sum;
}

int main(void)
{
	static const char *const good[] = { "/dev/null", "/dev/zero", "/dev/full", NULL };
	static const char *const bad[] = { "/dev/null", "/nonexistent", "/dev/full", NULL };

	// OUT: alone: 1
	printf("alone: %d\n", alone());
	// OUT: sizes: 0 -2
	printf("sizes: %ld", sizes(good));
	printf(" %ld\n", sizes(bad));
	// OUT: pointers: 0 2 1 1 0
	// OUT: 5, counter: 10
	printf("%d, counter: %d\n", pointers(), counter);
	// OUT: sizes: -20, counter: 12
	printf("sizes: %ld, counter: %d\n",
	       sizes((const char *const[]){ "/dev/null", "/dev/null/no", NULL }), counter);
	// OUT: nested: 70
	printf("nested: %d\n", nested());
	// OUT: sums: 27
	printf("sums: %u\n", sums());
	// OUT: others: 312
	printf("others: %d\n", others());
	// OUT: pieces: 8
	printf("pieces: %d\n", pieces(4));
	return 0;
}
