/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stats.h - COSY_STATS: the line of a region.
 */
#ifndef COSY_REGION_STATS_H
#define COSY_REGION_STATS_H

/**
 * cosy_stats_print() - print the counts of a region
 * @region: a struct cosy_region. Nothing is printed if it has not run, or is not counted
 */
void cosy_stats_print(const void *region);

#endif /* COSY_REGION_STATS_H */
