// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * mapreduce.c - count the words of a text, or list the lines of each, on several CPUs.
 *
 * By a team, each chunk of the text has a colour, and so has each part of the words. Colour 0 counts
 * what is done. With --threads, plain threads do the same work, and malloc() has the memory.
 */
#include "../common/allocated.h"
#include "../common/output.h"
#include "../common/usage.h"
#include "words.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cosy/team.h>

enum { CHUNK = 256 << 10, PARTS = 16, RANGE = 256 << 10, MAX_RANGES = 1 << 18 };

static struct job job;
static struct source memory;
static unsigned int workers;
static unsigned int rounds = 1;

/* By a team. Only colour 0 uses @undone. */
static struct cosy_team *team;
static size_t undone;

static void queue(uint64_t colour, void (*fn)(void *), void *arg)
{
	int err = cosy_team_call(team, colour, fn, arg);

	if (err)
		error(1, -err, "cannot go on");
}

static void reduce(void *part)
{
	words_reduce(&job, part);
}

static void mapped(void *arg)
{
	(void)arg;
	if (--undone)
		return;
	words_number(&job);
	for (size_t i = 0; i < job.nparts; i++)
		queue((uintptr_t)&job.parts[i], reduce, &job.parts[i]);
}

static void map(void *chunk)
{
	words_map(&job, chunk);
	queue(0, mapped, NULL);
}

static void start(void *arg)
{
	(void)arg;
	undone = job.nchunks;
	for (size_t i = 0; i < job.nchunks; i++)
		queue((uintptr_t)&job.chunks[i], map, &job.chunks[i]);
}

static void run_team(void)
{
	queue(0, start, NULL);
	cosy_team_wait(team, NULL);
}

/* By plain threads. */
static atomic_size_t next_chunk, next_part;
static pthread_barrier_t barrier;

static void *thread(void *arg)
{
	size_t i;

	while ((i = atomic_fetch_add(&next_chunk, 1)) < job.nchunks)
		words_map(&job, &job.chunks[i]);
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		words_number(&job);
	pthread_barrier_wait(&barrier);
	while ((i = atomic_fetch_add(&next_part, 1)) < job.nparts)
		words_reduce(&job, &job.parts[i]);
	return arg;
}

static void run_threads(void)
{
	pthread_t ids[COSY_TEAM_MAX];

	next_chunk = next_part = 0;
	pthread_barrier_init(&barrier, NULL, workers);
	for (unsigned int i = 0; i < workers; i++) {
		int err = pthread_create(&ids[i], NULL, thread, NULL);

		if (err)
			error(1, err, "cannot start a thread");
	}
	for (unsigned int i = 0; i < workers; i++)
		pthread_join(ids[i], NULL);
	pthread_barrier_destroy(&barrier);
}

/* Read what cannot be mapped: a pipe, or a file of /proc, whose size is not known. */
static void read_all(int fd, const char *name)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t n;

	do {
		if (job.size == room) {
			room = room ? 2 * room : CHUNK;
			text = allocated(realloc(text, room), 1);
		}
		n = read(fd, text + job.size, room - job.size);
		if (n < 0)
			error(1, errno, "cannot read '%s'", name);
		job.size += (size_t)n;
	} while (n);
	job.text = text;
}

static void read_text(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *text;

	if (fd < 0 || fstat(fd, &status) < 0)
		error(1, errno, "cannot open '%s'", name);
	if (!S_ISREG(status.st_mode) || !status.st_size) {
		read_all(fd, name);
	} else {
		job.size = (size_t)status.st_size;
		text = mmap(NULL, job.size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
		if (text == MAP_FAILED)
			error(1, errno, "cannot map '%s'", name);
		job.text = text;
	}
	close(fd);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Do the work once. Return how long it took, without printing. */
static double run_once(int by_threads, int prints)
{
	const double from = seconds();
	double took;

	words_divide(&job, CHUNK, PARTS, &memory);
	if (by_threads)
		run_threads();
	else
		run_team();
	took = seconds() - from;
	if (prints)
		words_print(&job, stdout);
	words_free(&job);
	job.nchunks = 0;
	return took;
}

static void show(double took)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr,
		"%.3f s a round; in all %.3f s user, %.3f s system, %ld page faults, %ld KiB\n",
		took / rounds,
		(double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6,
		(double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6,
		usage.ru_minflt, usage.ru_maxrss);
}

static void help(void)
{
	puts("usage: mapreduce [OPTION]... count|index FILE\n"
	     "Print each word of FILE with its number (count), or with each of its lines (index).\n"
	     "A word consists of letters A to Z, in upper or lower case.\n\n"
	     "  --workers=N   use N threads; default: the number of CPUs\n"
	     "  --threads     plain threads and malloc() in place of a team and ranges\n"
	     "  --rounds=N    do it N times, and print the last result\n"
	     "  --times       print times, page faults and memory to standard error");
	output_finish(0, 1);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "workers", required_argument, NULL, 'w' },
		{ "threads", no_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "times", no_argument, NULL, 'T' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct cosy_team_options team_options = { .size = sizeof(team_options) };
	const struct cosy_ranges_options ranges = { .struct_size = sizeof(ranges),
						    .size = RANGE, .count = MAX_RANGES };
	int option, by_threads = 0, times = 0, err;
	double took = 0;

	workers = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'w')
			workers = usage_number(optarg, "workers", 1, COSY_TEAM_MAX);
		else if (option == 'r')
			rounds = usage_number(optarg, "rounds", 1, 1000000);
		else if (option == 't')
			by_threads = 1;
		else if (option == 'T')
			times = 1;
		else if (option == 'h')
			help();
		else
			fail_usage();
	}
	if (argc - optind != 2 ||
	    (strcmp(argv[optind], "count") && strcmp(argv[optind], "index"))) {
		error(0, 0, "'count' or 'index' and FILE are needed");
		fail_usage();
	}
	job.lists_lines = !strcmp(argv[optind], "index");
	read_text(argv[optind + 1]);
	if (!by_threads) {
		team_options.workers = workers;
		err = cosy_team_create(&team, &team_options);
		if (!err)
			err = cosy_ranges_create(&memory.ranges, &ranges);
		if (err)
			error(1, -err, "cannot start %u workers", workers);
	}
	for (unsigned int i = 1; i <= rounds; i++)
		took += run_once(by_threads, i == rounds);
	if (times)
		show(took);
	cosy_team_destroy(team);
	cosy_ranges_destroy(memory.ranges);
	output_finish(0, 1);
}
