// SPDX-License-Identifier: GPL-2.0
/*
 * ir-exec.c - the shared executor, compiled into the module.
 *
 * <cosy_env.h> is below the layers that make calls and run user functions, so
 * that these can work on the state of a run. The executor is above them all: it
 * gets here what <cosy_env.h> does not declare.
 */
#include "call/call.h"
#include "fast/fast.h"
#include "function/function.h"

#include <src/exec.c>
