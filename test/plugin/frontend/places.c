// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plugin needs the places of instructions for the regions. Later passes do not get
// them, because they would take more time, unless the user asks for debug information.
// RUN: %cosy-cc -O2 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=NONE
// RUN: %cosy-cc -O2 -g -S -emit-llvm %s -o - | FileCheck %s --check-prefix=DEBUG
// RUN: %cosy-cc -O2 -S %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: %cosy-cc -O2 -Rpass=cosy -S -emit-llvm %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// NONE-NOT: !dbg
// NONE-NOT: !DILocation
// DEBUG: !dbg
// DEBUG: !DILocation
// WARNING: places.c:[[@LINE+9]]:2: warning:
// REMARK: places.c:[[@LINE+8]]:2: remark:
#include <cosy.h>
#include <unistd.h>

int main(void)
{
	int n;

	COSY_START;
	n = getppid();
	COSY_END;
	return n < 0;
}
