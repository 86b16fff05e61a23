/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Preloaded; changes the version that clang reports. */
void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch);

void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch)
{
	*major = MAJOR;
	*minor = MINOR;
	*patch = 8;
}
