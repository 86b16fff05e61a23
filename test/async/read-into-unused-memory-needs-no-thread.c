/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * With the module, a read of a cached file into memory that was not used before needs no thread, as into
 * memory that was: with operations and in functions, also where the file system does not know RWF_NOWAIT.
 * Memory that has a file, or that may not be written, is left to a thread or to the call, with the same results.
 */
// RUN: %async-compile -O2
// RUN: %everywhere
#include <cosy/task.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "loop.h"

#define SIZE 300001
#define ROOM (1 << 19)

static struct cosy_loop *loop;
static struct cosy_async op;
static unsigned char content[SIZE];

static uint64_t handed_over(void)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	return info.handed_over;
}

/* What was read last needed no thread, with the module. */
static void needed_no_thread(uint64_t before, size_t size)
{
	struct cosy_loop_info info;

	EQUAL(cosy_loop_info(loop, &info, sizeof(info)), 0);
	if (!info.kernel || info.handed_over == before)
		return;
	fprintf(stderr, "a thread has read %zu bytes\n", size);
	exit(1);
}

static unsigned char *unused(int protection)
{
	unsigned char *memory = mmap(NULL, ROOM, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

COSY_ASYNC static int read_file(unsigned char *to, size_t size)
{
	int file = open("file", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(file, to, size);

	close(file);
	return (int)n;
}

/* Read a part of the file into memory of which no page, one page, or all pages were used before. */
static void reads(int file)
{
	static const size_t sizes[] = { 1, 100, 4096, 4097, 16384, 65537, 270000, SIZE, ROOM - 64 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) * 3; i++) {
		size_t size = sizes[i / 3], expected = size < SIZE ? size : SIZE;
		unsigned char *memory = unused(PROT_READ | PROT_WRITE), *to = memory + i % 64;
		uint64_t before = handed_over();

		if (i % 3 == 1)
			memory[size / 2] = 1;
		if (i % 3 == 2)
			memset(memory, 1, ROOM);
		EQUAL(cosy_async_pread(loop, &op, file, to, size, 0), 0);
		EQUAL(cosy_loop_run(loop), 0);
		EQUAL(op.result, (int64_t)expected);
		CHECK(!memcmp(to, content, expected));
		CHECK(size == expected || i % 3 == 2 || !to[expected]);
		needed_no_thread(before, size);
		munmap(memory, ROOM);
		memory = unused(PROT_READ | PROT_WRITE);
		EQUAL(COSY_SPAWN(loop, read_file(memory, size), .op = &op), 0);
		EQUAL(cosy_loop_run(loop), 0);
		EQUAL(op.result, (int64_t)expected);
		CHECK(!memcmp(memory, content, expected));
		needed_no_thread(before, size);
		munmap(memory, ROOM);
	}
}

/* A read stops at the same byte as the call. */
static void other_memory(int file)
{
	unsigned char *memory = unused(PROT_READ | PROT_WRITE), *shared;
	int other = open("other", O_CREAT | O_RDWR, 0600);
	ssize_t native;

	EQUAL(ftruncate(other, ROOM), 0);
	shared = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
	CHECK(shared != MAP_FAILED);
	EQUAL(cosy_async_pread(loop, &op, file, shared, ROOM, 0), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(op.result, SIZE);
	CHECK(!memcmp(shared, content, SIZE));
	munmap(shared, ROOM);
	close(other);
	EQUAL(mprotect(memory + 40960, 4096, PROT_READ), 0);
	native = pread(file, memory + 7, SIZE, 0);
	EQUAL(mprotect(memory, 40960, PROT_NONE), 0);
	EQUAL(mprotect(memory, 40960, PROT_READ | PROT_WRITE), 0);
	EQUAL(madvise(memory, 40960, MADV_DONTNEED), 0);
	EQUAL(cosy_async_pread(loop, &op, file, memory + 7, SIZE, 0), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(op.result, native);
	EQUAL(munmap(memory, ROOM), 0);
	EQUAL(cosy_async_pread(loop, &op, file, memory, 100, 0), 0);
	EQUAL(cosy_loop_run(loop), 0);
	EQUAL(op.result, -EFAULT);
}

int main(void)
{
	char directory[] = "/tmp/cosy-unused-XXXXXX";
	int file;

	CHECK(mkdtemp(directory));
	EQUAL(chdir(directory), 0);
	file = open("file", O_CREAT | O_RDWR, 0600);
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (unsigned char)(i * 7 + i / 256);
	EQUAL(write(file, content, SIZE), SIZE);
	/* Then all blocks of its last page are cached. */
	EQUAL(pread(file, content, SIZE, 0), SIZE);
	loop = make_loop();
	reads(file);
	other_memory(file);
	cosy_loop_destroy(loop);
	EQUAL(unlink("file"), 0);
	EQUAL(unlink("other"), 0);
	EQUAL(rmdir(directory), 0);
	return 0;
}
