// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cgroup is charged for memory and time of regions as natively, and gets them back. If there
// is too little memory, regions fail or are killed as natively, without leaving anything.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE %s -o %t
// RUN: %vm %S/Inputs/ways --on tmpfs %S/Inputs/make-files %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9]}} lines
// CHECK-NEXT: tmpfs, as user: {{[1-9]}} lines
#include "Inputs/regions.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define MIB (1l << 20)

/* --- address space ---------------------------------------------------------------- */

/* Map this much repeatedly, until that fails. */
static struct end map_all(size_t size)
{
	static char *maps[64];
	int n = 0, error = 0;

	COSY_START;
	for (; n < 64; n++) {
		maps[n] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		if (maps[n] == MAP_FAILED) {
			error = errno;
			break;
		}
	}
	for (int i = 0; i < n; i++)
		munmap(maps[i], size);
	COSY_END;
	return (struct end){ n, 0, error };
}

/* Move the end of the heap until that fails; and enlarge one mapping until that fails. */
static struct end grow_all(long size)
{
	long start = syscall(SYS_brk, 0), end = start, old;
	int n = 0, error = 0;
	char *map = NULL;

	COSY_START;
	do {
		old = end;
		end = syscall(SYS_brk, old + size);
		n++;
	} while (end != old && n < 64);
	syscall(SYS_brk, start);
	map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (long i = 1; i < 64 && map != MAP_FAILED; i++) {
		char *longer =
			mremap(map, (size_t)(i * size), (size_t)((i + 1) * size), MREMAP_MAYMOVE);

		if (longer == MAP_FAILED) {
			error = errno;
			munmap(map, (size_t)(i * size));
			break;
		}
		map = longer;
		n += 100;
	}
	COSY_END;
	return (struct end){ n, 0, error };
}

/* The pages in /proc/self/status, in bytes. */
static long status_of(const char *key)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[200];
	long value = 0;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			value = strtol(line + strlen(key), NULL, 10) * 1024;
	if (file)
		fclose(file);
	return value;
}

static void test_limits(void)
{
	static const struct {
		const char *name, *key;
		__rlimit_resource_t resource;
	} limits[] = {
		{ "RLIMIT_AS", "VmSize:", RLIMIT_AS },
		{ "RLIMIT_DATA", "VmData:", RLIMIT_DATA },
	};

	/* Run once before, so that all caches are filled. */
	map_all(4096);
	grow_all(4096);
	for (size_t i = 0; i < 2; i++) {
		struct rlimit old, limit;

		getrlimit(limits[i].resource, &old);
		limit = old;
		limit.rlim_cur = (rlim_t)(status_of(limits[i].key) + 10 * MIB + MIB / 2);
		setrlimit(limits[i].resource, &limit);
		say(limits[i].name, map_all(MIB));
		say("  grown", grow_all(MIB));
		setrlimit(limits[i].resource, &old);
	}
}

/* --- a cgroup ----------------------------------------------------------------------- */

static char outer[100], cgroup[120];

static void put(const char *dir, const char *name, const char *text)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("%s: %s\n", name, strerror(errno));
}

/* The number of a key, or the only number. */
static long value_of(const char *dir, const char *name, const char *key)
{
	char path[200], line[200];
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	while (file && value < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			value = strtol(line + strlen(key), NULL, 10);
	if (file)
		fclose(file);
	return value;
}

/* Return true if the value falls to @most within a minute. */
static bool becomes(const char *dir, const char *name, const char *key, long most)
{
	for (int i = 0; i < 6000; i++) {
		if (value_of(dir, name, key) <= most)
			return true;
		usleep(10000);
	}
	return false;
}

static void cgroup_make(const char *most)
{
	if (mkdir(cgroup, 0755))
		printf("%s: %s\n", cgroup, strerror(errno));
	put(cgroup, "memory.max", most);
}

static void cgroup_remove(void)
{
	if (!becomes(cgroup, "cgroup.events", "populated ", 0) || rmdir(cgroup))
		printf("  the cgroup stays: %s\n", strerror(errno));
}

/* Removed cgroups disappear when none of their memory is left. */
static void cgroups_gone(void)
{
	unsigned long node = 1;

	/* This makes all CPUs release pages that they have not put on lists yet. */
	syscall(SYS_migrate_pages, 0, sizeof(node) * 8, &node, &node);
	if (!becomes(outer, "cgroup.stat", "nr_dying_descendants ", 0) || rmdir(outer))
		printf("something stays of %ld cgroups\n",
		       value_of(outer, "cgroup.stat", "nr_dying_descendants "));
}

/* --- charges ------------------------------------------------------------------------ */

#define FILES 2000
static char new_names[FILES][12];

static void make_files(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++) {
		int fd = open(new_names[i], O_WRONLY | O_CREAT | O_EXCL, 0600);

		write(fd, "x", 1);
		close(fd);
	}
	COSY_END;
}

static void make_directories(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++)
		mkdir(new_names[i], 0700);
	COSY_END;
}

static void make_links(void)
{
	COSY_START;
	for (int i = 0; i < FILES; i++)
		symlink("a target that is longer than what an inode of this file system has room for, "
			"so that it takes some memory of its own",
			new_names[i]);
	COSY_END;
}

static void copy_files(void)
{
	int out = must_open(new_names[0], O_RDWR | O_CREAT | O_TRUNC);

	for (int i = 0; i < 30; i++) {
		int in = must_open("from300000", O_RDONLY);

		copy(in, out, 65536);
		close(in);
	}
	close(out);
}

static void read_much(void)
{
	char *memory =
		mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = must_open("from300000", O_RDONLY);

	COSY_START;
	for (long at = 0; at < 8 * MIB; at += 65536)
		pread(fd, memory + at, 65536, at % 131072);
	COSY_END;
	close(fd);
}

static const struct part {
	const char *name;
	void (*body)(void);
} charges[] = {
	{ "files", make_files }, { "directories", make_directories },
	{ "links", make_links }, { "copies", copy_files },
	{ "reads", read_much },
};
#define CHARGES (sizeof(charges) / sizeof(charges[0]))

#define COUNTS	5
struct charged {
	long counts[COUNTS];
};
static const char *const counted[COUNTS] = { "current", "peak", "slab", "shmem", "anon" };

/* The charge for one part, in a separate program and cgroup. */
static struct charged charge(const char *program, const char *part, const char *executor)
{
	struct charged before, after;
	int ready[2], go[2], status;
	pid_t child;
	char c;

	cgroup_make("max");
	if (pipe(ready) || pipe(go))
		exit(1);
	fflush(stdout);
	child = fork();
	if (!child) {
		put(cgroup, "cgroup.procs", "0");
		dup2(ready[1], 3);
		dup2(go[0], 4);
		if (executor)
			setenv("COSY_EXECUTOR", executor, 1);
		close_range(5, ~0u, 0);
		execl(program, program, ".", part, NULL);
		_exit(1);
	}
	close(ready[1]);
	for (int i = 0; i < 2; i++) {
		struct charged *now = i ? &after : &before;

		if (read(ready[0], &c, 1) != 1)
			printf("it has died\n");
		/* Reading this makes the kernel update all counts. */
		value_of(cgroup, "cpu.stat", "usage_usec ");
		now->counts[0] = value_of(cgroup, "memory.current", "");
		now->counts[1] = value_of(cgroup, "memory.peak", "");
		for (int j = 2; j < COUNTS; j++) {
			char key[20];

			snprintf(key, sizeof(key), "%s ", counted[j]);
			now->counts[j] = value_of(cgroup, "memory.stat", key);
		}
		if (write(go[1], "", 1) != 1)
			printf("it has died\n");
	}
	waitpid(child, &status, 0);
	if (status)
		printf("%s: ended with %#x\n", part, status);
	for (int i = 0; i < FILES; i++)
		if (unlink(new_names[i]) && errno == EISDIR)
			rmdir(new_names[i]);
	/* Cached charges of CPUs do not count. */
	if (!becomes(cgroup, "memory.current", "", MIB))
		printf("%s: %ld bytes stay\n", part, value_of(cgroup, "memory.current", ""));
	cgroup_remove();
	close(ready[0]);
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < COUNTS; i++)
		after.counts[i] -= before.counts[i];
	return after;
}

/* The other end of it. */
static int run_part(const char *name)
{
	char c;

	for (size_t i = 0; i < CHARGES; i++) {
		if (strcmp(charges[i].name, name))
			continue;
		if (write(3, "", 1) != 1 || read(4, &c, 1) != 1)
			return 1;
		charges[i].body();
		return write(3, "", 1) != 1 || read(4, &c, 1) != 1;
	}
	return 1;
}

/*
 * Natively, and with the executor. CPUs charge in batches, so there are always small differences.
 */
static void test_charges(const char *program)
{
	for (size_t i = 0; i < CHARGES; i++) {
		struct charged native = charge(program, charges[i].name, "native");
		struct charged here = charge(program, charges[i].name, NULL);

		printf("charged for %s\n", charges[i].name);
		for (int j = 0; j < COUNTS; j++) {
			long more = here.counts[j] - native.counts[j];

			if (labs(more) > 640 * 1024)
				printf("  %s: %ld, natively %ld\n", counted[j], here.counts[j],
				       native.counts[j]);
		}
		if (native.counts[0] < 3 * MIB / 2)
			printf("  only %ld\n", native.counts[0]);
	}
}

/* --- time ----------------------------------------------------------------------------- */

static void test_time(void)
{
	long user, system, usage;
	int status;
	pid_t child;

	cgroup_make("max");
	fflush(stdout);
	child = fork();
	if (!child) {
		struct timespec now = { 0 };
		struct stat st;

		put(cgroup, "cgroup.procs", "0");
		COSY_START;
		do {
			for (int i = 0; i < 50; i++)
				stat("/proc/self/../self/../self/../self/../self/../self/missing",
				     &st);
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		} while (now.tv_sec == 0 && now.tv_nsec < 500000000);
		COSY_END;
		_exit(0);
	}
	waitpid(child, &status, 0);
	usage = value_of(cgroup, "cpu.stat", "usage_usec ");
	user = value_of(cgroup, "cpu.stat", "user_usec ");
	system = value_of(cgroup, "cpu.stat", "system_usec ");
	printf("half a second: ended with %#x\n", status);
	if (usage < 450000 || usage > 1500000 || labs(usage - user - system) > 1000 ||
	    system < user)
		printf("  %ld, of these %ld and %ld\n", usage, user, system);
	cgroup_remove();
}

/* --- too little memory ------------------------------------------------------------------ */

/* A lock on an existing file, and a private file that is being written when memory is used up. */
static void lock_and_open(void)
{
	flock(must_open("from4096", O_RDWR), LOCK_EX);
}

static void fill_file(void)
{
	lock_and_open();
	COSY_START;
	int fd = open("made", O_WRONLY | O_CREAT, 0600);
	while (write(fd, region_buffer, sizeof(region_buffer)) > 0)
		;
	close(fd);
	COSY_END;
}

static void fill_by_copies(void)
{
	static char buffer[65536];
	int in = must_open("from300000", O_RDONLY);
	ssize_t n;

	lock_and_open();
	COSY_START;
	int fd = open("made", O_WRONLY | O_CREAT, 0600);
	do {
		lseek(in, 0, SEEK_SET);
		while ((n = read(in, buffer, sizeof(buffer))) > 0)
			write(fd, buffer, (size_t)n);
	} while (n == 0);
	close(fd);
	COSY_END;
}

static void fill_memory(void)
{
	char *memory = mmap(NULL, 256 * MIB, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	lock_and_open();
	COSY_START;
	int fd = open("made", O_RDWR | O_CREAT, 0600);
	write(fd, memory, 4096);
	for (long at = 0; at < 256 * MIB; at += 1024 * 1024)
		memset(memory + at, 1, 1024 * 1024);
	close(fd);
	COSY_END;
}

static void fill_by_reads(void)
{
	char *memory = mmap(NULL, 256 * MIB, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int in = must_open("from300000", O_RDONLY);

	lock_and_open();
	COSY_START;
	int fd = open("made", O_RDWR | O_CREAT, 0600);
	write(fd, memory, 4096);
	for (long at = 0; at < 256 * MIB; at += 131072)
		pread(in, memory + at, 131072, 100);
	close(fd);
	COSY_END;
}

static void fill_directory(void)
{
	char name[] = "directory-00000000";

	lock_and_open();
	if (mkdir("many", 0700) || chdir("many"))
		_exit(1);
	COSY_START;
	int fd = open("../made", O_RDWR | O_CREAT, 0600);
	for (unsigned int i = 0; i < 1000000; i++) {
		for (unsigned int digit = 0, left = i; digit < 8; digit++, left /= 10)
			name[17 - digit] = (char)('0' + left % 10);
		mkdir(name, 0700);
	}
	close(fd);
	COSY_END;
}

static const struct part fills[] = {
	{ "a file", fill_file },    { "copies", fill_by_copies },      { "memory", fill_memory },
	{ "reads", fill_by_reads }, { "a directory", fill_directory },
};
#define FILLS (sizeof(fills) / sizeof(fills[0]))

/* The final state of the private file. */
static void say_events(int watch)
{
	char events[16384] __attribute__((aligned(8)));
	bool closed = false, other = false;
	ssize_t n;

	while ((n = read(watch, events, sizeof(events))) > 0) {
		for (ssize_t at = 0; at < n;) {
			struct inotify_event *e = (struct inotify_event *)(events + at);

			if (e->len && !strcmp(e->name, "made")) {
				closed = e->mask & IN_CLOSE_WRITE;
				other |= !closed;
			}
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
	printf("  the file was used %d and closed %d\n", other, closed);
}

static void fill(const struct part *part, bool group)
{
	int watch = inotify_init1(IN_NONBLOCK), fd, status;
	pid_t child;

	inotify_add_watch(watch, ".", IN_ALL_EVENTS);
	cgroup_make("8M");
	put(cgroup, "memory.oom.group", group ? "1" : "0");
	fflush(stdout);
	child = fork();
	if (!child) {
		put(cgroup, "cgroup.procs", "0");
		if (group && !fork())
			for (;;)
				pause();
		part->body();
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("too little for %s%s: ended with %#x\n", part->name, group ? ", a group" : "",
	       status);
	/* All processes of a group are killed, so it becomes empty. */
	printf("  empty %d, killed %d, groups %ld\n",
	       becomes(cgroup, "cgroup.events", "populated ", 0),
	       value_of(cgroup, "memory.events", "oom_kill ") > 0,
	       value_of(cgroup, "memory.events", "oom_group_kill "));
	say_events(watch);
	fd = must_open("from4096", O_RDWR);
	printf("  the lock is free: %d\n", flock(fd, LOCK_EX | LOCK_NB));
	close(fd);
	close(watch);
	unlink("made");
	if (!access("many", F_OK) && system("rm -rf many"))
		printf("rm failed\n");
	if (!becomes(cgroup, "memory.current", "", MIB))
		printf("  %ld bytes stay\n", value_of(cgroup, "memory.current", ""));
	cgroup_remove();
}

int main(int argc, char **argv)
{
	char program[200];
	ssize_t n;

	for (int i = 0; i < FILES; i++)
		snprintf(new_names[i], sizeof(new_names[i]), "new-%d", i);
	if (argc == 3)
		return run_part(argv[2]);
	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_limits();
	if (geteuid() != 0)
		return 0;
	n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	snprintf(outer, sizeof(outer), "/sys/fs/cgroup/cosy-memory-%d", getpid());
	snprintf(cgroup, sizeof(cgroup), "%s/inner", outer);
	put("/sys/fs/cgroup", "cgroup.subtree_control", "+memory");
	if (mkdir(outer, 0755))
		printf("%s: %s\n", outer, strerror(errno));
	put(outer, "cgroup.subtree_control", "+memory");
	test_charges(program);
	test_time();
	for (size_t i = 0; i < FILLS; i++)
		fill(&fills[i], false);
	fill(&fills[0], true);
	cgroups_gone();
	return 0;
}
