/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Descriptors of a share are made, used, duplicated, handed over and closed. All executors give the same
 * numbers and the same errors.
 */
// RUN: %compile
// RUN: %everywhere
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cosy/share.h>

#include "check.h"

static struct cosy_share *make(uint32_t max)
{
	const struct cosy_share_options options = { sizeof(options), max };
	struct cosy_share *share;

	EQUAL(cosy_share_create(&share, &options), 0);
	return share;
}

static uint32_t count(struct cosy_share *share)
{
	struct cosy_share_info info;

	cosy_share_info(share, &info, sizeof(info));
	return info.open;
}

static void files(void)
{
	struct cosy_share *share = make(8);
	char buf[8] = "";
	int fd, copy, ends[2];

	fd = cosy_share_open(share, AT_FDCWD, "/tmp", O_RDWR | O_TMPFILE, 0600);
	CHECK(fd >= 0);
	EQUAL(cosy_share_write(share, fd, "abc", 3), 3);
	copy = cosy_share_dup(share, fd);
	EQUAL(copy, fd + 1);
	EQUAL(cosy_share_syscall(share, SYS_pread64, (uint64_t[6]){ (uint64_t)copy, (uintptr_t)buf, 8, 1 }),
	      2);
	EQUAL_TEXT(buf, "bc");
	EQUAL(write(fd, "x", 1), -1);
	EQUAL(errno, EBADF);
	EQUAL(cosy_share_close(share, fd), 0);
	EQUAL(cosy_share_close(share, fd), -EBADF);
	EQUAL(cosy_share_write(share, fd, "x", 1), -EBADF);
	EQUAL(cosy_share_write(share, copy, "d", 1), 1);
	EQUAL(cosy_share_open(share, AT_FDCWD, "/dev/null", O_RDONLY, 0), fd);
	EQUAL(cosy_share_open(share, AT_FDCWD, "/nowhere", O_RDONLY, 0), -ENOENT);
	EQUAL(cosy_share_open(share, fd, "x", O_RDONLY, 0), -ENOTDIR);
	EQUAL(cosy_share_open(share, 0, "x", O_RDONLY, 0), -EBADF);
	EQUAL(cosy_share_pipe(share, ends, 0), 0);
	EQUAL(ends[0], copy + 1);
	EQUAL(ends[1], copy + 2);
	EQUAL(cosy_share_write(share, ends[1], "pipe", 4), 4);
	EQUAL(cosy_share_read(share, ends[0], buf, 8), 4);
	EQUAL(cosy_share_syscall(share, SYS_pipe2, (uint64_t[6]){ 8 }), -EFAULT);
	EQUAL(count(share), 4);
	cosy_share_destroy(share);
	cosy_share_destroy(NULL);
}

static void sockets(void)
{
	struct cosy_share *share = make(8);
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int listener, server, client = socket(AF_INET, SOCK_STREAM, 0);
	char buf[4];

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = cosy_share_socket(share, AF_INET, SOCK_STREAM, 0);
	EQUAL(cosy_share_syscall(share, SYS_bind,
				 (uint64_t[6]){ (uint64_t)listener, (uintptr_t)&address, size }), 0);
	EQUAL(cosy_share_syscall(share, SYS_listen, (uint64_t[6]){ (uint64_t)listener, 4 }), 0);
	EQUAL(cosy_share_syscall(share, SYS_getsockname,
				 (uint64_t[6]){ (uint64_t)listener, (uintptr_t)&address, (uintptr_t)&size }),
	      0);
	EQUAL(connect(client, (struct sockaddr *)&address, size), 0);
	server = cosy_share_accept(share, listener, NULL, NULL, SOCK_NONBLOCK);
	EQUAL(server, listener + 1);
	EQUAL(cosy_share_recv(share, server, buf, 4, 0), -EAGAIN);
	EQUAL(send(client, "ab", 2, 0), 2);
	EQUAL(cosy_share_recv(share, server, buf, 4, MSG_PEEK), 2);
	EQUAL(cosy_share_send(share, server, "c", 1, MSG_NOSIGNAL), 1);
	EQUAL(recv(client, buf, 4, 0), 1);
	cosy_share_destroy(share);
	/* What was not received makes it a reset. */
	EQUAL(recv(client, buf, 4, 0), -1);
	EQUAL(errno, ECONNRESET);
	close(client);
}

static void handed_over(void)
{
	struct cosy_share *first = make(4), *second = make(1);
	int ends[2], writes, fd;
	char c;

	EQUAL(pipe(ends), 0);
	writes = cosy_share_dup(first, ends[1]);
	close(ends[1]);
	EQUAL(cosy_share_write(second, writes, "x", 1), -EBADF);
	EQUAL(cosy_share_dup(second, writes), -EBADF);
	EQUAL(cosy_share_give(second, writes, first), -EBADF);
	fd = cosy_share_give(first, writes, second);
	CHECK(fd >= 0 && fd != writes);
	EQUAL(cosy_share_write(first, writes, "x", 1), -EBADF);
	EQUAL(cosy_share_give(first, writes, second), -EMFILE);
	EQUAL(cosy_share_write(second, fd, "1", 1), 1);
	writes = cosy_share_dup(first, 0);
	EQUAL(cosy_share_give(first, writes, second), -EMFILE);
	EQUAL(cosy_share_close(first, writes), 0);
	EQUAL(cosy_share_install(second, fd, O_APPEND), -EINVAL);
	EQUAL(cosy_share_install(first, fd, 0), -EBADF);
	writes = cosy_share_install(second, fd, O_CLOEXEC);
	EQUAL(fcntl(writes, F_GETFD), FD_CLOEXEC);
	EQUAL(cosy_share_write(second, fd, "x", 1), -EBADF);
	EQUAL(write(writes, "2", 1), 1);
	fd = cosy_share_dup(second, writes);
	close(writes);
	EQUAL(cosy_share_write(second, fd, "3", 1), 1);
	cosy_share_destroy(second);
	for (int i = 1; i <= 3; i++) {
		EQUAL(read(ends[0], &c, 1), 1);
		EQUAL(c, '0' + i);
	}
	EQUAL(read(ends[0], &c, 1), 0);
	close(ends[0]);
	cosy_share_destroy(first);
}

static void limits(void)
{
	const struct cosy_share_options large = { sizeof(large), (1u << 20) + 1 };
	struct cosy_share_options options = { sizeof(options), 40 };
	struct cosy_share *share = make(3), *other;
	struct rlimit before, limit;
	int ends[2], n;

	EQUAL(cosy_share_create(&other, &large), -EINVAL);
	CHECK(cosy_share_dup(share, 0) >= 0 && cosy_share_dup(share, 0) >= 0);
	EQUAL(cosy_share_pipe(share, ends, 0), -EMFILE);
	CHECK(cosy_share_dup(share, 0) >= 0);
	EQUAL(cosy_share_socket(share, AF_UNIX, SOCK_STREAM, 0), -EMFILE);
	EQUAL(count(share), 3);
	cosy_share_destroy(share);

	share = make(300);
	for (n = 0; cosy_share_dup(share, 0) >= 0; n++)
		;
	EQUAL(n, 300);
	cosy_share_destroy(share);

	getrlimit(RLIMIT_NOFILE, &before);
	limit = (struct rlimit){ 64, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &limit);
	EQUAL(cosy_share_create(&share, &options), 0);
	EQUAL(cosy_share_create(&other, &options), -EMFILE);
	limit.rlim_cur = 8;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (n = 0; cosy_share_dup(share, 0) >= 0; n++)
		;
	/* In user mode the process's table has the same limit. */
	CHECK(n <= 8 && n > 0);
	EQUAL(cosy_share_dup(share, 0), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &before);
	cosy_share_destroy(share);
	EQUAL(cosy_share_create(&share, NULL), 0);
	cosy_share_destroy(share);
}

static void refused(void)
{
	static const long numbers[] = { SYS_ioctl, SYS_lseek, SYS_mmap, SYS_poll, SYS_sendmsg,
					SYS_recvmsg, SYS_dup2, SYS_clone, SYS_getpid, 511, 512, -1 };
	struct cosy_share *share = make(4);
	int value = 0;
	socklen_t size = sizeof(value);
	const int fd = cosy_share_dup(share, 0);
	const int wrong[] = { -1, 0, fd + 1, fd - 1, fd ^ (1 << 20), fd ^ (1 << 30), fd | (1 << 19),
			      INT32_MIN, INT32_MAX, AT_FDCWD };
	const uint64_t setlk[6] = { (uint64_t)fd, F_SETLK }, setfd[6] = { (uint64_t)fd, F_SETFD, 1 },
		       getfl[6] = { (uint64_t)fd, F_GETFL },
		       setfl[6] = { (uint64_t)fd, F_SETFL, (uint64_t)fcntl(0, F_GETFL) },
		       async[6] = { (uint64_t)fd, F_SETFL, O_ASYNC },
		       peer[6] = { (uint64_t)fd, SOL_SOCKET, 77, (uintptr_t)&value, (uintptr_t)&size },
		       bpf[6] = { (uint64_t)fd, SOL_SOCKET, 50, (uintptr_t)&value, size };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		EQUAL(cosy_share_syscall(share, numbers[i], getfl), -EINVAL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		EQUAL(cosy_share_read(share, wrong[i], NULL, 0), -EBADF);
		EQUAL(cosy_share_close(share, wrong[i]), -EBADF);
		EQUAL(cosy_share_install(share, wrong[i], 0), -EBADF);
	}
	EQUAL(cosy_share_syscall(share, SYS_fcntl, setlk), -EINVAL);
	EQUAL(cosy_share_syscall(share, SYS_fcntl, setfd), -EINVAL);
	CHECK(cosy_share_syscall(share, SYS_fcntl, getfl) >= 0);
	EQUAL(cosy_share_syscall(share, SYS_fcntl, setfl), 0);
	/* Its signals would have a number that is not one of the share. */
	EQUAL(cosy_share_syscall(share, SYS_fcntl, async), -EINVAL);
	/* SO_PEERPIDFD, SO_ATTACH_BPF. */
	EQUAL(cosy_share_syscall(share, SYS_getsockopt, peer), -EINVAL);
	EQUAL(cosy_share_syscall(share, SYS_setsockopt, bpf), -EINVAL);
	EQUAL(count(share), 1);
	EQUAL(cosy_share_dup(share, 999), -EBADF);
	cosy_share_destroy(share);
	/* The next share has another number. */
	share = make(4);
	CHECK(cosy_share_dup(share, 0) != fd);
	EQUAL(cosy_share_read(share, fd, NULL, 0), -EBADF);
	cosy_share_destroy(share);
}

static void scope(int ends[2])
{
	COSY_SHARE_SCOPE share = NULL;

	EQUAL(cosy_share_create(&share, NULL), 0);
	CHECK(cosy_share_dup(share, ends[1]) >= 0);
	close(ends[1]);
}

int main(void)
{
	int ends[2];
	char c;

	files();
	sockets();
	handed_over();
	limits();
	refused();
	EQUAL(pipe(ends), 0);
	scope(ends);
	EQUAL(read(ends[0], &c, 1), 0);
	return 0;
}
