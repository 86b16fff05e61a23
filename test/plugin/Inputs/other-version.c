/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Preloaded, makes of the clang that runs another one, as far as it tells. */
void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch);

void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch)
{
	*major = MAJOR;
	*minor = MINOR;
	*patch = 8;
}
