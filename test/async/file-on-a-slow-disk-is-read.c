/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files on a disk that answers on request. The module reads them without a thread that waits for
 * the disk; without it, threads do. The results are the same.
 */
// RUN: %async-compile -O2
// RUN: %vm env COSY_EXECUTOR=user bash %S/Inputs/on-a-slow-disk.sh %t
// RUN: %vm env COSY_EXECUTOR=auto bash %S/Inputs/on-a-slow-disk.sh %t
// RUN: %vm env COSY_EXECUTOR=kernel bash %S/Inputs/on-a-slow-disk.sh %t
#include "slow-disk.h"
#include "functions.h"

#define SIZE	(8u << 20)
#define PIECE	4096u
/* No readahead reaches from one position to the next. */
#define STEP	(128u << 10)
#define PLACES	(SIZE / STEP)

static char wanted[SIZE], got[SIZE];
static struct cosy_async ops[PLACES];
static bool in_module;
static int file;

/* Each test has a separate file, which is not cached. */
static void open_file(const char *name)
{
	memset(got, 0, sizeof(got));
	file = open(name, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0);
}

static void submit(unsigned int place)
{
	EQUAL(cosy_async_pread(loop, &ops[place], file, got + place * STEP, PIECE, place * STEP), 0);
}

static bool is_right(unsigned int place)
{
	return ops[place].result == PIECE &&
	       !memcmp(got + place * STEP, wanted + place * STEP, PIECE);
}

static unsigned int threads(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	unsigned int n = 0;

	CHECK(status);
	while (fgets(line, sizeof(line), status))
		sscanf(line, "Threads: %u", &n);
	fclose(status);
	return n;
}

static void many(void)
{
	open_file("many");
	disk_hold();
	for (unsigned int i = 0; i < PLACES; i++)
		submit(i);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	disk_await(1);
	settle();
	for (unsigned int i = 0; i < PLACES; i++)
		CHECK(cosy_async_pending(&ops[i]));
	if (in_module)
		EQUAL(threads(), 1);
	else
		CHECK(threads() > 1);
	disk_go_on();
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < PLACES; i++)
		CHECK(is_right(i));
	EQUAL(close(file), 0);
}

/* Every second position is cached, and the file ends at an unexpected position. */
static void whole(void)
{
	char byte;

	open_file("whole");
	for (unsigned int i = 0; i < PLACES; i += 2)
		EQUAL(pread(file, &byte, 1, i * STEP), 1);
	EQUAL(cosy_async_pread(loop, &ops[0], file, got, SIZE, 0), 0);
	EQUAL(result_of(loop, &ops[0]), SIZE);
	EQUAL(memcmp(got, wanted, SIZE), 0);
	EQUAL(cosy_async_pread(loop, &ops[0], file, got, SIZE, SIZE - 5), 0);
	EQUAL(result_of(loop, &ops[0]), 5);
	EQUAL(cosy_async_pread(loop, &ops[0], file, got, SIZE, SIZE), 0);
	EQUAL(result_of(loop, &ops[0]), 0);
	EQUAL(close(file), 0);
}

/* At the file's position, in the order of submission. */
static void in_order(void)
{
	enum { COUNT = 40, LENGTH = 5000 };

	open_file("in order");
	EQUAL(lseek(file, 3 * STEP + 100, SEEK_SET), 3 * STEP + 100);
	disk_hold();
	for (unsigned int i = 0; i < COUNT; i++)
		EQUAL(cosy_async_read(loop, &ops[i], file, got + i * LENGTH, LENGTH), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	disk_await(1);
	settle();
	for (unsigned int i = 0; i < COUNT; i++)
		CHECK(cosy_async_pending(&ops[i]));
	if (in_module)
		EQUAL(threads(), 1);
	disk_go_on();
	EQUAL(cosy_loop_run(loop), 0);
	if (in_module)
		EQUAL(threads(), 1);
	for (unsigned int i = 0; i < COUNT; i++)
		EQUAL(ops[i].result, LENGTH);
	EQUAL(memcmp(got, wanted + 3 * STEP + 100, COUNT * LENGTH), 0);
	EQUAL(lseek(file, 0, SEEK_CUR), 3 * STEP + 100 + COUNT * LENGTH);
	EQUAL(lseek(file, SIZE - 7000, SEEK_SET), SIZE - 7000);
	for (unsigned int i = 0; i < 3; i++)
		EQUAL(cosy_async_read(loop, &ops[i], file, got + i * LENGTH, LENGTH), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[0].result, LENGTH);
	EQUAL(ops[1].result, 2000);
	EQUAL(ops[2].result, 0);
	EQUAL(close(file), 0);
}

/* The first of them is cancelled. The next one reads at its position. */
static void next_in_order(void)
{
	if (!in_module)
		return;
	open_file("next");
	disk_hold();
	for (unsigned int i = 0; i < 3; i++)
		EQUAL(cosy_async_read(loop, &ops[i], file, got + i * PIECE, PIECE), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	disk_await(1);
	settle();
	EQUAL(cosy_cancel(loop, &ops[0]), 0);
	disk_go_on();
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(ops[0].result, -ECANCELED);
	EQUAL(ops[1].result, PIECE);
	EQUAL(ops[2].result, PIECE);
	EQUAL(memcmp(got + PIECE, wanted, 2 * PIECE), 0);
	/* And all of them, by descriptor. */
	disk_hold();
	EQUAL(lseek(file, SIZE / 2, SEEK_SET), SIZE / 2);
	for (unsigned int i = 0; i < 3; i++)
		EQUAL(cosy_async_read(loop, &ops[i], file, got + i * PIECE, PIECE), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	disk_await(1);
	EQUAL(cosy_cancel_fd(loop, file), 3);
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < 3; i++)
		EQUAL(ops[i].result, -ECANCELED);
	EQUAL(lseek(file, 0, SEEK_CUR), SIZE / 2);
	disk_go_on();
	EQUAL(close(file), 0);
}

/* The number of calls that threads have begun. */
static uint64_t handed_over(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.handed_over;
}

/* Reads that wait in the module can be cancelled. Those that threads make cannot. */
static void cancelling(void)
{
	uint64_t before = handed_over();
	int other;

	open_file("cancelling");
	other = dup(file);
	disk_hold();
	submit(1);
	EQUAL(cosy_async_pread(loop, &ops[2], other, got + 2 * STEP, PIECE, 2 * STEP), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	disk_await(2);
	settle();
	/* One call may need two reads of the disk. */
	while (!in_module && handed_over() < before + 2)
		usleep(1000);
	EQUAL(cosy_cancel(loop, &ops[1]), in_module ? 0 : -EALREADY);
	EQUAL(cosy_cancel_fd(loop, other), in_module ? 1 : 0);
	EQUAL(close(other), 0);
	if (in_module) {
		EQUAL(cosy_wait(loop, 2, NULL), 2);
		EQUAL(ops[1].result, -ECANCELED);
		EQUAL(ops[2].result, -ECANCELED);
		submit(1);
	}
	disk_go_on();
	EQUAL(cosy_loop_run(loop), 0);
	CHECK(is_right(1));
	CHECK(in_module || is_right(2));
	EQUAL(close(file), 0);
}

static void failing(void)
{
	open_file("failing");
	disk->fail = true;
	submit(3);
	EQUAL(result_of(loop, &ops[3]), -EIO);
	disk->fail = false;
	submit(3);
	EQUAL(result_of(loop, &ops[3]), PIECE);
	CHECK(is_right(3));
	EQUAL(close(file), 0);
}

COSY_ASYNC static int sum(unsigned int from)
{
	unsigned char c[2];
	int n = 0;

	for (unsigned int i = from; i < PLACES; i += 4)
		n += pread(file, c, 2, i * STEP + 5000) == 2 ? c[0] + c[1] : -100000;
	return n;
}

static void functions(void)
{
	int n = 0, should_be = 0;

	open_file("functions");
	disk_hold();
	for (unsigned int i = 0; i < 4; i++)
		EQUAL(COSY_SPAWN(loop, sum(i), .op = &ops[i]), 0);
	settle();
	disk_await(1);
	disk_go_on();
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 0; i < 4; i++)
		n += (int)ops[i].result;
	for (unsigned int i = 0; i < PLACES; i++)
		should_be += (unsigned char)wanted[i * STEP + 5000] +
			     (unsigned char)wanted[i * STEP + 5001];
	EQUAL(n, should_be);
	EQUAL(close(file), 0);
}

COSY_ASYNC static int sum_all(int fd)
{
	unsigned char buffer[3000];
	ssize_t length;
	int n = 0;

	while ((length = read(fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t i = 0; i < length; i++)
			n += buffer[i];
	}
	return length ? -1 : n;
}

static void plain_function(void)
{
	int should_be = 0;

	for (unsigned int i = SIZE - 300000; i < SIZE; i++)
		should_be += (unsigned char)wanted[i];
	open_file("plain function");
	EQUAL(lseek(file, SIZE - 300000, SEEK_SET), SIZE - 300000);
	EQUAL(COSY_SPAWN(loop, sum_all(file), .op = &ops[0]), 0);
	EQUAL(result_of(loop, &ops[0]), should_be);
	if (in_module)
		EQUAL(threads(), 1);
	EQUAL(close(file), 0);
}

/* The program closes the loop's descriptor in the module. Threads continue. */
static void losing_module(void)
{
	struct cosy_loop_info info;

	open_file("losing");
	disk_hold();
	submit(4);
	submit(5);
	for (unsigned int i = 8; i < 10; i++)
		EQUAL(cosy_async_read(loop, &ops[i], file, got + (i - 8) * PIECE, PIECE), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	disk_await(1);
	settle();
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	EQUAL(close_loops(), info.kernel);
	submit(6);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	settle();
	disk_go_on();
	EQUAL(cosy_loop_run(loop), 0);
	for (unsigned int i = 4; i < 7; i++)
		CHECK(is_right(i));
	EQUAL(ops[8].result, PIECE);
	EQUAL(ops[9].result, PIECE);
	EQUAL(memcmp(got, wanted, 2 * PIECE), 0);
	EQUAL(close(file), 0);
}

/* Reads that wait in the module are cancelled. Threads that make calls must be awaited. */
static void destroying(void)
{
	const uint64_t before = handed_over();

	open_file("destroying");
	disk_hold();
	submit(7);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	disk_await(1);
	settle();
	/* The read of the disk may be one that was begun before the thread made its call. */
	while (!in_module && handed_over() == before)
		usleep(1000);
	if (!in_module) {
		EQUAL(cosy_loop_destroy(loop), -EBUSY);
		disk_go_on();
		EQUAL(result_of(loop, &ops[7]), PIECE);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	CHECK(!cosy_async_pending(&ops[7]));
	CHECK(in_module ? ops[7].result == -ECANCELED : is_right(7));
	disk_go_on();
	EQUAL(close(file), 0);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"many", "whole", "in order", "next", "cancelling", "functions", "plain function",
		"failing", "losing", "destroying",
	};
	struct cosy_loop_info info;

	EQUAL(argc, 3);
	disk_begin(argv[1], argv[2]);
	EQUAL(chdir(argv[2]), 0);
	for (unsigned int i = 0; i < SIZE; i++)
		wanted[i] = (char)(i * 2654435761u >> 13);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		file = open(names[i], O_CREAT | O_RDWR | O_CLOEXEC, 0644);
		EQUAL(write(file, wanted, SIZE), SIZE);
		EQUAL(close(file), 0);
	}
	EQUAL(chdir("/"), 0);
	disk_make_cold(argv[2]);
	EQUAL(chdir(argv[2]), 0);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	in_module = info.kernel;
	many();
	whole();
	in_order();
	next_in_order();
	cancelling();
	functions();
	plain_function();
	failing();
	losing_module();
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(cosy_loop_create(&loop, NULL), 0);
	destroying();
	EQUAL(chdir("/"), 0);
	disk_end(argv[2]);
	puts("passed");
	return 0;
}
