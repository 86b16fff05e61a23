/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * message.h - messages to the person who runs the program.
 */
#ifndef COSY_MESSAGE_H
#define COSY_MESSAGE_H

#include <stdarg.h>
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

/** struct cosy_hex - room for a hexadecimal number */
struct cosy_hex {
	char text[19];
};

/**
 * cosy_hex() - a number as text, such as 0x7f00
 * @hex:   where to put it
 * @value: the number
 *
 * Return: the text, inside @hex. Async-signal-safe.
 */
const char *cosy_hex(struct cosy_hex *hex, uint64_t value);

/**
 * cosy_message() - write "cosy: ", the given texts and a newline to stderr
 * @text: first of the texts; NULL ends the list
 *
 * One write, so that messages of several threads do not mix; what does not fit
 * into 512 bytes is cut off. Async-signal-safe, keeps errno.
 */
void cosy_message(const char *text, ...) __attribute__((sentinel));

/**
 * cosy_message_to() - the same to another descriptor
 * @fd:    the descriptor
 * @text:  first of the texts
 * @texts: the others
 */
void cosy_message_to(int fd, const char *text, va_list texts);

#endif /* COSY_MESSAGE_H */
