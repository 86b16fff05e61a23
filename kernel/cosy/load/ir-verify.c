// SPDX-License-Identifier: GPL-2.0
/* ir-verify.c - the shared verifier, compiled into the module. */
#include <src/verify.c>
