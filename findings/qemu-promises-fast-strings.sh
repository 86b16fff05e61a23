#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# QEMU 7.2 with TCG and `-cpu max`: CPUID has ERMS, by which an operating system or a C library prefers `rep movsb` and
# `rep stosb` for copying and clearing memory, because they are fast. But TCG executes them byte by byte, and with -icount
# each byte counts as an instruction: 4,096 bytes are 4,097 instructions, and 1,025 by `rep movsl` or `rep stosl`, which
# do four bytes at a time. With `max,erms=off` the four counts are the same, so only what a guest chooses depends on the flag. Counts
# of instructions of one guest are therefore comparable only if such flags are equal.
#
# The guest is a ROM of 64 KiB. It counts by the time-stamp counter, which is that of instructions with shift=0.
# Besides what README.md says, this needs the libraries of qemu-system-x86, and gcc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

version=1:7.2+dfsg-7+deb12u18+b3
unpack qemu-system-x86=$version qemu-system-common=$version
export QEMU_MODULE_DIR=$folder/root/usr/lib/x86_64-linux-gnu/qemu
cat >rom.S <<'END'
	.code16
start:
	cli
	cld
	movw $0x7000, %sp
	movw $0x1000, %ax
	movw %ax, %ds
	movw $0x2000, %ax
	movw %ax, %es

	/* CPUID's leaf 7: bit 9 of EBX is ERMS. */
	movl $7, %eax
	xorl %ecx, %ecx
	cpuid
	movl %ebx, %eax
	shrl $9, %eax
	andl $1, %eax
	call print

	.macro count instruction, repetitions
	xorw %si, %si
	xorw %di, %di
	movw $\repetitions, %cx
	rdtsc
	movl %eax, %ebp
	\instruction
	rdtsc
	subl %ebp, %eax
	call print
	.endm
	count "", 0
	count "rep movsb", 4096
	count "rep movsl", 1024
	count "rep stosb", 4096
	count "rep stosl", 1024

	/* The device isa-debug-exit ends QEMU, with a status that is not 0. */
	outb %al, $0xf4
	hlt

/* Print %eax in hexadecimal digits, to the serial port. */
print:
	movl %eax, %ebx
	movw $0x3f8, %dx
	movw $8, %cx
1:	roll $4, %ebx
	movb %bl, %al
	andb $15, %al
	addb $'0', %al
	cmpb $'9', %al
	jbe 2f
	addb $'A' - '9' - 1, %al
2:	outb %al, %dx
	loop 1b
	movb $'\n', %al
	outb %al, %dx
	ret

	/* Where the processor starts. */
	.org 0xfff0
	ljmp $0xf000, $start
	.org 0x10000
END
cc -m32 -c rom.S
ld -m elf_i386 -Ttext 0 -e 0 --oformat binary rom.o -o rom

# counts CPU - run the ROM, and print whether there is ERMS, and the instructions of the four.
counts() {
	{ timeout 60 qemu-system-x86_64 -nodefaults -display none -serial stdio -bios rom -cpu "$1" \
		-accel tcg,thread=single -icount shift=0,sleep=off -device isa-debug-exit,iobase=0xf4 2>messages || true; } >hex
	local values=() line
	while read -r line; do
		values+=($((16#$line)))
	done <hex
	echo "ERMS ${values[0]}, rep movsb $((values[2] - values[1])), rep movsl $((values[3] - values[1]))," \
		"rep stosb $((values[4] - values[1])), rep stosl $((values[5] - values[1]))"
}

same="rep movsb 4097, rep movsl 1025, rep stosb 4097, rep stosl 1025"
expect "max" "ERMS 1, $same" "$(counts max)"
expect "max,erms=off" "ERMS 0, $same" "$(counts max,erms=off)"
