// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * linked.c - what objects compiled with -fcosy-auto refer to.
 *
 * Nothing reads it. Where libcosy.a is missing, the linker's message contains the name.
 */
extern const char cosy_is_not_linked__use_cosy_cc;
const char cosy_is_not_linked__use_cosy_cc;
