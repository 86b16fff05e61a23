// SPDX-License-Identifier: GPL-2.0
/*
 * trace.c - the one place that defines the tracepoints.
 */
#define CREATE_TRACE_POINTS
#include "trace/cosy_trace.h"
