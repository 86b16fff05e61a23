// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sendfile() and copy_file_range() in a region: the same counts, errors, positions, offsets,
// signals and contents as natively, to files, sockets and pipes that take all of it, some or nothing.
// REQUIRES: root
// RUN: %cosy-cc -O2 -Wall -Wextra -D_GNU_SOURCE -Rpass=cosy -Rpass-missed=cosy %s -o %t 2>&1 \
// RUN:   | FileCheck --check-prefix=REMARK %s
// REMARK-NOT: leaves
// RUN: cosy-objdump -d %t | FileCheck --check-prefix=CALL %s
// CALL: libc r{{[0-9]+}}, sendfile
// CALL: libc r{{[0-9]+}}, copy_file_range
// RUN: %vm %S/Inputs/ways %S/Inputs/make-files %t | FileCheck %s
// CHECK: tmpfs, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: tmpfs, as user: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: ext4, as root: {{[1-9][0-9][0-9]+}} lines
// CHECK-NEXT: overlayfs, as root: {{[1-9][0-9][0-9]+}} lines
#include <cosy.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Inputs/ends.h"

static long offset_after;

/* Until no data is left or an error occurs; from *@offset, or the position. */
static struct end send_all(int out, int in, off_t *offset, size_t size)
{
	long total = 0, n;
	int error = 0;

	COSY_START;
	while ((n = sendfile(out, in, offset, size)) > 0)
		total += n;
	if (n < 0)
		error = errno;
	COSY_END;
	offset_after = offset ? (long)*offset : -1;
	return (struct end){ total, n, error };
}

static struct end copy_range(int in, off_t *from, int out, off_t *to, size_t size)
{
	long total = 0, n;
	int error = 0;

	COSY_START;
	while ((n = copy_file_range(in, from, out, to, size, 0)) > 0)
		total += n;
	if (n < 0)
		error = errno;
	COSY_END;
	offset_after = from ? (long)*from : -1;
	return (struct end){ total, n, error };
}

/* The result, and the offsets and contents afterwards. */
static void report(const char *what, size_t size, struct end e, int in, int out)
{
	char text[100];

	snprintf(text, sizeof(text), "%s, %zu", what, size);
	say(text, e);
	printf("  offset %ld, positions %ld %ld\n", offset_after, (long)lseek(in, 0, SEEK_CUR),
	       (long)lseek(out, 0, SEEK_CUR));
}

static uint64_t hash(uint64_t value, const char *bytes, long n)
{
	for (long i = 0; i < n; i++)
		value = (value ^ (unsigned char)bytes[i]) * 1099511628211u;
	return value;
}

static void say_contents(const char *name)
{
	uint64_t value = 0;
	char bytes[4096];
	int fd = must_open(name, O_RDONLY);
	long n, total = 0;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		value = hash(value, bytes, n);
		total += n;
	}
	printf("  %ld bytes, %016" PRIx64 "\n", total, value);
	close(fd);
}

/* --- to files ------------------------------------------------------------------- */

static void to_files(void)
{
	static const char *const files[] = { "from0", "from1", "from4097", "from300000", "sparse" };
	static const size_t sizes[] = { 0, 1000, 4096, 65536, 1 << 20 };

	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			int in = must_open(files[f], O_RDONLY);
			int out = must_open("to", O_RDWR | O_CREAT | O_TRUNC);
			off_t offset = 3, to = 5;

			report(files[f], sizes[i], send_all(out, in, NULL, sizes[i]), in, out);
			report("  from 3", sizes[i], send_all(out, in, &offset, sizes[i]), in, out);
			say_contents("to");
			lseek(in, 0, SEEK_SET);
			report("  range", sizes[i], copy_range(in, NULL, out, NULL, sizes[i]), in, out);
			offset = 3;
			report("  range from 3 to 5", sizes[i],
			       copy_range(in, &offset, out, &to, sizes[i]), in, out);
			say_contents("to");
			close(in);
			close(out);
		}
	}
	unlink("to");
}

/* Shared with children. */
static volatile int *signals;

static void count_signal(int sig)
{
	(void)sig;
	++*signals;
}

/* Conditions that stop it at the first byte, or in the middle. */
static void refused(void)
{
	static const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit limit = { 10000, RLIM_INFINITY };
	int in = must_open("from65537", O_RDONLY), out, pipes[2];
	off_t offset = 10, *wild = (off_t *)16;

	signal(SIGXFSZ, count_signal);
	out = must_open("to", O_RDWR | O_CREAT | O_APPEND);
	report("to append", 4096, send_all(out, in, NULL, 4096), in, out);
	report("range to append", 4096, copy_range(in, NULL, out, NULL, 4096), in, out);
	close(out);
	out = must_open("to", O_RDONLY);
	report("not for writing", 4096, send_all(out, in, NULL, 4096), in, out);
	close(out);
	out = must_open("to", O_WRONLY);
	report("not for reading", 4096, send_all(in, out, NULL, 4096), in, out);
	report("itself", 4096, send_all(out, out, NULL, 4096), in, out);
	report("no file", 4096, send_all(out, 999, NULL, 4096), in, out);
	report("to no file", 4096, send_all(999, in, NULL, 4096), in, in);
	offset = -1;
	report("offset -1", 4096, send_all(out, in, &offset, 4096), in, out);
	offset = 1l << 40;
	report("offset behind it", 4096, send_all(out, in, &offset, 4096), in, out);
	report("too much", (size_t)-1, send_all(out, in, NULL, (size_t)-1), in, out);
	errno = 0;
	/* Not by the function above, which checks the file afterwards. */
	COSY_START;
	offset = sendfile(out, in, wild, 10);
	COSY_END;
	printf("wild: %ld %d\n", (long)offset, errno);
	lseek(in, 0, SEEK_SET);
	lseek(out, 0, SEEK_SET);
	setrlimit(RLIMIT_FSIZE, &limit);
	report("limited", 4096, send_all(out, in, NULL, 4096), in, out);
	report("range limited", 4096, copy_range(in, NULL, out, NULL, 4096), in, out);
	setrlimit(RLIMIT_FSIZE, &none);
	printf("signals %d\n", *signals);
	close(out);
	if (pipe(pipes))
		exit(1);
	out = must_open("to", O_WRONLY);
	report("from a pipe", 10, send_all(out, pipes[0], NULL, 10), in, out);
	close(out);
	out = must_open("/dev/full", O_WRONLY);
	lseek(in, 0, SEEK_SET);
	report("to a full device", 4096, send_all(out, in, NULL, 4096), in, out);
	close(out);
	out = must_open("/dev/null", O_WRONLY);
	report("to nothing", 5000, send_all(out, in, NULL, 5000), in, out);
	close(out);
	out = must_open("to", O_WRONLY | O_TRUNC);
	close(in);
	in = must_open("/proc/version", O_RDONLY);
	report("of proc", 5, send_all(out, in, NULL, 5), in, out);
	close(in);
	in = must_open("/dev/zero", O_RDONLY);
	setrlimit(RLIMIT_FSIZE, &limit);
	report("of zeros", 5000, send_all(out, in, NULL, 5000), in, out);
	setrlimit(RLIMIT_FSIZE, &none);
	close(in);
	in = must_open(".", O_RDONLY);
	report("of a directory", 5000, send_all(out, in, NULL, 5000), in, out);
	close(in);
	close(out);
	say_contents("to");
	unlink("to");
}

/* --- to sockets and pipes ------------------------------------------------------- */

static int ends_of(int kind, int flags, int ends[2])
{
	int turned;

	if (kind == 0)
		return socketpair(AF_UNIX, SOCK_STREAM | (flags ? SOCK_NONBLOCK : 0), 0, ends);
	if (pipe2(ends, flags))
		return -1;
	turned = ends[0];
	ends[0] = ends[1];
	ends[1] = turned;
	return 0;
}

static void drain(int fd)
{
	static char bytes[65536];
	uint64_t value = 0;
	long n, total = 0;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		value = hash(value, bytes, n);
		total += n;
	}
	printf("  came %ld, %016" PRIx64 "\n", total, value);
}

/* A child that reads all data, slowly at first. */
static pid_t receiver(int ends[2])
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child)
		return child;
	close(ends[0]);
	usleep(20000);
	drain(ends[1]);
	fflush(stdout);
	_exit(0);
}

static void to_streams(void)
{
	int in = must_open("from300000", O_RDONLY), ends[2];
	pid_t child;

	signal(SIGPIPE, count_signal);
	for (int kind = 0; kind < 2; kind++) {
		/* As much as there is room for. */
		if (ends_of(kind, O_NONBLOCK, ends))
			exit(1);
		lseek(in, 0, SEEK_SET);
		report("not blocking", 50000, send_all(ends[0], in, NULL, 50000), in, in);
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
		drain(ends[1]);
		lseek(in, 0, SEEK_SET);
		close(ends[1]);
		*signals = 0;
		say("broken", send_all(ends[0], in, NULL, 5000));
		printf("  signals %d, position %ld\n", *signals, (long)lseek(in, 0, SEEK_CUR));
		close(ends[0]);

		/* To a slow reader. */
		for (size_t size = 3000; size < 400000; size *= 10) {
			if (ends_of(kind, 0, ends))
				exit(1);
			child = receiver(ends);
			close(ends[1]);
			lseek(in, 0, SEEK_SET);
			say("blocking", send_all(ends[0], in, NULL, size));
			close(ends[0]);
			waitpid(child, NULL, 0);
		}
	}
	close(in);
}

/* --- signals -------------------------------------------------------------------- */

/* A signal while it blocks: data that was sent counts, or it is interrupted, or it continues. */
static void interrupted(int flags)
{
	static const struct itimerval often = { { 0, 50000 }, { 0, 50000 } }, never;
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = flags };
	int in = must_open("from300000", O_RDONLY), ends[2];
	struct end e;
	pid_t child;

	if (pipe(ends))
		exit(1);
	*signals = 0;
	fflush(stdout);
	child = fork();
	if (!child) {
		/* With SA_RESTART it would wait for ever after the signals. */
		if (flags & SA_RESTART) {
			int enough, full = 0;

			while (full < fcntl(ends[0], F_GETPIPE_SZ) && !ioctl(ends[0], FIONREAD, &full))
				usleep(1000);
			for (enough = *signals + 2; *signals < enough;)
				usleep(1000);
			close(ends[1]);
			drain(ends[0]);
		} else {
			pause();
		}
		fflush(stdout);
		_exit(0);
	}
	close(ends[0]);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	e = send_all(ends[1], in, NULL, 300000);
	setitimer(ITIMER_REAL, &never, NULL);
	say(flags & SA_RESTART ? "restarted" : "interrupted", e);
	printf("  position %ld, signals came %d\n", (long)lseek(in, 0, SEEK_CUR), *signals > 0);
	close(ends[1]);
	if (!(flags & SA_RESTART))
		kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(in);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	signals = mmap(NULL, sizeof(*signals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (signals == MAP_FAILED)
		return 1;
	to_files();
	refused();
	to_streams();
	interrupted(0);
	interrupted(SA_RESTART);
	return 0;
}
