/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image.h - compounds made from operations, for benchmarks that must know exactly
 * which operations are executed.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stddef.h>

#include <cosy.h>
#include <cosy/format.h>

/**
 * image_load() - load a compound of these operations
 * @ops:  the operations
 * @nops: their number
 * @nregs: number of registers; register 0 is the output
 * @ninputs: number of registers that are inputs
 *
 * Return: the compound, for cosy_run() and cosy_free(). Exits if libcosy rejects it.
 */
struct cosy *image_load(const struct cosy_op *ops, unsigned int nops,
			unsigned int nregs, unsigned int ninputs);

#endif /* IMAGE_H */
