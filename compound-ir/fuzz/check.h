/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception */
/*
 * check.h - compare the executor with the reference for a compound.
 */
#ifndef COSY_FUZZ_CHECK_H
#define COSY_FUZZ_CHECK_H

#include <stddef.h>
#include <stdint.h>

/**
 * check_compound() - run a compound in every way and compare
 * @image: the image
 * @size:  its size in bytes
 * @seed:  for the inputs, the memory and the places where it is interrupted
 *
 * Runs it by the reference, in one go, and interrupted: left at calls, faults,
 * back-edges and limits, and resumed, as the module and libcosy do between
 * them. Registers, memory, calls and end have to be the same; aborts with the
 * compound's text on stderr otherwise. Nothing happens if it does not verify.
 *
 * Return: operations the reference executed.
 */
uint64_t check_compound(const void *image, size_t size, uint64_t seed);

#endif /* COSY_FUZZ_CHECK_H */
