/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * path.h - the name of the file that a request asks for.
 */
#ifndef PATH_H
#define PATH_H

#include <stddef.h>

#define PATH_ROOM 4096 /* Bytes of a name, with its end. */

/**
 * path_from_target() - make the name of a file from the target of a request
 * @target: "/a%20b?c" or "http://host/a%20b?c"
 * @size:   its size
 * @path:   out: "a b", of PATH_ROOM bytes; "" for the directory itself
 *
 * The name is relative, has no empty component except after a slash at its end, and no component
 * that begins with a dot, other than ".well-known". So it has neither "." nor "..".
 *
 * Return: 0, or the status of the answer.
 */
int path_from_target(const char *target, size_t size, char *path);

/**
 * path_part() - find the path in the target of a request
 * @target: the target
 * @size:   its size; out: that of the path, encoded as in the request
 *
 * Return: the path after its first slashes; NULL if the target begins with neither a slash nor a host.
 */
const char *path_part(const char *target, size_t *size);

#endif /* PATH_H */
