// SPDX-License-Identifier: GPL-2.0
/* ir-verify.c - compiles the shared verifier into the module. */
#include <src/verify.c>
