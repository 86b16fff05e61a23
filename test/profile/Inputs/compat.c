// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* compat.c - makes 100 calls of 32-bit code: 20 is getpid() there, and writev() of 64-bit code. */
int main(void)
{
	for (int i = 0; i < 100; i++) {
		int number = 20;

		__asm__ volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
	}
	return 0;
}
