// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compound increments the counters of -fprofile-instr-generate to the same
// numbers as natively.
// RUN: %clang -O1 -fprofile-instr-generate -fcoverage-mapping -c -o %t.o -Rpass-missed=cosy -fplugin-arg-cosy-dump %s 2>&1 | FileCheck %s
// CHECK-NOT: leaves
// CHECK: .upcalls 0
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %cosy-cc -O1 -fprofile-instr-generate -fcoverage-mapping %s -o %t
// RUN: LLVM_PROFILE_FILE=%t.dir/native.profraw COSY_EXECUTOR=native %t
// RUN: LLVM_PROFILE_FILE=%t.dir/user.profraw COSY_EXECUTOR=user %t
// RUN: cd %t.dir && for e in native user; do \
// RUN:   llvm-profdata merge $e.profraw -o $e.profdata && \
// RUN:   llvm-cov show %t -instr-profile=$e.profdata > $e.txt || exit 1; done
// RUN: cmp %t.dir/native.txt %t.dir/user.txt && FileCheck --check-prefix=COUNTS %s < %t.dir/user.txt
#include <cosy.h>
#include <unistd.h>

int main(void)
{
	int odd = 0;

	COSY_START;
	for (int i = 0; i < 25; i++)
		// COUNTS: 25|{{.*}}if (getppid()
		if (getppid() >= 0 && i & 1)
			// COUNTS: 12|{{.*}}odd += getpid()
			odd += getpid() > 0;
	COSY_END;
	return odd != 12;
}
