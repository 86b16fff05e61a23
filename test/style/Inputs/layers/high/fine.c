// SPDX-License-Identifier: GPL-2.0
#include "low/low.h"
#include "missing.h"
#include "high/high.h"
#include "llvm/IR/Module.h"
#include "syscalls.def"
#include "../top.h"
#include "same.h"
