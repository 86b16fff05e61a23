# SPDX-License-Identifier: GPL-2.0
#
# What is compiled for which kernel; included by Kbuild. What differs inside a file is in
# compat.h.

# BPF arenas, which user functions need, came with 6.9.
cosy-arena := $(shell [ $(VERSION) -gt 6 -o $(VERSION) -eq 6 -a $(PATCHLEVEL) -ge 9 ] && echo $(CONFIG_BPF_SYSCALL))
