// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing a buffer that is not used otherwise: the same files, results, errors,
// positions, events, times and counts as by plain calls.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE -Rpass=cosy -Rpass-missed=cosy %s -o %t 2>&1 \
// RUN:   | FileCheck --check-prefix=REMARK %s
// REMARK-DAG: Inputs/copy.h:[[#]]:14: remark: what is read is copied only to where it is written
// REMARK-DAG: unused-buffer-is-not-copied.c:[[#]]:14: remark: what is read is copied only to where it is written
// REMARK-DAG: unused-buffer-is-not-copied.c:[[#]]:14: remark: what is read is copied only to where it is written
// REMARK-DAG: unused-buffer-is-not-copied.c:[[#]]:14: remark: what is read is not copied: nothing uses the buffer
// RUN: cosy-objdump -d %t | FileCheck --check-prefix=HINT %s
// HINT: libc.borrow r{{[0-9]+}}, read
// HINT: libc.borrow r{{[0-9]+}}, write
// HINT: libc.borrow r{{[0-9]+}}, pread64
// HINT: libc.borrow r{{[0-9]+}}, pwrite64
// HINT: libc.borrow r{{[0-9]+}}, sendto
// RUN: %vm %S/Inputs/ways %S/Inputs/make-files %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: tmpfs, as user: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: ext4, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: overlayfs, as root: {{[1-9][0-9][0-9]+}} lines
#include <cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Inputs/copy.h"
#include "Inputs/ends.h"

static const char *const files[] = {
	"from0", "from1", "from4095", "from4096", "from4097", "from10001", "from65536",
	"from65537", "from300000", "sparse", "hole",
};
#define FILES (sizeof(files) / sizeof(files[0]))

/* By offsets, with a buffer on the stack. */
static struct end copy_at(int in, int out, size_t size, off_t from, off_t to)
{
	char buffer[20000];
	long total = 0;
	ssize_t n, written = 0;
	int error = 0;

	COSY_START;
	while ((n = pread(in, buffer, size, from)) > 0) {
		written = pwrite(out, buffer, (size_t)n, to);
		if (written < 0) {
			error = errno;
			break;
		}
		from += written;
		to += written;
		total += written;
	}
	if (n < 0)
		error = errno;
	COSY_END;
	return (struct end){ total, n < 0 ? n : written, error };
}

/* To a socket. */
static struct end copy_to_socket(int in, int out, size_t size, int flags)
{
	static char buffer[65536];
	long total = 0;
	ssize_t n, sent = 0;
	int error = 0;

	COSY_START;
	while ((n = read(in, buffer, size)) > 0) {
		sent = send(out, buffer, (size_t)n, flags);
		if (sent < 0) {
			error = errno;
			break;
		}
		total += sent;
		if (sent != n)
			break;
	}
	if (n < 0)
		error = errno;
	COSY_END;
	return (struct end){ total, n < 0 ? n : sent, error };
}

/* No code reads the buffer. */
static long skim(int in, size_t size)
{
	static char buffer[8192];
	long total = 0;
	ssize_t n;

	COSY_START;
	while ((n = read(in, buffer, size)) > 0)
		total += n;
	COSY_END;
	return n < 0 ? -errno : total;
}

/* A number for the contents of a file. */
static void sum(const char *name)
{
	int fd = must_open(name, O_RDONLY);
	uint64_t hash = 14695981039346656037u;
	uint64_t c[8192];
	ssize_t n, size = 0;

	memset(c, 0, sizeof(c));
	while ((n = read(fd, c, sizeof(c))) > 0) {
		for (ssize_t i = 0; i < (n + 7) / 8; i++)
			hash = (hash ^ c[i]) * 1099511628211u;
		size += n;
	}
	printf("  %s has %zd bytes, %016" PRIx64 "\n", name, size, hash);
	close(fd);
}

static long io_count(const char *key)
{
	FILE *io = fopen("/proc/self/io", "r");
	char line[100];
	long value = -1;

	while (io && fgets(line, sizeof(line), io))
		if (!strncmp(line, key, strlen(key)))
			value = strtol(line + strlen(key), NULL, 10);
	if (io)
		fclose(io);
	return value;
}

static void sizes(void)
{
	static const size_t blocks[] = { 1000, 4096, 5000, 65536 };

	for (size_t i = 0; i < FILES; i++) {
		for (size_t j = 0; j < sizeof(blocks) / sizeof(blocks[0]); j++) {
			int in = must_open(files[i], O_RDONLY);
			int out = must_open("to", O_RDWR | O_CREAT | O_TRUNC);
			char what[100];

			if (blocks[j] == 1000 && i > 5)
				goto next;
			snprintf(what, sizeof(what), "%s by %zu", files[i], blocks[j]);
			say(what, copy(in, out, blocks[j]));
			printf("  positions %ld %ld\n", (long)lseek(in, 0, SEEK_CUR),
			       (long)lseek(out, 0, SEEK_CUR));
			sum("to");
			say("  at 5 to 7", copy_at(in, out, blocks[j] % 20000, 5, 7));
			sum("to");
			printf("  skimmed %ld", skim(in, 4096));
			lseek(in, 3, SEEK_SET);
			printf(" %ld\n", skim(in, blocks[j] % 8192));
next:
			close(in);
			close(out);
		}
	}
}

static void targets(void)
{
	int in = must_open("from10001", O_RDONLY), out;
	struct rlimit limit = { 6000, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };

	out = must_open("to", O_RDWR | O_CREAT | O_TRUNC);
	close(out);
	out = must_open("to", O_WRONLY | O_APPEND);
	for (int i = 0; i < 2; i++) {
		lseek(in, 0, SEEK_SET);
		say("append", copy(in, out, 4096));
		lseek(out, 0, SEEK_SET);
	}
	say("append at 1", copy_at(in, out, 4096, 0, 1));
	sum("to");
	close(out);

	/* Over itself: shifted by one byte, and in place. */
	out = must_open("to", O_RDWR);
	say("over itself", copy_at(out, out, 4096, 1, 0));
	sum("to");
	lseek(out, 0, SEEK_SET);
	close(out);

	/* Closed, not for writing, not for reading, a directory. */
	lseek(in, 0, SEEK_SET);
	say("closed", copy(in, 999, 4096));
	say("reading only", copy(in, in, 4096));
	printf("  position %ld\n", (long)lseek(in, 0, SEEK_CUR));
	out = must_open("to", O_WRONLY);
	say("from writing only", copy(out, out, 4096));
	say("at a negative offset", copy_at(in, out, 4096, -1, 0));
	say("to a negative offset", copy_at(in, out, 4096, 0, -1));
	say("behind the end", copy_at(in, out, 4096, 1l << 40, 0));
	say("far", copy_at(in, out, 4096, 0, 0x7fffffffffffe000));
	close(out);
	out = must_open(".", O_RDONLY | O_DIRECTORY);
	say("from a directory", copy(out, in, 4096));
	close(out);
	say("nothing", copy(in, in, 0));

	/* Up to the limit. */
	signal(SIGXFSZ, SIG_IGN);
	out = must_open("to", O_RDWR | O_CREAT | O_TRUNC);
	setrlimit(RLIMIT_FSIZE, &limit);
	lseek(in, 0, SEEK_SET);
	say("limited", copy(in, out, 4096));
	say("limited again", copy(in, out, 4096));
	setrlimit(RLIMIT_FSIZE, &none);
	printf("  positions %ld %ld\n", (long)lseek(in, 0, SEEK_CUR), (long)lseek(out, 0, SEEK_CUR));
	sum("to");
	close(out);

	out = must_open("/dev/full", O_WRONLY);
	lseek(in, 0, SEEK_SET);
	say("to a device", copy(in, out, 4096));
	close(out);
	close(in);
	in = must_open("/proc/self/status", O_RDONLY);
	out = must_open("to", O_RDWR | O_CREAT | O_TRUNC);
	printf("from proc: %s\n", copy(in, out, 100).total > 100 ? "something" : "nothing");
	close(in);
	close(out);
	in = must_open("/dev/zero", O_RDONLY);
	out = must_open("to", O_RDWR | O_CREAT | O_TRUNC);
	setrlimit(RLIMIT_FSIZE, &limit);
	say("from a device", copy(in, out, 4096));
	setrlimit(RLIMIT_FSIZE, &none);
	close(in);
	close(out);
}

/* A file system that becomes full in the middle of a page. */
static void full(void)
{
	static const char small[] = "small";
	char command[200];
	int in = must_open("from300000", O_RDONLY), out;

	if (geteuid() != 0)
		return;
	snprintf(command, sizeof(command), "mkdir -p %s && mount -t tmpfs -o size=100k full %s", small,
		 small);
	if (system(command))
		return;
	out = must_open("small/to", O_RDWR | O_CREAT | O_TRUNC);
	say("full", copy(in, out, 65536));
	say("still full", copy(in, out, 4096));
	sum("small/to");
	close(out);
	close(in);
	if (system("umount small && rmdir small"))
		printf("umount failed\n");
}

static int pipes_broken;

static void count_broken(int sig)
{
	(void)sig;
	pipes_broken++;
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, long n)
{
	for (long i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
	return hash;
}

/* A child that reports the data from @from; first, if @file should be changed. */
static pid_t receiver(const char *what, int to, int from, const char *file)
{
	uint64_t hash = 14695981039346656037u;
	static char other[65536];
	pid_t child = fork();
	char bytes[1000];
	long n;

	if (child)
		return child;
	close(to);
	while ((n = read(from, bytes, sizeof(bytes))) > 0) {
		hash = hash_bytes(hash, bytes, n);
		if (file) {
			int fd = must_open(file, O_WRONLY);

			if (pwrite(fd, other, sizeof(other), 0) != sizeof(other))
				printf("cannot write\n");
			close(fd);
			file = NULL;
		}
	}
	printf("%s: %016" PRIx64 "\n", what, hash);
	exit(0);
}

static void not_blocking(void)
{
	int in = must_open("from300000", O_RDONLY), pair[2];
	struct end c;
	char bytes[1000];
	long got, n;

	for (int i = 0; i < 3; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | (i < 2 ? SOCK_NONBLOCK : 0), 0, pair))
			return;
		lseek(in, 0, SEEK_SET);
		c = i == 0 ? copy(in, pair[0], 4096) :
			     copy_to_socket(in, pair[0], 4096, i == 1 ? 0 : MSG_DONTWAIT);
		printf("non-blocking: last %ld, error %d, position as copied: %d\n", c.last, c.error,
		       lseek(in, 0, SEEK_CUR) >= c.total);
		got = 0;
		while ((n = recv(pair[1], bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
			got += n;
		printf("  all of it came: %d\n", got == c.total);
		close(pair[1]);
		signal(SIGPIPE, count_broken);
		say("broken", copy(in, pair[0], 4096));
		say("send", copy_to_socket(in, pair[0], 4096, 0));
		say("send without signal", copy_to_socket(in, pair[0], 4096, MSG_NOSIGNAL));
		printf("  signals %d\n", pipes_broken);
		close(pair[0]);
	}
	lseek(in, 0, SEEK_SET);
	say("send to a file", copy_to_socket(in, in, 4096, 0));
	lseek(in, 0, SEEK_SET);
	say("send to nothing", copy_to_socket(in, 999, 4096, 0));
	close(in);
}

static void sockets(void)
{
	int in = must_open("from300000", O_RDONLY), ends[2], status;
	struct end c;

	not_blocking();
	/* To a child that reads slowly. */
	for (int i = 0; i < 3; i++) {
		static const char *const what[] = { "through a socket", "through a pipe", "sent" };
		pid_t child;

		if (i == 1 ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			return;
		child = receiver(what[i], ends[i == 1], ends[i != 1], NULL);
		close(ends[i != 1]);
		lseek(in, 0, SEEK_SET);
		c = i == 2 ? copy_to_socket(in, ends[0], 50000, 0) : copy(in, ends[i == 1], 50000);
		close(ends[i == 1]);
		waitpid(child, &status, 0);
		say("blocking", c);
	}
	close(in);

	/*
	 * The data that was read is sent, although the file is changed before all of it was sent.
	 */
	for (int i = 0; i < 2; i++) {
		int small = 8192;
		pid_t child;

		if (system("cp from65536 changed") || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
		    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)))
			return;
		in = must_open("changed", O_RDONLY);
		child = receiver("changed", ends[0], ends[1], "changed");
		close(ends[1]);
		c = i ? copy_to_socket(in, ends[0], 65536, 0) : copy(in, ends[0], 65536);
		close(ends[0]);
		waitpid(child, &status, 0);
		say("changed", c);
		close(in);
	}
}

/* The events for other processes. */
static void traces(void)
{
	struct timespec old[2] = { { 1000000000, 0 }, { 1000000001, 0 } };
	int in = must_open("from10001", O_RDWR), out = must_open("to", O_RDWR | O_CREAT | O_TRUNC);
	int watch = inotify_init1(IN_NONBLOCK);
	char events[4096] __attribute__((aligned(8)));
	struct stat st;
	long before[4], n;
	static const char *const keys[] = { "rchar:", "wchar:", "syscr:", "syscw:" };
	long self[4];

	copy(in, out, 4096);
	if (futimens(in, old) && geteuid() == 0)
		printf("futimens failed\n");
	lseek(in, 0, SEEK_SET);
	lseek(out, 0, SEEK_SET);
	printf("watches %d %d\n", inotify_add_watch(watch, "from10001", IN_ALL_EVENTS) > 0,
	       inotify_add_watch(watch, "to", IN_ALL_EVENTS) > 0);
	/* The cost of the query itself. */
	for (int i = 0; i < 4; i++)
		before[i] = io_count(keys[i]);
	for (int i = 0; i < 4; i++)
		self[i] = io_count(keys[i]) - before[i];
	for (int i = 0; i < 4; i++)
		before[i] = io_count(keys[i]);
	copy(in, out, 4096);
	for (int i = 0; i < 4; i++) {
		long count = io_count(keys[i]) - before[i] - self[i];

		/* Their length varies: digits. */
		printf("%s %ld\n", keys[i], i == 0 ? count / 2000 : count);
	}
	while ((n = read(watch, events, sizeof(events))) > 0)
		for (long at = 0; at < n;) {
			struct inotify_event *e = (void *)(events + at);

			printf("event %d %#x\n", e->wd, e->mask);
			at += (long)(sizeof(*e) + e->len);
		}
	fstat(in, &st);
	printf("read lately: %d\n", st.st_atime > 1000000000);
	fstat(out, &st);
	printf("written lately: %d\n", st.st_mtime > 1000000000);
	close(in);
	close(out);
	close(watch);
}

static volatile sig_atomic_t ticks;

static void tick(int sig)
{
	(void)sig;
	ticks++;
}

/* Repeated interruptions, also between the read and the write. */
static void interrupted(int flags)
{
	struct itimerval often = { { 0, 700 }, { 0, 700 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = tick, .sa_flags = flags };
	int in = must_open("from65537", O_RDONLY), out = must_open("to", O_RDWR | O_CREAT | O_TRUNC);
	int rounds = 0, right = 0;

	sigaction(SIGALRM, &action, NULL);
	ticks = 0;
	setitimer(ITIMER_REAL, &often, NULL);
	while (ticks < 30) {
		struct end c;

		lseek(in, 0, SEEK_SET);
		lseek(out, 0, SEEK_SET);
		c = copy(in, out, 1500);
		rounds++;
		right += c.total == 65537 && c.error == 0;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("interrupted: %s\n", rounds == right ? "always right" : "WRONG");
	sum("to");
	close(in);
	close(out);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc != 2)
		return 1;
	setvbuf(stdout, NULL, _IONBF, 0);
	sizes();
	targets();
	full();
	sockets();
	traces();
	interrupted(0);
	interrupted(SA_RESTART);
	return 0;
}
