# SPDX-License-Identifier: GPL-2.0
#
# What is compiled for which kernel; included by Kbuild. What differs inside a file is in
# compat.h.

# BPF arenas, which user functions need, came with 6.9.
cosy-arena := $(shell [ $(VERSION) -gt 6 -o $(VERSION) -eq 6 -a $(PATCHLEVEL) -ge 9 ] && echo $(CONFIG_BPF_SYSCALL))

# Since 6.13, and in some older stable kernels, a BPF program knows in how many program arrays it is.
cosy-compat := $(if $(shell grep -s prog_array_member_cnt $(srctree)/include/linux/bpf.h),-DCOSY_PROG_MEMBERS)
