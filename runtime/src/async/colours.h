/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * colours.h - lets a layer above replace the colours of a loop by its own.
 */
#ifndef COSY_ASYNC_COLOURS_H
#define COSY_ASYNC_COLOURS_H

#include <stdbool.h>

#include <cosy/async.h>

#include "device/export.h"

/**
 * struct cosy_colours - colours for what a thread submits
 * @prepare: at the end of cosy_colour(): set op.done of @coloured, which is then called instead of
 *	     its callback. It may use @next until that callback is called
 * @hold:    after @prepare, for a function: a new function has the colour of @coloured
 * @release: the function has returned, or could not be started
 */
struct cosy_colours {
	void (*prepare)(struct cosy_coloured *coloured);
	void (*hold)(struct cosy_coloured *coloured);
	void (*release)(struct cosy_coloured *coloured);
};

/* The colours of the calling thread; NULL: those of the loop. */
extern COSY_TLS __thread const struct cosy_colours *cosy_thread_colours;

#endif /* COSY_ASYNC_COLOURS_H */
