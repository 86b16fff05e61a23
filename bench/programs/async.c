// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * async: the cost of operations of a loop, from submitting to collecting, in batches of one and
 * more: operations that do nothing; that get the status of a file; that open, read and close one, as
 * operations and in functions; that wait for a socket and are cancelled; that a thread executes on a
 * processor of the loop; whose calls may block, so that threads make them; and reads that wait for a
 * disk.
 * io_uring has no getpid, so its operation does nothing.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cosy/async.h>
#include <cosy/task.h>

#include "../common/bench.h"
#include "../common/uring.h"

#define MAX_BATCH 64
#define STATUS_OF "async.file"
#define FILE_SIZE 1024
#define FILES 2560
/* The pages that are read are far from each other, so that there is no readahead. */
#define PAGE 4096
#define STEP (64 * PAGE)

static struct cosy_loop *loop;
static struct cosy_async ops[MAX_BATCH];
static struct statx status[MAX_BATCH];
static int sockets[2], file, cold;
static char pages[MAX_BATCH][PAGE];

static void check(long err, const char *what)
{
	if (err < 0) {
		errno = (int)-err;
		bench_die(what);
	}
}

static uint64_t native_getpid(uint64_t count)
{
	long pid = 0;

	while (count--)
		pid = syscall(SYS_getpid);
	return (uint64_t)pid;
}

static uint64_t getpid_entries(uint64_t count)
{
	const uint64_t batch = bench_parameter();
	uint64_t done = 0;

	for (; done < count; done += batch) {
		for (uint64_t i = 0; i < batch; i++)
			check(cosy_async_getpid(loop, &ops[i]), "cosy_async_getpid");
		check(cosy_wait(loop, (unsigned int)batch, NULL), "cosy_wait");
	}
	return (uint64_t)ops[0].result;
}

/* getpid() operations, executed by the thread of a processor, which is the CPU of this thread. */
static uint64_t getpid_on_cpu(uint64_t count)
{
	static bool has_cpu;
	unsigned int cpu;

	if (!has_cpu) {
		check(getcpu(&cpu, NULL) ? -errno : 0, "getcpu");
		check(cosy_loop_cpus(loop, &cpu, 1), "cosy_loop_cpus");
		has_cpu = true;
	}
	return getpid_entries(count);
}

static uint64_t native_statx(uint64_t count)
{
	while (count--)
		check(statx(AT_FDCWD, STATUS_OF, 0, STATX_BASIC_STATS, &status[0]), "statx");
	return status[0].stx_ino;
}

static uint64_t statx_entries(uint64_t count)
{
	const uint64_t batch = bench_parameter();

	for (uint64_t done = 0; done < count; done += batch) {
		for (uint64_t i = 0; i < batch; i++)
			check(cosy_async_statx(loop, &ops[i], AT_FDCWD, STATUS_OF, 0,
					       STATX_BASIC_STATS, &status[i]), "cosy_async_statx");
		check(cosy_wait(loop, (unsigned int)batch, NULL), "cosy_wait");
	}
	check(ops[0].result, "a statx");
	return status[0].stx_ino;
}

/*
 * What a server of files does for each request: it opens a file, gets its status, reads and closes it.
 */
#define READ_FILE(page)								\
	do {									\
		struct stat st;							\
		int fd = open(STATUS_OF, O_RDONLY | O_CLOEXEC);			\
										\
		if (fd < 0 || fstat(fd, &st) || read(fd, page, PAGE) != FILE_SIZE) \
			bench_die(STATUS_OF);					\
		close(fd);							\
	} while (0)

COSY_ASYNC static int serve_files(char *page, uint64_t count)
{
	while (count--)
		READ_FILE(page);
	return 0;
}

static void native_files(void)
{
	for (uint64_t i = 0; i < FILES; i++)
		READ_FILE(pages[0]);
}

static void file_functions(uint64_t batch)
{
	for (uint64_t i = 0; i < batch; i++)
		check(COSY_SPAWN(loop, serve_files(pages[i], FILES / batch)), "COSY_SPAWN");
	check(-cosy_loop_run(loop), "cosy_loop_run");
}

/* Each call of all files at once. */
static void file_entries(uint64_t batch)
{
	static struct stat st[MAX_BATCH];
	static int fds[MAX_BATCH];

	for (uint64_t done = 0; done < FILES; done += batch) {
		for (uint64_t i = 0; i < batch; i++)
			check(cosy_async_open(loop, &ops[i], STATUS_OF, O_RDONLY | O_CLOEXEC, 0),
			      "cosy_async_open");
		check(-cosy_loop_run(loop), "cosy_loop_run");
		for (uint64_t i = 0; i < batch; i++) {
			fds[i] = (int)ops[i].result;
			check(fds[i], STATUS_OF);
			check(cosy_async_fstat(loop, &ops[i], fds[i], &st[i]), "cosy_async_fstat");
		}
		check(-cosy_loop_run(loop), "cosy_loop_run");
		for (uint64_t i = 0; i < batch; i++)
			check(cosy_async_pread(loop, &ops[i], fds[i], pages[i], PAGE, 0),
			      "cosy_async_pread");
		check(-cosy_loop_run(loop), "cosy_loop_run");
		for (uint64_t i = 0; i < batch; i++) {
			if (ops[i].result != FILE_SIZE)
				bench_die(STATUS_OF);
			check(cosy_async_close(loop, &ops[i], fds[i]), "cosy_async_close");
		}
		check(-cosy_loop_run(loop), "cosy_loop_run");
	}
}

static double measure_files(void)
{
	const uint64_t batch = bench_parameter();
	uint64_t begin = bench_now();

	if (!strcmp(bench_way(), "native"))
		native_files();
	else if (!strcmp(bench_way(), "functions"))
		file_functions(batch);
	else
		file_entries(batch);
	return (double)(bench_now() - begin) / FILES;
}

/* Make only the call that would block. */
static uint64_t native_attempt(uint64_t count)
{
	char byte;

	while (count--)
		recv(sockets[0], &byte, 1, MSG_DONTWAIT);
	return 0;
}

static uint64_t wait_and_cancel(uint64_t count)
{
	char byte;

	while (count--) {
		check(cosy_async_recv(loop, &ops[0], sockets[0], &byte, 1, 0), "cosy_async_recv");
		check(cosy_wait(loop, 0, NULL), "cosy_wait");
		check(cosy_cancel(loop, &ops[0]), "cosy_cancel");
		check(cosy_wait(loop, 1, NULL), "cosy_wait");
	}
	return 0;
}

/* fsync() a file in memory, which writes nothing and does not wait. */
static uint64_t native_fsync(uint64_t count)
{
	while (count--)
		check(fsync(file), "fsync");
	return 0;
}

/* The thread that waits for the results sleeps meanwhile. */
static uint64_t fsync_entries(uint64_t count)
{
	const uint64_t batch = bench_parameter();

	for (uint64_t done = 0; done < count; done += batch) {
		for (uint64_t i = 0; i < batch; i++)
			check(cosy_async_fsync(loop, &ops[i], file), "cosy_async_fsync");
		check(cosy_wait(loop, (unsigned int)batch, NULL), "cosy_wait");
		for (uint64_t i = 0; i < batch; i++)
			check(ops[i].result, "an fsync");
	}
	return 0;
}

/* Drop all pages of the file from memory. */
static void make_cold(void)
{
	check(-posix_fadvise(cold, 0, 0, POSIX_FADV_DONTNEED), "posix_fadvise");
}

static uint64_t native_reads(uint64_t count)
{
	const uint64_t batch = bench_parameter();

	for (uint64_t done = 0; done < count; done += batch) {
		make_cold();
		for (uint64_t i = 0; i < batch; i++)
			check(pread(cold, pages[i], PAGE, (off_t)(i * STEP)), "pread");
	}
	return (uint64_t)pages[0][0];
}

static uint64_t read_entries(uint64_t count)
{
	const uint64_t batch = bench_parameter();

	for (uint64_t done = 0; done < count; done += batch) {
		make_cold();
		for (uint64_t i = 0; i < batch; i++)
			check(cosy_async_pread(loop, &ops[i], cold, pages[i], PAGE,
					       (off_t)(i * STEP)), "cosy_async_pread");
		check(cosy_loop_run(loop), "cosy_loop_run");
		for (uint64_t i = 0; i < batch; i++)
			check(ops[i].result == PAGE ? 0 : -EIO, "a read");
	}
	return (uint64_t)pages[0][0];
}

static void completed(int expected)
{
	struct io_uring_cqe cqe;

	if (!uring_next(&cqe))
		check(-EIO, "a completion is missing");
	if (cqe.res != expected)
		check(cqe.res < 0 ? cqe.res : -EIO, "an operation in the ring");
}

static uint64_t ring_nops(uint64_t count)
{
	const uint64_t batch = bench_parameter();

	for (uint64_t done = 0; done < count; done += batch) {
		for (uint64_t i = 0; i < batch; i++)
			uring_sqe()->opcode = IORING_OP_NOP;
		uring_enter((unsigned int)batch);
		for (uint64_t i = 0; i < batch; i++)
			completed(0);
	}
	return 0;
}

static uint64_t ring_statxs(uint64_t count)
{
	const uint64_t batch = bench_parameter();

	for (uint64_t done = 0; done < count; done += batch) {
		for (uint64_t i = 0; i < batch; i++)
			uring_statx(AT_FDCWD, STATUS_OF, 0, &status[i]);
		uring_enter((unsigned int)batch);
		for (uint64_t i = 0; i < batch; i++)
			completed(0);
	}
	return status[0].stx_ino;
}

static uint64_t ring_reads(uint64_t count)
{
	const uint64_t batch = bench_parameter();

	for (uint64_t done = 0; done < count; done += batch) {
		make_cold();
		for (uint64_t i = 0; i < batch; i++)
			uring_rw(IORING_OP_READ, cold, pages[i], PAGE, i * STEP);
		uring_enter((unsigned int)batch);
		for (uint64_t i = 0; i < batch; i++)
			completed(PAGE);
	}
	return (uint64_t)pages[0][0];
}

static uint64_t ring_wait_and_cancel(uint64_t count)
{
	char byte;

	while (count--) {
		struct io_uring_sqe *sqe = uring_rw(IORING_OP_RECV, sockets[0], &byte, 1, 0);

		/* Wait without an attempt first. */
		sqe->ioprio = IORING_RECVSEND_POLL_FIRST;
		sqe->user_data = 1;
		uring_enter(0);
		sqe = uring_sqe();
		sqe->opcode = IORING_OP_ASYNC_CANCEL;
		sqe->addr = 1;
		sqe->flags = IOSQE_CQE_SKIP_SUCCESS;
		uring_enter(1);
		completed(-ECANCELED);
	}
	return 0;
}

static uint64_t ring_fsyncs(uint64_t count)
{
	const uint64_t batch = bench_parameter();

	for (uint64_t done = 0; done < count; done += batch) {
		for (uint64_t i = 0; i < batch; i++) {
			struct io_uring_sqe *sqe = uring_sqe();

			sqe->opcode = IORING_OP_FSYNC;
			sqe->fd = file;
		}
		uring_enter((unsigned int)batch);
		for (uint64_t i = 0; i < batch; i++)
			completed(0);
	}
	return 0;
}

static void start_loop(void)
{
	struct cosy_loop_info info;

	check(cosy_loop_create(&loop, NULL), "cosy_loop_create");
	check(cosy_loop_info(loop, &info, sizeof(info)), "cosy_loop_info");
	if (info.kernel == !strcmp(bench_way(), "user"))
		check(-ENODEV, "the module");
}

static void make_file(void)
{
	static char content[STEP];

	cold = open("async.data", O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	check(cold < 0 ? -errno : 0, "async.data");
	for (int i = 0; i < MAX_BATCH; i++) {
		if (write(cold, content, STEP) != STEP)
			bench_die("async.data");
	}
	if (fsync(cold))
		bench_die("fsync");
	check(-posix_fadvise(cold, 0, 0, POSIX_FADV_RANDOM), "posix_fadvise");
}

static void prepare(void)
{
	int content_of_file;

	if (!strcmp(bench_way(), "io_uring"))
		uring_open_waiting(MAX_BATCH, MAX_BATCH);
	else if (strcmp(bench_way(), "native"))
		start_loop();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		bench_die("socketpair");
	file = memfd_create("handover", MFD_CLOEXEC);
	if (file < 0)
		bench_die("memfd_create");
	make_file();
	/* A server has used its buffers before. The module leaves a read into untouched memory to a thread. */
	memset(pages, 1, sizeof(pages));
	content_of_file = open(STATUS_OF, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (write(content_of_file, pages, FILE_SIZE) != FILE_SIZE || close(content_of_file))
		bench_die(STATUS_OF);
}

int main(int argc, char **argv)
{
	static const struct bench benches[] = {
		{ .name = "page1", .per = "operation", .count = 20000, .parameter = 1,
		  .native = native_getpid, .io_uring = ring_nops, .entries = getpid_entries },
		{ .name = "page64", .per = "operation", .count = 20480, .parameter = 64,
		  .native = native_getpid, .io_uring = ring_nops, .entries = getpid_entries },
		{ .name = "cpu1", .per = "operation", .count = 5000, .parameter = 1,
		  .native = native_getpid, .io_uring = ring_nops, .entries = getpid_on_cpu },
		{ .name = "cpu64", .per = "operation", .count = 20480, .parameter = 64,
		  .native = native_getpid, .io_uring = ring_nops, .entries = getpid_on_cpu },
		{ .name = "statx1", .per = "operation", .count = 5000, .parameter = 1,
		  .native = native_statx, .io_uring = ring_statxs, .entries = statx_entries },
		{ .name = "statx64", .per = "operation", .count = 5120, .parameter = 64,
		  .native = native_statx, .io_uring = ring_statxs, .entries = statx_entries },
		{ .name = "file1", .per = "file", .measure = measure_files, .parameter = 1 },
		{ .name = "file64", .per = "file", .measure = measure_files, .parameter = 64 },
		{ .name = "wait-cancel", .per = "operation", .count = 10000,
		  .native = native_attempt, .io_uring = ring_wait_and_cancel,
		  .entries = wait_and_cancel },
		{ .name = "read-cold", .per = "operation", .count = 1280, .parameter = MAX_BATCH,
		  .native = native_reads, .io_uring = ring_reads, .entries = read_entries },
		{ .name = "handover", .per = "operation", .count = 5000, .parameter = 1,
		  .native = native_fsync, .io_uring = ring_fsyncs, .entries = fsync_entries },
		{ .name = "handover64", .per = "operation", .count = 5120, .parameter = 64,
		  .native = native_fsync, .io_uring = ring_fsyncs, .entries = fsync_entries },
		{ 0 },
	};

	return bench_main(argc, argv, benches, prepare);
}
