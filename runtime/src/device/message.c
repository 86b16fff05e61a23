/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * message.c - messages to the person who runs the program.
 */
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/message.h"
#include "device/sys.h"

const char *cosy_number(struct cosy_number *number, uint64_t value)
{
	char *p = number->text + sizeof(number->text) - 1;

	*p = '\0';
	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return p;
}

const char *cosy_hex(struct cosy_hex *hex, uint64_t value)
{
	char *p = hex->text + sizeof(hex->text) - 1;

	*p = '\0';
	do {
		*--p = "0123456789abcdef"[value % 16];
		value /= 16;
	} while (value);
	*--p = 'x';
	*--p = '0';
	return p;
}

/* Append @text at @used of the @room bytes at @buf, as far as it fits. */
static size_t append(char *buf, size_t used, size_t room, const char *text)
{
	while (*text && used < room)
		buf[used++] = *text++;
	return used;
}

void cosy_message_to(int fd, const char *text, va_list texts)
{
	char line[512];
	size_t used = append(line, 0, sizeof(line) - 1, "cosy: ");

	for (; text; text = va_arg(texts, const char *))
		used = append(line, used, sizeof(line) - 1, text);
	line[used++] = '\n';
	cosy_sys(SYS_write, fd, (long)line, (long)used);
}

void cosy_message(const char *text, ...)
{
	va_list texts;

	va_start(texts, text);
	cosy_message_to(STDERR_FILENO, text, texts);
	va_end(texts);
}
