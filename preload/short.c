// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * short.c - tells short programs by their names and arguments. Needs no C library.
 */
#include "short.h"

#define MAX_ARGUMENTS	256

/* With more arguments that are not options, the library may pay. */
#define MAX_FILES	32

/* Names of one size need no pointers, which the dynamic linker would have to relocate. */
typedef char program_name[10];

static const program_name short_programs[] = {
	"[", "as", "awk", "basename", "c++", "cat", "cc", "cc1", "cc1plus", "cksum", "cmp",
	"collect2", "comm", "cpp", "cut", "date", "dirname", "echo", "expand", "expr", "false",
	"fold", "g++", "gawk", "gcc", "getopt", "head", "hostname", "id", "install", "join",
	"ld", "ld.bfd", "ln", "lto1", "mawk", "md5sum", "mkdir", "mktemp", "mv", "nl", "nproc",
	"od", "paste", "printf", "pwd", "readlink", "realpath", "rev", "rmdir", "sed", "seq",
	"sha1sum", "sha256sum", "sleep", "sort", "stty", "tac", "tail", "tee", "test", "touch",
	"tput", "tr", "true", "tty", "uname", "uniq", "wc", "which", "whoami", "yes",
};

/* Programs that descend into directories with -r, -R, -a or a long option. */
static const program_name short_unless_descending[] = {
	"chgrp", "chmod", "chown", "cp", "egrep", "fgrep", "grep", "rm",
};

static bool is_listed(struct reader *reader, const char *name, const program_name *list,
		      size_t count)
{
	char first = read_char(reader, name);

	for (size_t i = 0; i < count; i++) {
		if (list[i][0] == first && is_string(reader, name, list[i]))
			return true;
	}
	return false;
}

#define IS_LISTED(reader, name, list)	is_listed(reader, name, list, sizeof(list) / sizeof(*(list)))

/* Return true if the program descends into directories with @option. */
static bool descends(struct reader *reader, const char *option)
{
	char c;

	while ((c = read_char(reader, option++))) {
		if (c == 'r' || c == 'R' || c == 'a' || c == '-')
			return true;
	}
	return false;
}

bool cosy_is_short_program(struct reader *reader, const char *path, char *const *argv)
{
	const char *name = last_component(reader, path), *argument;
	bool may_descend = IS_LISTED(reader, name, short_unless_descending);
	int files = 0;

	if (!may_descend && !IS_LISTED(reader, name, short_programs))
		return false;
	for (int i = 0; i <= MAX_ARGUMENTS; i++) {
		argument = read_pointer(reader, &argv[i]);
		if (!argument)
			return true;
		if (read_char(reader, argument) != '-')
			files++;
		else if (may_descend && descends(reader, argument + 1))
			return false;
		if (files > MAX_FILES)
			return false;
	}
	return false;
}
