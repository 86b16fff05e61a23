// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * batch.c - run the programs of a batch, each in a separate process and directory, and print the
 * results of each:
 *
 * 	@SEED STATUS BYTES
 *
 * followed by this number of bytes: its trace, its files, its output. One executable of many
 * programs is built and copied to a VM much faster than many executables.
 *
 * usage: batch CPU_MS WALL_MS SEED...		limits of a program: CPU time, elapsed time
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"

struct trace *trace;

static void die(const char *what)
{
	fprintf(stderr, "batch: %s: %s\n", what, strerror(errno));
	exit(2);
}

static unsigned int hash_file(const char *name)
{
	unsigned char data[4096];
	unsigned int hash = 2166136261u;
	int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n;

	/* Sparse files can be huge, so only their beginning and their size are printed. */
	for (int i = 0; fd >= 0 && i < 16 && (n = read(fd, data, sizeof(data))) > 0; i++)
		for (ssize_t j = 0; j < n; j++)
			hash = (hash ^ data[j]) * 16777619;
	if (fd >= 0)
		close(fd);
	return hash;
}

/* Print the reproducible properties of a directory's files, and remove them. */
static void list_and_remove(FILE *out, const char *dir)
{
	struct dirent **entries;
	char path[8192], target[256];
	struct stat st;
	int n;

	chmod(dir, 0700);
	n = scandir(dir, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		snprintf(path, sizeof(path), "%s/%s", dir, name);
		if (strcmp(name, ".") && strcmp(name, "..") && !lstat(path, &st)) {
			fprintf(out, "file: %s %o links %ju size %jd", path, st.st_mode,
				(uintmax_t)st.st_nlink,
				S_ISDIR(st.st_mode) ? 0 : (intmax_t)st.st_size);
			if (S_ISLNK(st.st_mode)) {
				ssize_t length = readlink(path, target, sizeof(target));

				fprintf(out, " -> %.*s\n", (int)length, target);
			} else if (S_ISREG(st.st_mode)) {
				chmod(path, 0600);
				fprintf(out, " hash %08x\n", hash_file(path));
			} else {
				fputc('\n', out);
			}
			if (S_ISDIR(st.st_mode))
				list_and_remove(out, path);
			else
				unlink(path);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	rmdir(dir);
}

static void limit_cpu(long ms)
{
	struct itimerval limit = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	setitimer(ITIMER_PROF, &limit, NULL);
}

/* Wait for a child for a limited time. Return: its status, or -1 if it was killed. */
static int wait_for(pid_t pid, long ms)
{
	struct timespec end, now, left;
	sigset_t set;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	while (!waitpid(pid, &status, WNOHANG)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > end.tv_sec) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		left = (struct timespec){ .tv_sec = 1 };
		sigtimedwait(&set, NULL, &left);
	}
	return status;
}

/* Append the contents of a file, and close it. */
static void append(FILE *out, int fd)
{
	char text[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, text, sizeof(text))) > 0)
		fwrite(text, 1, n, out);
	close(fd);
}

static void run(const struct program *program, long cpu_ms, long wall_ms)
{
	char scratch[] = "scratch", text[32], *report = NULL;
	int output = memfd_create("output", 0), errors = memfd_create("errors", 0), status;
	size_t size = 0;
	FILE *out;
	pid_t pid;

	if (output < 0 || errors < 0 || mkdir(scratch, 0755))
		die(scratch);
	memset(trace, 0, sizeof(*trace));
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		char *argv[] = { "program", "1", NULL };
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setpgid(0, 0);
		umask(022);
		dup2(output, 1);
		dup2(errors, 2);
		close(output);
		close(errors);
		if (chdir(scratch))
			_exit(99);
		limit_cpu(cpu_ms);
		exit(program->main(2, argv));
	}
	status = wait_for(pid, wall_ms);
	kill(-pid, SIGKILL);
	while (waitpid(-pid, NULL, WNOHANG) > 0)
		;

	out = open_memstream(&report, &size);
	if (!out)
		die("open_memstream");
	for (unsigned long i = 0; i < trace->count && i < TRACE_ENTRIES; i++)
		fprintf(out, "line %d: %ld %s\n", trace->entries[i].line, trace->entries[i].value,
			trace->entries[i].error ? strerrorname_np(trace->entries[i].error) : "");
	if (trace->count)
		fprintf(out, "notes: %lu, sum %lx\n", trace->count, trace->sum);
	list_and_remove(out, scratch);
	append(out, output);
	append(out, errors);
	fclose(out);

	if (status < 0)
		strcpy(text, "timeout");
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "SIG%s", sigabbrev_np(WTERMSIG(status)));
	else
		snprintf(text, sizeof(text), "%d", WEXITSTATUS(status));
	printf("@%d %s %zu\n", program->seed, text, size);
	fwrite(report, 1, size, stdout);
	fflush(stdout);
	free(report);
}

int main(int argc, char *argv[])
{
	const char *tmp = getenv("TMPDIR");
	char home[4096];
	sigset_t set;

	if (argc < 3)
		return 2;
	trace = mmap(NULL, sizeof(*trace), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (trace == MAP_FAILED)
		die("mmap");
	snprintf(home, sizeof(home), "%s/cosy-batch-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(home) || chdir(home))
		die(home);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 3; i < argc; i++)
		for (const struct program *p = programs; p->main; p++)
			if (p->seed == atoi(argv[i]))
				run(p, atol(argv[1]), atol(argv[2]));
	return rmdir(home) ? 2 : 0;
}
