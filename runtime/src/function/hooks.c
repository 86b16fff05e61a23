/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hooks.c - pointers to functions of parts that a program need not contain.
 */
#include "function/hooks.h"

const struct cosy_function_hooks *cosy_function_hooks;
bool (*cosy_compound_free)(struct cosy *compound);
