// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * none.c - an empty library, which 32-bit programs preload.
 *
 * Without it their dynamic linker would print an error.
 */
