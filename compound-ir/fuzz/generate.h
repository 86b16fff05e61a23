/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * generate.h - generate valid compounds from any bytes.
 */
#ifndef COSY_FUZZ_GENERATE_H
#define COSY_FUZZ_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#define GENERATE_MAX_OPS	128

/**
 * generate_compound() - generate a compound from bytes
 * @bytes: any bytes; the same ones make the same compound
 * @n:     their number
 * @size:  out: size of the image in bytes
 *
 * Its operations are arbitrary. Most addresses are in the simulated memory. It may not end.
 *
 * Return: an image that verifies, 8-byte aligned. The caller frees it with free().
 */
void *generate_compound(const uint8_t *bytes, size_t n, size_t *size);

#endif /* COSY_FUZZ_GENERATE_H */
