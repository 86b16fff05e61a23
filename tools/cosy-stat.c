// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cosy-stat - shows what the loops and the shares of processes do in the module, and what the workers
 * of teams do.
 *
 * The data of loops and shares is in /proc/PID/fdinfo of their descriptors, see cosy(4). A team has a
 * file without a name, which any process can imitate: everything in it is only printed.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "regular.h"
#include "team/shown.h"
#include "watch.h"

#define LINK "anon_inode:[cosy-loop]"
#define SHARE_LINK "anon_inode:[cosy-share]"
#define TEAM_LINK "/memfd:" TEAM_SHOWN_NAME " (deleted)"
#define MAX_CPUS 8192u

enum column {
	SIZE, PENDING, SUBMITTED, COMPLETED, EXECUTED, ENTERS, SLEEPS, THREADS, CALLS, HANDOVERS, POLLED_US,
	NR_COLUMNS
};

static const struct {
	const char *field; /* in fdinfo */
	const char *name;
	int width;
	bool is_count;	/* it counts events; otherwise it is a state */
	uint64_t mask;	/* it is counted modulo this + 1 */
} columns[NR_COLUMNS] = {
	[SIZE] = { "size", "SIZE", 6, false, UINT64_MAX },
	[PENDING] = { "pending", "PENDING", 7, false, UINT64_MAX },
	[SUBMITTED] = { "submitted", "SUBMITTED", 10, true, UINT32_MAX },
	[COMPLETED] = { "completed", "COMPLETED", 10, true, UINT32_MAX },
	[EXECUTED] = { "executed", "EXECUTED", 10, true, UINT64_MAX },
	[ENTERS] = { "enters", "ENTERS", 9, true, UINT64_MAX },
	[SLEEPS] = { "sleeps", "SLEEPS", 9, true, UINT64_MAX },
	[THREADS] = { "threads", "THREADS", 7, false, UINT64_MAX },
	[CALLS] = { "calls", "CALLS", 9, true, UINT64_MAX },
	[HANDOVERS] = { "handovers", "HANDOVERS", 9, true, UINT64_MAX },
	[POLLED_US] = { "polled-us", "POLLED_US", 9, true, UINT64_MAX },
};

/* The columns that also exist for each CPU, in fields that end in -cpuN. */
static const enum column on_cpus[] = { EXECUTED, CALLS };

#define ON_CPUS (sizeof(on_cpus) / sizeof(*on_cpus))

/** struct on_cpu - the columns on_cpus[] of a loop on a CPU */
struct on_cpu {
	uint64_t now[ON_CPUS];
	uint64_t before[ON_CPUS];
};

/** struct row - a loop, with @ncpus CPUs */
struct row {
	uint64_t loop;
	int pid;
	int fd;
	char name[32];
	uint64_t now[NR_COLUMNS];
	uint64_t before[NR_COLUMNS];
	struct on_cpu *cpus;
	unsigned int ncpus;
	bool seen;
};

/** struct share - a share */
struct share {
	int pid;
	int fd;
	char name[32];
	uint64_t max;
	uint64_t open;
	uint64_t calls;
};

/** struct team - a team; @cycles: when it was read, by the time-stamp counter */
struct team {
	int pid;
	int fd;
	char name[32];
	struct team_shown shown;
	uint64_t cycles;
};

static struct row *rows;
static size_t nrows, room;
static struct team *teams;
static size_t nteams, teams_room;
static struct share *shares;
static size_t nshares, shares_room;
static struct watch watch;
static bool denied, shows_cpus;

static const char usage[] =
	"usage: cosy stat [-b] [-c] [-d SECONDS] [-n COUNT] [-p PID] [-t]\n"
	"\n"
	"Show the loops of <cosy/async.h> that the module executes, and their activity; and\n"
	"the shares of <cosy/share.h> that have their table in the kernel; and the workers of\n"
	"the teams of <cosy/team.h>.\n"
	"\n"
	WATCH_USAGE
	"  -c          also show EXECUTED and CALLS of each CPU\n"
	"  -p PID      show only the loops of this process\n"
	"  -t          show totals since the loop was made, not since the last update\n"
	"      --help, --version\n"
	"\n"
	"Columns of loops:\n"
	"  SIZE        entries\n"
	"  PENDING     entries that wait, are made by a thread, or run a function\n"
	"  SUBMITTED   entries that the process has submitted\n"
	"  COMPLETED   entries that it has got back\n"
	"  EXECUTED    how often an entry was begun or resumed\n"
	"  ENTERS      how often a thread has entered the loop\n"
	"  SLEEPS      how often a thread has slept there\n"
	"  THREADS     threads that make calls that may block, or wait for such calls\n"
	"  CALLS       calls that these threads have made\n"
	"  HANDOVERS   how often another thread was woken because a call slept\n"
	"  POLLED_US   microseconds for which the thread of a processor has polled in vain\n"
	"Columns of shares:\n"
	"  MAX, OPEN   the maximum number of descriptors, and their number\n"
	"  CALLS       calls that were made in the share since it was made\n"
	"Columns of workers of teams:\n"
	"  QUEUED      colours in the worker's queue\n"
	"  RAN         callbacks that it has run\n"
	"  STOLEN      colours that it took from others\n"
	"  SENT        colours that it gave to others\n"
	"  DROPPED     calls that it dropped\n"
	"  OLDEST_MS   the longest time that a call was queued\n"
	"  RUNS_MS     time for which its present turn runs; a worker that sleeps has none\n"
	"  COLOUR      the colour of that turn\n"
	"\n"
	"Ctrl-C ends cosy stat after a last update. See cosy-stat(1).\n";

static struct row *row_of(uint64_t loop)
{
	for (size_t i = 0; i < nrows; i++)
		if (rows[i].loop == loop)
			return &rows[i];
	if (nrows == room) {
		room = room ? 2 * room : 64;
		rows = reallocarray(rows, room, sizeof(*rows));
		if (!rows)
			watch_die(&watch, "loops", strerror(ENOMEM), NULL);
	}
	rows[nrows] = (struct row){ .loop = loop };
	return &rows[nrows++];
}

static void read_name(int pid, char name[32])
{
	char path[40];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "r");
	if (!file || !fgets(name, 32, file))
		*name = '\0';
	name[strcspn(name, "\n")] = '\0';
	for (char *c = name; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	if (file)
		fclose(file);
}

/* Return the data of a CPU, or NULL if its number is too high. */
static struct on_cpu *cpu_of(struct row *row, unsigned int cpu)
{
	if (cpu >= MAX_CPUS)
		return NULL;
	if (cpu >= row->ncpus) {
		row->cpus = reallocarray(row->cpus, cpu + 1, sizeof(*row->cpus));
		if (!row->cpus)
			watch_die(&watch, "CPUs", strerror(ENOMEM), NULL);
		memset(row->cpus + row->ncpus, 0,
		       (cpu + 1 - row->ncpus) * sizeof(*row->cpus));
		row->ncpus = cpu + 1;
	}
	return &row->cpus[cpu];
}

/* Read the fields of the CPUs, after those that identify the loop were read. */
static void read_cpus(struct row *row, FILE *file)
{
	char line[128], name[32];
	struct on_cpu *on_cpu;
	unsigned int cpu;
	uint64_t value;

	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31[^-:]-cpu%u: %" SCNu64, name, &cpu, &value) != 3)
			continue;
		on_cpu = cpu_of(row, cpu);
		for (size_t i = 0; on_cpu && i < ON_CPUS; i++)
			if (!strcmp(name, columns[on_cpus[i]].field))
				on_cpu->now[i] = value;
	}
}

/* Open what /proc shows of a descriptor. Return NULL if it is gone. */
static FILE *open_fdinfo(int pid, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	return fopen(path, "r");
}

/* Read the next field that is a number. Return false at the end, or if @file is NULL. */
static bool next_field(FILE *file, char field[32], uint64_t *value)
{
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31[^:]: %" SCNu64, field, value) == 2)
			return true;
	}
	return false;
}

/* Read the fields of a descriptor, unless another process has made the loop. */
static void read_loop(int pid, int fd)
{
	uint64_t value, values[NR_COLUMNS] = { 0 }, loop = 0, process = 0;
	FILE *file = open_fdinfo(pid, fd);
	char field[32];
	struct row *row;

	while (next_field(file, field, &value)) {
		if (!strcmp(field, "cosy-loop"))
			loop = value;
		else if (!strcmp(field, "process"))
			process = value;
		for (int i = 0; i < NR_COLUMNS; i++)
			if (!strcmp(field, columns[i].field))
				values[i] = value;
	}
	/* The descriptor may be of another file now, or may be a copy in a child. */
	row = loop && process == (uint64_t)pid ? row_of(loop) : NULL;
	if (row && !row->seen) {
		row->seen = true;
		row->pid = pid;
		row->fd = fd;
		read_name(pid, row->name);
		memcpy(row->now, values, sizeof(values));
		if (shows_cpus)
			read_cpus(row, file);
	}
	if (file)
		fclose(file);
}

/* Read the fields of a share, unless another process has made it. */
static void read_share(int pid, int fd)
{
	struct share share = { .pid = pid, .fd = fd };
	FILE *file = open_fdinfo(pid, fd);
	uint64_t value, process = 0;
	char field[32];

	while (next_field(file, field, &value)) {
		if (!strcmp(field, "process"))
			process = value;
		else if (!strcmp(field, "max"))
			share.max = value;
		else if (!strcmp(field, "open"))
			share.open = value;
		else if (!strcmp(field, "calls"))
			share.calls = value;
	}
	if (file)
		fclose(file);
	if (process != (uint64_t)pid)
		return;
	if (nshares == shares_room) {
		shares_room = shares_room ? 2 * shares_room : 64;
		shares = reallocarray(shares, shares_room, sizeof(*shares));
		if (!shares)
			watch_die(&watch, "shares", strerror(ENOMEM), NULL);
	}
	read_name(pid, share.name);
	shares[nshares++] = share;
}

static uint64_t cycles_now(void)
{
	return __builtin_ia32_rdtsc();
}

/* Read what a team shows. Return false if it is not that: a process can give a file any name. */
static bool read_shown(int pid, int fd, struct team_shown *shown)
{
	char path[64];
	bool is_team;
	int file;

	/* The descriptor may refer to something else at any time. */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	file = regular_open(path, TMPFS_MAGIC);
	if (file < 0)
		return false;
	is_team = pread(file, shown, sizeof(*shown), 0) == sizeof(*shown) &&
		  shown->magic == TEAM_SHOWN_MAGIC && shown->version == TEAM_SHOWN_VERSION &&
		  shown->process == pid;
	close(file);
	return is_team;
}

/* Read the file of a team, unless another process has made it. */
static void read_team(int pid, int fd)
{
	struct team *team;

	if (nteams == teams_room) {
		teams_room = teams_room ? 2 * teams_room : 16;
		teams = reallocarray(teams, teams_room, sizeof(*teams));
		if (!teams)
			watch_die(&watch, "teams", strerror(ENOMEM), NULL);
	}
	team = &teams[nteams];
	*team = (struct team){ .pid = pid, .fd = fd };
	if (!read_shown(pid, fd, &team->shown))
		return;
	team->cycles = cycles_now();
	read_name(pid, team->name);
	nteams++;
}

static bool is_link(const char *link, ssize_t length, const char *expected)
{
	return length == (ssize_t)strlen(expected) && !memcmp(link, expected, strlen(expected));
}

static void read_process(int pid)
{
	char path[40], link[64];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	directory = opendir(path);
	denied |= !directory && errno == EACCES;
	while (directory && (entry = readdir(directory))) {
		ssize_t length = readlinkat(dirfd(directory), entry->d_name, link, sizeof(link));

		if (is_link(link, length, LINK))
			read_loop(pid, atoi(entry->d_name));
		else if (is_link(link, length, SHARE_LINK))
			read_share(pid, atoi(entry->d_name));
		else if (is_link(link, length, TEAM_LINK))
			read_team(pid, atoi(entry->d_name));
	}
	if (directory)
		closedir(directory);
}

static void read_processes(void)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	if (!directory)
		watch_die(&watch, "/proc", strerror(errno), NULL);
	while ((entry = readdir(directory)))
		if (isdigit((unsigned char)*entry->d_name))
			read_process(atoi(entry->d_name));
	closedir(directory);
}

/* Read all loops and shares, and drop those that no longer exist. */
static void read_all(int pid)
{
	size_t kept = 0;

	nshares = nteams = 0;
	for (size_t i = 0; i < nrows; i++) {
		memcpy(rows[i].before, rows[i].now, sizeof(rows[i].now));
		for (unsigned int cpu = 0; cpu < rows[i].ncpus; cpu++)
			memcpy(rows[i].cpus[cpu].before, rows[i].cpus[cpu].now,
			       sizeof(rows[i].cpus[cpu].now));
		rows[i].seen = false;
	}
	if (pid)
		read_process(pid);
	else
		read_processes();
	for (size_t i = 0; i < nrows; i++) {
		if (rows[i].seen)
			rows[kept++] = rows[i];
		else
			free(rows[i].cpus);
	}
	nrows = kept;
}

static uint64_t new_of(const struct row *row, enum column column)
{
	return (row->now[column] - row->before[column]) & columns[column].mask;
}

/* Compare by activity, the most active first. */
static int by_activity(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	uint64_t first = new_of(x, EXECUTED), second = new_of(y, EXECUTED);

	if (first != second)
		return first < second ? 1 : -1;
	return x->loop < y->loop ? -1 : x->loop > y->loop;
}

/* Show the columns of a CPU. Return true unless all are 0; then nothing is shown. */
static bool show_cpu(const struct on_cpu *on_cpu, unsigned int cpu, bool totals)
{
	uint64_t values[NR_COLUMNS] = { 0 }, any = 0;
	char text[ON_CPUS][24], name[24];

	for (size_t i = 0; i < ON_CPUS; i++) {
		values[on_cpus[i]] = on_cpu->now[i] - (totals ? 0 : on_cpu->before[i]);
		any |= values[on_cpus[i]];
	}
	if (!any)
		return false;
	snprintf(name, sizeof(name), "CPU %u", cpu);
	printf("%7s %-15s %6s", "", name, "");
	for (int column = 0, i = 0; column < NR_COLUMNS; column++) {
		bool is_shown = i < (int)ON_CPUS && (int)on_cpus[i] == column;

		if (is_shown)
			snprintf(text[i], sizeof(text[i]), "%" PRIu64, values[column]);
		printf(" %*s", columns[column].width, is_shown ? text[i++] : "");
	}
	putchar('\n');
	return true;
}

/* Return how many cycles of the time-stamp counter a millisecond has. */
static uint64_t cycles_of_ms(void)
{
	static uint64_t first_cycles;
	static struct timespec first;
	struct timespec now;
	uint64_t ns;

	if (!first_cycles) {
		const struct timespec while_it_counts = { .tv_nsec = 10000000 };

		clock_gettime(CLOCK_MONOTONIC, &first);
		first_cycles = cycles_now();
		nanosleep(&while_it_counts, NULL);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)(now.tv_sec - first.tv_sec) * 1000000000u + (uint64_t)now.tv_nsec -
	     (uint64_t)first.tv_nsec;
	return (cycles_now() - first_cycles) / (ns / 1000000 ? ns / 1000000 : 1) + 1;
}

static void show_worker(const struct team *team, uint32_t index)
{
	const struct team_shown_worker *worker = &team->shown.worker[index];
	uint64_t runs;

	printf("%7d %-15.15s %6d %6u %7d %7u %12" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
	       " %9" PRIu64, team->pid, team->name, team->fd, index, worker->thread, worker->queued,
	       worker->ran, worker->stolen, worker->sent, worker->dropped, worker->oldest_ms);
	if (worker->since) {
		runs = team->cycles > worker->since ? team->cycles - worker->since : 0;
		printf(" %8" PRIu64 " %#" PRIx64 "\n", runs / cycles_of_ms(), worker->colour);
	} else {
		printf(" %8s\n", "-");
	}
}

/* Show the workers of teams in at most @lines lines. Return the number of lines. */
static unsigned int show_teams(unsigned int lines)
{
	unsigned int shown = 2;

	if (!nteams || lines < 3)
		return 0;
	printf("\n%7s %-15s %6s %6s %7s %7s %12s %8s %8s %8s %9s %8s %s\n", "PID", "COMMAND", "TEAM",
	       "WORKER", "THREAD", "QUEUED", "RAN", "STOLEN", "SENT", "DROPPED", "OLDEST_MS", "RUNS_MS",
	       "COLOUR");
	for (size_t i = 0; i < nteams; i++) {
		for (uint32_t j = 0; j < TEAM_SHOWN_MAX && shown < lines; j++) {
			/* One that retires has a thread until its operations have ended. */
			if (j >= teams[i].shown.workers && !teams[i].shown.worker[j].since)
				continue;
			show_worker(&teams[i], j);
			shown++;
		}
	}
	return shown;
}

/* Show the shares in at most @lines lines. */
static void show_shares(unsigned int lines)
{
	if (!nshares || lines < 3)
		return;
	printf("\n%7s %-15s %6s %7s %7s %12s\n", "PID", "COMMAND", "SHARE", "MAX", "OPEN", "CALLS");
	for (size_t i = 0; i < nshares && i + 2 < lines; i++)
		printf("%7d %-15.15s %6d %7" PRIu64 " %7" PRIu64 " %12" PRIu64 "\n", shares[i].pid,
		       shares[i].name, shares[i].fd, shares[i].max, shares[i].open, shares[i].calls);
}

static void show(bool totals)
{
	unsigned int shown, extra = 0, lines = watch_lines(&watch);

	qsort(rows, nrows, sizeof(*rows), by_activity);
	watch_clear(&watch);
	printf("%7s %-15s %6s", "PID", "COMMAND", "FD");
	for (int i = 0; i < NR_COLUMNS; i++)
		printf(" %*s", columns[i].width, columns[i].name);
	putchar('\n');
	for (shown = 0; shown < nrows && shown + extra < lines; shown++) {
		const struct row *row = &rows[shown];

		printf("%7d %-15.15s %6d", row->pid, row->name, row->fd);
		for (int i = 0; i < NR_COLUMNS; i++)
			printf(" %*" PRIu64, columns[i].width,
			       columns[i].is_count && !totals ? new_of(row, (enum column)i) :
								row->now[i]);
		putchar('\n');
		for (unsigned int cpu = 0; cpu < row->ncpus && shown + extra + 1 < lines; cpu++)
			extra += show_cpu(&row->cpus[cpu], cpu, totals);
	}
	extra += show_teams(lines - shown - extra);
	show_shares(lines - shown - extra);
	watch_flush(&watch);
}

static int process_id(const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (end == text || *end || pid <= 0 || pid > INT_MAX)
		watch_wrong(&watch, "-p", "is not the number of a process");
	return (int)pid;
}

/* Report why loops cannot be shown. Exits if no loop can be shown. */
static void check(int pid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (pid && access(path, F_OK))
		watch_die(&watch, path, strerror(errno), NULL);
	if (pid && denied)
		watch_die(&watch, path, strerror(EACCES),
			  "it belongs to another user (try: sudo cosy stat)");
	if (denied)
		fputs("cosy stat: processes of other users are not shown (try: sudo cosy stat)\n",
		      stderr);
}

int main(int argc, char **argv)
{
	int pid = 0, option;

	watch_init(&watch, "cosy stat");
	while ((option = watch_next_option(&watch, argc, argv, "cp:", usage)) != -1) {
		if (option == 'c')
			shows_cpus = true;
		else
			pid = process_id(optarg);
	}
	cycles_of_ms();
	read_all(pid);
	/* Teams need no module. */
	if (!nteams)
		watch_require_module(&watch);
	watch_begin(&watch);
	check(pid);
	/* In the first update, everything is new. */
	for (show(true); watch_wait(&watch); show(watch.totals))
		read_all(pid);
	return 0;
}
