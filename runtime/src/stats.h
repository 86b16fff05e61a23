/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stats.h - COSY_STATS: one line per region that ran.
 */
#ifndef COSY_STATS_H
#define COSY_STATS_H

#include <cosy/region.h>

/**
 * cosy_stats_print() - print a region's counts on stderr
 * @region: a region; nothing is printed if it has not run or is not counted
 */
void cosy_stats_print(const struct cosy_region *region);

#endif /* COSY_STATS_H */
