/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * quote.h - file names in messages, quoted for a shell.
 */
#ifndef QUOTE_H
#define QUOTE_H

/**
 * quote() - quote a file name as GNU tools do in messages
 * @name: any bytes
 *
 * Uses single quotes; double quotes if these avoid escaping a single quote; and $'\n' for
 * bytes that cannot be printed in the C locale.
 *
 * Return: the quoted name, valid until the next call. Not thread-safe.
 */
const char *quote(const char *name);

/**
 * quote_if_needed() - quote a file name if a shell would not read it unchanged
 * @name: any bytes
 *
 * Return: @name itself, or the result of quote().
 */
const char *quote_if_needed(const char *name);

#endif /* QUOTE_H */
