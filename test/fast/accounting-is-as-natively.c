// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 // The accounting of reads, writes and cached pages of fast paths is the same as natively, for the
// process, the thread and the cgroup: /proc/PID/io, io.stat, memory.stat, memory.events, pids.
// In a separate VM, where no other process writes pages back.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE -pthread %s -o %t
// RUN: %root/scripts/vm/run -- %S/Inputs/ways %S/Inputs/make-files %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9]+}} lines
// CHECK-NEXT: tmpfs, as user: {{[1-9][0-9]+}} lines
// CHECK-NEXT: ext4, as root: {{[1-9][0-9]+}} lines
// CHECK-NEXT: overlayfs, as root: {{[1-9][0-9]+}} lines
#include "Inputs/more-regions.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#define CGROUPS "/sys/fs/cgroup/"
#define EXT4_MAGIC 0xef53

/* --- the operations ------------------------------------------------------------- */

static struct end do_slurp(void) { return slurp("from65536", O_RDONLY); }
static struct end do_slurp_direct(void) { return slurp("from65536", O_RDONLY | O_DIRECT); }
static struct end do_slurp_proc(void) { return slurp("/proc/version", O_RDONLY); }
static struct end do_private(void) { return private("made"); }
static struct end do_list(void) { return list("."); }

static struct end do_create(void)
{
	struct end e = create("made", O_RDWR | O_EXCL, 5000);

	/* The kernel may write back less than was written. */
	if (truncate("made", 6000))
		e.error = errno;
	return e;
}

static struct end with_files(struct end (*copies)(int, int, size_t), size_t size)
{
	int in = must_open("from300000", O_RDONLY), out = must_open("to", O_RDWR | O_CREAT);
	struct end e = copies(in, out, size);

	if (fsync(out))
		e.error = errno;
	close(in);
	close(out);
	return e;
}

static struct end do_copy(void) { return with_files(copy, 4096); }
static struct end do_copy_large(void) { return with_files(copy, 65536); }
static struct end do_copy_at(void) { return with_files(copy_at, 5000); }

static struct end do_send(void)
{
	int in = must_open("from65536", O_RDONLY), pair[2];
	struct end e = { 0 };

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
		e = copy_by_send(in, pair[0], 4096);
	close(pair[0]);
	close(pair[1]);
	close(in);
	return e;
}

static struct end do_at(void)
{
	int fd = must_open("from10001", O_RDWR);
	struct end e = read_at(fd, 3, 5000), written = write_at(fd, 100, 7000);

	e.total += read_at(fd, 10000, 5000).last;
	e.total += read_at(fd, 20000, 5000).last;
	e.total += write_at(fd, 20000, 0).last;
	if (fsync(fd))
		e.error = errno;
	close(fd);
	e.last += written.last;
	return e;
}

static struct end do_nothing(void)
{
	return (struct end){ 0 };
}

static const struct {
	const char *name;
	struct end (*body)(void);
} parts[] = {
	{ "nothing", do_nothing }, { "slurp", do_slurp }, { "slurp, direct", do_slurp_direct },
	{ "slurp, proc", do_slurp_proc }, { "create", do_create }, { "private", do_private },
	{ "list", do_list }, { "copy", do_copy }, { "copy, large", do_copy_large },
	{ "copy at", do_copy_at }, { "send", do_send }, { "at", do_at },
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static bool on_ext4;

/* Nothing of the files is cached if possible, and no file is created. */
static void make_ready(void)
{
	static const char *const files[] = { "from10001", "from65536", "from300000" };

	unlink("made");
	unlink("to");
	sync();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int fd = must_open(files[i], O_RDONLY);

		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
}

/* --- /proc/PID/io --------------------------------------------------------------- */

#define COUNTS 7	/* rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes */
struct io {
	long long counts[COUNTS];
};

/* With the same number of calls each time; the length of these texts does not matter. */
static struct io read_io(const char *name)
{
	static long long texts;
	char text[500], *at = text;
	int fd = must_open(name, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	struct io io = { { 0 } };

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (int i = 0; i < COUNTS && (at = strchr(at, ':')); i++)
		io.counts[i] = strtoll(at + 1, &at, 10);
	io.counts[0] -= texts;
	texts += n;
	return io;
}

static void print_io(const char *what, struct io before, struct io after)
{
	printf("  %s:", what);
	for (int i = 0; i < COUNTS; i++)
		printf(" %lld", after.counts[i] - before.counts[i]);
	printf("\n");
}

static void *run_part(void *arg)
{
	size_t i = *(size_t *)arg;
	struct io of_process = read_io("/proc/self/io");
	struct io of_thread = read_io("/proc/thread-self/io");
	struct end e = parts[i].body();
	struct io thread_after = read_io("/proc/thread-self/io");
	struct io process_after = read_io("/proc/self/io");

	say(parts[i].name, e);
	print_io("process", of_process, process_after);
	print_io("thread", of_thread, thread_after);
	return NULL;
}

/* --- cgroups -------------------------------------------------------------------- */

static char cgroup[100];

static FILE *cgroup_file(const char *name, const char *mode)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", cgroup, name);
	return fopen(path, mode);
}

static void put(const char *name, const char *text)
{
	FILE *file = cgroup_file(name, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("%s: %s\n", name, strerror(errno));
}

/* The number of a key, which may be in several lines. */
static long long value_of(const char *name, const char *key)
{
	FILE *file = cgroup_file(name, "r");
	long long sum = 0;
	char line[500];

	while (file && fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, key);

		if (at && (at == line || at[-1] == ' '))
			sum += strtoll(at + strlen(key), NULL, 10);
	}
	if (file)
		fclose(file);
	return sum;
}

/*
 * Since 6.16 cpu.stat does not update other counts, and memory.stat updates its own only after
 * many changes. So make these, in the cgroup.
 */
static void change_memory_counts(void)
{
	size_t size = 4 << 20;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	memset(p, 1, size);
	munmap(p, size);
}

static void print_cgroup(void)
{
	/* Reading this makes older kernels update all counts. */
	value_of("cpu.stat", "usage_usec ");
	printf("  io.stat: %lld %lld\n", value_of("io.stat", "rbytes="), value_of("io.stat", "wbytes="));
	/* On ext4 the latter counts for the underlying device. */
	if (on_ext4)
		printf("  memory.stat: file %lld\n",
		       value_of("memory.stat", "file ") - value_of("memory.stat", "shmem "));
	else
		printf("  memory.stat: shmem %lld\n", value_of("memory.stat", "shmem "));
	printf("  memory.events: %lld\n", value_of("memory.events", "max "));
	printf("  pids: %lld %lld\n", value_of("pids.peak", ""), value_of("pids.events", "max "));
}

/* In a separate cgroup, if this process may create one. */
static void account(size_t i, bool in_cgroup)
{
	pthread_t thread;
	int status;
	pid_t child;

	make_ready();
	fflush(stdout);
	child = fork();
	if (!child) {
		if (in_cgroup)
			put("cgroup.procs", "0");
		if (pthread_create(&thread, NULL, run_part, &i) || pthread_join(thread, NULL))
			exit(1);
		if (in_cgroup)
			change_memory_counts();
		exit(0);
	}
	waitpid(child, &status, 0);
	printf("  ended with %d\n", status);
	if (in_cgroup)
		print_cgroup();
}

int main(int argc, char **argv)
{
	struct statfs fs;
	bool root = geteuid() == 0;

	if (argc != 2 || statfs(argv[1], &fs))
		return 2;
	on_ext4 = fs.f_type == EXT4_MAGIC;
	snprintf(cgroup, sizeof(cgroup), CGROUPS);
	if (root)
		put("cgroup.subtree_control", "+io +memory +pids");
	snprintf(cgroup, sizeof(cgroup), CGROUPS "cosy-accounting-%d", getpid());
	for (size_t i = 0; i < PARTS; i++) {
		if (root && mkdir(cgroup, 0755))
			printf("%s: %s\n", cgroup, strerror(errno));
		account(i, root);
		if (root && rmdir(cgroup))
			printf("%s: %s\n", cgroup, strerror(errno));
	}
	unlink("to");
	unlink("made");
	return 0;
}
