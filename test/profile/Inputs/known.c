// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * known.c - a program whose system calls are known: their numbers, order and lines.
 * check.py finds each line by the word at its end.
 *
 * usage: known FILE         run everything, and then end by SIGTERM
 *        known FILE again   the run that it executes itself
 *        known FILE calls   wait for a line on standard input, make the calls of files(),
 *                           print a line, and wait for the end of the input
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void files(const char *path)
{
	char buffer[16];

	for (int i = 0; i < 40; i++) {
		int fd = open(path, O_RDONLY);				/* open */

		if (fd < 0 || read(fd, buffer, sizeof(buffer)) < 0)	/* read */
			err(1, "%s", path);
		close(fd);						/* close */
	}
}

static void nested(void)
{
	for (int i = 0; i < 8; i++) {
		getsid(0);						/* getsid */
		for (int j = 0; j < 50; j++)
			getpgid(0);					/* getpgid */
	}
}

static __attribute__((noinline)) void status(const char *path)
{
	struct stat st;

	stat(path, &st);
}

static void callers(const char *path)
{
	for (int i = 0; i < 30; i++)
		status(path);						/* existing */
	for (int i = 0; i < 20; i++)
		status("missing");					/* missing */
}

static void *thread(void *argument)
{
	for (int i = 0; i < 15; i++)
		getuid();
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t other;
	char line[16];
	pid_t child;

	if (argc < 2)
		return 2;
	if (argc > 2 && !strcmp(argv[2], "again")) {
		for (int i = 0; i < 7; i++)
			getgid();
		return 0;
	}
	if (argc > 2) {
		if (!fgets(line, sizeof(line), stdin))
			return 2;
		files(argv[1]);
		puts("called");
		fflush(stdout);
		return fgets(line, sizeof(line), stdin) != NULL;
	}
	files(argv[1]);
	nested();
	callers(argv[1]);
	if (pthread_create(&other, NULL, thread, NULL))
		return 1;
	pthread_join(other, NULL);
	child = fork();
	if (!child) {
		for (int i = 0; i < 10; i++)
			geteuid();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	child = fork();
	if (!child) {
		execl("/proc/self/exe", argv[0], argv[1], "again", NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	puts("done");
	fflush(stdout);
	raise(SIGTERM);
	return 0;
}
