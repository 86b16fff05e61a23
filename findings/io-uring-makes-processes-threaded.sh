#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Linux 6.1.192 of Debian 12, liburing 2.3, and a program with a single thread: unshare(CLONE_NEWUSER), and setns() into a mount
# namespace, work before it uses io_uring and after operations that are executed at once. After one that a worker of the kernel
# executes, as each statx is, both fail with EINVAL, as in a program with threads: the worker counts as a thread of the
# process, and shares its working directory. It does not end when it has nothing to do: 8 seconds later they still
# fail, and 20 seconds after the ring has been closed, too. So whether a program can change its namespace depends on whether
# some library has used io_uring before, and for what.
#
# unshare(2) says that the process must not be threaded, and setns(2) that it must not share its working directory.
# io_uring_setup(2) says that workers look like the threads of a process since Linux 5.12. Neither that page nor
# those of the calls connect the two, and nothing was found about it among liburing's issues. The kernel of this machine is
# tried, too, if that is another one: 6.18.44 does the same until the ring is closed, and then the calls work again.
#
# The kernel boots in QEMU, with the program below as its only process. Besides what README.md says, this
# needs qemu-system-x86, cpio and gcc.

# shellcheck source=findings/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

release=6.1.0-57-amd64
unpack linux-image-$release=6.1.192-3 liburing-dev=2.3-3
mkdir -p tree/proc
cat >spaces.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum use { NONE, NOP, STATX, STATX_LATER, STATX_CLOSED };

static const char *const uses[] = { "no ring", "nop", "statx", "statx, 8 seconds later", "statx, ring closed" };

static void execute(struct io_uring *ring, enum use use)
{
	struct io_uring_sqe *entry = io_uring_get_sqe(ring);
	struct io_uring_cqe *completion;
	struct statx status;

	if (use == NOP)
		io_uring_prep_nop(entry);
	else
		io_uring_prep_statx(entry, AT_FDCWD, "/", 0, STATX_BASIC_STATS, &status);
	io_uring_submit(ring);
	while (io_uring_wait_cqe(ring, &completion))
		;
	io_uring_cqe_seen(ring, completion);
}

/* Leave a namespace in one of two ways, and return 0 or the error. */
static int leave(int enter)
{
	int result = enter ? setns(open("/proc/self/ns/mnt", O_RDONLY), CLONE_NEWNS) : unshare(CLONE_NEWUSER);

	return result ? errno : 0;
}

/* Return what a new process with that use of io_uring gets. */
static const char *result(enum use use, int enter)
{
	int status;

	if (!fork()) {
		struct io_uring ring;
		int error;

		if (use != NONE) {
			if (io_uring_queue_init(8, &ring, 0))
				_exit(ENOSYS);
			execute(&ring, use);
		}
		if (use == STATX_LATER)
			sleep(8);
		if (use == STATX_CLOSED)
			io_uring_queue_exit(&ring);
		error = leave(enter);
		/* The kernel closes a ring a little later. */
		for (int i = 0; use == STATX_CLOSED && error && i < 200; i++) {
			usleep(100000);
			error = leave(enter);
		}
		_exit(error);
	}
	wait(&status);
	return !status ? "done" : WEXITSTATUS(status) == EINVAL ? "EINVAL" : "another error";
}

int main(void)
{
	struct utsname name;

	uname(&name);
	printf("release %s\n", name.release);
	if (getpid() == 1)
		mount("proc", "/proc", "proc", 0, NULL);
	for (enum use use = NONE; use <= STATX_CLOSED; use++) {
		const char *unshared = result(use, 0), *entered = result(use, 1);

		printf("%s: %s, %s\n", uses[use], unshared, entered);
	}
	fflush(stdout);
	if (getpid() == 1)
		reboot(RB_AUTOBOOT);
	return 0;
}
END
gcc -O1 -Wall -static -Iroot/usr/include -o tree/init spaces.c root/usr/lib/x86_64-linux-gnu/liburing.a
boot "$release"
while IFS=: read -r use wanted; do
	expect "unshare, setns: $use" "${wanted# }" "$(sed -n "s/^$use: //p" vm)"
done <<'END'
no ring: done, done
nop: done, done
statx: EINVAL, EINVAL
statx, 8 seconds later: EINVAL, EINVAL
statx, ring closed: EINVAL, EINVAL
END
# It may refuse io_uring, or another user the namespaces.
if [[ $(uname -r) != "$release" ]] && tree/init >here; then
	paste -sd ";" here | sed 's/^release /on /; s/;/; /g'
fi
