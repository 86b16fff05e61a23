/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * site-stubs.S - the stubs of sites.def. sites.c replaces one instruction of each place by a jump to its
 * stub. The stub makes the system call through the module, and continues after the place's own
 * instruction; or it continues at that instruction, which makes the call natively.
 *
 * A place has the registers of a system call: arguments in rdi, rsi, rdx, r10, r8 and r9; the call
 * changes rax, rcx and r11 only. The stub does the same. Below the stack pointer it leaves 128 bytes
 * alone, which a function may use without moving it. A signal handler, a debugger and a thread that is
 * cancelled unwind the stack from any instruction here: the frame information says that the caller
 * is the place itself, with the same registers.
 */
#include <asm/unistd.h>

#include "numbers.h"
#include "sites.h"

#define AT_FDCWD	-100
#define AT_EMPTY_PATH	0x1000

/* The frame: the call, what is saved, and the red zone of the place. */
#define CALL_ARG(n)	(COSY_SITE_CALL_ARGS + 8 * (n))
#define CONTINUE	(COSY_SITE_CALL_SIZE + 0)	/* the address at which to continue */
#define FUNCTION	(COSY_SITE_CALL_SIZE + 8)	/* its number in enum cosy_function */
#define RESULT		(COSY_SITE_CALL_SIZE + 16)
#define SAVED_R9	(COSY_SITE_CALL_SIZE + 24)
#define RED_ZONE	128
#define FRAME		(COSY_SITE_CALL_SIZE + 32 + RED_ZONE)

.macro prepare_nothing
.endm

.macro prepare_set_cwd
	mov	$AT_FDCWD, %edi
.endm

/* The flags are in r10. */
.macro prepare_skip_empty_path
	test	$AT_EMPTY_PATH, %r10d
	jnz	1f
.endm

/*
 * The first instruction reads the address at which to continue. Before it has been executed, no
 * register contains the address, so the frame information reads it as the instruction does. The
 * bytes are DW_CFA_val_expression, rip: *(rip + 7 + (int)*(unsigned int *)(rip + 3)).
 */
.macro stub site, number, prepare
	.p2align 4
.Lstub_\site:
	.cfi_startproc
	.cfi_def_cfa rsp, 0
	.cfi_escape 0x16, 16, 14, 0x80, 3, 0x94, 4, 8, 32, 0x24, 8, 32, 0x26, 0x80, 7, 0x22, 6
	mov	cosy_sites + .Lsite * 8(%rip), %r11
	.cfi_register rip, r11
	mov	$\number, %eax
	prepare_\prepare
	cmpb	$COSY_SITE_ROUTE, cosy_routes + .Lfn_site_\site(%rip)
	jne	1f
	mov	$.Lfn_site_\site, %ecx
	jmp	.Lmake
1:	notrack jmp *%r11
	.cfi_endproc
	.set	.Lsite, .Lsite + 1
.endm

	.text
	.set	.Lsite, 0
#define COSY_SITE(site, function, name, occurrence, prepare)	stub site, __NR_##name, prepare;
#include "sites.def"

/*
 * Make the system call eax of a place by the module, then continue after the instruction at r11; or
 * continue there. ecx is the number of the place in enum cosy_function.
 */
	.p2align 4
.Lmake:
	.cfi_startproc
	.cfi_def_cfa rsp, 0
	.cfi_register rip, r11
	cmpl	$0, cosy_device(%rip)
	jl	3f
	lea	-FRAME(%rsp), %rsp
	.cfi_def_cfa_offset FRAME
	mov	%r11, CONTINUE(%rsp)
	.cfi_offset rip, CONTINUE - FRAME
	mov	%ecx, FUNCTION(%rsp)
	mov	%eax, COSY_SITE_CALL_NR(%rsp)
	movl	$0, COSY_SITE_CALL_STATUS(%rsp)
	mov	%rdi, CALL_ARG(0)(%rsp)
	mov	%rsi, CALL_ARG(1)(%rsp)
	mov	%rdx, CALL_ARG(2)(%rsp)
	mov	%r10, CALL_ARG(3)(%rsp)
	mov	%r8, CALL_ARG(4)(%rsp)
	mov	$__NR_lseek, %eax
	mov	cosy_device(%rip), %edi
	movabs	$COSY_SITE_ENTRY, %rsi
	or	%rsp, %rsi
	mov	$COSY_SITE_WHENCE, %edx
	syscall
	mov	%rax, %rcx
	shr	$32, %rcx
	cmp	$COSY_SITE_DONE, %ecx
	jne	4f
	cltq

	/* It was made. */
1:	mov	CONTINUE(%rsp), %r11
	lea	2(%r11), %r11
	mov	%r11, CONTINUE(%rsp)
2:	mov	CALL_ARG(0)(%rsp), %rdi
	mov	CALL_ARG(1)(%rsp), %rsi
	mov	CALL_ARG(2)(%rsp), %rdx
	.cfi_remember_state
	.cfi_register rip, r11
	lea	FRAME(%rsp), %rsp
	.cfi_def_cfa_offset 0
3:	notrack jmp *%r11

	/* It was not made, or was interrupted. */
	.cfi_restore_state
4:	mov	%rax, RESULT(%rsp)
	mov	%r9, SAVED_R9(%rsp)
	mov	%edi, %ecx
	mov	FUNCTION(%rsp), %edi
	mov	%rsp, %rsi
	mov	%rax, %rdx
	call	cosy_not_made
	mov	SAVED_R9(%rsp), %r9
	mov	CALL_ARG(3)(%rsp), %r10
	mov	CALL_ARG(4)(%rsp), %r8
	test	%al, %al
	mov	RESULT(%rsp), %rax
	jnz	1b
	mov	COSY_SITE_CALL_NR(%rsp), %eax
	mov	CONTINUE(%rsp), %r11
	jmp	2b
	.cfi_endproc

/* Addresses relative to the table, because the dynamic linker would have to relocate others. */
	.section .rodata
	.globl	cosy_site_stubs
	.hidden	cosy_site_stubs
	.p2align 2
cosy_site_stubs:
#define COSY_SITE(site, ...)	.long .Lstub_##site - cosy_site_stubs;
#include "sites.def"

	.section .note.GNU-stack, "", @progbits
