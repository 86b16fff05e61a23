/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "left.h"
const char *cosy_name = "cosy_left";
