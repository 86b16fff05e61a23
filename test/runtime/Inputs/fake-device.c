/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fake-device - run a program with a simulated /dev/cosy.
 *
 *	fake-device trace PROGRAM...	print when it opens /dev/cosy
 *	fake-device errno N PROGRAM...	opening fails with error N
 *	fake-device info OLDEST-ABI ABI FORMAT PROGRAM...	COSY_IOC_INFO answers this
 *	fake-device load N PROGRAM...	COSY_IOC_LOAD fails with error N
 *	fake-device other PROGRAM...	it is some other device (/dev/null)
 *
 * It uses ptrace, because libcosy makes its calls itself. Exits with the status of the program.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/cosy.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cosy/format.h>

static enum { TRACE, ERRNO, INFO, LOAD, OTHER } what;
static int error;
static struct cosy_info info = { .size = sizeof(info), .max_loads = 10,
				 .version = "fake" };
static pid_t child;
static bool asked;	/* by the call that has begun */

static void die(const char *text)
{
	perror(text);
	exit(125);
}

static bool copy(bool out, unsigned long address, void *bytes, size_t size)
{
	struct iovec here = { bytes, size };
	struct iovec there = { (void *)address, size };

	return (out ? process_vm_writev(child, &here, 1, &there, 1, 0) :
		      process_vm_readv(child, &here, 1, &there, 1, 0)) ==
	       (ssize_t)size;
}

/* The program's memory may be read-only, so it is written by words, as debuggers do. */
static void poke(unsigned long address, const char text[8])
{
	long word;

	memcpy(&word, text, sizeof(word));
	if (ptrace(PTRACE_POKEDATA, child, address, word))
		die("PTRACE_POKEDATA");
}

static bool opens_device(const struct user_regs_struct *regs)
{
	char path[16] = { 0 };

	if (regs->orig_rax != SYS_openat || !copy(false, regs->rsi, path, 10))
		return false;
	return !strcmp(path, "/dev/cosy");
}

/* The open by which a program asks whether it may use the device. */
static bool asks(const struct user_regs_struct *regs)
{
	return (what == INFO || what == LOAD) && opens_device(regs) &&
	       (regs->rdx & O_ACCMODE) == O_RDONLY;
}

/* Return: true if the end of the call must be changed, too. */
static bool begin_call(struct user_regs_struct *regs)
{
	bool wanted = opens_device(regs) ||
		      ((what == INFO || what == LOAD) &&
		       regs->orig_rax == SYS_ioctl &&
		       (regs->rsi == COSY_IOC_INFO ||
			(what == LOAD && regs->rsi == COSY_IOC_LOAD)));

	if (!wanted)
		return false;
	if (what == TRACE) {
		fprintf(stderr, "opens /dev/cosy\n");
		return false;
	}
	asked = asks(regs);
	if (what == ERRNO || regs->orig_rax == SYS_ioctl || asked) {
		regs->orig_rax = -1ull;
		if (ptrace(PTRACE_SETREGS, child, 0, regs))
			die("PTRACE_SETREGS");
		return true;
	}
	/* Both are 9 characters long. */
	poke(regs->rsi, "/dev/nul");
	poke(regs->rsi + 1, "dev/null");
	return true;
}

static void end_call(struct user_regs_struct *regs, unsigned long call)
{
	if (call == SYS_openat && what != ERRNO && !asked) {
		poke(regs->rsi, "/dev/cos");
		poke(regs->rsi + 1, "dev/cosy");
		return;
	}
	if (call == SYS_ioctl && regs->rsi == COSY_IOC_INFO) {
		if (!copy(true, regs->rdx, &info, sizeof(info)))
			die("process_vm_writev");
		regs->rax = 0;
	} else {
		regs->rax = (unsigned long)-(asked ? EINVAL : error);
	}
	if (ptrace(PTRACE_SETREGS, child, 0, regs))
		die("PTRACE_SETREGS");
}

static int follow(void)
{
	bool inside = false, treat = false;
	unsigned long call = 0;
	int signal_number = 0;
	int status;

	for (;;) {
		struct user_regs_struct regs;

		if (ptrace(PTRACE_SYSCALL, child, 0, signal_number))
			die("PTRACE_SYSCALL");
		if (waitpid(child, &status, 0) != child)
			die("waitpid");
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		signal_number = 0;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			if (WSTOPSIG(status) != SIGTRAP)
				signal_number = WSTOPSIG(status);
			continue;
		}
		if (ptrace(PTRACE_GETREGS, child, 0, &regs))
			die("PTRACE_GETREGS");
		inside = !inside;
		if (inside) {
			call = regs.orig_rax;
			treat = begin_call(&regs);
		} else if (treat) {
			end_call(&regs, call);
			treat = false;
		}
	}
}

int main(int argc, char **argv)
{
	int program = 2;
	int status;

	if (argc > 2 && !strcmp(argv[1], "trace")) {
		what = TRACE;
	} else if (argc > 2 && !strcmp(argv[1], "other")) {
		what = OTHER;
	} else if (argc > 3 && !strcmp(argv[1], "errno")) {
		what = ERRNO;
		error = atoi(argv[2]);
		program = 3;
	} else if (argc > 3 && !strcmp(argv[1], "load")) {
		what = LOAD;
		error = atoi(argv[2]);
		info.oldest_abi = info.abi = COSY_ABI;
		info.oldest_format = info.format = COSY_VERSION;
		program = 3;
	} else if (argc > 5 && !strcmp(argv[1], "info")) {
		what = INFO;
		info.oldest_abi = (unsigned int)atoi(argv[2]);
		info.abi = (unsigned int)atoi(argv[3]);
		info.oldest_format = (unsigned int)atoi(argv[4]);
		info.format = info.oldest_format;
		program = 5;
	} else {
		fprintf(stderr, "usage: fake-device WHAT PROGRAM...\n");
		return 125;
	}
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP))
			die("PTRACE_TRACEME");
		execvp(argv[program], argv + program);
		die(argv[program]);
	}
	if (waitpid(child, &status, 0) != child ||
	    ptrace(PTRACE_SETOPTIONS, child, 0,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		die("ptrace");
	return follow();
}
