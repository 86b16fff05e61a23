// SPDX-License-Identifier: GPL-2.0
/* ir-calls.c - compiles the shared tables of calls into the module. */
#include <src/calls.c>
