// SPDX-License-Identifier: GPL-2.0
/* ir-exec.c - the shared executor, compiled into the module. */
#include <src/exec.c>
