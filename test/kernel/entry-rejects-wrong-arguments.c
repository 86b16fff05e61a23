// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Every wrong argument of the ioctls and of the entry, and the protocol of a successful
 * run.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <sys/wait.h>

static char *readable, *hole;	/* a page, and the unmapped page after it */
static char *readonly;

static void test_info(int dev)
{
	struct cosy_info info;

	memset(&info, 0xff, sizeof(info));
	info.size = sizeof(info);
	check(!ioctl(dev, COSY_IOC_INFO, &info), "INFO succeeds");
	check(info.size == sizeof(info) && info.abi == COSY_ABI &&
	      info.oldest_abi == COSY_OLDEST_ABI &&
	      info.format == COSY_VERSION && info.oldest_format &&
	      info.oldest_format <= info.format &&
	      info.load_flags == COSY_LOAD_FLAGS &&
	      info.run_flags == COSY_RUN_FLAGS &&
	      !(info.features & ~(COSY_FEATURE_FUNCTIONS | COSY_FEATURE_ASYNC |
				   COSY_FEATURE_SHARES)) &&
	      info.thread == (__u32)getpid() &&
	      info.max_loads && info.flags == COSY_INFO_UNFILTERED && info.version[0] &&
	      !info.version[15],
	      "INFO returns valid interface versions, formats, flags and features");
	check(ioctl(dev, COSY_IOC_INFO, hole) == -1 && errno == EFAULT,
	      "EFAULT: INFO, the structure is unmapped");
	*(__u32 *)(hole - 4) = sizeof(info);
	check(ioctl(dev, COSY_IOC_INFO, hole - 4) == -1 && errno == EFAULT,
	      "EFAULT: INFO, half the structure is unmapped");
	mprotect(readonly, 4096, PROT_READ | PROT_WRITE);
	*(__u32 *)readonly = sizeof(info);
	mprotect(readonly, 4096, PROT_READ);
	check(ioctl(dev, COSY_IOC_INFO, readonly) == -1 && errno == EFAULT,
	      "EFAULT: INFO, the structure is read-only");
	check(ioctl(dev, COSY_IOC_INFO, ~0ul << 47) == -1 && errno == EFAULT,
	      "EFAULT: INFO, the structure is in the kernel");
	check(ioctl(dev, _IO('Q', 0x50), 0) == -1 && errno == ENOTTY,
	      "ENOTTY: an unknown ioctl");
	check(ioctl(dev, _IOC(_IOC_READ | _IOC_WRITE, 'Q', 0x41, 8), readable) == -1 &&
	      errno == ENOTTY, "ENOTTY: LOAD with another size in its number");
}

static long load_raw(int dev, struct cosy_load *load)
{
	return ioctl(dev, COSY_IOC_LOAD, load) ? -errno : 0;
}

/* Structures and images at wrong addresses, of wrong sizes, and with wrong flags. */
static void test_load_wrong(int dev, const struct cosy_load *good)
{
	struct cosy_load load;

	check(load_raw(dev, (void *)hole) == -EFAULT, "EFAULT: LOAD, the structure is unmapped");
	*(__u32 *)(hole - 8) = sizeof(*good);
	check(load_raw(dev, (void *)(hole - 8)) == -EFAULT,
	      "EFAULT: LOAD, half the structure is unmapped");
	check(load_raw(dev, (void *)-4096l) == -EFAULT,
	      "EFAULT: LOAD, the structure is in the kernel");
	memcpy(readable, good, sizeof(*good));
	mprotect(readable, 4096, PROT_READ);
	check(load_raw(dev, (void *)readable) == -EFAULT,
	      "EFAULT: LOAD, the structure is read-only");
	mprotect(readable, 4096, PROT_READ | PROT_WRITE);

	load = *good;
	load.image = (__u64)(uintptr_t)hole;
	check(load_raw(dev, &load) == -EFAULT, "EFAULT: LOAD, the image is unmapped");
	load = *good;
	load.image = (__u64)(uintptr_t)hole - 30;
	check(load_raw(dev, &load) == -EFAULT, "EFAULT: LOAD, a part of the image is unmapped");
	load = *good;
	load.image = 0xffff888000000000;
	check(load_raw(dev, &load) == -EFAULT, "EFAULT: LOAD, the image is in the kernel");
	load = *good;
	load.image = 1ull << 55;
	check(load_raw(dev, &load) == -EFAULT,
	      "EFAULT: LOAD, the image is at a non-canonical address");
	load = *good;
	load.image_size = COSY_MAX_SIZE + 1;
	check(load_raw(dev, &load) == -E2BIG, "E2BIG: LOAD, an image of 64 MiB and a byte");
	load = *good;
	load.image_size = ~0u;
	check(load_raw(dev, &load) == -E2BIG, "E2BIG: LOAD, an image of 4 GiB");
	load = *good;
	load.image_size = 0;
	check(load_raw(dev, &load) == -EINVAL && load.reason[0],
	      "EINVAL: LOAD, an empty image: %s", load.reason);
	load = *good;
	load.flags = 1u << 31;
	check(load_raw(dev, &load) == -EINVAL && load.reason[0],
	      "EINVAL: LOAD, an unknown flag: %s", load.reason);
}

static void test_load(int dev)
{
	const struct cosy_op ops[] = { EXIT(0) };
	struct image *im = make_image(ops, 1, 1, 0, 0, 0);
	const struct cosy_load good = { .size = sizeof(good),
					.image = (__u64)(uintptr_t)im,
					.image_size = im->h.size };
	struct cosy_load load;
	__u64 last = 0;
	unsigned int i;

	test_load_wrong(dev, &good);
	for (i = 0; i < im->h.size; i++) {
		((unsigned char *)im)[i] ^= 0x80;
		load = good;
		load_raw(dev, &load);
		((unsigned char *)im)[i] ^= 0x80;
	}
	load = good;
	check(!load_raw(dev, &load) && !ioctl(dev, COSY_IOC_UNLOAD, &load.handle),
	      "LOAD of the image, after each of its bytes was corrupted and restored");
	for (i = 0; i < im->h.size; i++) {
		load = good;
		load.image_size = i;
		if (load_raw(dev, &load) != -EINVAL || !load.reason[0])
			break;
	}
	check(i == im->h.size, "EINVAL: LOAD, %u truncated images", i);
	im->ops[0].code = 255;
	load = good;
	check(load_raw(dev, &load) == -EINVAL && load.offset == sizeof(im->h) &&
	      !strcmp(load.reason, "unknown operation"),
	      "EINVAL: LOAD, the reason and its offset: %s", load.reason);
	im->ops[0].code = COSY_OP_EXIT;

	for (i = 0; i < 10; i++) {
		load = good;
		if (load_raw(dev, &load) || load.handle <= last || load.reason[0])
			break;
		last = load.handle;
		if (ioctl(dev, COSY_IOC_UNLOAD, &last))
			break;
	}
	check(i == 10, "each compound gets a larger handle than the ones before");
	check(ioctl(dev, COSY_IOC_UNLOAD, &last) == -1 && errno == ENOENT,
	      "ENOENT: UNLOAD of a handle that was unloaded");
	check(ioctl(dev, COSY_IOC_UNLOAD, hole) == -1 && errno == EFAULT,
	      "EFAULT: UNLOAD, the handle is unmapped");
	check(ioctl(dev, COSY_IOC_UNLOAD, hole - 4) == -1 && errno == EFAULT,
	      "EFAULT: UNLOAD, half the handle is unmapped");
	free(im);
}

static struct cosy_run fresh(__u64 handle, void *frame)
{
	return (struct cosy_run){ .handle = handle,
				  .frame = (__u64)(uintptr_t)frame,
				  .errno_addr = (__u64)(uintptr_t)&errno };
}

/* An lseek() that is no entry has its usual result. */
static void test_other_seeks(int dev)
{
	const off_t run = (off_t)(COSY_RUN_TAG | 4096);

	check(lseek(dev, 0, SEEK_SET) == -1 && errno == ESPIPE, "ESPIPE: a plain lseek");
	check(lseek(dev, 4096, COSY_RUN_WHENCE) == -1 && errno == ESPIPE, "ESPIPE: no tag");
	check(lseek(dev, (off_t)(1ull << 63) | run, COSY_RUN_WHENCE) == -1 && errno == ESPIPE,
	      "ESPIPE: tag and sign");
	check(lseek(dev, run, SEEK_END) == -1 && errno == ESPIPE, "ESPIPE: another whence");
	check(lseek(dev, run, 5) == -1 && errno == EINVAL, "EINVAL: no whence");
}

static void test_address_of_run(int dev, __u64 handle)
{
	__u64 frame[4] = { 37 };
	struct cosy_run *urun = (void *)(hole - sizeof(*urun));

	check(enter(dev, NULL) == -EFAULT, "EFAULT: the run is at 0");
	check(enter(dev, (void *)hole) == -EFAULT, "EFAULT: the run is unmapped");
	check(enter(dev, (void *)(hole - 40)) == -EFAULT, "EFAULT: half of the run is unmapped");
	check(enter(dev, (void *)((1ull << 47) - 8)) == -EFAULT,
	      "EFAULT: the run crosses the end of user space");
	check(enter(dev, (void *)(1ull << 47)) == -EFAULT, "EFAULT: the run is after user space");
	check(enter(dev, (void *)(1ull << 61)) == -EFAULT,
	      "EFAULT: the run is at a non-canonical address");
	*urun = fresh(handle, frame);
	check(enter(dev, urun) == COSY_RUN_LEFT && urun->status == COSY_UPCALL,
	      "a run may end where the page ends");
}

static void test_members_of_run(int dev, __u64 handle, __u64 args)
{
	int other = open_device();
	__u64 frame[4] = { 0 };
	unsigned int rejected = 0;
	struct cosy_run run;

	run = fresh(0, frame);
	check(enter(dev, &run) == -ENOENT, "ENOENT: handle 0");
	run = fresh(~0ull, frame);
	check(enter(dev, &run) == -ENOENT, "ENOENT: handle -1");
	run = fresh(handle, frame);
	check(enter(other, &run) == -ENOENT, "ENOENT: another file's handle");
	run = fresh(handle, frame);
	run.flags = 1u << 31;
	check(enter(dev, &run) == -EINVAL, "EINVAL: an unknown flag");
	run = fresh(handle, frame);
	run.pc = 3;
	check(enter(dev, &run) == -EINVAL, "EINVAL: the pc is after the last operation");
	run = fresh(handle, frame);
	run.pc = ~0u;
	check(enter(dev, &run) == -EINVAL, "EINVAL: pc -1");
	run = fresh(args, frame);
	run.pc = 1;
	check(enter(dev, &run) == -EINVAL, "EINVAL: the pc is at an argument");
	for (unsigned int s = 0; s < 40; s++) {
		if (s == COSY_DONE || s == COSY_AGAIN || s == COSY_RESULT)
			continue;
		run = fresh(handle, frame);
		run.status = s;
		rejected += enter(dev, &run) == -EINVAL && run.status == COSY_AGAIN;
	}
	check(rejected == 37, "EINVAL: 37 statuses with which no run begins: %u", rejected);
	close(other);
}

static void test_frame(int dev, __u64 handle)
{
	struct cosy_run run = fresh(handle, hole);

	check(enter(dev, &run) == -EFAULT && run.status == COSY_DONE,
	      "EFAULT: the frame is unmapped");
	run = fresh(handle, hole - 8);
	check(enter(dev, &run) == -EFAULT, "EFAULT: a part of the frame is unmapped");
	run = fresh(handle, (void *)0xffffffff81000000);
	check(enter(dev, &run) == -EFAULT, "EFAULT: the frame is the kernel's");
	run = fresh(handle, (void *)-8l);
	check(enter(dev, &run) == -EFAULT, "EFAULT: the frame wraps around");
	run = fresh(handle, hole);
	run.status = COSY_RESULT;
	check(enter(dev, &run) == -EFAULT && run.status == COSY_AGAIN,
	      "after an error at a restarted entry, no result is expected, and the run has begun");
}

static void test_upcall_and_exit(int dev, __u64 handle, __u64 args)
{
	__u64 frame[4] = { 37, 0, 99 };
	struct cosy_run run = fresh(handle, frame);

	check(enter(dev, &run) == COSY_RUN_LEFT && run.status == COSY_UPCALL &&
	      run.value == 2 && run.pc == 2 && frame[1] == 42 && frame[2] == 99,
	      "an up-call leaves with all registers");
	frame[1] = 43;
	run.status = COSY_AGAIN;
	check(run_on(dev, &run) == done(3) && frame[1] == 43, "the run resumes, and ends by exit 3");

	run = fresh(args, frame);
	run.calls = 1000;
	check(run_on(dev, &run) == done(0) && run.calls == 1000,
	      "without COSY_RUN_COUNT calls are not counted");
	run.flags = COSY_RUN_COUNT;
	check(run_on(dev, &run) == done(0) && run.calls == 1001 && frame[0] == (__u64)getpid(),
	      "with COSY_RUN_COUNT they are added");
}

/* On other files an entry fails, and does not change the offset. */
static void test_other_files(__u64 handle)
{
	char name[] = "/tmp/cosy-entry-XXXXXX";
	__u64 frame[4] = { 0 };
	struct cosy_run run = fresh(handle, frame);
	int file = mkstemp(name), pipes[2];

	if (file < 0 || write(file, "0123456789", 10) != 10 || lseek(file, 3, SEEK_SET) != 3)
		die(name);
	check(enter(file, &run) < 0 && lseek(file, 0, SEEK_CUR) == 3 && run.status == COSY_DONE,
	      "entering a regular file fails and does not move it");
	if (pipe(pipes))
		die("pipe");
	check(enter(pipes[0], &run) == -ESPIPE, "ESPIPE: entering a pipe");
	close(file);
	check(enter(file, &run) == -EBADF, "EBADF: entering a closed descriptor");
	unlink(name);
}

static void test_entry(int dev)
{
	/* r1 = r0 + 5; up-call 2; exit 3 */
	__u64 handle = must_load(dev, 3, ADDI(1, 0, 5), UPCALL(2), EXIT(3));
	__u64 args = must_load(dev, 3, SYS(0, SYS_getpid, 1), ARG(1), EXIT(0));

	test_other_seeks(dev);
	test_address_of_run(dev, handle);
	test_members_of_run(dev, handle, args);
	test_frame(dev, handle);
	test_upcall_and_exit(dev, handle, args);
	test_other_files(handle);
}

/*
 * An up-call that names some registers receives and returns only those. Registers that are not
 * named contain data of the process, or 0.
 */
static void test_range(int dev)
{
	static __u64 frame[COSY_MAX_REGS];
	static const unsigned int ranges[][3] = {
		{ 1, 0, 1 }, { 4, 0, 4 }, { 5, 4, 1 }, { 9, 2, 3 }, { 9, 5, 4 }, { 63, 50, 13 },
		{ 63, 0, 1 }, { 64, 1, 62 }, { 200, 197, 3 }, { 4096, 17, 1 }, { 4096, 4095, 1 },
	};

	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		unsigned int n = ranges[i][0], first = ranges[i][1], end = first + ranges[i][2];
		const struct cosy_op ops[] = {
			OP(UPCALL, .a = first, .c = end - first), EXIT(1) };
		struct image *im = make_image(ops, 2, n, n, 0, n);
		__u64 handle = load_image(dev, im);
		struct cosy_run run = fresh(handle, frame);
		unsigned int j, wrong = 0;

		if (!handle)
			die("load");
		for (j = 0; j < n; j++)
			frame[j] = j + 7;
		wrong += enter(dev, &run) != COSY_RUN_LEFT || run.status != COSY_UPCALL ||
			 run.pc != 1;
		for (j = 0; j < n; j++)
			wrong += frame[j] != j + 7;
		for (j = 0; j < n; j++)
			frame[j] = j + 70000;
		run.status = COSY_AGAIN;
		wrong += run_on(dev, &run) != done(1);
		for (j = 0; j < n; j++)
			wrong += frame[j] != j + 70000 &&
				 ((j >= first && j < end) || frame[j]);
		check(!wrong, "registers %u to %u of %u at an up-call", first, end - 1, n);
		free(im);
	}
}

static void test_wide(int dev)
{
	static __u64 frame[COSY_MAX_REGS];
	unsigned int sizes[] = { 0, 1, 62, 63, 64, 65, 1000, 4095, 4096 };

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		unsigned int n = sizes[i], j, wrong = 0;
		const struct cosy_op ops[] = {
			UPCALL(0), n ? (struct cosy_op)MOV(n - 1, 0) :
				       (struct cosy_op)UPCALL(1), EXIT(1) };
		struct image *im = make_image(ops, 3, n, n / 2, n / 4, n - n / 4);
		__u64 handle = load_image(dev, im);
		struct cosy_run run = fresh(handle, frame);

		if (!handle)
			die("load");
		for (j = 0; j < n; j++)
			frame[j] = j + 7;
		wrong += enter(dev, &run) != COSY_RUN_LEFT;
		for (j = 0; j < n; j++)
			wrong += frame[j] != (j < n / 2 ? j + 7 : 0);
		run.status = COSY_AGAIN;
		if (n)
			wrong += run_on(dev, &run) != done(1) || frame[n - 1] != frame[0];
		check(!wrong, "%u registers, registers that are no inputs are 0", n);
		free(im);
	}
}

static void test_outputs(int dev)
{
	const struct cosy_op ops[] = { CONST(0, 1), CONST(1, 2), CONST(2, 3), EXIT(0) };
	struct image *im = make_image(ops, 4, 3, 0, 1, 1);
	__u64 handle = load_image(dev, im), frame[3] = { 70, 71, 72 };
	struct cosy_run run = fresh(handle, frame);

	check(run_on(dev, &run) == done(0) && frame[0] == 70 && frame[1] == 2 && frame[2] == 72,
	      "only the outputs are written");
	mprotect(readable, 4096, PROT_READ);
	im->h.nout = 0;
	handle = load_image(dev, im);
	memset(frame, 0, sizeof(frame));
	run = fresh(handle, readable);
	check(run_on(dev, &run) == done(0), "a frame without outputs need not be writable");
	mprotect(readable, 4096, PROT_READ | PROT_WRITE);
	free(im);
}

/* All users may open the device. */
static void test_user(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		__u64 frame[2] = { 0 };
		struct cosy_run run;
		int dev;

		if (setgid(65534) || setuid(65534))
			_exit(2);
		/* Reading only is a question that has no effect. */
		dev = open(COSY_DEVICE, O_RDONLY);
		if (dev >= 0 || errno != EINVAL)
			_exit(4);
		dev = open(COSY_DEVICE, O_RDWR);
		_exit(dev < 0 ? 3 : run_frame(dev, must_load(dev, 2, SYS(0, SYS_getuid, 0),
							     EXIT(0)), frame, &run) !=
			      done(0) || frame[0] != 65534);
	}
	waitpid(pid, &status, 0);
	check(!status, "a process without privileges opens, loads and runs");
}

int main(void)
{
	int dev = open_device();

	readable = must_map(3 * 4096);
	hole = readable + 4096;
	readonly = readable + 2 * 4096;
	munmap(hole, 4096);
	mprotect(readonly, 4096, PROT_READ);

	test_info(dev);
	test_load(dev);
	test_entry(dev);
	test_range(dev);
	test_wide(dev);
	test_outputs(dev);
	test_user();
	return finish();
}
