/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * message.h - messages to the user of the program.
 */
#ifndef COSY_MESSAGE_H
#define COSY_MESSAGE_H

#include <stdarg.h>
#include <stdint.h>

/** struct cosy_number - memory for a decimal number as text */
struct cosy_number {
	char text[24];
};

/**
 * cosy_number() - return a number as decimal text
 * @number: memory for the text
 * @value:  the number
 *
 * Return: the text, inside @number. Async-signal-safe.
 */
const char *cosy_number(struct cosy_number *number, uint64_t value);

/** struct cosy_hex - memory for a hexadecimal number as text */
struct cosy_hex {
	char text[19];
};

/**
 * cosy_hex() - return a number as hexadecimal text, such as 0x7f00
 * @hex:   memory for the text
 * @value: the number
 *
 * Return: the text, inside @hex. Async-signal-safe.
 */
const char *cosy_hex(struct cosy_hex *hex, uint64_t value);

/**
 * cosy_message() - write "cosy: ", the texts and a newline to standard error
 * @text: first of the texts; NULL ends the list
 *
 * One write, so that messages of several threads do not mix. The message is cut after 512 bytes.
 * Async-signal-safe, keeps errno.
 */
void cosy_message(const char *text, ...) __attribute__((sentinel));

/**
 * cosy_message_to() - write such a message to another descriptor
 * @fd:    the descriptor
 * @text:  first of the texts
 * @texts: the others
 */
void cosy_message_to(int fd, const char *text, va_list texts);

#endif /* COSY_MESSAGE_H */
