// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * In a process that can start no thread, calls that end by themselves are made all the same. Calls
 * that may wait for ever fail.
 */
// RUN: %compile
// RUN: %everywhere
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "loop.h"

/* Both calls that start threads fail. */
static void forbid_threads(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* By a listening socket with O_NONBLOCK, the loop accepts itself: the call cannot wait. */
static void accept_without_a_thread(struct cosy_loop *loop)
{
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	const int client = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(address);
	struct cosy_async op = { 0 };

	/* The kernel makes a name. */
	EQUAL(bind(listener, (struct sockaddr *)&address, sizeof(address.sun_family)), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	EQUAL(listen(listener, 1), 0);
	EQUAL(cosy_async_accept4(loop, &op, listener, NULL, NULL, SOCK_CLOEXEC), 0);
	EQUAL(cosy_wait(loop, 0, NULL), 0);
	EQUAL(connect(client, (struct sockaddr *)&address, size), 0);
	CHECK(result_of(loop, &op) >= 0);
	close((int)op.result);
	close(client);
	close(listener);
}

int main(void)
{
	struct cosy_async ops[20] = { 0 };
	char name[] = "/tmp/no-threads.XXXXXX", text[8] = "";
	const struct linger linger = { .l_onoff = 1, .l_linger = 1 };
	int fd = mkstemp(name), fds[2];
	struct cosy_loop *loop;
	struct stat st;

	CHECK(fd >= 0);
	forbid_threads();
	loop = make_loop();
	EQUAL(cosy_async_call(loop, &ops[0], SYS_pwrite64, fd, (uintptr_t)"1234567", 8, 0, 0, 0), 0);
	EQUAL(result_of(loop, &ops[0]), 8);
	EQUAL(cosy_async_call(loop, &ops[0], SYS_fsync, fd, 0, 0, 0, 0, 0), 0);
	EQUAL(result_of(loop, &ops[0]), 0);
	EQUAL(cosy_async_call(loop, &ops[0], SYS_newfstatat, AT_FDCWD, (uintptr_t)name,
			      (uintptr_t)&st, 0, 0, 0), 0);
	EQUAL(result_of(loop, &ops[0]), 0);
	EQUAL(st.st_size, 8);
	/* Many at once, which the module makes if it can. */
	for (int i = 0; i < 20; i++)
		EQUAL(cosy_async_call(loop, &ops[i], i % 2 ? SYS_fdatasync : SYS_fsync, fd, 0, 0,
				      0, 0, 0), 0);
	for (int i = 0; i < 20; i++)
		EQUAL(result_of(loop, &ops[i]), 0);
	EQUAL(cosy_async_call(loop, &ops[0], SYS_pread64, fd, (uintptr_t)text, 8, 0, 0, 0), 0);
	EQUAL(result_of(loop, &ops[0]), 8);
	EQUAL(strcmp(text, "1234567"), 0);
	EQUAL(cosy_async_call(loop, &ops[0], SYS_flock, fd, LOCK_EX, 0, 0, 0, 0), 0);
	EQUAL(result_of(loop, &ops[0]), -EAGAIN);
	/* Closing a socket that lingers. */
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EQUAL(setsockopt(fds[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	EQUAL(cosy_async_close(loop, &ops[0], fds[0]), 0);
	EQUAL(result_of(loop, &ops[0]), 0);
	EQUAL(fcntl(fds[0], F_GETFD), -1);
	accept_without_a_thread(loop);
	EQUAL(cosy_loop_destroy(loop), 0);
	EQUAL(unlink(name), 0);
	return 0;
}
