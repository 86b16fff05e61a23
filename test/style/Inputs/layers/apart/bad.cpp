// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apart/apart.h"
#include "low/low.h"
#include "high/high.h"
