/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stubs.S - the functions of libc.def and watched.def, except those of exec.c, and execl() and its
 * like: call cosy_before() or cosy_before_list(), then jump to the next library's function. Before the
 * jump they restore the stack, for vfork(), and all arguments, for syscall().
 */
#include <asm/unistd.h>

#include "numbers.h"

/* .Lsingles0 and so on: the bits of the system calls of preload.def. */
	.irp	word, 0, 1, 2, 3, 4, 5, 6
	.set	.Lsingles\word, 0
	.endr
.macro	single number
	.irp	word, 0, 1, 2, 3, 4, 5, 6
	.if	(\number) / 64 == \word
	.set	.Lsingles\word, .Lsingles\word | (1 << ((\number) % 64))
	.endif
	.endr
	.if	(\number) / 64 > 6
	.error	"the bits have no word for this number"
	.endif
.endm
#define COSY_PRELOAD_IF(function, name, ...)	single __NR_##name;
#include <preload.def>

/*
 * Save the arguments, call a function, and jump to the address that it returns. Its first argument is
 * a number.
 */
.macro	save
	.irp	register, rdi, rsi, rdx, rcx, r8, r9, rax
	push	%\register
	.cfi_adjust_cfa_offset 8
	.endr
.endm

.macro	call_and_jump number, function
	mov	$\number, %edi
	call	\function
	mov	%rax, %r11
	.irp	register, rax, r9, r8, rcx, rdx, rsi, rdi
	pop	%\register
	.cfi_adjust_cfa_offset -8
	.endr
	jmp	*%r11
.endm

/* The call is cosy_before(number, arg0, arg1). */
.macro	notify number
	save
	mov	%rsi, %rdx
	mov	%rdi, %rsi
	call_and_jump \number, cosy_before
.endm

.macro	begin name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
.endm

.macro	end name
	.cfi_endproc
	.size	\name, . - \name
.endm

.macro	stub name
	begin	\name
	notify	.Lfn_\name
	end	\name
.endm

/* A function whose arguments are a list. The call is cosy_before_list(number, saved). */
.macro	list name, number
	begin	\name
	save
	mov	%rsp, %rsi
	call_and_jump \number, cosy_before_list
	end	\name
.endm

/* A function of libc.def. When its calls are no longer counted, the stub only jumps. */
.macro	counted name
	begin	\name
	cmpb	$0, cosy_counts_libc(%rip)
	jne	1f
	mov	cosy_nexts + .Lfn_\name * 8(%rip), %r11
	test	%r11, %r11
	jz	1f
	jmp	*%r11
1:	notify	.Lfn_\name
	end	\name
.endm

	.text
#define COSY_LIBC(function)	counted function;
#include "libc.def"
	list	execl, 0
	list	execle, 1
	list	execlp, 2
	stub	fork
	stub	vfork
	stub	popen
	stub	system
	stub	setrlimit
	stub	setrlimit64
	stub	prlimit
	stub	prlimit64

	begin	prctl
#define COSY_WATCHED_OPTION(name, number)	cmp $number, %edi; je 1f;
#define COSY_CAPABILITY_OPTION(name, number)	cmp $number, %edi; je 1f;
#include "watched.def"
	mov	cosy_nexts + .Lfn_prctl * 8(%rip), %r11
	test	%r11, %r11
	jz	1f
	jmp	*%r11
1:	notify	.Lfn_prctl
	end	prctl

	begin	syscall
#define COSY_WATCHED_CALL(name, notice)		cmp $__NR_##name, %rdi; je 1f;
#include "watched.def"
	cmp	$7 * 64, %rdi
	jae	2f
	bt	%rdi, .Lsingles(%rip)
	jc	cosy_syscall
2:	mov	cosy_nexts + .Lfn_syscall * 8(%rip), %r11
	test	%r11, %r11
	jz	1f
	jmp	*%r11
1:	notify	.Lfn_syscall
	end	syscall

	.section .rodata
	.p2align 3
.Lsingles:
	.irp	word, 0, 1, 2, 3, 4, 5, 6
	.quad	.Lsingles\word
	.endr

	.section .note.GNU-stack, "", @progbits
