/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * corey KIND WORKERS ROUNDS - the experiments of Corey with memory and descriptors
 *
 * The workers of a team do ROUNDS rounds in all. A round of
 *
 *	memclone-mmap	gets 4 MiB by mmap(), writes to each page, and frees it by munmap()
 *	memclone-malloc	the same by malloc() and free()
 *	memclone-ranges	the same by a range
 *	memclone-huge	the same by a range of huge pages
 *	fresh-ranges	gets a range that was never used, and writes to each page
 *	fresh-huge	the same with huge pages
 *	mempass-mmap	gets 4 MiB by mmap(); each worker writes to each page, one after the other; frees it
 *	mempass-ranges	the same by a range
 *	dup		duplicates a descriptor and closes the copy, 1000 times
 *	dup-share	the same in a share of each worker
 *	filesum-stays	sums the bytes of one of 4 files of 192 KiB, which a worker always sums
 *	filesum-moves	the same, and after each sum the next worker sums the file
 *
 * Prints the time, the CPU time, and the page faults and context switches of a round.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cosy/range.h>
#include <cosy/share.h>
#include <cosy/team.h>

#include "times.h"

#define SIZE	(4u << 20)
#define PAGE	4096
#define DUPS	1000
#define FILES	4
#define FILE_SIZE (192u << 10)

struct memory {
	char *start;
	struct cosy_range *range;
	unsigned int passed;
};

/* A file that is mapped; @sum is the last one. */
struct file {
	const uint64_t *words;
	uint64_t sum;
} __attribute__((aligned(64)));

static struct cosy_team *team;
static struct cosy_ranges *ranges;
static unsigned int workers;
static atomic_long left;
static pthread_barrier_t barrier;
static enum { MMAP, MALLOC, RANGES, HUGE, FRESH, FRESH_HUGE, FILES_STAY, FILES_MOVE } source;
static struct memory passed;
static struct file files[FILES];

static void check(int error, const char *what)
{
	if (error)
		errx(1, "%s: %s", what, strerror(-error));
}

static void get(struct memory *memory)
{
	if (source == MMAP) {
		memory->start = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory->start == MAP_FAILED)
			err(1, "mmap");
	} else if (source == MALLOC) {
		memory->start = malloc(SIZE);
		if (!memory->start)
			err(1, "malloc");
	} else {
		memory->range = cosy_range_take(ranges);
		if (!memory->range)
			err(1, "cosy_range_take");
		memory->start = memory->range->start;
	}
}

static void use(struct memory *memory)
{
	for (size_t i = 0; i < SIZE; i += PAGE)
		*(volatile char *)(memory->start + i) = 1;
}

static void release(struct memory *memory)
{
	if (source == MMAP)
		munmap(memory->start, SIZE);
	else if (source == MALLOC)
		free(memory->start);
	else
		cosy_range_free(ranges, memory->range);
}

static void memclone(void *arg)
{
	struct memory memory;

	(void)arg;
	while (atomic_fetch_sub(&left, 1) > 0) {
		get(&memory);
		use(&memory);
		release(&memory);
	}
}

/* Write to the memory, and pass it to the next worker; a new one after the last. */
static void mempass(void *arg)
{
	struct memory *memory = arg;

	if (memory->passed == workers) {
		release(memory);
		if (--left <= 0)
			return;
		memory->passed = 0;
	}
	if (!memory->passed)
		get(memory);
	use(memory);
	memory->passed++;
	check(cosy_team_call(team, (cosy_team_colour() + 1) % workers, mempass, memory),
	      "cosy_team_call");
}

static void dups(void *arg)
{
	/* Each worker has a file of its own. */
	int fd = open("/dev/null", O_RDONLY);

	(void)arg;
	while (atomic_fetch_sub(&left, 1) > 0) {
		for (int i = 0; i < DUPS; i++)
			close(dup(fd));
	}
	close(fd);
}

static void dups_in_share(void *arg)
{
	COSY_SHARE_SCOPE share = NULL;
	int fd;

	(void)arg;
	check(cosy_share_create(&share, NULL), "cosy_share_create");
	fd = cosy_share_open(share, AT_FDCWD, "/dev/null", O_RDONLY, 0);
	while (atomic_fetch_sub(&left, 1) > 0) {
		for (int i = 0; i < DUPS; i++)
			cosy_share_close(share, cosy_share_dup(share, fd));
	}
}

/* Ranges that were never used are populated. */
static void fresh(void *arg)
{
	struct memory memory;

	(void)arg;
	while (atomic_fetch_sub(&left, 1) > 0) {
		get(&memory);
		use(&memory);
	}
}

static void map_files(void)
{
	for (int i = 0; i < FILES; i++) {
		FILE *file = tmpfile();
		char *start;

		if (!file || ftruncate(fileno(file), FILE_SIZE))
			err(1, "tmpfile");
		start = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
		if (start == MAP_FAILED)
			err(1, "mmap");
		memset(start, 1, FILE_SIZE);
		files[i].words = (const uint64_t *)(void *)start;
		fclose(file);
	}
}

/* Sum a file, and queue the next sum of it, on this worker or on the next one. */
static void filesum(void *arg)
{
	struct file *file = arg;
	const uint64_t next = cosy_team_colour() + (source == FILES_MOVE);
	uint64_t sum = 0;

	if (atomic_fetch_sub(&left, 1) <= 0)
		return;
	for (size_t i = 0; i < FILE_SIZE / sizeof(*file->words); i++)
		sum += file->words[i];
	file->sum = sum;
	check(cosy_team_call(team, next % workers, filesum, file), "cosy_team_call");
}

/* Let the files be summed, the first ones by the first worker, and so on. */
static void filesums(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < FILES; i++)
		check(cosy_team_call(team, i % workers, filesum, &files[i]), "cosy_team_call");
}

/* Keep a colour on each worker. */
static void settle(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	cosy_team_stay(true);
}

static bool is_fresh(void)
{
	return source == FRESH || source == FRESH_HUGE;
}

static bool is_huge(void)
{
	return source == HUGE || source == FRESH_HUGE;
}

static void make_team(void)
{
	const struct cosy_team_options options = { .size = sizeof(options), .workers = workers,
						   .flags = marks_pin() ? COSY_TEAM_PIN : 0 };
	const struct cosy_ranges_options memory = { .struct_size = sizeof(memory), .size = SIZE,
						    .ready = is_fresh() ? 0 : 2 * workers,
						    .count = is_fresh() ? (uint32_t)left : 0,
						    .flags = is_huge() ? COSY_RANGES_HUGE : 0 };

	check(cosy_team_create(&team, &options), "cosy_team_create");
	check(cosy_ranges_create(&ranges, &memory), "cosy_ranges_create");
	pthread_barrier_init(&barrier, NULL, workers);
	for (unsigned int i = 0; i < workers; i++)
		check(cosy_team_call(team, i, settle, NULL), "cosy_team_call");
	check(cosy_team_wait(team, NULL), "cosy_team_wait");
}

/* Return true if each worker makes rounds from the beginning. */
static bool is_of_all(void (*fn)(void *arg))
{
	return fn != mempass && fn != filesums;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void *arg);
		int source;
	} kinds[] = {
		{ "memclone-mmap", memclone, MMAP },
		{ "memclone-malloc", memclone, MALLOC },
		{ "memclone-ranges", memclone, RANGES },
		{ "memclone-huge", memclone, HUGE },
		{ "fresh-ranges", fresh, FRESH },
		{ "fresh-huge", fresh, FRESH_HUGE },
		{ "mempass-mmap", mempass, MMAP },
		{ "mempass-ranges", mempass, RANGES },
		{ "dup", dups, MMAP },
		{ "dup-share", dups_in_share, MMAP },
		{ "filesum-stays", filesums, FILES_STAY },
		{ "filesum-moves", filesums, FILES_MOVE },
	};
	struct rusage before, after;
	long rounds;

	if (argc != 4)
		errx(2, "usage: corey KIND WORKERS ROUNDS");
	workers = (unsigned int)atoi(argv[2]);
	left = rounds = atol(argv[3]);
	if (!workers || workers > COSY_TEAM_MAX || rounds <= 0)
		errx(2, "WORKERS is from 1 to %d, and ROUNDS at least 1", COSY_TEAM_MAX);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		source = kinds[i].source;
		make_team();
		if (kinds[i].fn == filesums)
			map_files();
		getrusage(RUSAGE_SELF, &before);
		times_begin();
		for (unsigned int w = 0; w < (is_of_all(kinds[i].fn) ? workers : 1); w++)
			check(cosy_team_call(team, w, kinds[i].fn, &passed), "cosy_team_call");
		check(cosy_team_wait(team, NULL), "cosy_team_wait");
		times_print();
		getrusage(RUSAGE_SELF, &after);
		printf("of each round: %.2f page faults, %.2f context switches\n",
		       (double)(after.ru_minflt - before.ru_minflt) / (double)rounds,
		       (double)(after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw -
				before.ru_nivcsw) / (double)rounds);
		cosy_team_destroy(team);
		cosy_ranges_destroy(ranges);
		return 0;
	}
	errx(2, "no kind is called %s", argv[1]);
}
