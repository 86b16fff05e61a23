// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * short.c - tells short programs by their names and arguments. Needs no C library.
 */
#include "short.h"

#define MAX_ARGUMENTS	256

/* With more arguments that are not options, the library may pay. */
#define MAX_FILES	32

/* In a list, each name is followed by a null byte, the last one by two. */
static const char short_programs[] =
	"[\0" "as\0" "awk\0" "basename\0" "c++\0" "cat\0" "cc\0" "cc1\0" "cc1plus\0" "cksum\0"
	"cmp\0" "collect2\0" "comm\0" "cpp\0" "cut\0" "date\0" "dirname\0" "echo\0" "expand\0"
	"expr\0" "false\0" "fold\0" "g++\0" "gawk\0" "gcc\0" "getopt\0" "head\0" "hostname\0"
	"id\0" "install\0" "join\0" "ld\0" "ld.bfd\0" "ln\0" "lto1\0" "mawk\0" "md5sum\0"
	"mkdir\0" "mktemp\0" "mv\0" "nl\0" "nproc\0" "od\0" "paste\0" "printf\0" "pwd\0"
	"readlink\0" "realpath\0" "rev\0" "rmdir\0" "sed\0" "seq\0" "sha1sum\0" "sha256sum\0"
	"sleep\0" "sort\0" "stty\0" "tac\0" "tail\0" "tee\0" "test\0" "touch\0" "tput\0" "tr\0"
	"true\0" "tty\0" "uname\0" "uniq\0" "wc\0" "which\0" "whoami\0" "yes\0";

/* Programs that descend into directories with -r, -R, -a or a long option. */
static const char short_unless_descending[] =
	"chgrp\0" "chmod\0" "chown\0" "cp\0" "egrep\0" "fgrep\0" "grep\0" "rm\0";

static bool is_listed(struct reader *reader, const char *name, const char *list)
{
	while (*list) {
		if (is_string(reader, name, list))
			return true;
		while (*list++)
			;
	}
	return false;
}

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
	bool may_descend = is_listed(reader, name, short_unless_descending);
	int files = 0;

	if (!may_descend && !is_listed(reader, name, short_programs))
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
