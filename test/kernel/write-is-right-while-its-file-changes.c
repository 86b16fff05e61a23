// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Writes over data in a tmpfs file while others seal it, truncate it, punch holes
 * into it, and write from the page that is written to.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PAGE	4096

/* A file and an endless writer: pwrite(fd, from, size, at). */
struct writer {
	int dev, fd;
	const char *from;
	size_t size;
	off_t at;
	pthread_t thread;
	long result;
	volatile bool stop;
};

static void *write_on(void *arg)
{
	struct writer *w = arg;
	__u64 frame[6] = { 0, (__u64)w->fd, (uintptr_t)w->from, w->size, (__u64)w->at, 0 };
	/* A hundred times, or until it fails. */
	__u64 handle = must_load(w->dev, 6, CONST(5, 0), SYS(0, SYS_pwrite64, 4), ARG(1), ARG(2),
				 ARG(3), ARG(4), BR(0, SLT, 0, 8),
				 OP(LOOP, .width = 8, .dst = 5, .b = 3, .imm = 1,
				    .cond = COSY_COND_ULT, .target = 1), EXIT(0));
	struct cosy_run run;

	do {
		if (run_frame(w->dev, handle, frame, &run) != done(0))
			frame[0] = (__u64)-EIO;
	} while (!w->stop && (long)frame[0] > 0);
	w->result = (long)frame[0];
	return NULL;
}

static void begin(struct writer *w, int fd)
{
	w->fd = fd;
	w->stop = false;
	if (pthread_create(&w->thread, NULL, write_on, w))
		die("pthread_create");
}

static long end(struct writer *w)
{
	w->stop = true;
	pthread_join(w->thread, NULL);
	return w->result;
}

static int make_file(size_t size)
{
	int fd = memfd_create("overwritten", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)size) || fallocate(fd, 0, 0, (off_t)size))
		die("memfd");
	return fd;
}

/* Sealed data does not change any more. */
static void test_seals(struct writer *w)
{
	static const int seals[] = { F_SEAL_WRITE, F_SEAL_FUTURE_WRITE };
	static char first[PAGE], second[PAGE], now[PAGE];
	int changed = 0, accepted = 0;

	for (int i = 0; i < 40; i++) {
		int fd = make_file(PAGE);

		if (pwrite(fd, first, PAGE, 0) != PAGE)
			die("pwrite");
		begin(w, fd);
		usleep(500);
		if (fcntl(fd, F_ADD_SEALS, seals[i % 2]))
			die("F_ADD_SEALS");
		if (pread(fd, now, PAGE, 0) != PAGE)
			die("pread");
		usleep(500);
		accepted += end(w) != -EPERM;
		changed += pread(fd, second, PAGE, 0) != PAGE || memcmp(now, second, PAGE) != 0;
		close(fd);
	}
	check(!accepted && !changed, "no write comes after a seal (%d accepted, %d changed)",
	      accepted, changed);
}

/* Data is written only at the requested place, and truncated data does not reappear. */
static void test_cut(struct writer *w)
{
	static char now[4 * PAGE];
	int fd = make_file(sizeof(now)), wrong = 0;
	long result;

	begin(w, fd);
	for (int i = 0; i < 300; i++) {
		long n;

		if (i % 3 == 0 && (ftruncate(fd, i % 2 ? 0 : w->at + 10) ||
				   ftruncate(fd, sizeof(now))))
			die("ftruncate");
		if (i % 3 == 1 &&
		    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 2 * PAGE))
			die("fallocate");
		n = pread(fd, now, sizeof(now), 0);
		for (long k = 0; k < n; k++) {
			long inside = k - w->at;

			wrong += now[k] && (inside < 0 || inside >= (long)w->size ||
					    now[k] != w->from[inside]);
		}
	}
	result = end(w);
	check(result == (long)w->size && !wrong, "files that are cut off meanwhile (%ld, %d wrong)",
	      result, wrong);
	close(fd);
}

/* The data is in the page that is written to, which must be populated for that. */
static void test_itself(int dev)
{
	int fd = make_file(2 * PAGE), status;
	pid_t pid = fork();

	if (!pid) {
		__u64 handle = must_load(dev, 4, SYS(0, SYS_pwrite64, 4), ARG(1), ARG(2),
					 ARGI(PAGE), ARGI(0), EXIT(0));
		char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		__u64 frame[4] = { 0, (__u64)fd, 0, 0 };
		struct cosy_run run;

		alarm(300);
		for (int i = 0; i < 100; i++) {
			frame[2] = (uintptr_t)page + (i % 2 ? 16 : 0);
			page[PAGE + 15] = (char)i;
			madvise(page, 2 * PAGE, MADV_DONTNEED);
			if (run_frame(dev, handle, frame, &run) != done(0) || frame[0] != PAGE ||
			    (i % 2 && page[PAGE - 1] != (char)i))
				_exit(1);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	check(!status, "a page is written to itself (%#x)", status);
	close(fd);
}

int main(void)
{
	static char text[PAGE];
	struct writer w = { .dev = open_device(), .from = text, .size = PAGE };

	memset(text, 'x', sizeof(text));
	test_seals(&w);
	for (int i = 0; i < PAGE; i++)
		text[i] = (char)(1 + i % 100);
	w.at = PAGE - 50;
	w.size = 100;
	test_cut(&w);
	test_itself(w.dev);
	return finish();
}
