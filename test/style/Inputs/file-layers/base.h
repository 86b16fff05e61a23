/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define COSY_BASE 1
int cosy_base(void);
