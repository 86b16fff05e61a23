/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image.h - compounds made by hand, for the benchmarks that must know exactly
 * which operations are executed.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stddef.h>

#include <cosy.h>
#include <cosy/format.h>

/**
 * image_load() - a compound of these operations
 * @ops:  the operations
 * @nops: their number
 * @nregs: @ninputs: registers and how many of them are inputs; register 0 is
 *	  the output
 *
 * Return: the compound, for cosy_run() and cosy_free(). Leaves the program if
 * libcosy rejects it.
 */
struct cosy *image_load(const struct cosy_op *ops, unsigned int nops,
			unsigned int nregs, unsigned int ninputs);

#endif /* IMAGE_H */
