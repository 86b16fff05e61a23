/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mime.h - types of files, by the ends of their names.
 */
#ifndef MIME_H
#define MIME_H

#include <stdbool.h>

/**
 * mime_load() - read a table in the form of /etc/mime.types, in place of the one before
 * @file: its name
 *
 * Return: false, after a message, if it cannot be read; then the table before stays.
 */
bool mime_load(const char *file);

/** mime_type() - return the type for a name; "application/octet-stream" if the table has none */
const char *mime_type(const char *name);

#endif /* MIME_H */
