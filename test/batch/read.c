// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cosy_read_many(): contents, every error, and buffers that are too small.
// RUN: gcc-12 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I%include %s -o %t -L%lib -l:libcosy-batch.a -l:libcosy.a
// RUN: %run-all --vm %t | FileCheck %s
#include <cosy/batch.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "Inputs/scratch.h"

#define MANY 10000

static char buffer[1 << 20];

/* Print the contents; the buffer has @size bytes. */
static void look(int dirfd, const char *const *paths, size_t count, int flags, size_t size)
{
	struct cosy_read_result *results = malloc(count * sizeof(*results));
	const int before = open_descriptors();
	ssize_t n;

	memset(buffer, '-', sizeof(buffer));
	errno = ERANGE;
	n = cosy_read_many(dirfd, paths, count, flags, buffer, size, results);
	EQUAL(errno, ERANGE);
	CHECK(n >= 1 && n <= (ssize_t)count);
	for (ssize_t i = 0; i < n; i++) {
		printf("%.20s at %zu: ", paths[i], results[i].offset);
		if (results[i].length < 0)
			puts(name_of_error(results[i].length));
		else
			printf("%zd '%.*s'\n", results[i].length,
			       results[i].length < 20 ? (int)results[i].length : 20,
			       buffer + results[i].offset);
	}
	printf("%zd of %zu\n", n, count);
	for (size_t i = size; i < sizeof(buffer); i++)
		EQUAL(buffer[i], '-');
	EQUAL(open_descriptors(), before);
	free(results);
}

/* CHECK:      one at 0: 5 'first'
 * CHECK-NEXT: missing at 5: ENOENT
 * CHECK-NEXT: empty at 5: 0 ''
 * CHECK-NEXT: . at 5: EISDIR
 * CHECK-NEXT: fifo at 5: EINVAL
 * CHECK-NEXT: /dev/zero at 5: EINVAL
 * CHECK-NEXT: /dev/nonexistent at 5: ENOENT
 * CHECK-NEXT: one/below at 5: ENOTDIR
 * CHECK-NEXT: secret at 5: EACCES
 * CHECK-NEXT: link at 5: 6 'second'
 * CHECK-NEXT: /proc/sys/kernel/ost at 11: 6 'Linux
 * CHECK:      two at 17: 6 'second'
 * CHECK-NEXT: /sys/kernel/fscaps at 23: 2 '{{[01]}}
 * CHECK:      one at 25: 5 'first'
 * CHECK-NEXT: 14 of 14
 * CHECK-NEXT: link at 0: ELOOP
 * CHECK-NEXT: two at 0: 6 'second'
 * CHECK-NEXT: 2 of 2
 * CHECK-NEXT: one at 0: EBADF
 */
static void errors(void)
{
	const char *paths[] = { "one", "missing", "empty", ".", "fifo", "/dev/zero",
				"/dev/nonexistent", "one/below", "secret", "link",
				"/proc/sys/kernel/ostype", "two",
				/* Its status has a larger size. */
				"/sys/kernel/fscaps", "one" };

	make_text("one", "first");
	make_text("two", "second");
	make_text("empty", "");
	make_text("secret", "hidden");
	EQUAL(chmod("secret", 0), 0);
	EQUAL(mkfifo("fifo", 0666), 0);
	EQUAL(symlink("two", "link"), 0);
	EQUAL(seteuid(65534), 0);
	look(AT_FDCWD, paths, 14, 0, sizeof(buffer));
	EQUAL(seteuid(0), 0);
	look(AT_FDCWD, (const char *[]){ "link", "two" }, 2, AT_SYMLINK_NOFOLLOW, sizeof(buffer));
	look(-1, (const char *[]){ "one" }, 1, 0, sizeof(buffer));
}

/* Both fit exactly:
 * CHECK-NEXT: 1 of 1
 * CHECK-NEXT: one at 0: 5 'first'
 * CHECK-NEXT: two at 5: 6 'second'
 * CHECK-NEXT: empty at 11: 0 ''
 * CHECK-NEXT: 3 of 3
 *
 * The second does not:
 * CHECK-NEXT: one at 0: 5 'first'
 * CHECK-NEXT: 1 of 3
 *
 * The first never does, but what follows it:
 * CHECK-NEXT: two at 0: EFBIG
 * CHECK-NEXT: one at 0: 5 'first'
 * CHECK-NEXT: 2 of 3
 *
 * No room at all:
 * CHECK-NEXT: empty at 0: 0 ''
 * CHECK-NEXT: one at 0: EFBIG
 * CHECK-NEXT: 2 of 2
 *
 * Files whose status does not tell their size:
 * CHECK-NEXT: one at 0: 5 'first'
 * CHECK-NEXT: 1 of 2
 * CHECK-NEXT: /proc/sys/kernel/ost at 0: EFBIG
 * CHECK-NEXT: one at 0: 5 'first'
 * CHECK-NEXT: 2 of 2
 */
static void small_buffers(void)
{
	const char *const ostype = "/proc/sys/kernel/ostype";

	look(AT_FDCWD, (const char *[]){ "one", "two", "empty" }, 3, 0, 11);
	look(AT_FDCWD, (const char *[]){ "one", "two", "empty" }, 3, 0, 10);
	look(AT_FDCWD, (const char *[]){ "two", "one", "one" }, 3, 0, 5);
	look(AT_FDCWD, (const char *[]){ "empty", "one" }, 2, 0, 0);
	look(AT_FDCWD, (const char *[]){ "one", ostype }, 2, 0, 10);
	look(AT_FDCWD, (const char *[]){ ostype, "one" }, 2, 0, 5);
}

/* A buffer that is larger than what a file of /proc/sys lets read at once:
 * CHECK-NEXT: large buffer: 6
 */
static void large_buffer(void)
{
	struct cosy_read_result result;
	void *large = malloc(8 << 20);

	EQUAL(cosy_read_many(AT_FDCWD, (const char *[]){ "/proc/sys/kernel/ostype" }, 1, 0, large,
			     8 << 20, &result), 1);
	printf("large buffer: %zd\n", result.length);
	free(large);
}

static void arguments(void)
{
	struct cosy_read_result result = { 77, 77 };
	const char *paths[] = { "one" };

	EQUAL(cosy_read_many(AT_FDCWD, paths, 1, AT_REMOVEDIR, buffer, 9, &result), -EINVAL);
	EQUAL(cosy_read_many(AT_FDCWD, paths, SIZE_MAX, 0, buffer, 9, &result), -EINVAL);
	EQUAL(cosy_read_many(AT_FDCWD, paths, 1, 0, buffer, (size_t)SSIZE_MAX + 1, &result),
	      -EINVAL);
	EQUAL(cosy_read_many(AT_FDCWD, NULL, 0, 0, NULL, 0, NULL), 0);
	EQUAL(result.offset, 77);
	EQUAL(result.length, 77);
	/* Memory that is not writable. */
	EQUAL(cosy_read_many(AT_FDCWD, paths, 1, 0, (void *)8, 9, &result), 1);
	EQUAL(result.length, -EFAULT);
	EQUAL(result.offset, 0);
}

// CHECK-NEXT: full table: one at 0: EMFILE, two at 0: EMFILE
static void full_table(void)
{
	struct cosy_read_result results[2];
	struct rlimit limit, none;

	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 3;
	EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	EQUAL(cosy_read_many(AT_FDCWD, (const char *[]){ "one", "two" }, 2, 0, buffer, 99, results),
	      2);
	EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	printf("full table: one at %zu: %s, two at %zu: %s\n", results[0].offset,
	       name_of_error(results[0].length), results[1].offset,
	       name_of_error(results[1].length));
}

/* A lease that somebody holds is waited for, as by any open(): the holder gives it
 * back a while after it was asked.
 * CHECK-NEXT: leased: 7 after the lease was given back
 */
static void lease(void)
{
	struct cosy_read_result result;
	int ready[2], back[2], n;
	pid_t child;
	char byte;

	make_text("leased", "private");
	EQUAL(pipe(ready), 0);
	EQUAL(pipe(back), 0);
	child = fork();
	if (child == 0) {
		sigset_t set;
		int fd = open("leased", O_WRONLY);

		sigemptyset(&set);
		sigaddset(&set, SIGIO);
		sigprocmask(SIG_BLOCK, &set, NULL);
		EQUAL(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
		EQUAL(write(ready[1], "r", 1), 1);
		EQUAL(sigwait(&set, &n), 0);
		usleep(200000);
		EQUAL(write(back[1], "b", 1), 1);
		EQUAL(fcntl(fd, F_SETLEASE, F_UNLCK), 0);
		_exit(0);
	}
	EQUAL(read(ready[0], &byte, 1), 1);
	EQUAL(fcntl(back[0], F_SETFL, O_NONBLOCK), 0);
	EQUAL(cosy_read_many(AT_FDCWD, (const char *[]){ "leased" }, 1, 0, buffer, 99, &result), 1);
	printf("leased: %zd %s\n", result.length,
	       read(back[0], &byte, 1) == 1 ? "after the lease was given back" : "too early");
	EQUAL(waitpid(child, &n, 0), child);
	EQUAL(n, 0);
	for (int i = 0; i < 2; i++)
		close(ready[i]), close(back[i]);
}

// CHECK-NEXT: many: 9999 right, 1 ENOENT, several buffers
static void many(void)
{
	static struct cosy_read_result results[MANY];
	static const char *paths[MANY];
	int right = 0, missing = 0, calls = 0;

	EQUAL(mkdir("many", 0755), 0);
	for (int i = 0; i < MANY; i++) {
		paths[i] = format("many/%d", i);
		if (i != MANY / 2)
			make_text(paths[i], paths[i]);
	}
	for (size_t done = 0, n; done < MANY; done += n, calls++) {
		n = cosy_read_many(AT_FDCWD, paths + done, MANY - done, 0, buffer, 50000,
				   results + done);
		for (size_t i = done; i < done + n; i++) {
			missing += results[i].length == -ENOENT;
			right += results[i].length == (ssize_t)strlen(paths[i]) &&
				 !memcmp(buffer + results[i].offset, paths[i], results[i].length);
		}
	}
	printf("many: %d right, %d ENOENT, %s\n", right, missing,
	       calls == 2 ? "several buffers" : "?");
}

int main(void)
{
	char scratch[32];

	enter_scratch(scratch);
	errors();
	small_buffers();
	large_buffer();
	arguments();
	full_table();
	lease();
	many();
	leave_scratch(scratch);
	return 0;
}
