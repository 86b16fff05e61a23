// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Programs that are known to make few calls are executed without the library, by each function
 * that executes programs. They get all other variables and arguments. Other programs, and those
 * with options or arguments that may mean many files, are executed with it. Errors are the native
 * ones.
 *
 * The program executes itself under other names.
 */

// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: %cc -O1 -Wall %s -o %t.dir/parent
// RUN: for name in rm sort rmx sh; do ln %t.dir/parent %t.dir/$name || exit; done
// RUN: %t.dir/parent errors >%t.native
// RUN: %build/bin/cosy run %t.dir/parent errors >%t.run
// RUN: cmp %t.native %t.run
// RUN: %build/bin/cosy run %t.dir/parent | FileCheck %s
// RUN: %build/bin/cosy run %build/bin/cosy run %t.dir/parent | FileCheck %s
// RUN: env COSY_EXECUTOR=kernel %build/bin/cosy run %t.dir/parent >%t.out && not grep -v ': with' %t.out
// RUN: env LD_PRELOAD=libm.so.6 %build/bin/cosy run %t.dir/parent >%t.out && not grep -v ': with' %t.out

// CHECK:      execve rm -f: without
// CHECK-NEXT: execve rm -rf: with
// CHECK-NEXT: execve rmx -f: with
// CHECK-NEXT: execve sh -f: with
// CHECK-NEXT: execv rm -f: without
// CHECK-NEXT: execv rm -rf: with
// CHECK-NEXT: execv rmx -f: with
// CHECK-NEXT: execv sh -f: with
// CHECK-NEXT: execvp rm -f: without
// CHECK-NEXT: execvp rm -rf: with
// CHECK-NEXT: execvp rmx -f: with
// CHECK-NEXT: execvp sh -f: with
// CHECK-NEXT: execvpe rm -f: without
// CHECK-NEXT: execvpe rm -rf: with
// CHECK-NEXT: execvpe rmx -f: with
// CHECK-NEXT: execvpe sh -f: with
// CHECK-NEXT: execl rm -f: without
// CHECK-NEXT: execl rm -rf: with
// CHECK-NEXT: execl rmx -f: with
// CHECK-NEXT: execl sh -f: with
// CHECK-NEXT: execlp rm -f: without
// CHECK-NEXT: execlp rm -rf: with
// CHECK-NEXT: execlp rmx -f: with
// CHECK-NEXT: execlp sh -f: with
// CHECK-NEXT: execle rm -f: without
// CHECK-NEXT: execle rm -rf: with
// CHECK-NEXT: execle rmx -f: with
// CHECK-NEXT: execle sh -f: with
// CHECK-NEXT: execveat rm -f: without
// CHECK-NEXT: execveat rm -rf: with
// CHECK-NEXT: execveat rmx -f: with
// CHECK-NEXT: execveat sh -f: with
// CHECK-NEXT: posix_spawn rm -f: without
// CHECK-NEXT: posix_spawn rm -rf: with
// CHECK-NEXT: posix_spawn rmx -f: with
// CHECK-NEXT: posix_spawn sh -f: with
// CHECK-NEXT: posix_spawnp rm -f: without
// CHECK-NEXT: posix_spawnp rm -rf: with
// CHECK-NEXT: posix_spawnp rmx -f: with
// CHECK-NEXT: posix_spawnp sh -f: with
// CHECK-NEXT: rm --force: with
// CHECK-NEXT: rm a: without
// CHECK-NEXT: sort -r: without
// CHECK-NEXT: 31 files: without
// CHECK-NEXT: 32 files: with
// CHECK-NEXT: 256 arguments: without
// CHECK-NEXT: 257 arguments: with
// CHECK-NEXT: execve, 96 variables: without
// CHECK-NEXT: execve, 97 variables: with
// CHECK-NEXT: posix_spawn, 96 variables: without
// CHECK-NEXT: posix_spawn, 97 variables: without
// CHECK-NEXT: posix_spawn, 8192 variables: without
// CHECK-NEXT: posix_spawn, 8193 variables: with
// CHECK-NOT:  {{.}}

#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PAGE 4096

extern char **environ;

static const char *const functions[] = {
	"execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "execveat",
	"posix_spawn", "posix_spawnp",
};
static char directory[PAGE];

/* The child's exit status: 1 with the library, 0 without it; 2 if its environment is wrong. */
static int child(int argc)
{
	char line[PAGE];
	int mapped = 0;
	FILE *maps = fopen("/proc/self/maps", "re");

	while (fgets(line, sizeof(line), maps))
		mapped |= !!strstr(line, "/libcosy-preload.so");
	fclose(maps);
	if (atoi(getenv("ARGUMENTS")) != argc || !!getenv("LD_PRELOAD") != mapped ||
	    strcmp(getenv("LAST"), "last"))
		return 2;
	return mapped;
}

/* Execute a program; returns its exit status. */
static int run(const char *function, char **argv)
{
	char number[16], path[PAGE + 16];
	pid_t pid = 0;
	int status, argc = 0;

	snprintf(path, sizeof(path), "%s/%s", directory, argv[0]);
	while (argv[argc])
		argc++;
	snprintf(number, sizeof(number), "%d", argc);
	setenv("ARGUMENTS", number, 1);
	if (!strcmp(function, "posix_spawn") || !strcmp(function, "posix_spawnp")) {
		errno = function[11] ? posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) :
				       posix_spawn(&pid, path, NULL, NULL, argv, environ);
		if (errno)
			err(1, "%s", function);
	} else if (!(pid = vfork())) {
		if (!strcmp(function, "execve"))
			execve(path, argv, environ);
		else if (!strcmp(function, "execv"))
			execv(path, argv);
		else if (!strcmp(function, "execvp"))
			execvp(argv[0], argv);
		else if (!strcmp(function, "execl"))
			execl(path, argv[0], argv[1], NULL);
		else if (!strcmp(function, "execlp"))
			execlp(argv[0], argv[0], argv[1], NULL);
		else if (!strcmp(function, "execle"))
			execle(path, argv[0], argv[1], NULL, environ);
		else if (!strcmp(function, "execveat"))
			execveat(AT_FDCWD, path, argv, environ, 0);
		else
			execvpe(argv[0], argv, environ);
		_exit(errno);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void report(const char *what, int status)
{
	printf("%s: %s\n", what, status == 0 ? "without" : status == 1 ? "with" : "wrong");
}

/* Run with this number of the same argument, and of variables if it is not 0. */
static int run_many(const char *function, char *argument, int count, int variables)
{
	char *argv[300] = { "rm" }, **old = environ, *many[8200] = { "LAST=last", "ARGUMENTS=" };
	int status, n = 2;

	for (int i = 1; i <= count; i++)
		argv[i] = argument;
	if (variables) {
		for (char **at = environ; *at; at++) {
			if (!strncmp(*at, "LD_PRELOAD=", 11) || !strncmp(*at, "COSY_EXECUTOR=", 14))
				many[n++] = *at;
		}
		while (n < variables)
			many[n++] = "VARIABLE=value";
		environ = many;
	}
	status = run(function, argv);
	environ = old;
	return status;
}

static void report_variables(const char *function, int variables)
{
	printf("%s, %d ", function, variables);
	report("variables", run_many(function, "f", 1, variables));
}

static int count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int c, n = 0;

	while ((c = getc(maps)) != EOF)
		n += c == '\n';
	fclose(maps);
	return n;
}

static void test_programs(void)
{
	static char *programs[][2] = {
		{ "rm", "-f" }, { "rm", "-rf" }, { "rmx", "-f" }, { "sh", "-f" }
	};
	int before;

	for (size_t i = 0; i < COUNT(functions); i++) {
		for (size_t j = 0; j < COUNT(programs); j++) {
			printf("%s %s ", functions[i], programs[j][0]);
			report(programs[j][1], run(functions[i], (char *[]){ programs[j][0],
							    programs[j][1], NULL }));
		}
	}
	report("rm --force", run("execve", (char *[]){ "rm", "--force", NULL }));
	report("rm a", run("execve", (char *[]){ "rm", "a", NULL }));
	report("sort -r", run("execve", (char *[]){ "sort", "-r", NULL }));
	report("31 files", run_many("execve", "f", 31, 0));
	report("32 files", run_many("execve", "f", 32, 0));
	report("256 arguments", run_many("execve", "-f", 255, 0));
	report("257 arguments", run_many("execve", "-f", 256, 0));
	report_variables("execve", 96);
	report_variables("execve", 97);
	before = count_mappings();
	report_variables("posix_spawn", 96);
	report_variables("posix_spawn", 97);
	report_variables("posix_spawn", 8192);
	report_variables("posix_spawn", 8193);
	if (count_mappings() != before)
		printf("posix_spawn has left %d mappings\n", count_mappings() - before);
}

/* The result of execve() in a child. */
static void fail(const char *what, const char *path, char *const *argv, char *const *envp)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execve(path, argv, envp);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	printf("%s: %s\n", what, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) :
						      strerror(WEXITSTATUS(status)));
}

/* Strings and pointers that cannot be read, and some that end where the memory ends. */
static void test_errors(void)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	char *end = pages + PAGE, *preload = getenv("LD_PRELOAD"), *variable;
	char *argv[] = { "true", NULL }, *envp[] = { "A=b", NULL }, **array;

	munmap(end, PAGE);
	if (asprintf(&variable, "LD_PRELOAD=%s", preload ? preload : "") < 0)
		err(1, "asprintf");
	fail("path", end, argv, envp);
	fail("NULL", NULL, argv, envp);
	memcpy(end - 5, "/true", 5);
	fail("endless path", end - 5, argv, envp);
	fail("arguments", "/bin/true", (char **)end, envp);
	fail("an argument", "/bin/true", (char *[]){ "true", end, NULL }, envp);
	fail("environment", "/bin/true", argv, (char **)end);
	fail("no environment", "/bin/true", argv, NULL);
	fail("no argument", "/bin/true", NULL, envp);
	fail("a variable", "/bin/true", argv, (char *[]){ end, variable, NULL });
	memcpy(end - 4, "LD_P", 4);
	fail("endless variable", "/bin/true", argv, (char *[]){ variable, end - 4, NULL });
	memcpy(end - 4, "L=d", 4);
	fail("variable at the end", "/bin/true", argv, (char *[]){ end - 4, variable, NULL });
	memcpy(end - 10, "/bin/true", 10);
	fail("path at the end", end - 10, argv, envp);
	array = (char **)end - 2;
	array[0] = variable;
	array[1] = NULL;
	fail("array at the end", "/bin/true", argv, array);
	array[1] = "A=b";
	fail("endless array", "/bin/true", argv, array);
	array = (char **)(end - 12);
	memcpy(array, &argv[1], 8);
	fail("odd array", "/bin/true", argv, array);
	fail("missing", "/missing/true", argv, envp);
}

int main(int argc, char **argv)
{
	char *path;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(basename(argv[0]), "parent"))
		return child(argc);
	if (argc > 1) {
		test_errors();
		return 0;
	}
	readlink("/proc/self/exe", directory, sizeof(directory) - 1);
	*strrchr(directory, '/') = '\0';
	if (asprintf(&path, "%s:/usr/bin:/bin", directory) < 0)
		err(1, "asprintf");
	setenv("PATH", path, 1);
	setenv("LAST", "last", 1);
	test_programs();
	return 0;
}
