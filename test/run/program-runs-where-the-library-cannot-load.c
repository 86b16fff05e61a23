// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: root
/*
 * A process under cosy run goes where programs could not load libcosy-preload.so, and then executes a
 * program by each function of the C library. The program prints the same as natively, without a
 * message of the dynamic linker.
 */

// RUN: %cc -O1 -Wall %s -o %t
// RUN: %S/Inputs/unloadable %build %t %t.root

#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../Inputs/check.h"

/* Only these directories can be read from now on. */
static void set_landlock(void)
{
	static const char *const readable[] = { "/usr", "/lib", "/lib64", "/bin", "/etc", "/dev", "/proc" };
	struct landlock_ruleset_attr rules = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE,
	};
	int fd = syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);

	if (fd < 0)
		exit(77);
	for (size_t i = 0; i < sizeof(readable) / sizeof(*readable); i++) {
		struct landlock_path_beneath_attr rule = {
			.allowed_access = rules.handled_access_fs,
			.parent_fd = open(readable[i], O_PATH | O_CLOEXEC),
		};

		if (rule.parent_fd >= 0)
			EQUAL(syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0),
			      0);
	}
	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(syscall(SYS_landlock_restrict_self, fd, 0), 0);
}

/* prlimit64() fails from now on. */
static void refuse_prlimit(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void leave(const char *where, const char *library, const char *root)
{
	/* Any prctl() before, as util-linux makes it. */
	EQUAL(prctl(PR_CAPBSET_READ, CAP_CHOWN), 1);
	if (!strcmp(where, "chroot")) {
		EQUAL(chroot(root), 0);
		EQUAL(chdir("/"), 0);
		return;
	}
	if (!strcmp(where, "bounding")) {
		EQUAL(prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH), 0);
		EQUAL(prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE), 0);
		return;
	}
	if (!strcmp(where, "securebits")) {
		EQUAL(prctl(PR_SET_SECUREBITS, SECBIT_NOROOT), 0);
		return;
	}
	if (!strcmp(where, "syscall")) {
		EQUAL(syscall(SYS_prctl, PR_SET_SECUREBITS, SECBIT_NOROOT), 0);
		return;
	}
	if (!strcmp(where, "landlock")) {
		set_landlock();
		return;
	}
	EQUAL(unshare(CLONE_NEWNS), 0);
	EQUAL(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	if (!strcmp(where, "noexec")) {
		EQUAL(mount(library, library, NULL, MS_BIND, NULL), 0);
		EQUAL(mount("none", library, NULL, MS_REMOUNT | MS_BIND | MS_NOEXEC, NULL), 0);
		return;
	}
	EQUAL(mount("none", library, "tmpfs", 0, NULL), 0);
	if (!strcmp(where, "refused"))
		refuse_prlimit();
	else
		EQUAL_TEXT(where, "mount");
}

static void must_exit(pid_t pid)
{
	int status;

	EQUAL(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	exit(WEXITSTATUS(status));
}

static void copy_output(FILE *file)
{
	char line[100];

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		fputs(line, stdout);
	exit(WEXITSTATUS(pclose(file)));
}

#if __GLIBC_PREREQ(2, 39)
static void must_exit_pidfd(int pidfd)
{
	siginfo_t info;

	EQUAL(waitid(P_PIDFD, pidfd, &info, WEXITED), 0);
	exit(info.si_status);
}
#endif

/* Eight arguments, so that some of a list are on the stack. */
static void execute(const char *how)
{
	char *argv[] = { "stat", "-c", "%n", "/", "/usr", "/etc", "/bin", "/lib", NULL };
	char *list_envp[] = { getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") - strlen("LD_PRELOAD=") : "A=b",
			      "PATH=/bin", NULL };
	pid_t pid;

#define LIST	"stat", "-c", "%n", "/", "/usr", "/etc", "/bin", "/lib", (char *)NULL
#define HOW(name) if (!strcmp(how, #name))
	HOW(execv) execv("/usr/bin/stat", argv);
	HOW(execvp) execvp("stat", argv);
	HOW(execvpe) execvpe("stat", argv, environ);
	HOW(execve) execve("/usr/bin/stat", argv, environ);
	HOW(execl) execl("/usr/bin/stat", LIST);
	HOW(execlp) execlp("stat", LIST);
	HOW(execle) execle("/usr/bin/stat", LIST, list_envp);
	HOW(fexecve) fexecve(open("/usr/bin/stat", O_RDONLY | O_CLOEXEC), argv, environ);
	HOW(execveat) execveat(open("/usr/bin", O_PATH | O_CLOEXEC), "stat", argv, environ, 0);
	HOW(system) exit(WEXITSTATUS(system("stat -c %n /usr; env | grep COSY_TEST")));
	HOW(popen) copy_output(popen("stat -c %n /usr; env | grep COSY_TEST", "r"));
	HOW(posix_spawn) {
		EQUAL(posix_spawn(&pid, "/usr/bin/stat", NULL, NULL, argv, environ), 0);
		must_exit(pid);
	}
	HOW(posix_spawnp) {
		EQUAL(posix_spawnp(&pid, "stat", NULL, NULL, argv, environ), 0);
		must_exit(pid);
	}
#if __GLIBC_PREREQ(2, 39)
	int pidfd;

	HOW(pidfd_spawn) {
		EQUAL(pidfd_spawn(&pidfd, "/usr/bin/stat", NULL, NULL, argv, environ), 0);
		must_exit_pidfd(pidfd);
	}
	HOW(pidfd_spawnp) {
		EQUAL(pidfd_spawnp(&pidfd, "stat", NULL, NULL, argv, environ), 0);
		must_exit_pidfd(pidfd);
	}
#endif
	/* The result if the program is not there. */
	HOW(missing) exit(execl("/missing", LIST) == -1 && errno == ENOENT ? 5 : 6);
	err(98, "%s", how);
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		printf("execv execvp execvpe execve execl execlp execle fexecve execveat system popen "
		       "posix_spawn posix_spawnp missing");
#if __GLIBC_PREREQ(2, 39)
		printf(" pidfd_spawn pidfd_spawnp");
#endif
		putchar('\n');
		return 0;
	}
	EQUAL(argc, 5);
	leave(argv[1], argv[3], argv[4]);
	execute(argv[2]);
}
