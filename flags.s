	.text
	.file	"flags.c"
	.globl	main                            # -- Begin function main
	.p2align	4, 0x90
	.type	main,@function
main:                                   # @main
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	pushq	%r15
	.cfi_def_cfa_offset 24
	pushq	%r14
	.cfi_def_cfa_offset 32
	pushq	%rbx
	.cfi_def_cfa_offset 40
	subq	$264, %rsp                      # imm = 0x108
	.cfi_def_cfa_offset 304
	.cfi_offset %rbx, -40
	.cfi_offset %r14, -32
	.cfi_offset %r15, -24
	.cfi_offset %rbp, -16
	movl	cosy.regions+4(%rip), %eax
	testl	%eax, %eax
	jne	.LBB0_1
.LBB0_3:                                # %.split
	leaq	.L.str.2(%rip), %rdi
	xorl	%esi, %esi
	xorl	%eax, %eax
	callq	cosy_auto_open@PLT
	testl	%eax, %eax
	js	.LBB0_27
# %bb.4:                                # %.preheader.i.preheader
	movl	%eax, %ebp
	xorl	%ecx, %ecx
	leaq	160(%rsp), %r14
	.p2align	4, 0x90
.LBB0_5:                                # %.preheader.i
                                        # =>This Inner Loop Header: Depth=1
	movq	%rcx, %rbx
	movl	$100, %edx
	movl	%ebp, %edi
	movq	%r14, %rsi
	callq	read@PLT
	leaq	(%rax,%rbx), %rcx
	testq	%rax, %rax
	jg	.LBB0_5
# %bb.6:
	movl	%ebp, %edi
	callq	close@PLT
	testq	%rbx, %rbx
	js	.LBB0_8
.LBB0_9:
	addq	%rbx, %fs:total@TPOFF
	movabsq	$8314049735936992559, %rax      # imm = 0x7361702F6374652F
	movq	%rax, (%rsp)
	movl	$6584179, 8(%rsp)               # imm = 0x647773
	xorl	%ebx, %ebx
	jmp	.LBB0_10
.LBB0_27:
	callq	__errno_location@PLT
	movslq	(%rax), %rbx
	negq	%rbx
	testq	%rbx, %rbx
	jns	.LBB0_9
.LBB0_8:
	leaq	.L.str(%rip), %rdi
	leaq	.L.str.2(%rip), %rsi
	xorl	%eax, %eax
	callq	printf@PLT
.LBB0_10:
	leaq	.L.str.3(%rip), %rdi
	xorl	%esi, %esi
	xorl	%eax, %eax
	callq	cosy_auto_open@PLT
	testl	%eax, %eax
	js	.LBB0_14
# %bb.11:                               # %.preheader.i.1.preheader
	movl	%eax, %ebp
	xorl	%ecx, %ecx
	leaq	160(%rsp), %r14
	.p2align	4, 0x90
.LBB0_12:                               # %.preheader.i.1
                                        # =>This Inner Loop Header: Depth=1
	movq	%rcx, %r15
	movl	$100, %edx
	movl	%ebp, %edi
	movq	%r14, %rsi
	callq	read@PLT
	leaq	(%rax,%r15), %rcx
	testq	%rax, %rax
	jg	.LBB0_12
# %bb.13:
	movl	%ebp, %edi
	callq	close@PLT
	testq	%r15, %r15
	js	.LBB0_17
.LBB0_16:
	addq	%r15, %fs:total@TPOFF
	movabsq	$8316310563956157999, %rax      # imm = 0x736978656E6F6E2F
	movq	%rax, (%rsp)
	movabsq	$32772479322909048, %rax        # imm = 0x746E6574736978
	movq	%rax, 5(%rsp)
	jmp	.LBB0_18
.LBB0_14:
	callq	__errno_location@PLT
	movslq	(%rax), %r15
	negq	%r15
	testq	%r15, %r15
	jns	.LBB0_16
.LBB0_17:
	addq	%r15, %rbx
	leaq	.L.str(%rip), %rdi
	leaq	.L.str.3(%rip), %rsi
	xorl	%eax, %eax
	callq	printf@PLT
.LBB0_18:
	leaq	.L.str.4(%rip), %rdi
	xorl	%esi, %esi
	xorl	%eax, %eax
	callq	cosy_auto_open@PLT
	testl	%eax, %eax
	js	.LBB0_22
# %bb.19:                               # %.preheader.i.2.preheader
	movl	%eax, %ebp
	xorl	%ecx, %ecx
	leaq	160(%rsp), %r14
	.p2align	4, 0x90
.LBB0_20:                               # %.preheader.i.2
                                        # =>This Inner Loop Header: Depth=1
	movq	%rcx, %r15
	movl	$100, %edx
	movl	%ebp, %edi
	movq	%r14, %rsi
	callq	read@PLT
	leaq	(%rax,%r15), %rcx
	testq	%rax, %rax
	jg	.LBB0_20
# %bb.21:
	movl	%ebp, %edi
	callq	close@PLT
	testq	%r15, %r15
	js	.LBB0_25
.LBB0_24:
	addq	%r15, %fs:total@TPOFF
	movabsq	$8030594538784711983, %rax      # imm = 0x6F72672F6374652F
	movq	%rax, (%rsp)
	movl	$7370095, 7(%rsp)               # imm = 0x70756F
	jmp	.LBB0_26
.LBB0_22:
	callq	__errno_location@PLT
	movslq	(%rax), %r15
	negq	%r15
	testq	%r15, %r15
	jns	.LBB0_24
.LBB0_25:
	addq	%r15, %rbx
	leaq	.L.str(%rip), %rdi
	leaq	.L.str.4(%rip), %rsi
	xorl	%eax, %eax
	callq	printf@PLT
.LBB0_26:                               # %.cosy.exit.split
	xorl	%esi, %esi
	cmpq	$101, %fs:total@TPOFF
	setge	%sil
	leaq	.L.str.1(%rip), %rdi
	movq	%rsp, %rcx
	movq	%rbx, %rdx
	xorl	%eax, %eax
	callq	printf@PLT
	xorl	%eax, %eax
	addq	$264, %rsp                      # imm = 0x108
	.cfi_def_cfa_offset 40
	popq	%rbx
	.cfi_def_cfa_offset 32
	popq	%r14
	.cfi_def_cfa_offset 24
	popq	%r15
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	retq
.LBB0_1:                                # %cosy.run
	.cfi_def_cfa_offset 304
	leaq	names(%rip), %rax
	movq	%rax, 48(%rsp)
	leaq	160(%rsp), %rax
	movq	%rax, 56(%rsp)
	callq	__errno_location@PLT
	movq	%rax, 64(%rsp)
	movq	%fs:0, %rax
	leaq	total@TPOFF(%rax), %rax
	movq	%rax, 72(%rsp)
	movq	%rsp, %rax
	movq	%rax, 80(%rsp)
	leaq	cosy.regions(%rip), %rdi
	leaq	48(%rsp), %rsi
	callq	cosy_region_run@PLT
	testq	%rax, %rax
	js	.LBB0_3
# %bb.2:                                # %cosy.done
	movq	88(%rsp), %rbx
	jmp	.LBB0_26
.Lfunc_end0:
	.size	main, .Lfunc_end0-main
	.cfi_endproc
                                        # -- End function
	.p2align	4, 0x90                         # -- Begin function main.cosy.0.upcall.0
	.type	main.cosy.0.upcall.0,@function
main.cosy.0.upcall.0:                   # @main.cosy.0.upcall.0
	.cfi_startproc
# %bb.0:
	pushq	%rax
	.cfi_def_cfa_offset 16
	movq	64(%rdi), %rsi
	leaq	.L.str(%rip), %rdi
	xorl	%eax, %eax
	callq	printf@PLT
	popq	%rax
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end1:
	.size	main.cosy.0.upcall.0, .Lfunc_end1-main.cosy.0.upcall.0
	.cfi_endproc
                                        # -- End function
	.p2align	4, 0x90                         # -- Begin function cosy.regions.add
	.type	cosy.regions.add,@function
cosy.regions.add:                       # @cosy.regions.add
# %bb.0:
	leaq	cosy.regions(%rip), %rdi
	movl	$1, %esi
	jmp	cosy_is_not_linked__use_cosy_cc_or_lcosy@PLT # TAILCALL
.Lfunc_end2:
	.size	cosy.regions.add, .Lfunc_end2-cosy.regions.add
                                        # -- End function
	.p2align	4, 0x90                         # -- Begin function cosy.regions.remove
	.type	cosy.regions.remove,@function
cosy.regions.remove:                    # @cosy.regions.remove
# %bb.0:
	leaq	cosy.regions(%rip), %rdi
	movl	$1, %esi
	jmp	cosy_regions_remove@PLT         # TAILCALL
.Lfunc_end3:
	.size	cosy.regions.remove, .Lfunc_end3-cosy.regions.remove
                                        # -- End function
	.type	names,@object                   # @names
	.section	.data.rel.ro,"aw",@progbits
	.p2align	4, 0x0
names:
	.quad	.L.str.2
	.quad	.L.str.3
	.quad	.L.str.4
	.size	names, 24

	.type	.L.str,@object                  # @.str
	.section	.rodata.str1.1,"aMS",@progbits,1
.L.str:
	.asciz	"%s is missing\n"
	.size	.L.str, 15

	.type	total,@object                   # @total
	.section	.tbss,"awT",@nobits
	.p2align	3, 0x0
total:
	.quad	0                               # 0x0
	.size	total, 8

	.type	.L.str.1,@object                # @.str.1
	.section	.rodata.str1.1,"aMS",@progbits,1
.L.str.1:
	.asciz	"%d %ld %s\n"
	.size	.L.str.1, 11

	.type	.L.str.2,@object                # @.str.2
.L.str.2:
	.asciz	"/etc/passwd"
	.size	.L.str.2, 12

	.type	.L.str.3,@object                # @.str.3
.L.str.3:
	.asciz	"/nonexistent"
	.size	.L.str.3, 13

	.type	.L.str.4,@object                # @.str.4
.L.str.4:
	.asciz	"/etc/group"
	.size	.L.str.4, 11

	.type	.Lcosy.image.main,@object       # @cosy.image.main
	.section	.cosy.compounds,"a",@progbits
	.p2align	3, 0x0
.Lcosy.image.main:
	.asciz	"COSY\001\000\r\000\345\004\000\000(\000\000\000\021\000\000\000!\000\000\000\000\000\000\000\005\000\005\000\001\000\000\000\002\000\000\000\001\000\000\000\001\000\000\000\000\000\000\000\000\001\000\000\002\000\006\000\000\000\000\000\000\000\000\000\000\000\000\000\003\000\000\000\000\000\000\000\002\000\007\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\002\000\005\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\020\b\b\000\007\000\377\377\000\000\000\000\000\000\000\000\003\000\000\000\000\000\000\000\006\b\b\000\000\000\b\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\032\b\b\000\b\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\"\004\t\000\000\000\000\000\002\000\000\000\000\000\000\000\001\001\000\000\000\000\000\000\000\000\000\000\377\377\000\000\000\000\000\000\000\000\000\000\234\377\377\377\377\377\377\377\000\000\000\000\b\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\377\377\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\377\377\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\026\004\000\000\t\000\377\377\000\000\006\000#\000\000\000\000\000\000\000\000\000\000\000\002\000\n\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\"\003\013\000\000\000\000\000\004\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\t\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\377\377\000\000\000\000\000\000\000\000\000\000d\000\000\000\000\000\000\000\006\b\f\000\n\000\013\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\026\b\000\000\013\000\377\377\000\000\007\000\025\000\000\000\000\000\000\000\000\000\000\000\003\000\n\000\f\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\025\000\000\000\000\000\000\000\000\000\000\000\r\000\000\000\000\000\000\000\000\000\000\000\"\001\t\000\000\000\000\000\000\000\000\000\000\000\000\000\003\000\000\000\000\000\000\000\000\000\000\000\t\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\026\b\000\000\n\000\377\377\000\000\006\000 \000\000\000\000\000\000\000\000\000\000\000\032\b\t\000\003\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\006\b\t\000\t\000\n\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\033\b\000\000\003\000\t\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000 \000\t\000\b\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\006\b\t\000\t\000\377\377\000\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000\034\000\000\000\004\000\b\000\t\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\027\b\007\000\000\000\006\000\000\000\001\000\003\000\000\000\001\000\000\000\000\000\000\000\025\000\000\000\000\000\000\000\000\000\000\000'\000\000\000\000\000\000\000\000\000\000\000\006\b\005\000\005\000\n\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000#\000\000\000\000\000\000\000\t\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\025\000\000\000\000\000\000\000\000\000\000\000\036\000\000\000\000\000\000\000\000\000\000\000\032\004\t\000\002\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\b\004\t\000\t\000\377\377\000\000\000\000\000\000\000\000\377\377\377\377\377\377\377\377\004\004\n\000\t\000\000\000\000\000\000\000\000\000\000\000\b\000\000\000\000\000\000\000\025\000\000\000\000\000\000\000\000\000\000\000\027\000\000\000\000\000\000\000\000\000\000\000\031\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\006\000\000\000=\000\000\000\003\000\000\000\006\000\000\000>\000\000\000\006\000\000\000\006\000\000\000-\000\000\000\013\000\000\000\006\000\000\000/\000\000\000\f\000\000\000\006\000\000\0001\000\000\000\021\000\000\000\006\000\000\0002\000\000\000\022\000\000\000\006\000\000\0001\000\000\000\025\000\000\000\006\000\000\0003\000\000\000\027\000\000\000\006\000\000\000@\000\000\000\030\000\000\000\006\000\000\000E\000\000\000\033\000\000\000\006\000\000\000F\000\000\000\036\000\000\000\006\000\000\000=\000\000\000 \000\000\000\006\000\000\000A\000\000\000!\000\000\000\006\000\000\000B\000\000\000\"\000\000\000\006\000\000\000C\000\000\000#\000\000\000\006\000\000\0000\000\000\000'\000\000\000\006\000\000\000H\000\000\000\000main\000test/plugin/region/flags.c"
	.size	.Lcosy.image.main, 1253

	.type	.Lcosy.thunks.main,@object      # @cosy.thunks.main
	.section	.data.rel.ro,"aw",@progbits
	.p2align	3, 0x0
.Lcosy.thunks.main:
	.quad	main.cosy.0.upcall.0
	.size	.Lcosy.thunks.main, 8

	.type	.Lcosy.str,@object              # @cosy.str
	.section	.rodata.str1.1,"aMS",@progbits,1
.Lcosy.str:
	.asciz	"test/plugin/region/flags.c"
	.size	.Lcosy.str, 27

	.type	.Lcosy.str.2,@object            # @cosy.str.2
.Lcosy.str.2:
	.asciz	"main"
	.size	.Lcosy.str.2, 5

	.type	.Lcosy.str.3,@object            # @cosy.str.3
.Lcosy.str.3:
	.asciz	"open"
	.size	.Lcosy.str.3, 5

	.type	.Lcosy.str.4,@object            # @cosy.str.4
.Lcosy.str.4:
	.asciz	"read"
	.size	.Lcosy.str.4, 5

	.type	.Lcosy.str.5,@object            # @cosy.str.5
.Lcosy.str.5:
	.asciz	"close"
	.size	.Lcosy.str.5, 6

	.type	.Lcosy.library,@object          # @cosy.library
	.data
	.p2align	4, 0x0
.Lcosy.library:
	.quad	3                               # 0x3
	.quad	open
	.quad	.Lcosy.str.3
	.quad	read
	.quad	.Lcosy.str.4
	.quad	close
	.quad	.Lcosy.str.5
	.size	.Lcosy.library, 56

	.type	cosy.regions,@object            # @cosy.regions
	.section	cosy_regions,"aw",@progbits
	.p2align	3, 0x0
cosy.regions:
	.long	3                               # 0x3
	.long	0                               # 0x0
	.quad	.Lcosy.image.main
	.long	1253                            # 0x4e5
	.long	13                              # 0xd
	.quad	.Lcosy.thunks.main
	.long	1                               # 0x1
	.long	60                              # 0x3c
	.quad	.Lcosy.str
	.quad	.Lcosy.str.2
	.quad	0
	.long	0                               # 0x0
	.long	2                               # 0x2
	.quad	0
	.quad	0                               # 0x0
	.quad	.Lcosy.library
	.size	cosy.regions, 96

	.section	.init_array,"aw",@init_array
	.p2align	3, 0x0
	.quad	cosy.regions.add
	.section	.fini_array,"aw",@fini_array
	.p2align	3, 0x0
	.quad	cosy.regions.remove
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.addrsig_sym main
	.addrsig_sym open
	.addrsig_sym read
	.addrsig_sym close
	.addrsig_sym main.cosy.0.upcall.0
	.addrsig_sym cosy.regions.add
	.addrsig_sym cosy.regions.remove
	.addrsig_sym cosy_auto_open
	.addrsig_sym names
	.addrsig_sym .Lcosy.image.main
	.addrsig_sym .Lcosy.thunks.main
	.addrsig_sym .Lcosy.library
	.addrsig_sym cosy.regions
