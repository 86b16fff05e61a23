// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Threads that load, run, unload, close and change the memory of the same file at the
 * same time. Each result must be possible for some order of these operations.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define SECONDS	2

static atomic_bool stop;
static atomic_uint wrong, ran;
static atomic_int dev;
static _Atomic __u64 handles[8];
static struct image *image, *harmless;
static struct cosy_run *shared_run;
static __u64 *shared_frame;

static __u64 load_quietly(int fd)
{
	struct cosy_load load = { .size = sizeof(load),
				  .image = (__u64)(uintptr_t)image,
				  .image_size = image->h.size };

	return ioctl(fd, COSY_IOC_LOAD, &load) ? 0 : load.handle;
}

static void *runner(void *arg)
{
	__u64 frame[4];
	struct cosy_run run;
	unsigned int i = (uintptr_t)arg;

	while (!stop) {
		long ret;

		memset(frame, 0, sizeof(frame));
		ret = run_frame(dev, handles[i++ % 8], frame, &run);
		if (ret == done(3)) {
			wrong += frame[0] != 100 || frame[1] != (__u64)getpid();
			ran++;
		} else if (ret != -ENOENT && ret != -EBADF) {
			wrong++;
		}
	}
	return NULL;
}

static void *loader(void *arg)
{
	unsigned int i = (uintptr_t)arg;

	while (!stop) {
		__u64 old = atomic_exchange(&handles[i % 8], load_quietly(dev));

		if (old)
			ioctl(dev, COSY_IOC_UNLOAD, &old);
		i++;
	}
	return NULL;
}

static void *closer(void *arg)
{
	(void)arg;
	while (!stop) {
		int fresh = open(COSY_DEVICE, O_RDWR), old;

		if (fresh < 0)
			continue;
		old = atomic_exchange(&dev, fresh);
		usleep(500);
		close(old);
	}
	return NULL;
}

/* All unload the same handle. Exactly one must succeed. */
static atomic_uint unloaded;
static pthread_barrier_t barrier;
static __u64 victim;

static void *unloader(void *arg)
{
	(void)arg;
	for (int i = 0; i < 500; i++) {
		pthread_barrier_wait(&barrier);
		unloaded += !ioctl(dev, COSY_IOC_UNLOAD, &victim);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* All threads enter and overwrite one run and one frame. */
static void *sharer(void *arg)
{
	(void)arg;
	while (!stop)
		enter(dev, shared_run);
	return NULL;
}

static void *scribbler(void *arg)
{
	unsigned int seed = (uintptr_t)arg;

	while (!stop) {
		__u64 *words = (__u64 *)shared_run;

		for (unsigned int i = 0; i < sizeof(*shared_run) / 8; i++)
			if (rand_r(&seed) % 4 == 0)
				words[i] ^= 1ull << rand_r(&seed) % 64;
		shared_run->handle = handles[0];
		shared_run->frame = (__u64)(uintptr_t)shared_frame;
		shared_run->flags &= COSY_RUN_COUNT | COSY_RUN_LIMIT;
		shared_run->pc %= 4;
		shared_run->status = COSY_AGAIN;
		shared_frame[rand_r(&seed) % 4] = rand_r(&seed);
	}
	return NULL;
}

/* The image changes while it is loaded. Only verified code runs. */
static void *corruptor(void *arg)
{
	struct image *im = arg;
	unsigned int seed = 7;

	while (!stop) {
		((unsigned char *)im)[rand_r(&seed) % harmless->h.size] ^= 1 << rand_r(&seed) % 8;
		sched_yield();
		memcpy(im, harmless, harmless->h.size);
	}
	return NULL;
}

static void *corrupt_loader(void *arg)
{
	struct image *im = arg;
	struct cosy_load load;
	struct cosy_run run;

	while (!stop) {
		memset(&load, 0, sizeof(load));
		load.size = sizeof(load);
		load.image = (__u64)(uintptr_t)im;
		load.image_size = harmless->h.size;
		if (ioctl(dev, COSY_IOC_LOAD, &load))
			continue;
		memset(&run, 0, sizeof(run));
		run.handle = load.handle;
		run.frame = (__u64)(uintptr_t)shared_frame;
		run.limit = 10000;
		run.flags = COSY_RUN_LIMIT;
		enter(dev, &run);
		ioctl(dev, COSY_IOC_UNLOAD, &load.handle);
	}
	return NULL;
}

static void together(unsigned int n, void *(*const *what)(void *), void *const *args)
{
	pthread_t threads[8];
	unsigned int i;

	stop = false;
	wrong = ran = 0;
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, what[i], args[i]))
			die("pthread_create");
	sleep(SECONDS);
	stop = true;
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	/* r0 = 100 by counting, r1 = getpid(), exit 3 */
	const struct cosy_op ops[] = { ADDI(0, 0, 1), BR(0, ULT, 100, 0),
				       SYS(1, SYS_getpid, 0), EXIT(3) };
	const struct cosy_op no_calls[] = { ADDI(0, 0, 1), BR(0, ULT, 100, 0), EXIT(3) };
	void *args[8] = { (void *)1, (void *)2, (void *)3, (void *)4 };
	struct image *copy;
	pthread_t threads[4];
	struct cosy_run run;
	__u64 frame[4] = { 0 };

	image = make_image(ops, 4, 4, 4, 0, 4);
	dev = open_device();
	shared_run = must_map(4096);
	shared_frame = must_map(1 << 20);

	together(4, (void *(*[])(void *)){ runner, runner, loader, loader }, args);
	check(!wrong && ran, "run, load and unload at once (%u runs)", ran);
	together(4, (void *(*[])(void *)){ runner, runner, loader, closer }, args);
	check(!wrong && ran,
	      "runs, loads, and closes and opens of the device at once (%u runs)", ran);

	pthread_barrier_init(&barrier, NULL, 5);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, unloader, NULL);
	wrong = 0;
	for (int i = 0; i < 500; i++) {
		victim = load_quietly(dev);
		unloaded = 0;
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		wrong += unloaded != 1;
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	check(!wrong, "one of four threads unloads a compound");

	handles[0] = load_quietly(dev);
	together(4, (void *(*[])(void *)){ sharer, sharer, scribbler, scribbler }, args);
	check(run_frame(dev, handles[0], frame, &run) == done(3) && frame[0] == 100 &&
	      frame[1] == (__u64)getpid(),
	      "a compound runs, after runs that changed while they were read");

	copy = must_map(4096);
	harmless = make_image(no_calls, 3, 4, 4, 0, 4);
	memcpy(copy, harmless, harmless->h.size);
	together(3, (void *(*[])(void *)){ corruptor, corrupt_loader, corrupt_loader },
		 (void *[]){ copy, copy, copy });
	handles[1] = load_quietly(dev);
	frame[0] = 0;
	check(handles[1] > handles[0] && run_frame(dev, handles[1], frame, &run) == done(3) &&
	      frame[0] == 100, "a compound is loaded and runs, after images that changed meanwhile");
	return finish();
}
