// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Calls in a share are not made if a seccomp filter does not allow them, with the
 * arguments of the program, or if the thread is traced. Handing over works while the filter allows
 * fcntl(F_DUPFD_CLOEXEC).
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include "filter.h"
#include "table.h"

/* The results of an entry that leaves the call to the process. */
#define FILTERED	(long)(COSY_CALL_LEFT | COSY_CALL_FILTERED)
#define TRACED		(long)(COSY_CALL_LEFT | COSY_CALL_TRACED)

/* Return true if the call was left to the process for the reason @left. */
static bool is_left(struct table table, long left, long nr, __u64 first, __u64 second)
{
	struct cosy_call call = { .nr = nr, .args = { first, second } };

	return returned("call", enter_call(table, &call)) == left && !call.status;
}

static void in_child(void (*test)(struct table table, long fd), int dev, const char *what)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct table table = must_make_table(dev, 16);

		test(table, call_in(table, SYS_openat, AT_FDCWD, addr("/dev/null"), O_RDWR));
		exit(finish());
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status), "%s", what);
}

/* The child's shares are its own: each test makes one there. */
static void opens_denied(struct table table, long fd)
{
	filter(SYS_openat, -1, SECCOMP_RET_ERRNO | EACCES);
	check(is_left(table, FILTERED, SYS_openat, AT_FDCWD, addr("/dev/null")),
	      "open() in a share is not made");
	check(call_in(table, SYS_write, fd, addr("x"), 1) == 1, "write() in a share is made");
	check(call_in(table, SYS_dup, fd) >= 0, "dup() in a share is made");
}

static void kills(struct table table, long fd)
{
	filter(SYS_socket, -1, SECCOMP_RET_KILL_PROCESS);
	check(is_left(table, FILTERED, SYS_socket, 1, 1),
	      "socket() is not made, and the process is not killed");
	check(is_done(enter_short(table, SYS_dup, fd)), "a short dup() is");
	filter(SYS_close, -1, SECCOMP_RET_TRAP);
	check(enter_short(table, SYS_close, fd) == FILTERED,
	      "a short close() is not made when the filter traps it");
	check(is_left(table, FILTERED, SYS_close, fd, 0), "close() is not made when the filter traps it");
	check(call_in(table, SYS_write, fd, addr("x"), 1) == 1, "the descriptor is open");
}

/* The filter compares the descriptor with the number that the program gives. */
static void by_descriptor(struct table table, long fd)
{
	filter(SYS_write, fd & (COSY_SHARE_MAX - 1), SECCOMP_RET_ERRNO | EPERM);
	check(call_in(table, SYS_write, fd, addr("x"), 1) == 1,
	      "a filter for the number in the table is for another descriptor");
	filter(SYS_write, fd, SECCOMP_RET_ERRNO | EPERM);
	check(is_left(table, FILTERED, SYS_write, fd, addr("x")), "a filter sees the descriptor of the share");
}

static void moves_denied(struct table table, long fd)
{
	filter(SYS_fcntl, -1, SECCOMP_RET_ERRNO | EACCES);
	check(move_fd(table, fd, -1, 0) == -EPERM && move_fd(table, fd, table.fd, 0) == -EPERM &&
		      move_fd(table, fd, -1, COSY_SHARE_COPY) == -EPERM &&
		      move_fd(table, 0, -1, COSY_SHARE_IN) == -EPERM,
	      "nothing is handed over");
	check(call_in(table, SYS_write, fd, addr("x"), 1) == 1, "the descriptor is still there");
}

static void dups_denied(struct table table, long fd)
{
	filter(SYS_dup, fd + 1, SECCOMP_RET_ERRNO | EACCES);
	check(enter_short(table, SYS_dup, fd + 1) == FILTERED && is_done(enter_short(table, SYS_dup, fd)),
	      "a short call is left for the descriptor that the filter names");
	filter(SYS_dup, 0, SECCOMP_RET_ERRNO | EACCES);
	check(is_left(table, FILTERED, SYS_dup, 0, 0), "a descriptor of the process is not copied");
	check(call_in(table, SYS_dup, fd) >= 0, "a descriptor of the share is copied");
}

static void traced(int dev)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct table table = must_make_table(dev, 16);
		long fd;

		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			die("ptrace");
		check(is_left(table, TRACED, SYS_openat, AT_FDCWD, addr("/dev/null")),
		      "a traced thread makes no call in a share");
		fd = move_fd(table, 0, -1, COSY_SHARE_IN);
		check(enter_short(table, SYS_dup, fd) == TRACED &&
			      enter_short(table, SYS_close, fd) == TRACED,
		      "a traced thread makes no short call in a share");
		check(is_of(table, fd) && move_fd(table, fd, -1, 0) >= 0,
		      "a traced thread moves descriptors into a share and out of it");
		fd = move_fd(table, 0, -1, COSY_SHARE_IN);
		check(!move_fd(table, fd, -1, COSY_SHARE_CLOSE) &&
			      move_fd(table, fd, -1, COSY_SHARE_COPY) == -EBADF,
		      "a traced thread closes a descriptor by its own request");
		exit(finish());
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status), "a traced thread");
}

int main(void)
{
	int dev = open_device();

	in_child(opens_denied, dev, "open() is denied");
	in_child(kills, dev, "the process would be killed");
	in_child(by_descriptor, dev, "a filter for one descriptor");
	in_child(moves_denied, dev, "fcntl() is denied");
	in_child(dups_denied, dev, "dup() of one descriptor is denied");
	traced(dev);
	return finish();
}
