// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The calls that glibc makes itself, in opendir(), fopen(), localtime() and so on, go through the
 * module. They have the same results as natively, also in the child of a fork, and at each instruction of a
 * stub the stack can be unwound and another call can be made. glibc's code stays as it is in processes that seldom call such
 * functions, that have threads or a filter, if its bytes are unexpected, and with COSY_RUN_LIBC=0.
 */

// RUN: %cc -O1 -Wall -pthread -fexceptions -fno-builtin %s -o %t
// RUN: %vm %t native >%t.native
// RUN: %vm %build/bin/cosy run %t changed >%t.module
// RUN: cmp %t.native %t.module
// RUN: FileCheck %s <%t.native
// RUN: %vm env COSY_EXECUTOR=kernel %build/bin/cosy run %t changed | cmp - %t.native
// RUN: %vm env COSY_RUN_LIBC=0 %build/bin/cosy run %t unchanged | cmp - %t.native
// RUN: %vm %build/bin/cosy run %t unchanged few
// RUN: %vm %build/bin/cosy run %t changed realpath
// RUN: %vm %build/bin/cosy run %t changed time
// RUN: %vm %build/bin/cosy run %t unchanged thread
// RUN: %vm %build/bin/cosy run %t unchanged filter
// RUN: %vm %build/bin/cosy run %t unchanged breakpoint
// RUN: %vm %build/bin/cosy run %t unchanged denied
// RUN: %vm %build/bin/cosy run %t changed other
// RUN: %vm %build/bin/cosy run %t changed cancel
// RUN: %vm %t native steps
// RUN: %vm %build/bin/cosy run %t changed steps
// RUN: %vm %t native fork >%t.native
// RUN: %vm %build/bin/cosy run %t changed fork | cmp - %t.native
// RUN: %vm sh %S/Inputs/gdb.sh %build/bin/cosy %t | FileCheck --check-prefix=GDB %s

// A debugger that attaches while fopen() waits in a stub finds its callers, and the call goes on afterwards.
// GDB:      in system call 8
// GDB:      {{^#[0-9]+ .*}} in waits_in_fopen (
// GDB-NEXT: {{^#[0-9]+ .*}} in main (
// GDB:      status 0

// CHECK:      opendir: 3 entries
// CHECK:      fopen: five
// CHECK:      fopen of nothing: errno 2
// CHECK:      remove: 0 0 -1 errno 39
// CHECK:      realpath: file

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unwind.h>

#include "Inputs/device.h"

static char top[32];

static unsigned char *libc_function(void *handle, const char *name)
{
	unsigned char *code = dlsym(handle, name);

	CHECK(code);
	return code;
}

/* Return the number of jumps in @name that are followed by a system call instruction. */
static int jumps(void *handle, const char *name, int size)
{
	const unsigned char *code = libc_function(handle, name);
	int n = 0;

	for (int i = 0; i + 7 <= size; i++)
		n += code[i] == 0xe9 && code[i + 5] == 0x0f && code[i + 6] == 0x05;
	return n;
}

/* Since 2.41, open64() makes its system call in a function of all cancellation points. */
static bool is_changed(void *handle)
{
	int expected = strverscmp(gnu_get_libc_version(), "2.41") < 0 ? 2 : 0;
	int opens = jumps(handle, "open64", 290);
	int others = jumps(handle, "fstatat64", 40) + jumps(handle, "readlink", 30);

	CHECK(others == 0 || others == 2);
	EQUAL(opens, others ? expected : 0);
	return others;
}

static int any(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void results(void)
{
	struct dirent **list;
	char text[16] = "", *path;
	FILE *file;
	time_t now = 1000000000;
	DIR *dir;
	int fd;

	dir = opendir(".");
	CHECK(dir);
	for (fd = 0; readdir(dir); fd++)
		;
	closedir(dir);
	printf("opendir: %d entries\n", fd - 2);
	errno = 0;
	printf("opendir of a file: %p", (void *)opendir("file"));
	printf(", errno %d\n", errno);
	printf("fopen of a bad address: %p", (void *)fopen((char *)1, "r"));
	printf(", errno %d\n", errno);
	printf("scandir: %d\n", scandir(".", &list, any, alphasort));
	file = fopen("file", "r");
	CHECK(file && fgets(text, sizeof(text), file));
	fclose(file);
	printf("fopen: %s\n", text);
	errno = 0;
	CHECK(!fopen("nothing", "re"));
	printf("fopen of nothing: errno %d\n", errno);
	file = fopen("new", "wx");
	CHECK(file && !fclose(file) && !fopen("new", "wx"));
	printf("fopen, exclusive: errno %d\n", errno);
	printf("remove: %d", remove("new"));
	CHECK(!mkdir("empty", 0700));
	printf(" %d", remove("empty"));
	printf(" %d", remove("folder"));
	printf(" errno %d\n", errno);
	path = strdup("t-XXXXXX");
	fd = mkstemp(path);
	printf("mkstemp: %d, unlink %d\n", fd, unlink(path));
	close(fd);
	path = strdup("d-XXXXXX");
	printf("mkdtemp: %d, rmdir %d\n", !!mkdtemp(path), rmdir(path));
	printf("localtime: %s", asctime(localtime(&now)));
	printf("passwd: %s, group: %s\n", getpwuid(1)->pw_name, getgrgid(1)->gr_name);
	printf("setlocale: %s\n", setlocale(LC_ALL, "C.UTF-8"));
	printf("setlocale of nothing: %s\n", setlocale(LC_ALL, "xx_XX") ?: "(null)");
	path = realpath("link", NULL);
	printf("realpath: %s\n", strrchr(path, '/') + 1);
	printf("eaccess: %d %d\n", eaccess("file", R_OK), eaccess("nothing", R_OK));
	fd = open("file", O_RDONLY);
	CHECK(fd >= 0 && !close(fd));
	printf("the next descriptor: %d\n", fd);
}

static void *wait_forever(void *arg)
{
	pause();
	return arg;
}

/* A filter that kills for mprotect(), and allows all other calls. */
static void set_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	/* By the instruction itself, so that the library does not notice it. */
	CHECK(!raw_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!raw_syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
}

/* Execute the instruction mov $NUMBER, %eax, of which the first byte was replaced. */
static void on_breakpoint(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	(void)info;
	registers[REG_RAX] = *(unsigned int *)registers[REG_RIP];
	registers[REG_RIP] += 4;
}

/* As a debugger does: the first byte of each place is int3. */
static void set_breakpoints(void *libc)
{
	static const char *const names[] = { "open64", "fstatat64", "readlink" };
	struct sigaction action = { .sa_sigaction = on_breakpoint,
				    .sa_flags = SA_SIGINFO | SA_NODEFER };

	CHECK(!sigaction(SIGTRAP, &action, NULL));
	for (int i = 0; i < 3; i++) {
		unsigned char *code = libc_function(libc, names[i]);
		unsigned char *page = (void *)((unsigned long)code & -4096ul);

		CHECK(!mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC));
		for (int j = 0; j < (i ? 30 : 290); j++)
			if (code[j] == 0xb8 && code[j + 5] == 0x0f && code[j + 6] == 0x05)
				code[j] = 0xcc;
	}
}

/* What a thread that is cancelled in fopen() has executed. */
static volatile int unwound;

static void unwind(int *local)
{
	(void)local;
	unwound++;
}

static void *open_fifo(void *arg)
{
	__attribute__((cleanup(unwind))) int local = 0;

	*(volatile int *)arg = 1;
	fopen("fifo", "r");
	return NULL;
}

static void cancel(void)
{
	CHECK(!mkfifo("fifo", 0600));
	for (int i = 0; i < 50; i++) {
		volatile int started = 0;
		pthread_t thread;
		void *result;

		CHECK(!pthread_create(&thread, NULL, open_fifo, (void *)&started));
		while (!started)
			sched_yield();
		usleep(i * 20);
		CHECK(!pthread_cancel(thread) && !pthread_join(thread, &result));
		CHECK(result == PTHREAD_CANCELED && unwound == i + 1);
	}
	unlink("fifo");
}

/* The library's stubs, and what happened at their instructions. */
static unsigned long stubs, stubs_end;
static int traps, unwound_traps, wrong;
static void *made_in_handler;

__attribute__((noinline)) static DIR *stepped(const char *name);

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *found)
{
	unsigned long ip = _Unwind_GetIP(context), begin = (unsigned long)stepped;

	if (ip > begin && ip < begin + 200)
		*(bool *)found = true;
	return _URC_NO_REASON;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	unsigned long ip = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	bool found = false;
	int error = errno;

	(void)signal;
	(void)info;
	if (ip < stubs || ip >= stubs_end)
		return;
	traps++;
	_Unwind_Backtrace(look, &found);
	unwound_traps += found;
	if (closedir(opendir("folder")))
		wrong++;
	errno = error;
}

__attribute__((noinline)) static DIR *stepped(const char *name)
{
	DIR *dir;

	/* Set the trap flag, and clear it again. */
	__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "memory", "cc");
	dir = opendir(name);
	__asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::: "memory", "cc");
	return dir;
}

static void step(bool changed, void *libc)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	const unsigned char *code = libc_function(libc, "fstatat64");
	DIR *dir;

	if (changed) {
		Dl_info info;

		/* The jump leads to a stub. All stubs are within 1 KiB around it. */
		code += 3;
		CHECK(*code == 0xe9);
		stubs = (unsigned long)code + 5 + *(const int *)(code + 1) - 1024;
		stubs_end = stubs + 2048;
		CHECK(dladdr((void *)(stubs + 1024), &info) &&
		      strstr(info.dli_fname, "libcosy-preload.so"));
	}
	/* The functions that the handler calls have been resolved before. */
	made_in_handler = opendir("folder");
	closedir(made_in_handler);
	CHECK(!sigaction(SIGTRAP, &action, NULL));
	dir = stepped("folder");
	CHECK(dir && !closedir(dir));
	errno = 0;
	CHECK(!stepped("nothing") && errno == ENOENT);
	CHECK(!wrong && unwound_traps == traps);
	CHECK(changed ? traps > 40 : !traps);
}

/* The child of a fork has the stubs, and opens the device again. */
static void fork_child(void *libc, bool changed, bool native)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		CHECK(is_changed(libc) == changed);
		warm_up();
		CHECK(native || has_device());
		results();
		fflush(stdout);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	results();
}

/* Return after another process has written to the fifo. */
__attribute__((noinline)) static void waits_in_fopen(void)
{
	char text[16] = "";
	FILE *file;

	CHECK(!mkfifo("fifo", 0600));
	/* Without c, glibc 2.41 may be cancelled in it, and the call stays glibc's. */
	file = fopen("fifo", "rc");
	CHECK(file && fgets(text, sizeof(text), file));
	fclose(file);
	unlink("fifo");
}

/* Call functions that make calls inside glibc, until these calls must go through the module. */
static void warm_up_libc(const char *what)
{
	time_t now = 1000000000;
	char *path, text[16];
	DIR *dir;

	for (int i = 0; i < 100; i++) {
		if (!strcmp(what, "realpath")) {
			path = realpath("link", NULL);
			CHECK(path);
			free(path);
		} else if (!strcmp(what, "time")) {
			CHECK(strftime(text, sizeof(text), "%Z", localtime(&now)) &&
			      mktime(localtime(&now)) == now && ctime(&now));
		} else {
			dir = opendir(".");
			CHECK(dir && !closedir(dir));
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	bool changed;
	void *libc = dlopen("libc.so.6", RTLD_NOW), *other = NULL;
	pthread_t thread;
	int fd;

	CHECK(argc > 1 && libc);
	changed = !strcmp(argv[1], "changed");
	snprintf(top, sizeof(top), "/tmp/libc-%d", getpid());
	CHECK(!raw_syscall(SYS_mkdir, top, 0700) && !raw_syscall(SYS_chdir, top));
	fd = raw_syscall(SYS_open, "file", O_CREAT | O_WRONLY, 0600);
	CHECK(fd >= 0 && write(fd, "five", 4) == 4 && !close(fd));
	CHECK(!raw_syscall(SYS_mkdir, "folder", 0700) &&
	      !raw_syscall(SYS_mkdir, "folder/a", 0700) &&
	      !raw_syscall(SYS_symlink, "file", "link"));
	if (!strcmp(what, "other")) {
		other = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
		CHECK(other);
	}
	if (!strcmp(what, "thread"))
		CHECK(!pthread_create(&thread, NULL, wait_forever, NULL));
	if (!strcmp(what, "filter"))
		set_filter();
	if (!strcmp(what, "breakpoint"))
		set_breakpoints(libc);
	/* Kernels before 6.3 do not have this: memory must not become executable. */
	if (!strcmp(what, "denied") && prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0))
		changed = true;
	if (!strcmp(what, "few"))
		warm_up();
	else
		warm_up_libc(what);
	CHECK(is_changed(libc) == changed);
	if (strcmp(argv[1], "native"))
		CHECK(has_device());
	if (other)
		CHECK(!is_changed(other));
	results();
	if (!strcmp(what, "cancel"))
		cancel();
	if (!strcmp(what, "steps"))
		step(changed, libc);
	if (!strcmp(what, "fork"))
		fork_child(libc, changed, !strcmp(argv[1], "native"));
	if (!strcmp(what, "gdb"))
		waits_in_fopen();
	raw_syscall(SYS_rmdir, "folder/a");
	rmdir("folder");
	unlink("file");
	unlink("link");
	rmdir(top);
	return 0;
}
