/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cosy_init, cosy_run, cosy_free and cosy_error: valid images, and many invalid ones.
 */
// RUN: %compile %s -o %t -l:libcosy.a
// RUN: %run-all %t | FileCheck %s
// CHECK: 0 bytes: offset 0: image shorter than its header
// CHECK: {{[0-9]+}} bytes: offset 8: size is not the size of the image
// CHECK: 4096 bytes: offset 0: not a compound
// CHECK: 67108865 bytes: offset 8: image too large
// CHECK: done

// Freed compounds are unloaded.
// RUN: %vm env COSY_EXECUTOR=kernel COSY_DEBUG=1 %t many 2>&1 | count 0

// COSY_STATS prints these compounds by their names. They have no native code.
// RUN: COSY_EXECUTOR=native COSY_STATS=1 %t 2>&1 | FileCheck --check-prefix=STATS %s
// STATS: cosy: calls: executor=user runs=3 syscalls=21 entries=0
// STATS: cosy: data: executor=user runs=1 syscalls=0 entries=0
#include <cosy.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "region.h"

static void *read_image(const char *name, size_t *size)
{
	FILE *file = fopen(name, "re");
	char *image = malloc(65536);

	CHECK(file && image);
	*size = fread(image, 1, 65536, file);
	fclose(file);
	return image;
}

static void check_runs(const char *name)
{
	uint64_t frame[3] = { 7, 1, 2 };
	struct cosy *compound;
	size_t size;
	void *image = read_image(name, &size);

	compound = cosy_init(image, size);
	CHECK(compound && !*cosy_error());
	free(image);
	for (int i = 0; i < 3; i++) {
		EQUAL(cosy_run(compound, frame), 0);
		/* Only outputs are written. */
		EQUAL(frame[0], 7);
		EQUAL(frame[2], 2);
		EQUAL(frame[1], 7 * (uint64_t)getpid());
	}
	cosy_free(compound);
	cosy_free(NULL);
}

static void check_data(const char *name)
{
	uint64_t frame[2] = { 0, 0 };
	struct cosy *compound;
	size_t size;
	void *image = read_image(name, &size);

	compound = cosy_init(image, size);
	CHECK(compound);
	free(image);
	EQUAL(cosy_run(compound, frame), 0);
	EQUAL(frame[1], 11);
	cosy_free(compound);
}

static void check_upcalls(const char *name)
{
	uint64_t frame[6] = { 0 };
	struct cosy *compound;
	size_t size;
	void *image = read_image(name, &size);

	compound = cosy_init(image, size);
	CHECK(compound);
	free(image);
	errno = 0;
	EQUAL(cosy_run(compound, frame), -1);
	EQUAL(errno, ENOTSUP);
	cosy_free(compound);
}

static void say_invalid(const void *image, size_t size)
{
	errno = 0;
	CHECK(!cosy_init(image, size));
	EQUAL(errno, EINVAL);
	CHECK(*cosy_error());
	printf("%zu bytes: %s\n", size, cosy_error());
}

/* Every byte changed, and every length: the image is rejected with a reason, or runs. */
static void check_garbage(const char *name)
{
	struct cosy *compound;
	size_t size;
	unsigned char *image = read_image(name, &size);
	static char noise[4096];
	int refused = 0;

	say_invalid("", 0);
	say_invalid(image, size - 1);
	say_invalid(memset(noise, 0xa5, sizeof(noise)), sizeof(noise));
	say_invalid(image, COSY_MAX_SIZE + 1ul);
	for (size_t i = 0; i < size; i++) {
		for (int value = 0; value < 256; value += 5) {
			unsigned char old = image[i];

			image[i] = (unsigned char)value;
			compound = cosy_init(image, size);
			CHECK(compound ? !*cosy_error() :
					 errno == EINVAL && *cosy_error());
			refused += !compound;
			cosy_free(compound);
			image[i] = old;
		}
	}
	CHECK(refused > 1000);
	for (size_t i = 0; i < size; i++)
		CHECK(!cosy_init(image, i) && errno == EINVAL);
	free(image);
}

/* More compounds than the module accepts at a time. */
static void check_many(const char *name)
{
	size_t size;
	void *image = read_image(name, &size);

	for (int i = 0; i < 5000; i++) {
		uint64_t frame[3] = { 1 };
		struct cosy *compound = cosy_init(image, size);

		CHECK(compound);
		EQUAL(cosy_run(compound, frame), 0);
		cosy_free(compound);
	}
	free(image);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		check_many(CALLS);
		return 0;
	}
	check_runs(CALLS);
	check_data(DATA);
	check_upcalls(MIXED);
	check_garbage(CALLS);
	printf("done\n");
	return 0;
}
