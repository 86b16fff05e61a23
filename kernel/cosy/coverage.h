/* SPDX-License-Identifier: GPL-2.0 */
/*
 * coverage.h - which code of the module has run, for the fuzzer.
 */
#ifndef _COSY_COVERAGE_H
#define _COSY_COVERAGE_H

#ifdef COSY_COVERAGE

/**
 * cosy_coverage_init() - begin to count, and offer the counters
 *
 * When the module is loaded.
 *
 * Return: 0 or -errno.
 */
int cosy_coverage_init(void);

/**
 * cosy_coverage_exit() - free what cosy_coverage_init() has allocated
 */
void cosy_coverage_exit(void);

#else

static inline int cosy_coverage_init(void)
{
	return 0;
}

static inline void cosy_coverage_exit(void)
{
}

#endif
#endif /* _COSY_COVERAGE_H */
