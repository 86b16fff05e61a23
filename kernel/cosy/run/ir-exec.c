// SPDX-License-Identifier: GPL-2.0
/*
 * ir-exec.c - compiles the shared executor into the module.
 *
 * <cosy_env.h> is below the layers that make calls and run user functions, so
 * that these can use the state of a run. The executor is above all of them, and
 * needs their declarations too.
 */
#include "call/call.h"
#include "fast/fast.h"
#include "function/function.h"

#include <src/exec.c>
