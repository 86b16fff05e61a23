// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The possible actions of a user function in the kernel, and the handling of one
 * that fails.
 */
// Linux 6.1 has no BPF arenas.
// UNSUPPORTED: kernel-6.1
// RUN: %compile-bpf %S/Inputs/functions.bpf.c -o %t.bpf.o
// RUN: %compile-dynamic %s -o %t -lbpf
// Not while another test shortens the time limit of functions.
// RUN: %vm flock /tmp/function-time %t %t.bpf.o %S/Inputs/functions.bpf.c
#include "function.h"

#include <pthread.h>
#include <sys/wait.h>

static int dev;
static struct segment seg;
static struct bpf_object *object;
static const char *source;

/* Return the line of the source that contains "line: WHAT". */
static unsigned int line_of(const char *what)
{
	char text[256], mark[64];
	unsigned int line = 0;
	FILE *f = fopen(source, "r");

	if (!f)
		die(source);
	snprintf(mark, sizeof(mark), "/* line: %s */", what);
	while (fgets(text, sizeof(text), f)) {
		line++;
		if (strstr(text, mark)) {
			fclose(f);
			return line;
		}
	}
	die(mark);
	return 0;
}

static void test_results(void)
{
	__u64 frame[7] = { 0 }, handle = must_bind(dev, object, &seg, "sum");
	unsigned char *bytes = (unsigned char *)seg.base + 0x10000;
	struct cosy_run run;
	__u64 sum = 0;

	for (int i = 0; i < 100000; i++)
		sum += bytes[i] = i * 7 + i / 256;
	check(call(dev, handle, frame, &run, bytes, 100000, 0) == done(0) &&
	      frame[0] == sum, "a function adds 100,000 bytes: %llu", (long long)frame[0]);
	check(call(dev, handle, frame, &run, NULL, 0, 0) == done(0) &&
	      !frame[0], "a function that accesses nothing may have NULL");

	handle = must_bind(dev, object, &seg, "arguments");
	for (int i = 1; i < 7; i++)
		frame[i] = i * 1000003ull << 13;
	frame[1] = 0;
	run_frame(dev, handle, frame, &run);
	check(frame[0] == (2 * 2 + 3 * 3 + 4 * 4 + 5 * 5 + 6 * 6) * (1000003ull << 13),
	      "a function gets six arguments");

	handle = must_bind(dev, object, &seg, "store");
	check(call(dev, handle, frame, &run, bytes, 0x1122334455667788, 0) == done(0) &&
	      frame[0] == 1 && *(__u64 *)bytes == 0x1122334455667788,
	      "the process sees a store of a function");
	*(__u64 *)bytes = 0x8877665544332211;
	handle = must_bind(dev, object, &seg, "load");
	check(call(dev, handle, frame, &run, bytes, 0, 0) == done(0) &&
	      frame[0] == 0x8877665544332211, "a function sees a store of the process");
}

static void failed(const char *name, const void *p, __u64 a, __u64 b,
		   unsigned int status, const void *address, unsigned int line,
		   bool wrote)
{
	__u64 frame[7] = { 0 }, handle = must_bind(dev, object, &seg, name);
	struct cosy_run run;
	long ret = call(dev, handle, frame, &run, p, a, b);

	check(ret == COSY_RUN_LEFT && run.status == COSY_FAILED && !run.pc &&
	      run.value == status && run.failure.function == 0 &&
	      run.failure.line == line && frame[0] == 0x5555 &&
	      run.failure.address == (uintptr_t)address &&
	      run.failure.wrote == wrote,
	      "%s: status %llu address %#llx line %u (%u) wrote %u", name,
	      (long long)run.value, (long long)run.failure.address,
	      run.failure.line, line, run.failure.wrote);
}

static void test_failures(void)
{
	char *nothing = seg.base + 0x70000000;
	char *begin = seg.base + 0x80000, *end = begin + 0x10000;

	failed("load", nothing + 5, 0, 0, COSY_FUNCTION_FAULT, nothing + 5,
	       line_of("load"), false);
	failed("load", NULL, 0, 0, COSY_FUNCTION_FAULT, seg.base,
	       line_of("load"), false);
	failed("load", seg.base + SEGMENT_SIZE - 8, 0, 0, COSY_FUNCTION_FAULT,
	       seg.base + SEGMENT_SIZE - 8, line_of("load"), false);
	failed("store", nothing, 1, 0, COSY_FUNCTION_FAULT, nothing,
	       line_of("store"), true);
	failed("deep", nothing, 0, 0, COSY_FUNCTION_FAULT, nothing,
	       line_of("deep"), false);
	failed("divide", NULL, 0, 0, COSY_FUNCTION_DIVIDE, NULL, 77, false);
	failed("stack", seg.base + 0x10000, 1, 1, COSY_FUNCTION_STACK, NULL, 88,
	       false);

	/* Runs through all mapped memory, and not beyond. */
	for (char *p = begin; p < end; p += 4096)
		*(volatile char *)p = 1;
	failed("run_away", begin, 0x4242424242424242, 0,
	       COSY_FUNCTION_FAULT, end, line_of("run_away"), true);
	check(*(__u64 *)(end - 8) == 0x4242424242424242,
	      "stores before a fault remain");
}

static void test_outside(void)
{
	__u64 frame[7] = { 0 }, handle = must_bind(dev, object, &seg, "load");
	__u64 here = 0x1234567;
	struct cosy_run run;

	check(call(dev, handle, frame, &run, &here, 0, 0) == COSY_RUN_LEFT &&
	      run.status == COSY_UPCALL && run.value == 3 && run.pc == 7 &&
	      frame[0] == 0x5555, "a pointer out of the segment: up-call");
	check(call(dev, handle, frame, &run, (void *)0xffff888000000000, 0, 0) ==
	      COSY_RUN_LEFT && run.status == COSY_UPCALL, "a pointer into the kernel: up-call");
	check(call(dev, handle, frame, &run, seg.base + SEGMENT_SIZE, 0, 0) ==
	      COSY_RUN_LEFT && run.status == COSY_UPCALL,
	      "a pointer to the end of the segment: up-call");
	check(call(dev, load_caller(dev), frame, &run, seg.base, 0, 0) ==
	      COSY_RUN_LEFT && run.status == COSY_UPCALL && run.pc == 7,
	      "a function without a program: up-call");
}

/* A program that breaks the rules harms only its own results. */
static void test_liar(void)
{
	__u64 frame[7] = { 0 }, handle = must_bind(dev, object, &seg, "liar");
	struct cosy_run run;

	check(call(dev, handle, frame, &run, NULL, 1, 1) == COSY_RUN_LEFT &&
	      run.status == COSY_FAILED && run.value == COSY_FUNCTION_FAULT &&
	      run.failure.wrote == 1 && !run.failure.function,
	      "a program that returns a wrong status can only fail");
}

/* A fault outside the segment is not a failure, and its address is not revealed. */
static void test_elsewhere(void)
{
	__u64 frame[7] = { 0 }, handle = must_bind(dev, object, &seg, "elsewhere");
	struct cosy_run run = { 0 };
	/* Never mapped: the hole before the kernel's half. */
	long ret = call(dev, handle, frame, &run, NULL, 0xffff800000123450, 0);

	check(ret == done(0) && frame[0] == 1 && !run.failure.address,
	      "a read elsewhere: %#lx, result %llu, address %#llx", ret,
	      (long long)frame[0], (long long)run.failure.address);
}

static void test_bind(void)
{
	struct cosy_bind bind = { .base = (uintptr_t)seg.base, .pointers = 1 };
	__u64 handle = load_caller(dev);
	int fd = function(object, "load"), map = seg.map;
	__u64 frame[7] = { 0 };
	struct cosy_run run;

#define REFUSED(error, field, value, what) do {				\
	struct cosy_bind wrong = bind;					\
									\
	wrong.field = value;						\
	check(bind_function(dev, handle, fd, &wrong) == -error, what);	\
} while (0)
	REFUSED(EINVAL, base, bind.base + 4096, "EINVAL: the base is not that of a segment");
	REFUSED(EINVAL, pointers, 0x40, "EINVAL: a seventh argument is a pointer");
	REFUSED(EINVAL, nstacks, 65, "EINVAL: 65 stacks");
	REFUSED(EINVAL, trial, COSY_BIND_MAX_TRIAL + 1, "EINVAL: too many calls");
	REFUSED(EINVAL, function, 1, "EINVAL: the compound has no such function");
	REFUSED(EINVAL, function, 0xffffffff, "EINVAL: the compound has no such function");
	REFUSED(EINVAL, reserved, 1, "EINVAL: the reserved member is set");
	REFUSED(EINVAL, flags, 1, "EINVAL: the flags are unknown");
	check(bind_function(dev, handle + 1000, fd, &bind) == -ENOENT,
	      "ENOENT: the compound does not exist");
	check(bind_function(dev, handle, 12345, &bind) == -EBADF,
	      "EBADF: the program's descriptor is not open");
	check(bind_function(dev, handle, dev, &bind) == -EINVAL,
	      "EINVAL: the program's descriptor is the device");
	check(bind_function(dev, handle, map, &bind) == -EINVAL,
	      "EINVAL: the program's descriptor is a map");
	check(bind_function(dev, handle, function(object, "greedy"), &bind) == -EINVAL,
	      "EINVAL: the program uses more context than there is");
	check(bind_function(dev, handle, -1, &bind) == -ENOENT, "ENOENT: no program is bound");
	check(ioctl(dev, COSY_IOC_BIND, 4096) && errno == EFAULT,
	      "EFAULT: the structure of BIND is unmapped");
	check(ioctl(dev, COSY_IOC_YIELD, 4096) && errno == EFAULT,
	      "EFAULT: the structure of YIELD is unmapped");

	/* The trials count, then it is an up-call; another segment has its own count. */
	*(__u64 *)(seg.base + 0x10000) = 99;
	bind.trial = 3;
	check(!bind_function(dev, handle, fd, &bind) && !bind.calls,
	      "a program is bound for three calls");
	for (int i = 0; i < 3; i++)
		check(call(dev, handle, frame, &run, seg.base + 0x10000, 0, 0) ==
		      done(0) && frame[0] == 99, "call %d runs the program", i);
	check(call(dev, handle, frame, &run, seg.base + 0x10000, 0, 0) ==
	      COSY_RUN_LEFT && run.status == COSY_UPCALL, "the fourth call is an up-call");
	check(!bind_function(dev, handle, -1, &bind) && bind.calls == 3 && bind.cycles,
	      "the binding has counted three calls, %llu cycles", (long long)bind.cycles);
	bind.trial = 0;
	check(!bind_function(dev, handle, fd, &bind), "the program is bound");
	check(!bind_function(dev, handle, fd, &bind), "the same program is bound again");
	bind.base += SEGMENT_SIZE;
	check(!bind_function(dev, handle, function(object, "deep"), &bind),
	      "another program is bound for another segment");
	bind.base -= SEGMENT_SIZE;
	check(!bind_function(dev, handle, -1, &bind), "the first segment's program is removed");
	check(call(dev, handle, frame, &run, seg.base + 0x10000, 0, 0) ==
	      COSY_RUN_LEFT && run.status == COSY_UPCALL,
	      "a call with the first segment is an up-call");
	check(call(dev, handle, frame, &run, seg.base + SEGMENT_SIZE + 0x10000, 0, 0) ==
	      done(0) && frame[0] == 99, "a call with the other segment runs its program");
}

/*
 * Stacks are exclusive. There are more threads than stacks. Each thread waits in the function
 * until all others are in it or were rejected.
 */
enum { STACKS = 3, THREADS = 5 };
static __u64 stack_handle;

struct user {
	pthread_t thread;
	long ret;
	__u64 frame[7];
	struct cosy_run run;
};

static void *use_stack(void *arg)
{
	struct user *user = arg;

	user->ret = call(dev, stack_handle, user->frame, &user->run,
			 seg.base + 0x10000, (uintptr_t)user, 64);
	return NULL;
}

static void test_stacks(void)
{
	struct cosy_bind bind = {
		.base = (uintptr_t)seg.base, .pointers = 1,
		.stacks = (uintptr_t)seg.base + 0x40000, .stack_size = 4096,
		.stack_stride = 8192, .nstacks = STACKS,
	};
	struct user users[THREADS] = { 0 };
	int upcalls = 0;

	memset(seg.base + 0x10000, 0, 8);
	for (int i = 0; i < STACKS; i++)
		memset(seg.base + 0x40000 + i * 8192, 0, 4096);
	stack_handle = load_caller(dev);
	check(!bind_function(dev, stack_handle, function(object, "stack"), &bind),
	      "bound with stacks");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&users[i].thread, NULL, use_stack, &users[i]);
	for (double end = now() + 600; upcalls < THREADS - STACKS && now() < end;) {
		usleep(10000);
		upcalls = 0;
		for (int i = 0; i < THREADS; i++)
			upcalls += __atomic_load_n(&users[i].ret, __ATOMIC_RELAXED) ==
				   (long)COSY_RUN_LEFT;
	}
	__atomic_store_n((__u64 *)(seg.base + 0x10000), 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(users[i].thread, NULL);
	upcalls = 0;
	for (int i = 0; i < THREADS; i++) {
		upcalls += users[i].ret == (long)COSY_RUN_LEFT &&
			   users[i].run.status == COSY_UPCALL;
		for (int j = 0; users[i].ret == done(0) && j < i; j++)
			check(users[j].ret != done(0) ||
			      users[i].frame[0] != users[j].frame[0],
			      "threads %d and %d have a stack of their own", i, j);
	}
	check(upcalls == THREADS - STACKS, "%d of %d threads get no stack", upcalls, THREADS);
	/* And return it. */
	check(call(dev, stack_handle, users[0].frame, &users[0].run,
		   seg.base + 0x10000, 5, 64) == done(0) &&
	      users[0].frame[0] == bind.stacks, "a stack is free after its call");
}

/* Later bindings have the same stacks, and know which are in use. */
static void test_replaced(void)
{
	struct cosy_bind bind = {
		.base = (uintptr_t)seg.base, .pointers = 1,
		.stacks = (uintptr_t)seg.base + 0x40000, .stack_size = 4096,
		.stack_stride = 8192, .nstacks = STACKS,
	};
	volatile __u64 *flag = (__u64 *)(seg.base + 0x10000);
	volatile __u64 *own = (__u64 *)(seg.base + 0x40000);
	volatile __u64 *other = (__u64 *)(seg.base + 0x40000 + 8192);
	struct user first = { 0 }, second = { 0 };

	*flag = 0;
	*own = 0;
	*other = 0;
	stack_handle = load_caller(dev);
	check(!bind_function(dev, stack_handle, function(object, "stack"), &bind),
	      "the program is bound with stacks");
	pthread_create(&first.thread, NULL, use_stack, &first);
	while (!*own)
		usleep(1000);
	bind.trial = COSY_BIND_NO_CALLS;
	check(!bind_function(dev, stack_handle, function(object, "stack"), &bind),
	      "it is bound again, for no calls");
	use_stack(&second);
	check(second.ret == COSY_RUN_LEFT && second.run.status == COSY_UPCALL,
	      "a call is an up-call");
	bind.trial = 0;
	check(!bind_function(dev, stack_handle, function(object, "stack"), &bind),
	      "it is bound again, with the same stacks");
	second.ret = 0;
	pthread_create(&second.thread, NULL, use_stack, &second);
	/* Without a stack it would have returned. */
	while (!*other && !__atomic_load_n(&second.ret, __ATOMIC_RELAXED))
		usleep(1000);
	*flag = 1;
	pthread_join(first.thread, NULL);
	pthread_join(second.thread, NULL);
	check(first.ret == done(0) && first.frame[0] == bind.stacks,
	      "a call that has begun keeps its stack");
	check(second.ret == done(0) && second.frame[0] == bind.stacks + 8192,
	      "a call after the new binding has another stack");
}

/* Enter as if a function had been left in this state. */
static long enter_with(__u64 handle, __u64 *frame, struct cosy_run *run,
		       struct cosy_suspended *state, __u64 n)
{
	memset(run, 0, sizeof(*run));
	run->handle = handle;
	run->frame = (uintptr_t)frame;
	run->errno_addr = (uintptr_t)&errno;
	run->status = COSY_AGAIN;
	run->flags = COSY_RUN_SUSPENDED;
	run->suspended = (uintptr_t)state;
	frame[0] = 0x5555;
	frame[1] = (uintptr_t)seg.base + 0x10000;
	frame[2] = n;
	return run_on(dev, run);
}

/* A function is left, and resumes. The state that is passed may be wrong. */
static void test_suspended(void)
{
	__u64 frame[7] = { 0 }, handle = must_bind(dev, object, &seg, "count_on");
	volatile __u64 *counter = (__u64 *)(seg.base + 0x10000);
	const struct cosy_op no_call[] = { OP(CONST, .dst = 0, .imm = 7), EXIT(0) };
	struct cosy_bind bind = {
		.base = (uintptr_t)seg.base, .pointers = 1,
		.stacks = (uintptr_t)seg.base + 0x40000, .stack_size = 4096,
		.stack_stride = 8192, .nstacks = STACKS,
	};
	const __u64 rounds = 20000000;
	struct cosy_suspended state;
	unsigned int entries = 0;
	struct cosy_run run;
	struct image *im;
	long ret;

	*counter = 0;
	frame[1] = (uintptr_t)counter;
	frame[2] = rounds;
	memset(&run, 0, sizeof(run));
	run.handle = handle;
	run.frame = (uintptr_t)frame;
	run.errno_addr = (uintptr_t)&errno;
	run.suspended = (uintptr_t)&state;
	while ((ret = enter(dev, &run)) == COSY_RUN_LEFT &&
	       run.flags & COSY_RUN_SUSPENDED && !run.pc) {
		run.status = COSY_AGAIN;
		entries++;
	}
	check(ret == done(0) && frame[0] == rounds && *counter == rounds &&
	      !run.flags, "a function counts to %llu in %u entries",
	      (long long)frame[0], entries + 1);
	check(entries > 1, "it leaves the kernel when its time slice is used up");

	memset(&state, 0x77, sizeof(state));
	state.saved[0] = 5;
	*counter = 0;
	check(enter_with(handle, frame, &run, &state, 9) == done(0) &&
	      frame[0] == 9 && *counter == 4, "a function resumes with the state of the process");
	check(enter_with(handle, frame, &run, (void *)8, 9) == -EFAULT &&
	      run.status == COSY_AGAIN && *counter == 4,
	      "EFAULT: the state is unmapped, and the function does not begin");

	check(!bind_function(dev, handle, -1, &bind), "the program is removed");
	state.wrote = 5;
	check(enter_with(handle, frame, &run, &state, 9) == COSY_RUN_LEFT &&
	      run.status == COSY_FAILED && run.value == COSY_FUNCTION_LOST &&
	      run.failure.wrote == 1 && !(run.flags & COSY_RUN_SUSPENDED),
	      "a function whose program was removed is lost");

	handle = load_caller(dev);
	check(!bind_function(dev, handle, function(object, "count_on"), &bind),
	      "the program is bound with stacks");
	for (__u32 stack = 0; stack < 100; stack++) {
		bool valid = stack && stack <= STACKS;

		state.stack = stack == 99 ? ~0u : stack;
		ret = enter_with(handle, frame, &run, &state, 9);
		if (valid ? ret != done(0) :
		    ret != COSY_RUN_LEFT || run.status != COSY_FAILED ||
		    run.value != COSY_FUNCTION_LOST)
			check(false,
			      "stacks 1 to 3 are valid, and the others are lost, but stack %u: %#lx, status %u",
			      stack, ret, run.status);
	}
	handle = must_bind(dev, object, &seg, "load");
	*counter = 815;
	check(enter_with(handle, frame, &run, &state, 9) == done(0) &&
	      frame[0] == 815, "a program that does not suspend ignores the state");

	im = make_image(no_call, 2, 7, 7, 0, 7);
	handle = load_image(dev, im);
	free(im);
	check(enter_with(handle, frame, &run, &state, 9) == done(0) && frame[0] == 7,
	      "a compound that calls no function ignores the state");
}

/* One of several threads that resume with the same state. */
static void *go_on(void *arg)
{
	struct cosy_suspended state = { .resume = 1, .stack = 1 };
	__u64 frame[7] = { 0 };
	struct cosy_run run;

	for (int i = 0; i < 200; i++)
		if (enter_with(*(__u64 *)arg, frame, &run, &state, 1000) != done(0) ||
		    frame[0] != 1000)
			return arg;
	return NULL;
}

/* Leave a function, then remove its segment and resume. */
static int without_segment(const char *file)
{
	struct segment own = segment_create();
	struct bpf_object *programs = functions_load(dev, file, &own);
	__u64 handle = must_bind(dev, programs, &own, "count_on"), frame[7] = { 0 };
	struct cosy_suspended state;
	struct cosy_run run = { .handle = handle, .frame = (uintptr_t)frame, .slice = 1,
				.errno_addr = (uintptr_t)&errno, .suspended = (uintptr_t)&state };
	long ret;

	*(volatile __u64 *)(own.base + 0x10000) = 0;
	frame[1] = (uintptr_t)own.base + 0x10000;
	frame[2] = 20000000;
	if (enter(dev, &run) != COSY_RUN_LEFT || !(run.flags & COSY_RUN_SUSPENDED))
		return 1;
	if (munmap(own.base, SEGMENT_SIZE) || close(own.map))
		return 2;
	bpf_object__close(programs);
	run.status = COSY_AGAIN;
	ret = run_on(dev, &run);
	return ret != done(0) && (ret != COSY_RUN_LEFT || run.status != COSY_FAILED) ? 3 : 0;
}

/* A function that was left resumes elsewhere: several times, in a child, without its segment. */
static void test_left(const char *file)
{
	struct cosy_bind bind = {
		.base = (uintptr_t)seg.base, .pointers = 1,
		.stacks = (uintptr_t)seg.base + 0x40000, .stack_size = 4096,
		.stack_stride = 8192, .nstacks = STACKS,
	};
	struct cosy_suspended state = { .resume = 1, .stack = 1 };
	__u64 frame[7] = { 0 }, handle = load_caller(dev);
	pthread_t threads[3];
	struct cosy_run run;
	int failed = 0, status;
	void *result;
	pid_t pid;

	check(!bind_function(dev, handle, function(object, "count_on"), &bind),
	      "the program is bound");
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, go_on, &handle))
			die("pthread_create");
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &result);
		failed += result != NULL;
	}
	check(!failed, "threads go on in the same state, on the same stack");

	pid = fork();
	if (!pid)
		_exit(enter_with(handle, frame, &run, &state, 9) != COSY_RUN_LEFT ||
		      run.status != COSY_FAILED || run.value != COSY_FUNCTION_LOST);
	waitpid(pid, &status, 0);
	check(!status, "a child has not what its parent has begun, status %#x", status);

	pid = fork();
	if (!pid)
		_exit(without_segment(file));
	waitpid(pid, &status, 0);
	check(!status, "a function whose segment is unmapped, status %#x", status);
}

/* A child has its parent's file, but neither removes the other's programs. */
static void test_shared_file(void)
{
	__u64 frame[7] = { 0 }, handle = must_bind(dev, object, &seg, "load");
	struct cosy_bind bind = { .base = (uintptr_t)seg.base, .pointers = 1 };
	struct cosy_run run;
	int status, err;

	*(__u64 *)(seg.base + 0x10000) = 815;
	/* More than the maximum, if ended children used any. */
	for (int i = 0; i < 1100; i++) {
		pid_t pid = fork();

		if (!pid) {
			err = bind_function(dev, handle, -1, &bind);
			/* The status names the error. */
			_exit(err != -ENOENT ? 1 : -bind_function(dev, handle, function(object, "sum"), &bind));
		}
		waitpid(pid, &status, 0);
		if (status)
			break;
	}
	check(!status, "children bind, and do not unbind, status %#x", status);
	check(call(dev, handle, frame, &run, seg.base + 0x10000, 0, 0) == done(0) &&
	      frame[0] == 815, "the parent's program is what it was");
	check(!bind_function(dev, handle, -1, &bind), "the parent removes its program");
}

/* The descriptor is sufficient to run a program. */
static void test_passed_on(void)
{
	int fd = function(object, "load"), status;
	pid_t pid;

	*(__u64 *)(seg.base + 0x10000) = 4711;
	pid = fork();
	if (!pid) {
		struct cosy_bind bind = { .base = (uintptr_t)seg.base, .pointers = 1 };
		__u64 frame[7] = { 0 }, handle;
		struct cosy_run run;
		int own;

		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(2);
		own = open(COSY_DEVICE, O_RDWR);
		handle = load_caller(own);
		_exit(bind_function(own, handle, fd, &bind) ||
		      call(own, handle, frame, &run, seg.base + 0x10000, 0, 0) != done(0) ||
		      frame[0] != 4711);
	}
	waitpid(pid, &status, 0);
	check(!status, "run by a user without privileges, status %#x", status);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	source = argv[2];
	dev = open_device();
	seg = segment_create();
	object = functions_load(dev, argv[1], &seg);
	test_results();
	test_failures();
	test_outside();
	test_liar();
	test_elsewhere();
	test_bind();
	test_stacks();
	test_replaced();
	test_suspended();
	test_left(argv[1]);
	test_shared_file();
	test_passed_on();
	return finish();
}
