/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * child.h - a child makes a call, which may wait for ever.
 */
#ifndef CHILD_H
#define CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A child that sleeps has slept for good when it has done so in this number of looks. */
#define LOOKS	200

/* Fork. The parent must call end_of_child() before it forks again. */
static inline pid_t fork_child(void)
{
	sigset_t child, before;
	pid_t pid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	pid = fork();
	if (!pid)
		sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/*
 * Return true if the process sleeps in a call, and has not run since it slept with the value
 * *@switches, which is set.
 */
static inline bool still_sleeps(pid_t pid, unsigned long *switches)
{
	char path[64], text[4096], state = 0;
	unsigned long before = *switches;
	const char *at;
	size_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	if (file) {
		n = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
	}
	text[n] = 0;
	at = strstr(text, "\nState:\t");
	if (at)
		state = at[8];
	at = strstr(text, "\nvoluntary_ctxt_switches:");
	if (at)
		sscanf(at, "%*s %lu", switches);
	return state == 'S' && *switches == before;
}

/*
 * Wait for the child, and return its status. One that sleeps for good gets SIGALRM. There is no
 * limit of time, because the machine may be busy with other processes.
 */
static inline int end_of_child(pid_t pid)
{
	const struct timespec little = { .tv_nsec = 10000000 };
	unsigned long switches = 0;
	unsigned int asleep = 0;
	sigset_t child;
	int status = 0;
	pid_t ended;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		if (sigtimedwait(&child, NULL, &little) == SIGCHLD)
			continue;
		asleep = still_sleeps(pid, &switches) ? asleep + 1 : 0;
		if (asleep == LOOKS)
			kill(pid, SIGALRM);
	}
	if (ended != pid) {
		perror("waitpid");
		_exit(2);
	}
	return status;
}

#endif /* CHILD_H */
