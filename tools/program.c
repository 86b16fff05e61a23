// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * program.c - reads the program headers of an executable, and looks for its name in lists.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../preload/short.h"
#include "program.h"

/* The type of Go's note that contains the build's ID. Its owner is "Go". */
#define NOTE_GO_BUILD_ID	4
/* The notes of a segment that are read. */
#define MAX_NOTES		32

/* Read @size bytes at @at. */
static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

/* Return true if Go's note is in the segment. The linker puts several notes into one. */
static bool has_go_note(int fd, const Elf64_Phdr *header)
{
	uint64_t align = header->p_align == 8 ? 7 : 3, at = 0;
	struct {
		Elf64_Nhdr note;
		char owner[4];
	} next;

	for (int i = 0; i < MAX_NOTES && at < header->p_filesz; i++) {
		if (!read_at(fd, &next, sizeof(next), header->p_offset + at))
			return false;
		if (next.note.n_type == NOTE_GO_BUILD_ID && next.note.n_namesz == 4 &&
		    !memcmp(next.owner, "Go\0", 4))
			return true;
		at += sizeof(next.note);
		at = (at + next.note.n_namesz + align) & ~align;
		at = (at + next.note.n_descsz + align) & ~align;
	}
	return false;
}

static enum program_kind kind_of_file(int fd)
{
	bool is_dynamic = false, is_go = false;
	Elf64_Phdr header;
	Elf64_Ehdr elf;

	if (!read_at(fd, &elf, sizeof(elf), 0) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof(header))
		return PROGRAM_USUAL;
	for (unsigned int i = 0; i < elf.e_phnum; i++) {
		if (!read_at(fd, &header, sizeof(header), elf.e_phoff + i * sizeof(header)))
			return PROGRAM_USUAL;
		is_dynamic |= header.p_type == PT_INTERP;
		is_go |= header.p_type == PT_NOTE && has_go_note(fd, &header);
	}
	if (!is_dynamic)
		return PROGRAM_STATIC;
	return is_go ? PROGRAM_GO : PROGRAM_USUAL;
}

/* Open a file that can be executed. Return -1 for all others. */
static int open_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || access(path, X_OK))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int find_program(const char *command)
{
	const char *directory = getenv("PATH"), *end;
	char *path;
	int fd = -1;

	if (strchr(command, '/'))
		return open_program(command);
	while (directory && fd < 0) {
		end = strchrnul(directory, ':');
		if (asprintf(&path, "%.*s%s%s", (int)(end - directory), directory,
			     end == directory ? "" : "/", command) < 0)
			return -1;
		fd = open_program(path);
		free(path);
		directory = *end ? end + 1 : NULL;
	}
	return fd;
}

enum program_kind program_kind(const char *command)
{
	enum program_kind kind = PROGRAM_USUAL;
	int fd = find_program(command);

	if (fd >= 0) {
		kind = kind_of_file(fd);
		close(fd);
	}
	return kind;
}

bool program_is_short(const char *const *arguments)
{
	struct reader reader = READER;

	return cosy_is_short_program(&reader, *arguments, (char *const *)arguments);
}
