// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In code compiled with -fno-pie, a function whose address the program takes has an address in
// the program, and so has each function that is called with -mcmodel=large. The report names the
// remedy, and the remedy works.
// RUN: %cosy-cc -O2 -fno-pie -no-pie -DADDRESS %s -o %t
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck %s
// RUN: %cosy-cc -O2 -fno-pie -no-pie -mcmodel=large %s -o %t
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck %s
// CHECK: runs natively: close() is not the C library's function{{.*}} or code compiled with -fno-pie takes its address (use -fPIE)
// RUN: %cosy-cc -O2 -fPIE -pie -DADDRESS %s -o %t
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=PIE %s
// RUN: %cosy-cc -O2 -fPIE -pie -mcmodel=large %s -o %t
// RUN: env COSY_EXECUTOR=user COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=PIE %s
// PIE: executor=user runs=1 syscalls=4
#include <cosy.h>
#include <unistd.h>

#ifdef ADDRESS
int (*volatile address)(int) = NULL;
#endif

int main(void)
{
	int i;

#ifdef ADDRESS
	address = close;
#endif
	COSY_START;
	for (i = 0; i < 4; i++)
		close(-1);
	COSY_END;
	return 0;
}
