// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * cosy-top - shows which processes run compounds, how often, and why they leave the kernel.
 *
 * The kernel counts, by histogram triggers on the module's tracepoints. So no event is copied
 * or lost. The triggers are in a tracing instance of their own, which does not disturb other
 * users of tracefs. See docs/tracing.md, and Documentation/trace/histogram.rst of the kernel.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cosy/status.h>

#include "watch.h"

#define TRACING "/sys/kernel/tracing"
#define INSTANCES TRACING "/instances"
#define PREFIX "cosy-top-"

/* In an entry of a histogram, the name follows this label. It may contain any characters. */
#define LABEL "common_pid: "
/* The kernel pads names to this width. */
#define NAME_WIDTH 16

/* The counts of each process. Each status is a column of its own. */
enum column {
	ENTRIES,
	CALLS,
	LOADS,
	STATUS,
	NR_COLUMNS = STATUS + COSY_NR_STATUS
};

/* The histogram of each event: its keys and its column. leave adds its status to the column. */
static const struct {
	const char *event;
	const char *keys;
	enum column column;
} histograms[] = {
	{ "run", "common_pid.execname", ENTRIES },
	{ "fast", "common_pid.execname", CALLS },
	{ "load", "common_pid.execname", LOADS },
	{ "leave", "common_pid.execname,status", STATUS },
};

#define NR_HISTOGRAMS (sizeof(histograms) / sizeof(*histograms))

/** struct row - the counts of one process since cosy top started */
struct row {
	int pid;
	char name[64];
	uint64_t now[NR_COLUMNS];
	uint64_t before[NR_COLUMNS];
};

/** struct thread - a thread, and the row of the process to which it belonged at first */
struct thread {
	int id;
	struct row *row;
};

static struct row **rows;
static size_t nrows, room;
static void *threads; /* a tree of struct thread, see tsearch(3) */
static char instance[PATH_MAX];
static struct watch watch;

static const char usage[] =
	"usage: cosy top [-b] [-d SECONDS] [-n COUNT] [-t]\n"
	"\n"
	"Show which processes run compounds, and why these leave the kernel.\n"
	"\n"
	WATCH_USAGE
	"  -t          show totals since cosy top started, not since the last update\n"
	"      --help, --version\n"
	"\n"
	"ENTRIES counts entries of compounds into the kernel, CALLS system calls that were\n"
	"made by fast paths. The columns DONE to STEP count the reasons for which compounds\n"
	"left the kernel. Ctrl-C ends cosy top after a last update. See cosy-top(1).\n";

static void remove_instance(void)
{
	if (*instance)
		rmdir(instance);
}

/* Open a file of an event in this process's instance. */
static FILE *event_file(const char *event, const char *file, const char *mode)
{
	char *path;
	FILE *opened;

	if (asprintf(&path, "%s/events/cosy/%s/%s", instance, event, file) < 0)
		watch_die(&watch, event, strerror(ENOMEM), NULL);
	opened = fopen(path, mode);
	free(path);
	return opened;
}

/* Remove instances of processes that were killed, because they keep counting. */
static void remove_stale_instances(void)
{
	DIR *directory = opendir(INSTANCES);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *end, path[sizeof(INSTANCES) + 1 + sizeof(entry->d_name)];
		long pid;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			continue;
		pid = strtol(entry->d_name + strlen(PREFIX), &end, 10);
		if (*end || pid <= 0 || pid > INT_MAX ||
		    !kill((pid_t)pid, 0) || errno != ESRCH)
			continue;
		snprintf(path, sizeof(path), INSTANCES "/%s", entry->d_name);
		rmdir(path);
	}
	if (directory)
		closedir(directory);
}

static void count_event(const char *event, const char *keys)
{
	FILE *trigger = event_file(event, "trigger", "w");
	char tracepoint[32];

	snprintf(tracepoint, sizeof(tracepoint), "tracepoint cosy:%s", event);
	if (!trigger)
		watch_die(&watch, tracepoint, strerror(errno),
		    errno == ENOENT ? "the module is older than this command" : NULL);
	fprintf(trigger, "hist:keys=%s:size=16384\n", keys);
	if (fclose(trigger))
		watch_die(&watch, tracepoint, strerror(errno),
			  "the kernel needs CONFIG_HIST_TRIGGERS");
}

static void count(void)
{
	if (access(INSTANCES, W_OK))
		watch_die(&watch, INSTANCES, strerror(errno),
		    errno == EACCES ? "tracing needs root (try: sudo cosy top)" :
		    errno == ENOENT ? "mount it: sudo mount -t tracefs nodev " TRACING : NULL);
	remove_stale_instances();
	snprintf(instance, sizeof(instance), INSTANCES "/" PREFIX "%d", getpid());
	if (mkdir(instance, 0700)) {
		const char *why = strerror(errno);

		*instance = '\0';
		watch_die(&watch, INSTANCES, why, NULL);
	}
	atexit(remove_instance);
	for (size_t i = 0; i < NR_HISTOGRAMS; i++)
		count_event(histograms[i].event, histograms[i].keys);
}

/* Return the process of a thread, or the thread itself if it has ended. */
static int process_of(int thread)
{
	char path[40], line[200];
	FILE *status;
	int pid = thread;

	snprintf(path, sizeof(path), "/proc/%d/status", thread);
	status = fopen(path, "r");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (status)
		fclose(status);
	return pid;
}

static struct row *row_of_process(int pid, const char *name, size_t length)
{
	struct row *row;

	for (size_t i = 0; i < nrows; i++)
		if (rows[i]->pid == pid)
			return rows[i];
	if (nrows == room) {
		room = room ? 2 * room : 64;
		rows = reallocarray(rows, room, sizeof(*rows));
	}
	row = calloc(1, sizeof(*row));
	if (!rows || !row)
		watch_die(&watch, "processes", strerror(ENOMEM), NULL);
	row->pid = pid;
	snprintf(row->name, sizeof(row->name), "%.*s", (int)length, name);
	rows[nrows++] = row;
	return row;
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static struct row *row_of(int id, const char *name, size_t length)
{
	struct thread key = { .id = id }, **found = tfind(&key, &threads, compare_threads);
	struct thread *thread;

	if (found)
		return (*found)->row;
	thread = malloc(sizeof(*thread));
	if (!thread)
		watch_die(&watch, "threads", strerror(ENOMEM), NULL);
	thread->id = id;
	thread->row = row_of_process(process_of(id), name, length);
	if (!tsearch(thread, &threads, compare_threads))
		watch_die(&watch, "threads", strerror(ENOMEM), NULL);
	return thread->row;
}

/* Return what follows the name in an entry; NULL if the entry has none, or ends before it. */
static char *after_name(char *entry)
{
	const size_t width = strlen(LABEL) + NAME_WIDTH;
	char *label = strstr(entry, LABEL);

	return label && strlen(label) > width ? label + width : NULL;
}

/* Return true if the name in an entry contains a newline, so that other lines follow. */
static bool continues(char *entry)
{
	char *after = after_name(entry);

	return strstr(entry, LABEL) && !(after && strstr(after, "hitcount: "));
}

/* Read an entry of a histogram. Return false at the end. */
static bool read_entry(FILE *file, char **entry, size_t *size)
{
	ssize_t length = getline(entry, size, file), more = 0;
	char *line = NULL;
	size_t space = 0;

	while (length > 0 && continues(*entry) && (more = getline(&line, &space, file)) > 0) {
		if (*size < (size_t)(length + more + 1)) {
			*size = length + more + 1;
			*entry = realloc(*entry, *size);
			if (!*entry)
				watch_die(&watch, "names", strerror(ENOMEM), NULL);
		}
		memcpy(*entry + length, line, more + 1);
		length += more;
	}
	free(line);
	return length > 0;
}

/*
 * Read a histogram, whose entries are
 *	{ common_pid: NAME [ THREAD], status: S } hitcount: N
 * The terminal must not see the characters of a name that control it.
 */
static void read_histogram(const char *event, enum column column)
{
	FILE *file = event_file(event, "hist", "r");
	char *line = NULL, *name, *end;
	size_t length = 0;

	if (!file)
		watch_die(&watch, event, strerror(errno), NULL);
	while (read_entry(file, &line, &length)) {
		unsigned long long hits;
		unsigned int status = 0;
		int thread;

		if (sscanf(line, " Dropped: %llu", &hits) == 1 && hits)
			fprintf(stderr, "cosy top: too many threads: %llu events of %s are not shown\n",
				hits, event);

		end = after_name(line);
		if (!end || sscanf(end, "[ %d]", &thread) != 1)
			continue;
		if (column == STATUS && (!strstr(end, "status: ") ||
		    sscanf(strstr(end, "status: "), "status: %u", &status) != 1))
			continue;
		if (status >= COSY_NR_STATUS || !strstr(end, "hitcount: ") ||
		    sscanf(strstr(end, "hitcount: "), "hitcount: %llu", &hits) != 1)
			continue;
		name = end - NAME_WIDTH;
		while (end > name && end[-1] == ' ')
			end--;
		for (char *c = name; c < end; c++)
			if (!isprint((unsigned char)*c))
				*c = '?';
		row_of(thread, name, (size_t)(end - name))->now[column + status] += hits;
	}
	free(line);
	fclose(file);
}

static uint64_t new_of(const struct row *row, enum column column)
{
	return row->now[column] - row->before[column];
}

static uint64_t activity(const struct row *row)
{
	return new_of(row, ENTRIES) + new_of(row, CALLS) + new_of(row, LOADS);
}

static int by_activity(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	uint64_t first = activity(x), second = activity(y);

	if (first != second)
		return first < second ? 1 : -1;
	return x->pid - y->pid;
}

#define LEFT(status) (1u << (STATUS + (status)))

static void show(void)
{
	/* The columns that are shown. Each is the sum of a set of enum column. */
	static const struct {
		const char *name;
		int width;
		unsigned int columns;
	} columns[] = {
		{ "ENTRIES", 9, 1u << ENTRIES },
		{ "CALLS", 9, 1u << CALLS },
		{ "DONE", 9, LEFT(COSY_DONE) },
		{ "UPCALL", 9, LEFT(COSY_UPCALL) },
		{ "SIGNAL", 8, LEFT(COSY_AGAIN) | LEFT(COSY_RESULT) },
		{ "SLICE", 8, LEFT(COSY_LIMIT) },
		{ "STEP", 8, LEFT(COSY_STEP) | LEFT(COSY_FAILED) },
		{ "LOADS", 6, 1u << LOADS },
	};
	const size_t ncolumns = sizeof(columns) / sizeof(*columns);
	struct row **sorted = calloc(nrows + 1, sizeof(*sorted));
	unsigned int shown = 0, lines = watch_lines(&watch);

	if (!sorted)
		watch_die(&watch, "processes", strerror(ENOMEM), NULL);
	for (size_t i = 0; i < nrows; i++) {
		sorted[i] = rows[i];
		if (watch.totals)
			memset(rows[i]->before, 0, sizeof(rows[i]->before));
	}
	qsort(sorted, nrows, sizeof(*sorted), by_activity);
	watch_clear(&watch);
	printf("%7s %-15s", "PID", "COMMAND");
	for (size_t c = 0; c < ncolumns; c++)
		printf(" %*s", columns[c].width, columns[c].name);
	putchar('\n');
	for (size_t i = 0; i < nrows && shown < lines && activity(sorted[i]); i++, shown++) {
		printf("%7d %-15.15s", sorted[i]->pid, sorted[i]->name);
		for (size_t c = 0; c < ncolumns; c++) {
			uint64_t sum = 0;

			for (unsigned int k = 0; k < NR_COLUMNS; k++)
				if (columns[c].columns & 1u << k)
					sum += new_of(sorted[i], (enum column)k);
			printf(" %*llu", columns[c].width, (unsigned long long)sum);
		}
		putchar('\n');
	}
	watch_flush(&watch);
	free(sorted);
}

static void read_all(void)
{
	for (size_t i = 0; i < nrows; i++) {
		memcpy(rows[i]->before, rows[i]->now, sizeof(rows[i]->now));
		memset(rows[i]->now, 0, sizeof(rows[i]->now));
	}
	for (size_t i = 0; i < NR_HISTOGRAMS; i++)
		read_histogram(histograms[i].event, histograms[i].column);
}

int main(int argc, char **argv)
{
	watch_init(&watch, "cosy top");
	watch_next_option(&watch, argc, argv, "", usage);
	watch_require_module(&watch);
	watch_begin(&watch);
	count();
	do {
		read_all();
		show();
	} while (watch_wait(&watch));
	return 0;
}
