// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cosy-as - assemble a compound from its textual form.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cosy/asm.h>

#include "file.h"

static const char usage[] =
	"usage: cosy-as [-o OUT] IN.cir\n"
	"       cosy-as --help | --version\n"
	"Assembles a compound. The default of OUT is IN with .cosy in place of .cir.\n"
	"'-' is standard input or output. compound-ir/README.md describes the text.\n";

/* Return the default name of the output, for free(). */
static char *default_output(const char *in)
{
	size_t len = strlen(in);
	char *out = malloc(len + sizeof(".cosy"));

	if (!out || !strcmp(in, "-")) {
		free(out);
		return strdup("-");
	}
	if (len > 4 && !strcmp(in + len - 4, ".cir"))
		len -= 4;
	memcpy(out, in, len);
	strcpy(out + len, ".cosy");
	return out;
}

/* Write the image. If this fails, remove the file, unless it is a device. */
static int write_file(const char *name, const void *image, size_t size)
{
	FILE *out = strcmp(name, "-") ? fopen(name, "we") : stdout;
	struct stat st;
	int is_file, failed, error;

	if (!out)
		return -1;
	is_file = !fstat(fileno(out), &st) && S_ISREG(st.st_mode);
	failed = fwrite(image, 1, size, out) != size;
	failed |= fclose(out) != 0;
	error = errno;
	if (failed && is_file && strcmp(name, "-"))
		unlink(name);
	errno = error;
	return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	struct cosy_asm_error error;
	const char *in;
	char *text, *out = NULL;
	void *image;
	size_t len, size;
	int opt, status;

	while ((opt = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		switch (opt) {
		case 'o':
			free(out);
			out = strdup(optarg);
			break;
		case 'v':
			puts("cosy-as " COSY_RELEASE);
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
	if (!out)
		out = default_output(in);
	text = read_file(in, &len);
	if (!text || !out) {
		fprintf(stderr, "cosy-as: %s: %s\n", in, strerror(errno));
		free(text);
		free(out);
		return 1;
	}
	image = cosy_assemble(text, len, &size, &error);
	free(text);
	if (!image) {
		fprintf(stderr, "%s:%u:%u: error: %s\n", in, error.line,
			error.column, error.text);
		free(out);
		return 1;
	}
	status = write_file(out, image, size);
	if (status)
		fprintf(stderr, "cosy-as: %s: %s\n", out, strerror(errno));
	free(image);
	free(out);
	return status ? 1 : 0;
}
