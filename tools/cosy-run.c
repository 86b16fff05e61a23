// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cosy-run - run a compound with given inputs and print its outputs.
 *
 * libcosy runs it, in a child process for each executor. So the compound may crash, and the
 * executors can be compared.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/cosy.h>

#include <cosy.h>
#include <cosy/asm.h>

#include "file.h"

static const char usage[] =
	"usage: cosy-run [OPTION]... PROG\n"
	"       cosy-run --help | --version\n"
	"Runs a compound, the image PROG.cosy or the text PROG.cir, and prints one line:\n"
	"  exit N r0=V ...     the exit and the outputs\n"
	"  signal N (NAME)     the signal that killed the process\n"
	"Options:\n"
	"  --executor NAME     user (default), kernel, or both; both fails unless the\n"
	"                      executors print the same line\n"
	"  --reg rN=V          set the input rN (default 0); may be repeated\n"
	"  --limit N           leave the compound after N operations, and resume it\n"
	"  --expect LINE       fail unless it prints this line\n"
	"COSY_STATS=1 in the environment prints the numbers of system calls and entries\n"
	"on standard error.\n";

struct options {
	const char *program;
	const char *expect;
	bool user, kernel;
	uint64_t limit;		/* 0: the compound's own */
	uint64_t inputs[COSY_MAX_REGS];
	unsigned int ninputs;	/* one more than the highest number of a given input */
};

/* The outcome of a run, in memory shared with the child. */
struct outcome {
	bool ran;
	bool explained;		/* the child has printed why it has not */
	int64_t exit;
	uint64_t regs[COSY_MAX_REGS];
};

static bool parse_u64(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = *text == '-' ? (uint64_t)strtoll(text, &end, 0) :
				strtoull(text, &end, 0);
	return !errno && end != text && !*end;
}

static bool parse_reg(const char *text, struct options *o)
{
	const char *equals = strchr(text, '=');
	unsigned long reg;
	uint64_t value;
	char *end;

	if (text[0] != 'r' || text[1] < '0' || text[1] > '9' || !equals ||
	    !parse_u64(equals + 1, &value))
		return false;
	reg = strtoul(text + 1, &end, 10);
	if (end != equals || reg >= COSY_MAX_REGS)
		return false;
	o->inputs[reg] = value;
	if (reg >= o->ninputs)
		o->ninputs = (unsigned int)reg + 1;
	return true;
}

static int bad_usage(const char *what, const char *arg)
{
	fprintf(stderr, "cosy-run: %s: '%s'; see cosy-run --help\n", what, arg);
	return 2;
}

/* Return 0 to continue; otherwise the exit status, which is negative for success. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "executor", required_argument, NULL, 'e' },
		{ "reg", required_argument, NULL, 'r' },
		{ "limit", required_argument, NULL, 'l' },
		{ "expect", required_argument, NULL, 'x' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	o->user = true;
	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (opt) {
		case 'e':
			o->user = strcmp(optarg, "kernel");
			o->kernel = strcmp(optarg, "user");
			if (o->user && o->kernel && strcmp(optarg, "both"))
				return bad_usage("executor is user, kernel or both",
						 optarg);
			break;
		case 'r':
			if (!parse_reg(optarg, o))
				return bad_usage("expected rN=V", optarg);
			break;
		case 'l':
			if (!parse_u64(optarg, &o->limit) || !o->limit ||
			    o->limit > COSY_MAX_LIMIT)
				return bad_usage("limit out of range", optarg);
			break;
		case 'x':
			o->expect = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return -1;
		case 'v':
			puts("cosy-run " COSY_RELEASE);
			return -1;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind != argc - 1) {
		fputs(usage, stderr);
		return 2;
	}
	o->program = argv[optind];
	return 0;
}

/* Return the compound as an image, assembled if it is text; NULL if it is not valid. */
static void *load_program(const char *name, size_t *size)
{
	struct cosy_asm_error error;
	cosy_u32 magic = 0;
	size_t len;
	char *file = read_file(name, &len);
	void *image;

	if (!file) {
		fprintf(stderr, "cosy-run: %s: %s\n", name, strerror(errno));
		return NULL;
	}
	if (len >= sizeof(magic))
		memcpy(&magic, file, sizeof(magic));
	if (magic == COSY_MAGIC) {
		struct cosy_diag diag;

		if (!cosy_verify(file, len, &diag)) {
			*size = len;
			return file;
		}
		fprintf(stderr, "%s: error: offset %u: %s\n", name, diag.offset,
			diag.reason);
		free(file);
		return NULL;
	}
	image = cosy_assemble(file, len, size, &error);
	free(file);
	if (!image)
		fprintf(stderr, "%s:%u:%u: error: %s\n", name, error.line,
			error.column, error.text);
	return image;
}

/* In the child: run the compound by @executor. */
static void run_child(const struct options *o, const char *executor,
		      const void *image, size_t size, struct outcome *outcome)
{
	struct cosy *compound;

	setenv("COSY_EXECUTOR", executor, 1);
	compound = cosy_init(image, size);
	if (!compound) {
		fprintf(stderr, "cosy-run: %s: %s\n", o->program, cosy_error());
		outcome->explained = true;
		_exit(1);
	}
	memcpy(outcome->regs, o->inputs, sizeof(outcome->regs));
	outcome->exit = cosy_run(compound, outcome->regs);
	if (outcome->exit < 0) {
		fprintf(stderr, "cosy-run: %s: up-calls need the program they "
			"belong to\n", o->program);
		outcome->explained = true;
		_exit(1);
	}
	outcome->ran = true;
	cosy_free(compound);
	fflush(NULL);
	_exit(0);
}

/* Run the compound in a child. Return the line to print, for free(); NULL on failure. */
static char *run_by(const struct options *o, const char *executor,
		    const void *image, size_t size, struct outcome *outcome)
{
	const struct cosy_header *h = image;
	char *line = NULL;
	size_t len;
	FILE *out;
	pid_t pid;
	int status, i;

	fflush(NULL);
	outcome->ran = false;
	outcome->explained = false;
	pid = fork();
	if (!pid)
		run_child(o, executor, image, size, outcome);
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		fprintf(stderr, "cosy-run: %s\n", strerror(errno));
		return NULL;
	}
	if (outcome->explained)
		return NULL;
	out = open_memstream(&line, &len);
	if (!out)
		return NULL;
	if (WIFSIGNALED(status))
		fprintf(out, "signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (!outcome->ran)
		fprintf(out, "process exit %d", WEXITSTATUS(status));
	else
		fprintf(out, "exit %" PRId64, outcome->exit);
	for (i = 0; outcome->ran && i < h->nout; i++)
		fprintf(out, " r%d=%" PRId64, h->out_first + i,
			(int64_t)outcome->regs[h->out_first + i]);
	if (fclose(out)) {
		free(line);
		return NULL;
	}
	return line;
}

static bool print_line(const char *line)
{
	if (puts(line) >= 0 && !fflush(stdout))
		return true;
	fprintf(stderr, "cosy-run: standard output: %s\n", strerror(errno));
	return false;
}

static bool check_line(const struct options *o, const char *executor,
		       const char *line)
{
	if (!o->expect || !strcmp(line, o->expect))
		return true;
	fprintf(stderr, "cosy-run: %s: %s executor: expected '%s'\n",
		o->program, executor, o->expect);
	return false;
}

static int run_program(const struct options *o, const void *image, size_t size)
{
	struct outcome *outcome = mmap(NULL, sizeof(*outcome),
				       PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *const executors[] = { o->user ? "user" : NULL,
					  o->kernel ? "kernel" : NULL };
	char *first = NULL;
	bool ok = true;
	int i;

	if (outcome == MAP_FAILED) {
		fprintf(stderr, "cosy-run: %s\n", strerror(errno));
		return 1;
	}
	for (i = 0; i < 2 && ok; i++) {
		char *line;

		if (!executors[i])
			continue;
		line = run_by(o, executors[i], image, size, outcome);
		if (!line) {
			ok = false;
			break;
		}
		if (!first || strcmp(first, line)) {
			ok = print_line(line) &&
			     check_line(o, executors[i], line);
		}
		if (first && strcmp(first, line)) {
			fprintf(stderr, "cosy-run: %s: the executors differ\n",
				o->program);
			ok = false;
		}
		free(first);
		first = line;
	}
	free(first);
	munmap(outcome, sizeof(*outcome));
	return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
	static struct options o;
	struct cosy_header *h;
	size_t size;
	int status = parse_options(argc, argv, &o);

	if (status)
		return status < 0 ? 0 : status;
	if (o.kernel && access(COSY_DEVICE, R_OK | W_OK)) {
		fprintf(stderr, "cosy-run: " COSY_DEVICE ": %s; load the module, or "
			"use --executor user\n", strerror(errno));
		return 1;
	}
	h = load_program(o.program, &size);
	if (!h)
		return 1;
	if (o.ninputs > h->ninputs) {
		fprintf(stderr, "cosy-run: %s: r%u is not an input, there are %u\n",
			o.program, o.ninputs - 1, h->ninputs);
		free(h);
		return 2;
	}
	if (o.limit)
		h->limit = o.limit;
	status = run_program(&o, h, size);
	free(h);
	return status;
}
