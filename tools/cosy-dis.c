// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cosy-dis - disassemble a compound.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/asm.h>

#include "file.h"

static const char usage[] =
	"usage: cosy-dis [--pc] [--source] IN.cosy\n"
	"       cosy-dis --help | --version\n"
	"Prints a compound as text that cosy-as assembles to the same bytes.\n"
	"  --pc      print the slot of each operation as a comment\n"
	"  --source  print the source lines of the operations as comments\n"
	"'-' is standard input.\n";

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pc", no_argument, NULL, 'p' },
		{ "source", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	unsigned int flags = 0;
	struct cosy_diag diag;
	const char *in;
	void *image;
	size_t size;
	int opt, status;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (opt) {
		case 'p':
			flags |= COSY_DIS_PC;
			break;
		case 's':
			flags |= COSY_DIS_SOURCE;
			break;
		case 'v':
			puts("cosy-dis " COSY_RELEASE);
			return 0;
		default:
			fputs(usage, opt == 'h' ? stdout : stderr);
			return opt == 'h' ? 0 : 2;
		}
	}
	if (optind != argc - 1) {
		fputs(usage, stderr);
		return 2;
	}
	in = argv[optind];
	image = read_file(in, &size);
	if (!image) {
		fprintf(stderr, "cosy-dis: %s: %s\n", in, strerror(errno));
		return 1;
	}
	status = cosy_disassemble(image, size, flags, stdout, &diag);
	if (status) {
		fprintf(stderr, "%s: error: offset %u: %s\n", in, diag.offset,
			diag.reason);
	} else if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "cosy-dis: standard output: %s\n",
			strerror(errno));
		status = -1;
	}
	free(image);
	return status ? 1 : 0;
}
