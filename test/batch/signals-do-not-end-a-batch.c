// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch functions with signals and cancellation. They continue, with the same results, and a
// handler may call them.
// RUN: gcc-12 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -pthread -I%include %s -o %t -L%lib -l:libcosy-batch.a -l:libcosy.a
// RUN: %run-all --vm %t | FileCheck %s
// CHECK: handlers: ok
// CHECK-NEXT: interrupted: EINTR, then ok
// CHECK-NEXT: cancelled: after the batch, no descriptor lost
#include <cosy/batch.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "Inputs/scratch.h"

#define FILES 300

static const char *paths[FILES];
static volatile sig_atomic_t handled, wrong;

/* Without SA_RESTART an interrupted call fails, but calls on files are not interrupted. */
static void on_alarm(int signal)
{
	struct stat status;
	int result, saved_errno = errno;

	(void)signal;
	handled++;
	wrong += cosy_stat_many(AT_FDCWD, paths, 1, 0, &status, &result) != 1;
	errno = saved_errno;
}

static void run_all(void)
{
	static struct cosy_read_result read_results[FILES];
	const struct cosy_dir_entry *entries;
	static struct stat status[FILES];
	static int results[FILES];
	static char buffer[1 << 16];
	struct cosy_dir *dir;
	size_t listed = 0;
	ssize_t n;

	EQUAL(cosy_stat_many(AT_FDCWD, paths, FILES, 0, status, results), FILES);
	EQUAL(cosy_read_many(AT_FDCWD, paths, FILES, 0, buffer, sizeof(buffer), read_results),
	      FILES);
	for (int i = 0; i < FILES; i++)
		CHECK(read_results[i].length == (ssize_t)strlen(paths[i]) &&
		      !memcmp(buffer + read_results[i].offset, paths[i], strlen(paths[i])));
	EQUAL(cosy_dir_open(&dir, AT_FDCWD, ".", COSY_DIR_STATUS), 0);
	while ((n = cosy_dir_read(dir, &entries)) > 0)
		listed += n;
	EQUAL(n, 0);
	CHECK(listed >= FILES);
	cosy_dir_close(dir);
	/* Closed before the end. */
	EQUAL(cosy_dir_open(&dir, AT_FDCWD, ".", 0), 0);
	cosy_dir_close(dir);
	EQUAL(cosy_copy_file(AT_FDCWD, paths[0], AT_FDCWD, "copy", 0, NULL), 0);
	EQUAL(cosy_unlink_many(AT_FDCWD, (const char *[]){ "copy" }, 1, 0, results), 1);
}

static void handlers(void)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = on_alarm };

	EQUAL(sigaction(SIGALRM, &action, NULL), 0);
	EQUAL(setitimer(ITIMER_REAL, &often, NULL), 0);
	while (handled < 100)
		run_all();
	EQUAL(setitimer(ITIMER_REAL, &never, NULL), 0);
	puts(wrong ? "handlers: WRONG" : "handlers: ok");
}

/* A call that waits, for the release of a lease, is interrupted; the items after it are not. */
static void interrupted(void)
{
	struct itimerval once = { { 0, 0 }, { 0, 300000 } };
	struct cosy_read_result results[2];
	char buffer[100];
	int fd;

	fd = open(paths[0], O_RDWR);
	CHECK(signal(SIGIO, SIG_IGN) != SIG_ERR);
	CHECK(fcntl(fd, F_SETLEASE, F_RDLCK) == 0 || errno == EAGAIN);
	close(fd);
	fd = open(paths[0], O_RDONLY);
	EQUAL(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
	EQUAL(setitimer(ITIMER_REAL, &once, NULL), 0);
	EQUAL(cosy_read_many(AT_FDCWD, paths, 2, 0, buffer, sizeof(buffer), results), 2);
	printf("interrupted: %s, then %s\n", name_of_error(results[0].length),
	       name_of_error(results[1].length));
	close(fd);
}

static atomic_int cancelled, finished;

static void *cancel_me(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	while (!atomic_load(&cancelled))
		;
	/* The request is pending. A cancellation point would end the thread here. */
	run_all();
	atomic_store(&finished, 1);
	pthread_testcancel();
	atomic_store(&finished, 2);
	return unused;
}

static void cancellation(void)
{
	const int before = open_descriptors();
	pthread_t thread;
	void *result;

	EQUAL(pthread_create(&thread, NULL, cancel_me, NULL), 0);
	EQUAL(pthread_cancel(thread), 0);
	atomic_store(&cancelled, 1);
	EQUAL(pthread_join(thread, &result), 0);
	printf("cancelled: %s, %s\n",
	       result == PTHREAD_CANCELED && finished == 1 ? "after the batch" : "IN the batch",
	       open_descriptors() == before ? "no descriptor lost" : "descriptors LOST");
}

int main(void)
{
	char scratch[32];

	enter_scratch(scratch);
	for (int i = 0; i < FILES; i++) {
		paths[i] = format("file%d", i);
		make_text(paths[i], paths[i]);
	}
	handlers();
	interrupted();
	cancellation();
	leave_scratch(scratch);
	return 0;
}
