/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * security.h - the operations that tests of security modules run, and how they print the log.
 */
#ifndef SECURITY_H
#define SECURITY_H

#include "more-regions.h"

static const char *directory;

/* Each kind of fast path, on the files of make-files. */
static inline void all_regions(void)
{
	int in = open("from10001", O_RDWR), out = open("to", O_RDWR | O_CREAT, 0600);

	say("slurp", slurp("from65536", O_RDONLY));
	say("slurp, missing", slurp("missing", O_RDONLY));
	say("slurp, proc", slurp("/proc/version", O_RDONLY));
	say("create", create("made", O_RDWR | O_EXCL, 5000));
	say("truncate", create("made", O_WRONLY | O_TRUNC, 5000));
	say("append", create("made", O_WRONLY | O_APPEND, 5000));
	say("private", private("made"));
	say("copy", copy(in, out, 4096));
	say("copy at", copy_at(in, out, 4096));
	say("send to a file", copy_by_send(in, out, 4096));
	say("read at", read_at(in, 100, 5000));
	say("write at", write_at(out, 100, 5000));
	say("list", list("."));
	say("names at", names_at("from4096"));
	say_names("from4096");
	say_names("missing");
	close(in);
	close(out);
	unlink("to");
	unlink("made");
}

/*
 * A line with paths relative to the directory. Accesses of libcosy are omitted: its device, and
 * whether there are threads when the program ends.
 */
static inline void print_line(const char *what, const char *line)
{
	size_t length = strlen(directory);
	const char *at;

	if (strstr(line, "/dev/cosy") || (strstr(line, "proc") && strstr(line, "/task/")))
		return;
	printf("  %s", what);
	while ((at = strstr(line, directory))) {
		printf("%.*s.", (int)(at - line), line);
		line = at + length;
	}
	printf("%s\n", line);
}

#endif /* SECURITY_H */
