// SPDX-License-Identifier: GPL-2.0
/* ir-calls.c - the shared tables of calls, compiled into the module. */
#include <src/calls.c>
