// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * uring-nops, uring-files, uring-entries: work that a ring of io_uring can do, whose loop is in user
 * mode or in BPF (uring-bpf.bpf.c), and the same by a region. The loop "echo" is measured by echo.c.
 */

#define _GNU_SOURCE
#include <cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../common/bench.h"
#include "../common/directory.h"
#include "../common/uring-bpf.h"
#include "../common/uring.h"

static char memory[FILES_MEMORY + ENTRIES_MEMORY] __attribute__((aligned(4096)));
static char names[FILES][NAME_SIZE];
static uint64_t file_sizes, directory_sizes;
static int directory;
static struct uring_bpf_state *bpf;

static _Noreturn void failed(int error, const char *what)
{
	errno = error;
	bench_die(what);
}

/* uring-nops: an io_uring operation that does nothing; the region and native code call getpid(). */

static uint64_t nops_by_region(uint64_t count)
{
	pid_t pid = 0;
	uint64_t i;

	COSY_START;
	for (i = 0; i < count; i++)
		pid = getpid();
	COSY_END;
	return pid == getpid() ? count : 0;
}

static uint64_t nops_by_ring(uint64_t count)
{
	uint64_t done = 0;

	while (done < count) {
		for (unsigned int i = 0; i < NOPS && done < count; i++, done++)
			uring_sqe()->opcode = IORING_OP_NOP;
		uring_submit();
	}
	return done;
}

static uint64_t nops_by_bpf(uint64_t count)
{
	bpf->done = 0;
	bpf->wanted = count;
	uring_bpf_run();
	return bpf->done;
}

static uint64_t count_of(uint64_t count)
{
	return count;
}

/* uring-files: open a file, read it in pieces to its end, and close it. */

static uint64_t files_by_region(uint64_t count)
{
	uint64_t i, total = 0;
	ssize_t n;

	COSY_START;
	for (i = 0; i < count; i++) {
		int file = open(names[i % FILES], O_RDONLY);

		do {
			n = read(file, memory, PIECE);
			total += (uint64_t)n;
		} while (n == PIECE);
		close(file);
	}
	COSY_END;
	return total;
}

static void ring_open(unsigned int slot, uint64_t file)
{
	struct io_uring_sqe *sqe = uring_sqe();

	sqe->opcode = IORING_OP_OPENAT;
	sqe->fd = AT_FDCWD;
	sqe->addr = (uintptr_t)names[file % FILES];
	sqe->open_flags = O_RDONLY;
	sqe->file_index = slot + 1;
	sqe->user_data = slot;
}

static void ring_read(unsigned int slot)
{
	struct io_uring_sqe *sqe = uring_rw(IORING_OP_READ, (int)slot, memory + slot * PIECE, PIECE,
					    (uint64_t)-1);

	sqe->flags = IOSQE_FIXED_FILE;
	sqe->user_data = SLOTS | slot;
}

static void ring_close(unsigned int slot)
{
	struct io_uring_sqe *sqe = uring_sqe();

	sqe->opcode = IORING_OP_CLOSE;
	sqe->flags = IOSQE_CQE_SKIP_SUCCESS;
	sqe->file_index = slot + 1;
}

static uint64_t files_by_ring(uint64_t count)
{
	uint64_t next = 0, done = 0, total = 0;
	struct io_uring_cqe cqe;

	for (unsigned int slot = 0; slot < SLOTS && next < count; slot++)
		ring_open(slot, next++);
	while (done < count) {
		uring_enter(1);
		while (uring_next(&cqe)) {
			unsigned int slot = cqe.user_data & (SLOTS - 1);
			bool opened = !(cqe.user_data & SLOTS);

			if (cqe.res < 0)
				failed(-cqe.res, "an operation in the ring");
			total += opened ? 0 : (uint64_t)cqe.res;
			if (opened || cqe.res == PIECE) {
				ring_read(slot);
				continue;
			}
			ring_close(slot);
			done++;
			if (next < count)
				ring_open(slot, next++);
		}
	}
	uring_enter(0);
	return total;
}

static uint64_t files_by_bpf(uint64_t count)
{
	bpf->next = bpf->done = bpf->sum = 0;
	bpf->wanted = count;
	bpf->at = (uintptr_t)names;
	uring_bpf_run();
	return bpf->sum;
}

static uint64_t sum_of_files(uint64_t count)
{
	return file_sizes * (count / FILES);
}

static void make_files(void)
{
	for (unsigned int i = 0; i < FILES; i++) {
		/* One of four takes two pieces. */
		size_t size = 1000 + i + (i % 4 ? 0 : PIECE);
		int file;

		snprintf(names[i], NAME_SIZE, "%04u.data", i);
		file = open(names[i], O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (file < 0 || write(file, memory, size) != (ssize_t)size || close(file))
			bench_die(names[i]);
		file_sizes += size;
	}
}

/* uring-entries: the statuses of the entries of a directory. */

static uint64_t entries_by_region(uint64_t count)
{
	const uint64_t passes = count / bench_parameter();
	static struct stat st;
	const int dir = directory;
	uint64_t pass, total = 0;
	long n, at;

	COSY_START;
	for (pass = 0; pass < passes; pass++) {
		lseek(dir, 0, SEEK_SET);
		while ((n = syscall(SYS_getdents64, dir, memory, DIRENTS)) > 0) {
			for (at = 0; at < n; at += ((struct dirent64 *)(memory + at))->d_reclen) {
				fstatat(dir, ((struct dirent64 *)(memory + at))->d_name, &st,
					AT_SYMLINK_NOFOLLOW);
				total += (uint64_t)st.st_size;
			}
		}
	}
	COSY_END;
	return total;
}

/* io_uring has no operation like getdents64(), so that is a plain call. */
static long get_entries(bool first)
{
	if (first)
		lseek(directory, 0, SEEK_SET);
	return syscall(SYS_getdents64, directory, memory, DIRENTS);
}

static uint64_t entries_by_ring(uint64_t count)
{
	static struct statx status[STATUSES];
	uint64_t total = 0;
	int filled = 0;
	long n, at;

	for (uint64_t pass = 0; pass < count / bench_parameter(); pass++) {
		for (n = get_entries(true); n > 0; n = get_entries(false)) {
			for (at = 0; at < n;) {
				struct dirent64 *entry = (struct dirent64 *)(memory + at);

				uring_statx(directory, entry->d_name, AT_SYMLINK_NOFOLLOW,
					    &status[filled++]);
				at += entry->d_reclen;
				if (filled < STATUSES && at < n)
					continue;
				uring_submit();
				while (filled)
					total += status[--filled].stx_size;
			}
		}
	}
	return total;
}

static uint64_t entries_by_bpf(uint64_t count)
{
	long n;

	bpf->next = bpf->done = bpf->sum = 0;
	bpf->fd = directory;
	for (uint64_t pass = 0; pass < count / bench_parameter(); pass++) {
		for (n = get_entries(true); n > 0; n = get_entries(false)) {
			bpf->at = 0;
			bpf->end = (uint64_t)n;
			uring_bpf_run();
		}
	}
	return bpf->sum;
}

static uint64_t sum_of_entries(uint64_t count)
{
	return directory_sizes * (count / bench_parameter());
}

static void make_ring(const char *loop, size_t size, unsigned int slots)
{
	if (!strcmp(bench_way(), "io_uring-bpf")) {
		bpf = uring_bpf_open(loop, memory, size, slots);
	} else if (!strcmp(bench_way(), "io_uring")) {
		uring_open_waiting(RING_ENTRIES, RING_COMPLETIONS);
		if (slots)
			uring_register_files(slots);
	}
}

/* The benchmarks' parameter is the number of files of a directory, or 0 or 1. */
static void prepare(void)
{
	if (bench_parameter() > 1) {
		directory_sizes = directory_make(bench_parameter(), &directory, NULL);
		make_ring("entries", ENTRIES_MEMORY, 0);
	} else if (bench_parameter()) {
		make_files();
		make_ring("files", FILES_MEMORY, SLOTS);
	} else {
		make_ring("nops", NOPS_MEMORY, 0);
	}
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "uring-nops", .per = "operation", .count = 6400, .region = nops_by_region,
		  .io_uring = nops_by_ring, .io_uring_bpf = nops_by_bpf, .expected = count_of },
		{ .name = "uring-files", .per = "file", .count = 4 * FILES, .parameter = 1,
		  .region = files_by_region, .io_uring = files_by_ring,
		  .io_uring_bpf = files_by_bpf, .expected = sum_of_files },
		{ .name = "uring-entries", .per = "file", .count = 1000, .parameter = 1000,
		  .region = entries_by_region, .io_uring = entries_by_ring,
		  .io_uring_bpf = entries_by_bpf, .expected = sum_of_entries },
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
