/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * exclusive.h - checks that no two threads execute the same code at the same time.
 */
#ifndef EXCLUSIVE_H
#define EXCLUSIVE_H

#include "loop.h"

/* Begin with the code that @inside stands for. No other thread may be inside. */
static void enter(bool *inside)
{
	EQUAL(*inside, false);
	*inside = true;
}

static void leave(bool *inside)
{
	EQUAL(*inside, true);
	*inside = false;
}

#endif /* EXCLUSIVE_H */
