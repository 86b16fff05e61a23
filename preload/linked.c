// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * linked.c - defines the symbol to which objects compiled with -fcosy-auto refer.
 *
 * Nothing reads it. If libcosy.a is missing, the linker's message contains the name.
 */
extern const char cosy_is_not_linked__use_cosy_cc;
const char cosy_is_not_linked__use_cosy_cc;
