// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Functions that never end. They are killed immediately, do not block other
 * tasks, end when their time is used up, and survive the removal of their resources.
 */
// Linux 6.1 has no BPF arenas.
// UNSUPPORTED: kernel-6.1
// RUN: %compile-bpf %S/Inputs/functions.bpf.c -o %t.bpf.o
// RUN: %compile-dynamic %s -o %t -lbpf
// It shortens the time limit of functions for the whole VM.
// RUN: %vm flock /tmp/function-time %t %t.bpf.o
#include "function.h"
#include "share.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>

static const char *file;
static int dev;
static struct segment seg;
static struct bpf_object *object;

/* Return true if the kernel has a function of this name. */
static bool kernel_has(const char *function)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	char name[128];
	bool found = false;

	if (!symbols)
		die("/proc/kallsyms");
	while (!found && fscanf(symbols, "%*s %*s %127s%*[^\n]", name) == 1)
		found = !strcmp(name, function);
	fclose(symbols);
	return found;
}

/* In a separate process, because an arena belongs to one process. */
static __u64 prepare_spin(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dev = open_device();
	seg = segment_create();
	object = functions_load(dev, file, &seg);
	*(volatile __u64 *)(seg.base + 0x10000) = 0;
	return must_bind(dev, object, &seg, "spin");
}

static void set_time(const char *ms)
{
	FILE *f = fopen("/sys/module/cosy/parameters/function_time", "w");

	if (!f || fputs(ms, f) < 0 || fclose(f))
		die("function_time");
}

/* Write a byte when the function has begun to count. */
static void *tell_of_beginning(void *ready)
{
	while (!*(volatile __u64 *)(seg.base + 0x10000))
		usleep(1000);
	if (write((int)(intptr_t)ready, "", 1) != 1)
		_exit(1);
	return NULL;
}

static pid_t spin(int ready)
{
	pid_t pid = fork();

	if (!pid) {
		__u64 frame[7] = { 0 }, handle = prepare_spin();
		struct cosy_run run;
		pthread_t thread;

		if (pthread_create(&thread, NULL, tell_of_beginning, (void *)(intptr_t)ready))
			_exit(1);
		/* The kernel's limit of iterations may end it. Then try again. */
		for (;;)
			call(dev, handle, frame, &run, seg.base + 0x10000, 0, 0);
	}
	return pid;
}

static void test_kill(const int *ready)
{
	double best = 1000;
	int status = 0;
	char c;

	for (double begin = now(); best >= 0.05 && now() - begin < PATIENCE;) {
		pid_t pid = spin(ready[1]);
		double start;

		if (read(ready[0], &c, 1) != 1)
			die("read");
		start = now();
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		start = now() - start;
		if (start < best)
			best = start;
	}
	check(WIFSIGNALED(status) && best < 0.05, "SIGKILL: dead within %.1f ms",
	      best * 1e3);
}

static void test_fair(const int *ready)
{
	double gap = 1, share = 0;
	cpu_set_t one, all;
	int status;
	char c;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (double begin = now();
	     (share <= 0.3 || gap >= 1) && now() - begin < PATIENCE;) {
		pid_t pid = spin(ready[1]);

		if (read(ready[0], &c, 1) != 1)
			die("read");
		share = count_time(&gap);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	sched_setaffinity(0, sizeof(all), &all);
	check(share > 0.3 && gap < 1, "beside it: %.0f %% of the CPU, waits at most %.1f ms",
	      share * 100, gap * 1e3);
}

struct thread {
	pthread_t thread;
	unsigned int number;	/* the index of its counter */
	__u64 handle;
	long ret;
	struct cosy_run run;
};

static void *in_thread(void *arg)
{
	struct thread *thread = arg;
	__u64 frame[7] = { 0 };

	thread->ret = call(dev, thread->handle, frame, &thread->run,
			   seg.base + 0x10000 + thread->number * 8, 0, 0);
	return NULL;
}

/* Start it, and wait until it is in the function. */
static void start_in_thread(struct thread *thread)
{
	volatile __u64 *counter = (__u64 *)(seg.base + 0x10000 + thread->number * 8);

	*counter = 0;
	if (pthread_create(&thread->thread, NULL, in_thread, thread))
		die("pthread_create");
	while (!*counter)
		usleep(1000);
}

/* All resources are removed while threads are in the function. All threads return. */
static int take_away(void)
{
	struct cosy_bind bind = { 0 };
	struct thread threads[4] = { 0 };
	__u64 handle = prepare_spin();
	int bad = 0;

	bind.base = (uintptr_t)seg.base;
	for (int i = 0; i < 4; i++) {
		threads[i].handle = handle;
		threads[i].number = i;
		start_in_thread(&threads[i]);
	}
	bad |= bind_function(dev, handle, -1, &bind);
	bad |= ioctl(dev, COSY_IOC_UNLOAD, &handle);
	bpf_object__close(object);
	close(seg.map);
	munmap(seg.base, SEGMENT_SIZE);
	close(dev);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i].thread, NULL);
		bad |= threads[i].ret != COSY_RUN_LEFT ||
		       threads[i].run.status != COSY_FAILED ||
		       (threads[i].run.value != COSY_FUNCTION_TIME &&
			threads[i].run.value != COSY_FUNCTION_LOOP);
	}
	return bad;
}

/* The process ends, or executes another program, while a thread is in the function. */
static int end_around(bool exec)
{
	struct thread thread = { .handle = prepare_spin() };

	start_in_thread(&thread);
	if (exec)
		execl("/bin/true", "true", NULL);
	_exit(exec);
}

static void in_process(const char *what, int (*test)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(test());
	waitpid(pid, &status, 0);
	check(!status, "%s, status %#x", what, status);
}

static int end_by_exec(void)
{
	return end_around(true);
}

static int end_by_exit(void)
{
	return end_around(false);
}

/* Children are created and end while a thread is in the function. */
static int fork_around(void)
{
	struct thread thread = { .handle = prepare_spin() };
	int status, bad = 0;

	start_in_thread(&thread);
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			struct thread own = { .handle = thread.handle };

			in_thread(&own);
			_exit(own.ret != COSY_RUN_LEFT ||
			      own.run.status != COSY_UPCALL);
		}
		waitpid(pid, &status, 0);
		bad |= status;
	}
	pthread_join(thread.thread, NULL);
	return bad || thread.ret != COSY_RUN_LEFT || thread.run.status != COSY_FAILED;
}

static volatile int alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

/* Handlers run after the function has ended. */
static int signals_around(void)
{
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } };
	struct thread thread = { .handle = prepare_spin() };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	in_thread(&thread);
	return thread.ret != COSY_RUN_LEFT || thread.run.status != COSY_FAILED ||
	       !alarms;
}

/*
 * Many processes at the same time, each with its own segment. With KASAN each segment needs half a
 * GiB of the kernel's memory, and the VM has 12 GiB.
 */
static int many(void)
{
	int processes = kernel_has("kasan_populate_vmalloc") ? 8 : 32;
	int status, bad = 0;

	for (int i = 0; i < processes; i++) {
		__u64 frame[7] = { 0 }, handle, expected = 0;
		unsigned char *bytes;
		struct cosy_run run;

		if (fork())
			continue;
		prepare_spin();
		handle = must_bind(dev, object, &seg, "sum");
		bytes = (unsigned char *)seg.base + 0x20000;
		for (int j = 0; j < 10000; j++)
			expected += bytes[j] = j * i;
		for (int j = 0; j < 50; j++) {
			if (call(dev, handle, frame, &run, bytes, 10000, 0) != done(0) ||
			    frame[0] != expected)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < processes; i++)
		bad |= wait(&status) < 0 || status;
	return bad;
}

/* A child cannot use its parent's bindings. */
static int child(void)
{
	__u64 frame[7] = { 0 }, handle;
	struct cosy_run run;
	int status;
	pid_t pid;

	prepare_spin();
	handle = must_bind(dev, object, &seg, "arguments");
	if (call(dev, handle, frame, &run, NULL, 0, 0) != done(0))
		return 1;
	pid = fork();
	if (!pid)
		_exit(call(dev, handle, frame, &run, NULL, 0, 0) != COSY_RUN_LEFT ||
		      run.status != COSY_UPCALL);
	waitpid(pid, &status, 0);
	return status != 0;
}

int main(int argc, char **argv)
{
	int ready[2];

	if (argc < 2 || pipe(ready))
		return 2;
	file = argv[1];
	test_kill(ready);
	test_fair(ready);
	set_time("300");
	in_process("taken away while running", take_away);
	in_process("exec while running", end_by_exec);
	in_process("exit while running", end_by_exit);
	in_process("fork while running", fork_around);
	in_process("signals while running", signals_around);
	set_time("10000");
	in_process("a child", child);
	in_process("many processes", many);
	return finish();
}
