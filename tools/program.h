/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * program.h - how a program makes its system calls, as far as its file and its arguments tell.
 */
#ifndef COSY_TOOLS_PROGRAM_H
#define COSY_TOOLS_PROGRAM_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum program_kind - kinds of programs
 * @PROGRAM_USUAL:  makes calls by the C library, or is no ELF file
 * @PROGRAM_STATIC: has no dynamic linker, so LD_PRELOAD has no effect on it
 * @PROGRAM_GO:	    has a dynamic linker, but is written in Go, whose library makes its system
 *		    calls itself
 */
enum program_kind {
	PROGRAM_USUAL,
	PROGRAM_STATIC,
	PROGRAM_GO,
};

/**
 * program_kind() - find out the kind of a program
 * @command: its file; searched in PATH, as execvp() does, if it contains no slash
 *
 * Return: the kind; PROGRAM_USUAL if the file cannot be read.
 */
enum program_kind program_kind(const char *command);

/**
 * program_is_short() - find out whether a program is one of preload/short.h
 * @arguments: its name and its arguments, followed by NULL
 *
 * Return: true if it makes so few calls that `cosy run` executes it without the library.
 */
bool program_is_short(const char *const *arguments);

#ifdef __cplusplus
}
#endif

#endif /* COSY_TOOLS_PROGRAM_H */
