// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The limits of loaded code, and of operations executed at once.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <sys/resource.h>
#include <sys/wait.h>

static int load_again(int dev, const struct image *im)
{
	struct cosy_load load = { .size = sizeof(load), .image = (__u64)(uintptr_t)im,
				  .image_size = im->h.size };

	return ioctl(dev, COSY_IOC_LOAD, &load) ? -errno : 0;
}

static void test_many(void)
{
	const struct cosy_op ops[] = { EXIT(0) };
	struct image *im = make_image(ops, 1, 1, 0, 0, 0);
	struct cosy_info info = { .size = sizeof(info) };

	for (int round = 0; round < 3; round++) {
		int dev = open_device(), err = 0;
		unsigned int n;

		ioctl(dev, COSY_IOC_INFO, &info);
		for (n = 0; n < 10000; n++) {
			err = load_again(dev, im);
			if (err)
				break;
		}
		check(err == -ENOSPC && n == info.max_loads,
		      "ENOSPC after %u loads", n);
		close(dev);
	}
	free(im);
}

static void test_large(int dev)
{
	/* A MiB of image: 43,689 slots, all executed. */
	unsigned int nops = (1 << 20) / sizeof(struct cosy_op), i;
	struct cosy_op *ops = calloc(1 << 20, sizeof(*ops));
	struct image *im;
	struct cosy_run run;
	__u64 frame[2] = { 0 }, handle;
	double start;
	long ret;

	for (i = 0; i < (1 << 20) - 1; i++)
		ops[i] = (struct cosy_op)ADDI(0, 0, 1);
	ops[nops - 1] = (struct cosy_op)EXIT(0);
	im = make_image(ops, nops, 1, 1, 0, 1);
	start = now();
	handle = load_image(dev, im);
	start = now() - start;
	ret = run_frame(dev, handle, frame, &run);
	check(ret == done(0) && frame[0] == nops - 1,
	      "a compound of %u slots, loaded in %.2f us per slot", nops,
	      start * 1e6 / nops);
	free(im);

	ops[nops - 1] = (struct cosy_op)ADDI(0, 0, 1);
	ops[COSY_MAX_OPS - 1] = (struct cosy_op)EXIT(0);
	im = make_image(ops, COSY_MAX_OPS, 1, 1, 0, 1);
	handle = load_image(dev, im);
	frame[0] = 0;
	ret = run_frame(dev, handle, frame, &run);
	check(ret == done(0) && frame[0] == COSY_MAX_OPS - 1,
	      "a compound of the largest number of slots runs");
	free(im);
	free(ops);
}

/* 64 MiB of data: the image counts only while it is loaded, the code later. */
static void test_quota(void)
{
	size_t size = COSY_MAX_SIZE, pad;
	struct image *im = must_map(size);
	struct cosy_load load = { .size = sizeof(load), .image = (__u64)(uintptr_t)im,
				  .image_size = size };
	unsigned int nops = COSY_MAX_OPS, i, n = 0, again = 0;
	int devs[3], err = 0;

	for (i = 0; i < nops - 1; i++)
		im->ops[i] = (struct cosy_op)ADDI(0, 0, 1);
	im->ops[nops - 1] = (struct cosy_op)EXIT(0);
	pad = size - sizeof(im->h) - nops * sizeof(struct cosy_op) - 1;
	im->h = (struct cosy_header){ .magic = COSY_MAGIC, .version = COSY_VERSION,
		.nregs = 1, .size = size, .nops = nops, .strings_size = 1,
		.data_size = pad, .ninputs = 1, .nexits = 1, .limit = 1 };

	for (i = 0; i < 3; i++)
		devs[i] = open_device();
	for (n = 0; n < 100; n++) {
		err = ioctl(devs[n % 3], COSY_IOC_LOAD, &load) ? -errno : 0;
		if (err)
			break;
	}
	check(err == -EDQUOT && n >= 2 && n < 20,
	      "%u images of 64 MiB over several files, then EDQUOT", n);
	for (i = 0; i < 3; i++)
		close(devs[i]);
	devs[0] = open_device();
	for (again = 0; again < n; again++)
		if (ioctl(devs[0], COSY_IOC_LOAD, &load))
			break;
	check(again == n, "after the files are closed, as many images are loaded: %u", again);
	for (i = 0; i < 4; i++) {
		__u64 handle = load.handle;

		if (ioctl(devs[0], COSY_IOC_UNLOAD, &handle) ||
		    ioctl(devs[0], COSY_IOC_LOAD, &load))
			break;
	}
	check(i == 4, "an image is loaded in exchange for one that is unloaded");
	close(devs[0]);

	/* An error in the last byte of the whole image. */
	devs[0] = open_device();
	im->h.data_size--;
	im->h.strings_size++;
	((char *)im)[sizeof(im->h) + (size_t)nops * sizeof(struct cosy_op) + 1] = 'x';
	check(load_again(devs[0], im) == -EINVAL,
	      "EINVAL: an image of 64 MiB with an error in its last byte");
	close(devs[0]);
	munmap(im, size);
}

/* Left for another reason than its few operations. */
static bool left_too_early(long ret, const struct cosy_run *run)
{
	return ret == COSY_RUN_LEFT &&
	       (run->status == COSY_AGAIN ||
		(run->status == COSY_LIMIT && run->value == COSY_LIMIT_TIME));
}

static void test_limit(int dev)
{
	__u64 frame[4] = { 0 };
	/* Ten slots in a loop */
	__u64 handle = must_load(dev, 3, ADDI(0, 0, 1), ADDI(1, 1, 1), ADDI(1, 1, 1),
				 ADDI(1, 1, 1), ADDI(1, 1, 1), ADDI(1, 1, 1),
				 ADDI(1, 1, 1), ADDI(1, 1, 1), ADDI(1, 1, 1), JMP(0));
	static const __u64 limits[] = { 1, 9, 10, 11, 100, 1023, 1024, 1025, 5000,
					100000, 5000000 };
	unsigned int wrong = 0, i;
	struct cosy_run run = { .handle = handle, .frame = (__u64)(uintptr_t)frame,
				.flags = COSY_RUN_LIMIT };
	long ret;

	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		bool few = limits[i] < 100000;

		/* Seldom it leaves for another reason. Start again. */
		do {
			memset(frame, 0, sizeof(frame));
			run.pc = 0;
			run.status = COSY_DONE;
			run.limit = limits[i];
			ret = enter(dev, &run);
		} while (few ? left_too_early(ret, &run) :
			       ret == COSY_RUN_LEFT && run.status == COSY_AGAIN);
		if (ret != COSY_RUN_LEFT || run.status != COSY_LIMIT || run.pc != 0) {
			wrong++;
		} else if (run.value == COSY_LIMIT_OPS) {
			/* It stops at the first back-edge above the limit. */
			wrong += frame[0] != limits[i] / 10 + 1;
		} else {
			wrong += frame[0] > limits[i] / 10 || few;
		}
	}
	check(!wrong, "operation limits, large and small");

	/* The limit in the header applies if the run has none. */
	const struct cosy_op ops[] = { ADDI(0, 0, 1), JMP(0) };
	struct image *im = make_image(ops, 2, 1, 1, 0, 1);

	im->h.limit = 2000;
	memset(&run, 0, sizeof(run));
	run.handle = load_image(dev, im);
	run.frame = (__u64)(uintptr_t)frame;
	do {
		memset(frame, 0, sizeof(frame));
		run.pc = 0;
		run.status = COSY_DONE;
		ret = enter(dev, &run);
	} while (left_too_early(ret, &run));
	check(ret == COSY_RUN_LEFT && run.status == COSY_LIMIT &&
	      run.value == COSY_LIMIT_OPS && frame[0] == 1001,
	      "a compound leaves at the limit of its header");
	im->h.limit = 0;
	check(!load_image(dev, im) && errno == EINVAL, "EINVAL: the header's limit is 0");
	free(im);

	/* Without a limit it leaves when the time slice is used up. */
	memset(&run, 0, sizeof(run));
	run.handle = handle;
	run.frame = (__u64)(uintptr_t)frame;
	for (i = 0; i < 100; i++) {
		ret = enter(dev, &run);
		if (ret != COSY_RUN_LEFT || run.status == COSY_LIMIT)
			break;
		run.status = COSY_AGAIN;
	}
	check(ret == COSY_RUN_LEFT && run.status == COSY_LIMIT &&
	      run.value == COSY_LIMIT_TIME, "an endless compound leaves by its time slice");
}

/*
 * The rest of a limit is returned, and the next entry continues with it, so that the sum is the
 * same.
 */
static void test_rest(int dev)
{
	__u64 frame[4] = { 0 };
	/* Five slots in a loop, one of them an up-call. */
	__u64 handle = must_load(dev, 3, ADDI(0, 0, 1), ADDI(1, 1, 1), ADDI(1, 1, 1),
				 UPCALL(0), JMP(0));
	static const __u64 limits[] = { 0, 1, 4, 5, 6, 99, 100, 12345 };
	struct cosy_run run = { .handle = handle, .frame = (__u64)(uintptr_t)frame };
	unsigned int wrong = 0, i;
	__s64 left;
	long ret;

	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		memset(frame, 0, sizeof(frame));
		run.pc = 0;
		run.status = COSY_DONE;
		run.limit = limits[i];
		run.flags = COSY_RUN_LIMIT;
		for (;;) {
			ret = enter(dev, &run);
			if (ret != COSY_RUN_LEFT ||
			    (run.status == COSY_LIMIT && !left_too_early(ret, &run)))
				break;
			run.status = COSY_AGAIN;
		}
		left = (__s64)run.limit;
		wrong += ret != COSY_RUN_LEFT || run.value != COSY_LIMIT_OPS ||
			 frame[0] != limits[i] / 5 + 1 ||
			 left != (__s64)limits[i] - 5 * (__s64)frame[0];
	}
	check(!wrong, "what is left of a limit, over many entries");

	/* Any values of the fields only affect when it leaves. */
	static const __u64 odd[] = { ~0ull, 1ull << 63, (1ull << 63) - 1, 1ull << 56 };

	for (wrong = 0, i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		memset(frame, 0, sizeof(frame));
		run.pc = 0;
		run.status = COSY_DONE;
		run.limit = odd[i];
		run.slice = (__u32)odd[i];
		run.operations = run.cpu_time = odd[3 - i];
		run.flags = COSY_RUN_LIMIT | COSY_RUN_CAPPED;
		ret = enter(dev, &run);
		wrong += ret != COSY_RUN_LEFT || run.status == COSY_DONE ||
			 frame[0] != 1;
	}
	check(!wrong, "limits with the sign bit or of all ones make a run leave early");
}

int main(void)
{
	int dev = open_device();

	become_user(61002);
	test_many();
	test_large(dev);
	test_quota();
	test_limit(dev);
	test_rest(dev);
	return finish();
}
