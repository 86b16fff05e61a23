// SPDX-License-Identifier: GPL-2.0
#include <linux/fs.h>
#include "low/low.h"
#  include "high/high.h"
#include <top.h>
