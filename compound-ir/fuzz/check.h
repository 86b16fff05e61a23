/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * check.h - compare the executor with the reference for a compound.
 */
#ifndef COSY_FUZZ_CHECK_H
#define COSY_FUZZ_CHECK_H

#include <stddef.h>
#include <stdint.h>

/**
 * check_compound() - run a compound in all modes and compare
 * @image: the image
 * @size:  its size in bytes
 * @seed:  for the inputs, the memory and the places where it is interrupted
 *
 * Runs the compound by the reference, by the executor without interruption, and by the
 * executor with interruptions: it is left at calls, faults, back-edges and limits, and
 * resumed, as by the module and libcosy. Registers, memory, calls and end must be the same.
 * Otherwise aborts with the compound's text on stderr. Does nothing if the image does not
 * verify.
 *
 * Return: the number of operations that the reference executed.
 */
uint64_t check_compound(const void *image, size_t size, uint64_t seed);

#endif /* COSY_FUZZ_CHECK_H */
