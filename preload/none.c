// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * none.c - what 32-bit programs preload: nothing.
 *
 * Without it their dynamic linker would complain.
 */
