/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * corey KIND WORKERS ROUNDS - the experiments of Corey with memory and descriptors
 *
 * The workers of a team do ROUNDS rounds in all. A round of
 *
 *	memclone-mmap	gets 4 MiB by mmap(), writes to each page, and frees it by munmap()
 *	memclone-malloc	the same by malloc() and free()
 *	memclone-ranges	the same by a range
 *	mempass-mmap	gets 4 MiB by mmap(); each worker writes to each page, one after the other; frees it
 *	mempass-ranges	the same by a range
 *	dup		duplicates a descriptor and closes the copy, 1000 times
 *	dup-share	the same in a share of each worker
 *
 * Prints the time, the CPU time, and the page faults and context switches of a round.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
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

struct memory {
	char *start;
	struct cosy_range *range;
	unsigned int passed;
};

static struct cosy_team *team;
static struct cosy_ranges *ranges;
static unsigned int workers;
static atomic_long left;
static pthread_barrier_t barrier;
static enum { MMAP, MALLOC, RANGES } source;
static struct memory passed;

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

/* Keep a colour on each worker. */
static void settle(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	cosy_team_stay(true);
}

static void make_team(void)
{
	const struct cosy_team_options options = { .size = sizeof(options), .workers = workers };
	const struct cosy_ranges_options memory = { .struct_size = sizeof(memory), .size = SIZE,
						    .ready = 2 * workers };

	check(cosy_team_create(&team, &options), "cosy_team_create");
	check(cosy_ranges_create(&ranges, &memory), "cosy_ranges_create");
	pthread_barrier_init(&barrier, NULL, workers);
	for (unsigned int i = 0; i < workers; i++)
		check(cosy_team_call(team, i, settle, NULL), "cosy_team_call");
	check(cosy_team_wait(team, NULL), "cosy_team_wait");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void *arg);
		int source;
	} kinds[] = {
		{ "memclone-mmap", memclone, MMAP }, { "memclone-malloc", memclone, MALLOC },
		{ "memclone-ranges", memclone, RANGES }, { "mempass-mmap", mempass, MMAP },
		{ "mempass-ranges", mempass, RANGES }, { "dup", dups, MMAP },
		{ "dup-share", dups_in_share, MMAP },
	};
	struct rusage before, after;
	long rounds;

	if (argc != 4)
		errx(2, "usage: corey KIND WORKERS ROUNDS");
	workers = (unsigned int)atoi(argv[2]);
	left = rounds = atol(argv[3]);
	if (!workers || workers > COSY_TEAM_MAX || rounds <= 0)
		errx(2, "WORKERS is from 1 to %d, and ROUNDS at least 1", COSY_TEAM_MAX);
	make_team();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		source = kinds[i].source;
		getrusage(RUSAGE_SELF, &before);
		times_begin();
		for (unsigned int w = 0; w < (kinds[i].fn == mempass ? 1 : workers); w++)
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
