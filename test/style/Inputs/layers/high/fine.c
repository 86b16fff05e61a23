// SPDX-License-Identifier: GPL-2.0
#include "low/low.h"
#include "missing.h"
#include "high/high.h"
