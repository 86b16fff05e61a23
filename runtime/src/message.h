/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * message.h - messages to the person who runs the program.
 */
#ifndef COSY_MESSAGE_H
#define COSY_MESSAGE_H

#include <stdint.h>

/** struct cosy_number - room for a decimal number */
struct cosy_number {
	char text[24];
};

/**
 * cosy_number() - a number as text
 * @number: where to put it
 * @value:  the number
 *
 * Return: the text, inside @number. Async-signal-safe.
 */
const char *cosy_number(struct cosy_number *number, uint64_t value);

/**
 * cosy_message() - write "cosy: ", the given texts and a newline to stderr
 * @text: first of the texts; NULL ends the list
 *
 * One write, so that messages of several threads do not mix; what does not fit
 * into 512 bytes is cut off. Async-signal-safe, keeps errno.
 */
void cosy_message(const char *text, ...) __attribute__((sentinel));

#endif /* COSY_MESSAGE_H */
