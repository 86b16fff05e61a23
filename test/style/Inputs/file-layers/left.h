/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base.h"
#include "right.h"
static inline int
cosy_left(void)
{
	return COSY_BASE + cosy_right();
}
