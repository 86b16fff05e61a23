// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * An lseek and the write after it, which a hint marks as joined. A seccomp filter
 * checks the write with its final arguments, also if they are results of the lseek.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MOST	100

/* Writes of more than MOST bytes fail with EPERM. */
static void forbid_long_writes(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, MOST, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		die("seccomp");
}

/* lseek(r0, @to), its result into @dst; write(r0, r1, r2). */
static __u64 load_joined(int dev, int to, unsigned int dst)
{
	return must_load(dev, 4,
			 OP(SYS, .dst = dst, .width = 3, .imm = SYS_lseek, .c = COSY_HINT_JOIN),
			 ARG(0), ARGI(to), ARGI(SEEK_SET), SYS(3, SYS_write, 3), ARG(0), ARG(1),
			 ARG(2), EXIT(0));
}

static off_t size_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		die("fstat");
	return st.st_size;
}

int main(void)
{
	static char text[4096];
	int dev = open_device(), fd = open("/tmp/joined", O_RDWR | O_CREAT | O_TRUNC, 0600);
	__u64 frame[4] = { (__u64)fd, (uintptr_t)text, MOST, 0 };
	__u64 honest = load_joined(dev, 50, 3), lying = load_joined(dev, 10 * MOST, 2);
	struct cosy_run run;

	if (fd < 0 || write(fd, text, 2000) != 2000)
		die("/tmp/joined");
	unlink("/tmp/joined");
	check(run_frame(dev, lying, frame, &run) == done(0) && frame[3] == 10 * MOST,
	      "what lseek returns may be the size of the write");
	frame[2] = MOST;
	forbid_long_writes();
	check(run_frame(dev, honest, frame, &run) == done(0) && frame[3] == MOST,
	      "a write that the filter allows is made");
	if (ftruncate(fd, 10 * MOST))
		die("ftruncate");
	check(run_frame(dev, lying, frame, &run) == COSY_RUN_LEFT && run.status == COSY_STEP &&
	      run.value == COSY_STEP_CALL && run.pc == 4,
	      "one that it does not, by what lseek returned, meets it");
	check(size_of(fd) == 10 * MOST, "the write that the filter does not allow was not made");
	return finish();
}
