/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * program.h - how a program makes its system calls, as far as its file tells.
 */
#ifndef COSY_TOOLS_PROGRAM_H
#define COSY_TOOLS_PROGRAM_H

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

#endif /* COSY_TOOLS_PROGRAM_H */
