// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A filter of the thread that closes a descriptor of a share decides, also while another thread uses the
// descriptor. That thread's filter does not: the file does not stay open after the call.
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include <cosy/share.h>

#include "check.h"
#include "filter-call.h"

struct reader {
	pthread_t thread;
	struct cosy_share *share;
	int fd, tid;
	bool filtered;
};

static void *reads(void *arg)
{
	struct reader *reader = arg;
	char c;

	if (reader->filtered)
		filter_call(SYS_close, SECCOMP_RET_ERRNO | EACCES);
	__atomic_store_n(&reader->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	EQUAL(cosy_share_read(reader->share, reader->fd, &c, 1), 1);
	return NULL;
}

/* Wait until the thread sleeps, which it does in its read only. */
static void wait_for_sleep(struct reader *reader)
{
	char path[64], line[256], *end;

	while (!__atomic_load_n(&reader->tid, __ATOMIC_ACQUIRE))
		;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", reader->tid);
	do {
		FILE *file = fopen(path, "r");

		CHECK(file && fgets(line, sizeof(line), file));
		fclose(file);
		end = strrchr(line, ')');
	} while (end[2] != 'S');
}

/* Start a thread that reads from a pipe whose only reading end is in the share. Return the other end. */
static int start(struct reader *reader, bool filtered)
{
	int ends[2];

	EQUAL(pipe(ends), 0);
	*reader = (struct reader){ .filtered = filtered };
	EQUAL(cosy_share_create(&reader->share, NULL), 0);
	reader->fd = cosy_share_dup(reader->share, ends[0]);
	CHECK(reader->fd >= 0);
	EQUAL(close(ends[0]), 0);
	EQUAL(pthread_create(&reader->thread, NULL, reads, reader), 0);
	wait_for_sleep(reader);
	return ends[1];
}

static bool has_reader(int end)
{
	struct pollfd pollfd = { .fd = end };

	return poll(&pollfd, 1, 0) == 0;
}

static void finish(struct reader *reader, int end)
{
	EQUAL(write(end, "xy", 2), 2);
	EQUAL(pthread_join(reader->thread, NULL), 0);
}

static void filter_of_the_user(void)
{
	struct reader reader;
	const int end = start(&reader, true);
	int other;

	EQUAL(cosy_share_close(reader.share, reader.fd), 0);
	EQUAL(cosy_share_close(reader.share, reader.fd), -EBADF);
	finish(&reader, end);
	/* At the latest when a thread that may do it closes another one. */
	other = cosy_share_dup(reader.share, end);
	EQUAL(cosy_share_close(reader.share, other), 0);
	CHECK(!has_reader(end));
	cosy_share_destroy(reader.share);
}

static void filter_of_the_closer(void)
{
	struct reader reader;
	const int end = start(&reader, false);
	char c;

	filter_call(SYS_close, SECCOMP_RET_ERRNO | EACCES);
	EQUAL(cosy_share_close(reader.share, reader.fd), -EACCES);
	finish(&reader, end);
	CHECK(has_reader(end));
	EQUAL(cosy_share_read(reader.share, reader.fd, &c, 1), 1);
	EQUAL(c, 'y');
	EQUAL(cosy_share_close(reader.share, reader.fd), -EACCES);
}

int main(void)
{
	filter_of_the_user();
	filter_of_the_closer();
	return 0;
}
