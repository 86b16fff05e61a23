// SPDX-License-Identifier: GPL-2.0
/* ir-decode.c - the shared decoder, compiled into the module. */
#include <src/decode.c>
