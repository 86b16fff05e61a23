// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * An entry runs only a compound that was loaded for loops, from an instruction that it can begin at,
 * and with registers that can be accessed. The frame may be unmapped.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t

#include "Inputs/compounds.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Arguments that are wrong. */
static void refused(void)
{
	__u64 frame[NREGS + 1] = { 0 }, plain;
	struct cosy_run sync;
	struct loop loop;
	char byte;
	int sv[2];

	create(&loop, 64);
	pair(sv);
	frame[FD] = (__u64)sv[0];
	frame[BUF] = (uintptr_t)&byte;
	frame[SIZE] = 1;
	plain = must_load(device, NREGS, EXIT(0));
	check(run(&loop, plain, frame, 0, 0) == -ENOENT,
	      "ENOENT: the compound was not loaded for loops");
	check(run(&loop, echo + 1000, frame, 0, 0) == -ENOENT,
	      "ENOENT: the handle is of no compound");
	check(run_frame(device, echo, frame, &sync) == -ENOENT,
	      "ENOENT: a compound for loops is run without a loop");
	check(run(&loop, echo, frame, 0, 8) == -EINVAL, "EINVAL: flag 8 is unknown");
	check(run(&loop, echo, frame, 0, 1ull << 63) == -EINVAL, "EINVAL: flag 1 << 63 is unknown");
	check(run(&loop, echo, frame, 1, 0) == -EINVAL,
	      "EINVAL: a compound that is not resumed begins at its start");
	check(run(&loop, echo, frame, 1, COSY_COMPOUND_RESUMED) == -EINVAL,
	      "EINVAL: the pc is that of an argument");
	check(run(&loop, echo, frame, 20, COSY_COMPOUND_RESUMED) == -EINVAL,
	      "EINVAL: the pc is after the last slot");
	check(run(&loop, echo, frame, 1ull << 32, COSY_COMPOUND_RESUMED) == -EINVAL,
	      "EINVAL: the pc has more than 32 bits");
	check(run(&loop, echo, (__u64 *)8, 0, 0) == -EFAULT, "EFAULT: the frame is unmapped");
	check(run(&loop, echo, (__u64 *)-64, 0, 0) == -EFAULT,
	      "EFAULT: the frame is in the kernel");
	for (int i = 0; i < 4; i++) {
		const long long fds[] = { -1, sv[0], loop.fd, 1ll << 40 };

		start(&loop, 7, echo, frame, 0, 0);
		loop.entries[7].args[0] = (__u64)fds[i];
		check(go(&loop, 1) == 1 && collect(&loop) == 7 && entry_result(&loop, 7) == -EBADF,
		      "EBADF: descriptor %lld is not the device", fds[i]);
	}
	submit(&loop, 7, COSY_ENTRY_SILENT, COSY_ENTRY_COMPOUND, (__u64)device, echo,
	       (uintptr_t)frame, 0);
	check(go(&loop, 1) == 1 && loop.entries[7].status == COSY_ENTRY_FREE,
	      "a silent entry of a compound completes without a result");
	submit(&loop, 7, 0, COSY_ENTRY_SPECIAL + 1, (__u64)device, echo, (uintptr_t)frame, 0);
	check(go(&loop, 1) == 1 && collect(&loop) == 7 && entry_result(&loop, 7) == -EINVAL,
	      "EINVAL: the special number is unknown");
	close(sv[0]);
	close(sv[1]);
	destroy(&loop);
}

/*
 * The frame is unmapped when the compound ends. Its outputs are lost, and the process is killed.
 */
static void losing_frame(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		__u64 *frame = must_map(4096);
		struct loop loop;
		char byte;
		int sv[2];

		prctl(PR_SET_DUMPABLE, 0);
		create(&loop, 64);
		pair(sv);
		frame[FD] = (__u64)sv[0];
		frame[BUF] = (uintptr_t)&byte;
		frame[SIZE] = 1;
		start(&loop, 0, receive, frame, 0, 0);
		go(&loop, 0);
		munmap(frame, 4096);
		send(sv[1], "x", 1, 0);
		go(&loop, 1);
		_exit(0);
	}
	waitpid(child, &status, 0);
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
	      "SIGSEGV: the frame is unmapped when the compound ends");
}

/* Results that mean something else inside the kernel. */
static void odd_results(void)
{
	const long long results[] = { -512, -513, -514, -516, -529, -530, -1, -4095, -4096 };
	int fd = open("/proc/self/mem", O_RDONLY);
	static __u64 frame[NREGS + 1];
	struct loop loop;
	__u64 seek;

	seek = LOAD_FOR_LOOPS(SYS(GOT, SYS_lseek, 3), ARG(FD), ARG(SIZE), ARGI(SEEK_SET), EXIT(3));
	create(&loop, 64);
	frame[FD] = (__u64)fd;
	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
		frame[SIZE] = (__u64)results[i];
		frame[GOT] = 0;
		check(run(&loop, seek, frame, 0, 0) == 3 && (long long)frame[GOT] == results[i] &&
		      loop.entries[7].status == COSY_ENTRY_DONE,
		      "lseek() of a compound returns %lld", results[i]);
		submit(&loop, 5, 0, SYS_lseek, (__u64)fd, (__u64)results[i], SEEK_SET, 0);
		check(go(&loop, 1) == 1 && collect(&loop) == 5 && entry_result(&loop, 5) == results[i],
		      "lseek() of an entry returns %lld", results[i]);
	}
	close(fd);
	destroy(&loop);
}

int main(void)
{
	device = open_device();
	load_all();
	refused();
	losing_frame();
	odd_results();
	return finish();
}
