// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warnings are in groups, which flags and pragmas turn off or make errors.
// RUN: %clang -c -o %t.o %s 2>&1 | FileCheck --check-prefixes=PRAGMA,ON %s
// RUN: %clang -c -o %t.o -fplugin-arg-cosy-Wno-cosy-no-system-call %s 2>&1 | FileCheck --check-prefix=PRAGMA %s --implicit-check-not=warning:
// RUN: %clang -c -o %t.o -fplugin-arg-cosy-Wno-cosy -fplugin-arg-cosy-Wcosy-no-system-call %s 2>&1 | FileCheck --check-prefixes=PRAGMA,ON %s
// RUN: %not %clang -c -o %t.o -Werror %s 2>&1 | FileCheck --check-prefix=ERROR %s
// RUN: %not %clang -c -o %t.o -fplugin-arg-cosy-Werror=cosy-no-system-call %s 2>&1 | FileCheck --check-prefix=ERROR %s
// RUN: %clang -c -o %t.o -DNO_ERROR -Werror -fplugin-arg-cosy-Wno-error=cosy-no-system-call %s 2>&1 | FileCheck --check-prefix=ON %s
// RUN: %clang -c -o %t.o -DNO_ERROR -w %s 2>&1 | FileCheck --allow-empty --check-prefix=OFF %s
// RUN: %cosy-cc -Werror -c -o %t.o -DNO_ERROR -Wno-error=cosy %s 2>&1 | FileCheck --check-prefix=ON %s
// RUN: %cosy-cc -c -o %t.o -DNO_ERROR -Wno-cosy-no-system-call %s 2>&1 | FileCheck --check-prefix=PRAGMA %s --implicit-check-not=warning:
// RUN: %not %cosy-cc -c -o %t.o -Werror=cosy %s 2>&1 | FileCheck --check-prefix=ERROR %s
// RUN: %not %clang -c -o %t.o -fplugin-arg-cosy-Wcosy-unheard-of %s 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// RUN: %not %clang -c -o %t.o -DBAD %s 2>&1 | FileCheck --check-prefix=BAD %s
//
// Also from bitcode.
// RUN: mkdir -p %t.dir
// RUN: %cosy-cc -save-temps=obj -c -o %t.dir/a.o %s 2>&1 | FileCheck --check-prefixes=BITCODE,BITCODE-ON %s
// RUN: %cosy-cc -save-temps=obj -c -o %t.dir/a.o -Wno-cosy-no-system-call %s 2>&1 | FileCheck --check-prefix=BITCODE %s --implicit-check-not=warning:
// RUN: %not %cosy-cc -save-temps=obj -c -o %t.dir/a.o -Werror %s 2>&1 | FileCheck --check-prefix=BITCODE-ERROR %s
// RUN: %cosy-cc -save-temps=obj -c -o %t.dir/a.o -DNO_ERROR -w %s 2>&1 | FileCheck --allow-empty --check-prefix=OFF %s
//
// BITCODE-ON: warning: {{.*}}warning-groups.c:{{[0-9]+}}:2: in function plain {{.*}}region makes no system call; {{.*}} [-Wcosy-no-system-call]
// BITCODE: warning: {{.*}} in function loud {{.*}}region makes no system call
// BITCODE-ON: warning: {{.*}} in function again {{.*}}region makes no system call
// BITCODE-ERROR: error: {{.*}} in function plain {{.*}}region makes no system call; {{.*}} [-Werror,-Wcosy-no-system-call]
// BITCODE-ERROR: error: {{.*}} in function again
#include <cosy.h>

// OFF-NOT: {{warning|error}}
// UNKNOWN: error: unknown option 'Wcosy-unheard-of' of the cosy plugin
int plain(int n)
{
	// ON: warning-groups.c:[[#@LINE+2]]:2: warning: region makes no system call; {{.*}} [-Wcosy-no-system-call]
	// ERROR: warning-groups.c:[[#@LINE+1]]:2: error: region makes no system call; {{.*}} [-Werror,-Wcosy-no-system-call]
	COSY_START;
	n *= n;
	COSY_END;
	return n;
}

#pragma cosy diagnostic push
#pragma cosy diagnostic ignored "-Wcosy-no-system-call"
int silent(int n)
{
	COSY_START;
	n *= n + 1;
	COSY_END;
	return n;
}

#pragma cosy diagnostic warning "-Wcosy"
int loud(int n)
{
	// PRAGMA: warning-groups.c:[[#@LINE+1]]:2: warning: region makes no system call
	COSY_START;
	n *= n + 2;
	COSY_END;
	return n;
}
#pragma cosy diagnostic pop

int again(int n)
{
	// ON: warning-groups.c:[[#@LINE+2]]:2: warning: region makes no system call
	// ERROR: warning-groups.c:[[#@LINE+1]]:2: error: region makes no system call
	COSY_START;
	n *= n + 3;
	COSY_END;
	return n;
}

#ifdef BAD
// BAD: [[#@LINE+1]]:33: error: unknown warning '-Wcosy-nonsense' of the cosy plugin; cosy-regions(7) lists them
#pragma cosy diagnostic ignored "-Wcosy-nonsense"
// BAD: [[#@LINE+1]]:25: error: #pragma cosy diagnostic pop without a push before it
#pragma cosy diagnostic pop
// BAD: [[#@LINE+1]]:25: error: expected push, pop, ignored, warning or error after #pragma cosy diagnostic
#pragma cosy diagnostic nothing
#endif
