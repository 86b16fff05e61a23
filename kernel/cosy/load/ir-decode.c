// SPDX-License-Identifier: GPL-2.0
/* ir-decode.c - compiles the shared decoder into the module. */
#include <src/decode.c>
