/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A read and a close of a file are submitted together. The read has the data of the file, or was cancelled:
 * the close does not overtake it, also if the module makes the close and gives the read back.
 */
// RUN: %compile
// RUN: %everywhere
#include <sys/mman.h>

#include "loop.h"

#define SIZE 65536

static struct cosy_loop *loop;
static struct cosy_async opened, read_all, closed;
static unsigned char content[SIZE], *got;

static void read_and_close(struct cosy_async *op)
{
	const int fd = (int)op->result;

	CHECK(fd >= 0);
	EQUAL(cosy_async_pread(loop, &read_all, fd, got, SIZE, 0), 0);
	EQUAL(cosy_async_close(loop, &closed, fd), 0);
}

int main(void)
{
	char name[] = "/tmp/cosy-close-XXXXXX";
	int fd = mkstemp(name);

	for (size_t i = 0; i < SIZE; i++)
		content[i] = (unsigned char)(i * 7 + i / 256);
	EQUAL(write(fd, content, SIZE), SIZE);
	close(fd);
	loop = make_loop();
	for (int i = 0; i < 50; i++) {
		/* Memory that is not present takes a thread, too. */
		got = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		opened = (struct cosy_async){ .done = read_and_close };
		EQUAL(cosy_async_open(loop, &opened, name, O_RDONLY, 0), 0);
		EQUAL(cosy_loop_run(loop), 0);
		EQUAL(closed.result, 0);
		if (read_all.result != -ECANCELED) {
			EQUAL(read_all.result, SIZE);
			EQUAL(memcmp(got, content, SIZE), 0);
		}
		munmap(got, SIZE);
	}
	EQUAL(cosy_loop_destroy(loop), 0);
	return unlink(name);
}
