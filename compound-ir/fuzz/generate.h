/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * generate.h - valid compounds out of any bytes.
 */
#ifndef COSY_FUZZ_GENERATE_H
#define COSY_FUZZ_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#define GENERATE_MAX_OPS	128

/**
 * generate_compound() - make a compound of bytes
 * @bytes: any bytes; the same ones make the same compound
 * @n:     their number
 * @size:  out: size of the image in bytes
 *
 * Its calls, branches, loads and so on are arbitrary, and mostly within reach
 * of the mocked memory; it may loop for ever.
 *
 * Return: an image that verifies, 8-byte aligned, to be given back with free().
 */
void *generate_compound(const uint8_t *bytes, size_t n, size_t *size);

#endif /* COSY_FUZZ_GENERATE_H */
