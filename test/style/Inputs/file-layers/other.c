/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cosy_left() may be named in a comment. */
int cosy_other(void)
{
	return cosy_base() + cosy_left();
}
