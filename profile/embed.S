/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Includes the compiled record.bpf.c in the tool. */
	.section .rodata
	.balign 8
	.globl cosy_record_bpf
	.type cosy_record_bpf, @object
cosy_record_bpf:
	.incbin RECORD_BPF
	.globl cosy_record_bpf_end
	.type cosy_record_bpf_end, @object
cosy_record_bpf_end:
	.size cosy_record_bpf, cosy_record_bpf_end - cosy_record_bpf
	.section .note.GNU-stack, "", @progbits
