// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A compound that closes, replaces and uses its own device, and files that are closed
 * while it runs.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct cosy_run fresh(__u64 handle, void *frame)
{
	return (struct cosy_run){ .handle = handle,
				  .frame = (__u64)(uintptr_t)frame,
				  .errno_addr = (__u64)(uintptr_t)&errno };
}

/*
 * Return true if the run left at @pc or later for work before the return to user mode. Closing a
 * file may queue such work. The scheduler queues some every 100 ms, so a run may leave after any
 * call and at any back-edge.
 */
static bool left_behind(long ret, const struct cosy_run *run, unsigned int pc)
{
	return ret == COSY_RUN_LEFT && run->status == COSY_AGAIN && run->pc >= pc;
}

/* Return true if the run used up its time slice, which is possible on a slow machine. */
static bool left_for_time(long ret, const struct cosy_run *run)
{
	return ret == COSY_RUN_LEFT && run->status == COSY_LIMIT &&
	       run->value == COSY_LIMIT_TIME;
}

static void test_close_self(void)
{
	int dev = open_device(), fd;
	__u64 frame[4] = { 0, 0, dev };
	/* close(dev), then 1000 times getpid */
	__u64 handle = must_load(dev, 4, SYS(0, SYS_close, 1), ARG(2),
				 SYS(1, SYS_getpid, 0), ADDI(3, 3, 1),
				 BR(3, ULT, 1000, 2), EXIT(1));
	struct cosy_run run = fresh(handle, frame);
	long ret = enter(dev, &run);

	check((left_behind(ret, &run, 2) || left_for_time(ret, &run) ||
	       (ret == done(1) && frame[1] == (__u64)getpid() && frame[3] == 1000)) &&
	      frame[0] == 0, "a compound closes its device and continues, or leaves");
	check(enter(dev, &run) == -EBADF, "the device is closed");

	dev = open_device();
	fd = open("/dev/null", O_RDWR);
	frame[2] = fd;
	frame[3] = dev;
	handle = must_load(dev, 4, SYS(0, SYS_dup2, 2), ARG(2), ARG(3),
			   SYS(1, SYS_getpid, 0), EXIT(1));
	run = fresh(handle, frame);
	ret = enter(dev, &run);
	check((left_behind(ret, &run, 3) || ret == done(1)) && frame[0] == (__u64)dev,
	      "a compound puts another file over its device");
	check(enter(dev, &run) >> 32 == 0, "the other file is there");
	close(dev);
	close(fd);

	/* It can unload itself before. When it is left then, it cannot resume. */
	do {
		dev = open_device();
		handle = must_load(dev, 4, SYS(0, SYS_ioctl, 3), ARG(2),
				   ARGI(COSY_IOC_UNLOAD), ARG(3), SYS(1, SYS_close, 1),
				   ARG(2), ADDI(0, 0, 1), BR(0, ULT, 100000, 6), EXIT(1));
		frame[2] = dev;
		frame[3] = (__u64)(uintptr_t)&handle;
		run = fresh(handle, frame);
		ret = enter(dev, &run);
	} while (left_behind(ret, &run, 4) && run.pc == 4 && !close(dev));
	check((left_behind(ret, &run, 6) || left_for_time(ret, &run) ||
	       (ret == done(1) && frame[0] == 100000)) && frame[1] == 0,
	      "a compound unloads itself, closes its device, and continues");

	/* Left after the close: the device does not exist any more, so it cannot resume. */
	dev = open_device();
	frame[2] = dev;
	handle = must_load(dev, 4, SYS(0, SYS_close, 1), ARG(2), UPCALL(0), EXIT(1));
	run = fresh(handle, frame);
	ret = enter(dev, &run);
	check((left_behind(ret, &run, 2) ||
	       (ret == COSY_RUN_LEFT && run.status == COSY_UPCALL && run.pc == 3)) &&
	      frame[0] == 0, "a compound closes its device and leaves");
	run.status = COSY_AGAIN;
	check(enter(dev, &run) == -EBADF && run.status == COSY_AGAIN && run.pc >= 2,
	      "resuming finds no device, and the place is kept");
}

/* The last reference is dropped in task work. The next read sees the end. */
static void test_closed_pipe(int dev)
{
	char buf[4];
	int pipes[2];
	__u64 frame[6] = { 0 };
	__u64 handle = must_load(dev, 6, SYS(0, SYS_close, 1), ARG(3),
				 SYS(1, SYS_read, 3), ARG(2), ARG(4), ARGI(4),
				 EXIT(0));
	struct cosy_run run;
	long ret;

	if (pipe(pipes))
		die("pipe");
	frame[2] = pipes[0];
	frame[3] = pipes[1];
	frame[4] = (__u64)(uintptr_t)buf;
	alarm(300);
	ret = run_frame(dev, handle, frame, &run);
	alarm(0);
	check(ret == done(0) && frame[0] == 0 && frame[1] == 0,
	      "close of a pipe's writer, then read: end of file");
	close(pipes[0]);
}

/* A compound that enters a compound that enters … */
static void test_recursion(int dev)
{
	static __u64 frames[8][4];
	static struct cosy_run runs[8];
	/* r0 = lseek(r1, TAG | r2, WHENCE) */
	__u64 handle = must_load(dev, 4, SYS(0, SYS_lseek, 3), ARG(1), ARG(2),
				 ARGI(COSY_RUN_WHENCE), EXIT(0));
	unsigned int depth;
	long ret;

	for (int i = 0; i < 8; i++) {
		frames[i][0] = 12345;
		frames[i][1] = dev;
		frames[i][2] = COSY_RUN_TAG | (__u64)(uintptr_t)&runs[(i + 1) % 8];
		runs[i] = fresh(handle, frames[i]);
	}
	ret = enter(dev, &runs[0]);
	for (depth = 0; depth < 8 && frames[depth][0] == (__u64)done(0); depth++)
		;
	check(ret == done(0) && depth >= 1 && depth < 7 &&
	      frames[depth][0] == (__u64)-ELOOP, "nested %u deep, then ELOOP", depth);

	/* One run inside another run. */
	frames[0][0] = 0;
	frames[0][2] = COSY_RUN_TAG | (__u64)(uintptr_t)&runs[0];
	runs[0] = fresh(handle, frames[0]);
	check(enter(dev, &runs[0]) == done(0), "a run that runs itself ends");
}

static void *wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

/*
 * A private file is open while another compound replaces the whole table by a smaller one that
 * does not have its number.
 */
static void test_private_nested(void)
{
	enum { HIGH = 600 };
	static __u64 outer[8], inner[2];
	static struct cosy_run runs[2];
	struct rlimit limit = { HIGH + 10, HIGH + 10 };
	int dev = open_device(), fd = 0, status;
	struct cosy_op open_private = SYS(0, SYS_open, 3);
	pthread_t other;
	__u64 handles[2];
	long ret;
	pid_t pid;

	open_private.c = COSY_HINT_PRIVATE;
	/* r4 = fd, while that is open; r5, r6: the inner run, close() */
	const struct cosy_op ops[] = {
		open_private, ARG(2), ARGI(O_RDONLY), ARGI(0), MOV(4, 0),
		SYS(5, SYS_lseek, 3), ARG(1), ARG(3), ARGI(COSY_RUN_WHENCE),
		SYS(6, SYS_close, 1), ARG(4), EXIT(0)
	};

	handles[0] = must_load_ops(dev, ops, sizeof(ops) / sizeof(*ops), 8);
	handles[1] = must_load(dev, 2, SYS(0, SYS_close_range, 3), ARG(1), ARGI(~0u),
			       ARGI(CLOSE_RANGE_UNSHARE), EXIT(0));
	outer[1] = dev;
	outer[2] = (__u64)(uintptr_t)"/proc/version";
	outer[3] = COSY_RUN_TAG | (__u64)(uintptr_t)&runs[1];
	inner[1] = dev + 1;
	runs[0] = fresh(handles[0], outer);
	runs[1] = fresh(handles[1], inner);
	pid = fork();
	if (!pid) {
		if (setrlimit(RLIMIT_NOFILE, &limit))
			die("setrlimit");
		while (fd < HIGH)
			fd = dup(0);
		/* The table is shared, so it is replaced. */
		pthread_create(&other, NULL, wait_for_ever, NULL);
		ret = run_on(dev, &runs[0]);
		_exit(!check(ret == done(0) && outer[4] == HIGH + 1 && inner[0] == 0 &&
			     outer[6] == (__u64)-EBADF && fcntl(HIGH + 1, F_GETFD) < 0,
			     "files opened outside are closed by a nested compound"));
	}
	waitpid(pid, &status, 0);
	check(!status, "the table is replaced inside a nested compound");
	close(dev);
}

static void test_frame_gone(int dev)
{
	__u64 handle = must_load(dev, 4, SYS(0, SYS_munmap, 2), ARG(1), ARGI(4096),
				 EXIT(0));
	__u64 protect = must_load(dev, 4, SYS(0, SYS_mprotect, 3), ARG(1), ARGI(4096),
				  ARGI(PROT_READ), EXIT(0));
	__u64 handles[] = { handle, protect };

	for (int i = 0; i < 2; i++) {
		for (int which = 0; which < 2; which++) {
			pid_t pid = fork();
			int status;

			if (!pid) {
				__u64 *page = must_map(4096), here[4];
				__u64 *frame = which ? here : page;
				struct cosy_run *run, local;

				frame[1] = (__u64)(uintptr_t)page;
				run = which ? (void *)page : &local;
				*run = fresh(handles[i], frame);
				/* It also writes to the run. */
				run->flags = COSY_RUN_COUNT;
				enter(dev, run);
				_exit(0);
			}
			waitpid(pid, &status, 0);
			check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
			      "%s %s inside: SIGSEGV", which ? "run" : "frame",
			      i ? "made read-only" : "unmapped");
		}
	}
}

struct borrowed {
	int dev;
	__u64 handle;
	__u64 *frame;
};

static int borrow(void *arg)
{
	struct borrowed *b = arg;
	struct cosy_run run;

	return run_frame(b->dev, b->handle, b->frame, &run) != done(0) ||
	       close(b->dev);
}

/* Children share the file and its compounds, each with its own memory. */
static void test_fork(int dev)
{
	__u64 frame[2] = { 0 };
	__u64 handle = must_load(dev, 2, SYS(0, SYS_getpid, 0), EXIT(0));
	__u64 forker = must_load(dev, 2, SYS(0, SYS_fork, 0), EXIT(0));
	struct cosy_run run;
	int status, good = 0;

	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (int j = 0; j < 1000; j++)
				if (run_frame(dev, handle, frame, &run) != done(0) ||
				    frame[0] != (__u64)getpid())
					_exit(1);
			_exit(0);
		}
		run_frame(dev, handle, frame, &run);
		waitpid(pid, &status, 0);
		good += !status && frame[0] == (__u64)getpid();
	}
	check(good == 20, "forked children run the same compounds");
	check(run_frame(dev, forker, frame, &run) == COSY_RUN_LEFT &&
	      run.status == COSY_STEP && run.value == COSY_STEP_CALL && run.pc == 0,
	      "fork itself is left to user mode");

	/* The child shares memory and descriptors, and closes one. */
	struct borrowed borrowed = { dev, handle, frame };
	char *stack = must_map(65536);
	pid_t pid = clone(borrow, stack + 65536,
			  CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &borrowed);

	waitpid(pid, &status, 0);
	check(!status && frame[0] == (__u64)pid, "a vforked child runs a compound");
	check(run_frame(dev, handle, frame, &run) == -EBADF,
	      "EBADF: the vforked child has closed the device for both");
}

int main(void)
{
	int dev = open_device();

	test_close_self();
	test_closed_pipe(dev);
	test_recursion(dev);
	test_private_nested();
	test_frame_gone(dev);
	test_fork(dev);
	return finish();
}
