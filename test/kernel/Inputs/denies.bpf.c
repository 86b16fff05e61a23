// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 WITH LLVM-exception
/*
 * denies.bpf.c - a security module: forbids bpf(BPF_PROG_TEST_RUN) to one process.
 */
#define SEC(name)	__attribute__((section(name), used))
#define PROG_TEST_RUN	10
#define EACCES		13

static unsigned long long (*const pid_tgid)(void) = (unsigned long long (*)(void))14;

volatile unsigned int denied;

SEC("lsm/bpf") int denies(unsigned long long *args)
{
	if ((int)args[0] != PROG_TEST_RUN || pid_tgid() >> 32 != denied)
		return 0;
	return -EACCES;
}

const char terms[] SEC("license") = "GPL";
