// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Descriptors in a share are not in the process's table. Calls in the share find them, and
 * make new ones there. They are closed with it.
 */
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"

#include <dirent.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <linux/cosy_async.h>

#include "table.h"

/* Count the descriptors in the process's table. */
static unsigned int in_table(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	/* Without ".", ".." and the directory itself. */
	return n - 3;
}

static void test_calls(int dev)
{
	struct table table = must_make_table(dev, 16);
	const unsigned int before = in_table();
	char buf[8] = "";
	int pair[2];
	long fd, copy;

	fd = call_in(table, SYS_openat, AT_FDCWD, addr("/tmp/cosy-share"), O_RDWR | O_CREAT | O_TRUNC,
		     0600);
	check(is_of(table, fd), "open() in a share returns a descriptor of it");
	check(call_in(table, SYS_write, fd, addr("abcd"), 4) == 4, "write() of it");
	copy = call_in(table, SYS_dup, fd);
	check(is_of(table, copy) && copy != fd, "dup() of it returns another one");
	check(call_in(table, SYS_pread64, copy, addr(buf), 4, 1) == 3 && !memcmp(buf, "bcd", 3),
	      "pread() of that has the same file");
	check(read((int)fd, buf, 1) == -1 && errno == EBADF, "the process has no such descriptor");
	check(in_table() == before, "the table of the process is the same");
	check(call_in(table, SYS_close, fd) == 0, "a close() succeeds");
	check(call_in(table, SYS_close, fd) == -EBADF, "a second close() fails");
	check(call_in(table, SYS_write, fd, addr("x"), 1) == -EBADF,
	      "EBADF: write() to the closed descriptor");
	check(call_in(table, SYS_write, copy, addr("x"), 1) == 1, "the copy is still open");
	check(call_in(table, SYS_openat, AT_FDCWD, addr("/dev/null"), O_RDONLY) == fd,
	      "the lowest free number is given again");

	check(call_in(table, SYS_pipe2, addr(pair), O_CLOEXEC) == 0 && is_of(table, pair[0]) &&
		      is_of(table, pair[1]),
	      "pipe2() makes two descriptors of the share");
	check(call_in(table, SYS_write, pair[1], addr("p"), 1) == 1 &&
		      call_in(table, SYS_read, pair[0], addr(buf), 8) == 1 && buf[0] == 'p',
	      "a byte that is written to one is read from the other");
	check(call_in(table, SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, addr(pair)) == 0 &&
		      call_in(table, SYS_sendto, pair[0], addr("s"), 1, 0, 0, 0) == 1 &&
		      call_in(table, SYS_recvfrom, pair[1], addr(buf), 8, 0, 0, 0) == 1 &&
		      buf[0] == 's',
	      "socketpair() does the same");
	check(call_in(table, SYS_pipe2, 8, 0) == -EFAULT &&
		      call_in(table, SYS_dup, copy) == pair[1] + 1,
	      "pipe2() to a wrong address makes none");
	check(in_table() == before, "the table of the process is the same");
	close(table.fd);
	unlink("/tmp/cosy-share");
}

static void test_accept(int dev)
{
	struct table table = must_make_table(dev, 16);
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	long listener, other;
	char c = 0;
	int fd;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = call_in(table, SYS_socket, AF_INET, SOCK_STREAM, 0);
	check(is_of(table, listener), "socket() returns a descriptor of the share");
	check(call_in(table, SYS_bind, listener, addr(&address), size) == 0 &&
		      call_in(table, SYS_listen, listener, 8) == 0 &&
		      call_in(table, SYS_getsockname, listener, addr(&address), addr(&size)) == 0,
	      "bind(), listen(), getsockname()");
	fd = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(fd, (void *)&address, size) == 0, "connect() by the process's own table");
	other = call_in(table, SYS_accept4, listener, 0, 0, SOCK_CLOEXEC);
	check(is_of(table, other) && other != listener, "accept4() puts the connection into the share");
	check(call_in(table, SYS_sendto, other, addr("a"), 1, 0, 0, 0) == 1 && read(fd, &c, 1) == 1 &&
		      c == 'a',
	      "a byte that the accepted connection sends arrives");
	close(table.fd);
	check(read(fd, &c, 1) == 0, "the connection is closed with the share");
	close(fd);
}

static void test_epoll(int dev)
{
	struct table table = must_make_table(dev, 16);
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 7 };
	long poller = call_in(table, SYS_epoll_create1, 0), fd = call_in(table, SYS_eventfd2, 0, 0);
	__u64 one = 1;

	check(call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_ADD, fd, addr(&event)) == 0 &&
		      call_in(table, SYS_epoll_wait, poller, addr(&event), 1, 0) == 0,
	      "epoll in a share has descriptors of the share");
	call_in(table, SYS_write, fd, addr(&one), 8);
	check(call_in(table, SYS_epoll_wait, poller, addr(&event), 1, 1000) == 1 &&
		      event.data.u64 == 7,
	      "epoll_wait() in the share reports an event of an eventfd of the share");
	close(table.fd);
}

/* An epoll of the process watches a descriptor of a share, also if that has no free place. */
static void test_epoll_of_process(int dev)
{
	struct table table = must_make_table(dev, 2);
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 7 }, events[2];
	int poller = epoll_create1(0), status = open("/proc/self/status", O_RDONLY);
	long fd = call_in(table, SYS_eventfd2, 0, 0), last = call_in(table, SYS_dup, fd);
	__u64 one = 1;

	check(is_of(table, last) && call_in(table, SYS_dup, fd) == -EMFILE, "a share that is full");
	check(call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_ADD, fd, addr(&event)) == 0 &&
		      call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_ADD, fd, addr(&event)) == -EEXIST,
	      "an epoll of the process gets a descriptor of it");
	event.data.u64 = 8;
	check(call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_ADD, last, addr(&event)) == 0,
	      "and another one of the same file");
	check(epoll_wait(poller, events, 2, 0) == 0 &&
		      call_in(table, SYS_write, fd, addr(&one), 8) == 8 &&
		      epoll_wait(poller, events, 2, 1000) == 2 &&
		      events[0].data.u64 + events[1].data.u64 == 7 + 8,
	      "it reports the events of both");
	event.events = 0;
	check(call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_MOD, fd, addr(&event)) == 0 &&
		      call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_DEL, last, 0) == 0 &&
		      epoll_wait(poller, events, 2, 0) == 0,
	      "it can be changed and removed");
	check(call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_MOD, fd, 8) == -EFAULT &&
		      call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_DEL, fd + 2, 0) == -EBADF &&
		      call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_DEL, poller, 0) == -EBADF &&
		      call_in(table, SYS_epoll_ctl, poller, EPOLL_CTL_DEL, fd - 1, 0) == -EBADF &&
		      call_in(table, SYS_epoll_ctl, 1000, EPOLL_CTL_DEL, fd, 0) == -EBADF &&
		      call_in(table, SYS_epoll_ctl, status, EPOLL_CTL_DEL, fd, 0) == -EINVAL,
	      "the errors are those of epoll_ctl()");
	check(table_ioctl(table.fd, COSY_SHARE_COUNT, NULL) == 2, "the share has its two descriptors");
	close(table.fd);
	close(poller);
	close(status);
}

/* A share can be ended without a close of its descriptor. */
static void test_end(int dev)
{
	struct table table = must_make_table(dev, 4);
	long writes;
	int reads = pipe_in(table, &writes);
	char c;

	check(table_ioctl(table.fd, COSY_SHARE_END, NULL) == 0 && read(reads, &c, 1) == 0,
	      "COSY_SHARE_END closes the descriptors of a share");
	check(table_ioctl(table.fd, COSY_SHARE_END, NULL) == -ESHUTDOWN &&
		      call_in(table, SYS_dup, 0) == -ESHUTDOWN,
	      "nothing can be done with it afterwards");
	close(table.fd);
	close(reads);
}

/* Offsets of lseek() that are no entry, or none that can be made. */
static void test_entries(struct table table, long fd)
{
	const __u64 close_it = cosy_share_short_call(SYS_close, fd);
	struct cosy_call call = { .nr = SYS_dup, .status = 1, .args = { fd, -1, -1, -1, -1, -1 } };
	long ret;
	int i;

	ret = enter_call(table, &call);
	check(is_done(ret) && call.status == 1 && is_done(enter_short(table, SYS_close, (int)ret)),
	      "a status and further arguments mean nothing");
	check(enter_call(table, (void *)8) == -EFAULT &&
		      enter_call(table, (void *)((1ull << 47) - 8)) == -EFAULT &&
		      enter_call(table, (void *)-8) < 0,
	      "a wrong address");
	for (i = 0; i < 6; i++)
		check(table_enter(table.fd, 0, i) == (i < 5 ? -ESPIPE : -EINVAL) &&
			      table_enter(table.fd, 1ull << 63, i) < 0 &&
			      (i == 4 || table_enter(table.fd, close_it, i) < 0) &&
			      table_enter(table.fd, close_it & ~COSY_RUN_TAG, i) < 0 &&
			      table_enter(table.fd, close_it | 1ull << 63, i) < 0,
		      "other offsets are no entry, whence %d", i);
	for (i = 0; i < 512; i++)
		check(i == SYS_close || i == SYS_dup ||
			      enter_short(table, i, fd) == (long)(COSY_CALL_LEFT | COSY_CALL_UNKNOWN),
		      "no short call %d", i);
	for (i = 9; i < 30; i++)
		check(enter_short(table, 1u << i | SYS_close, fd) == -ESPIPE, "no call of bit %d", i);
	check((int)enter_short(table, SYS_dup, 0) == -EBADF &&
		      (int)enter_short(table, SYS_close, 0) == -EBADF &&
		      (int)enter_short(table, SYS_dup, fd + 1) == -EBADF &&
		      (int)enter_short(table, SYS_close, fd & (COSY_SHARE_MAX - 1)) == -EBADF &&
		      (int)enter_short(table, SYS_close, 1u << 31 | fd) == -EBADF &&
		      (int)enter_short(table, SYS_dup, fd | (COSY_SHARE_MAX - 1)) == -EBADF,
	      "a short call has a descriptor of the share");
	check(call_in(table, SYS_fcntl, fd, F_GETFL) >= 0, "nothing was closed");
}

/* What is no call for shares, and what is not a descriptor of the share. */
static void test_refused(int dev)
{
	struct table table = must_make_table(dev, 16), other = must_make_table(dev, 16);
	const int numbers[] = { SYS_ioctl, SYS_lseek, SYS_mmap, SYS_poll, SYS_sendmsg, SYS_recvmsg,
				SYS_clone, SYS_unshare, SYS_execve, SYS_exit, SYS_dup2, SYS_dup3,
				SYS_io_uring_setup, SYS_close_range, SYS_fork, SYS_vfork, SYS_clone3,
				SYS_pidfd_getfd, 511, 512, 1 << 30, -1 };
	struct cosy_call call = { .nr = SYS_getpid };
	long fd = call_in(table, SYS_dup, 0), foreign = call_in(other, SYS_dup, 0);
	unsigned int i;

	check(is_of(table, fd) && is_of(other, foreign) && fd != foreign,
	      "two shares have different descriptors");
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		check(call_in(table, numbers[i], fd) == -EINVAL, "no call %d in a share", numbers[i]);
	check(enter_call(table, &call) == -EINVAL, "EINVAL: getpid() in a share");
	test_entries(table, fd);
	check(table_ioctl(table.fd, COSY_IOC_ASYNC, &call) == -ENOTTY, "a command of the device");
	check(call_in(table, SYS_write, foreign, addr("x"), 1) == -EBADF,
	      "a descriptor of another share is none");
	check(call_in(table, SYS_dup, foreign) == -EBADF, "dup() does not copy it either");
	check(call_in(table, SYS_write, 1, addr("x"), 1) == -EBADF,
	      "a descriptor of the process is none");
	check(call_in(table, SYS_fstat, fd & (COSY_SHARE_MAX - 1), addr(&call)) == -EBADF,
	      "the number without the share is none");
	check(call_in(table, SYS_fstat, (1ull << 31) | fd, addr(&call)) == -EBADF &&
		      call_in(table, SYS_fstat, fd + 1, addr(&call)) == -EBADF &&
		      call_in(table, SYS_fstat, fd | (COSY_SHARE_MAX - 1), addr(&call)) == -EBADF &&
		      call_in(table, SYS_fstat, -1, addr(&call)) == -EBADF &&
		      call_in(table, SYS_fstat, INT32_MIN, addr(&call)) == -EBADF &&
		      call_in(table, SYS_fstat, AT_FDCWD, addr(&call)) == -EBADF,
	      "forged descriptors are none");
	check(call_in(table, SYS_openat, fd, addr("x"), 0) == -ENOTDIR &&
		      call_in(table, SYS_openat, 5, addr("x"), 0) == -EBADF,
	      "a directory must be in the share");
	check(call_in(table, SYS_fcntl, fd, F_GETFL) >= 0 &&
		      call_in(table, SYS_fcntl, fd, F_SETFL, fcntl(0, F_GETFL)) == 0 &&
		      call_in(table, SYS_fcntl, fd, F_SETFL, O_NONBLOCK | O_ASYNC) == -EINVAL &&
		      call_in(table, SYS_fcntl, fd, 1ull << 32 | F_SETFL, 1ull << 32 | O_ASYNC) ==
			      -EINVAL &&
		      call_in(table, SYS_fcntl, fd, F_SETLK, 0) == -EINVAL &&
		      call_in(table, SYS_fcntl, fd, F_SETFD, 0) == -EINVAL &&
		      call_in(table, SYS_fcntl, fd, F_DUPFD, 0) == -EINVAL &&
		      call_in(table, SYS_fcntl, fd, F_NOTIFY, 0) == -EINVAL &&
		      call_in(table, SYS_fcntl, fd, F_SETLEASE, 0) == -EINVAL,
	      "of fcntl() only commands that concern the file");
	check(call_in(table, SYS_dup, 1000) == -EBADF, "dup() of a descriptor that is not open");
	close(other.fd);
	close(table.fd);
	check(call_in(table, SYS_dup, fd) == -EBADF, "the share is closed");
}

/* A descriptor of a share that has ended is none of the next one. */
static void test_stale(int dev)
{
	struct table table = must_make_table(dev, 4), next;
	long fd = call_in(table, SYS_dup, 0);

	close(table.fd);
	next = must_make_table(dev, 4);
	check(next.fd == table.fd && next.id != table.id, "the next share has another number");
	call_in(next, SYS_dup, 0);
	check(call_in(next, SYS_fcntl, fd, F_GETFL) == -EBADF, "a stale descriptor is not valid in it");
	close(next.fd);
}

static void test_move(int dev)
{
	struct table from = must_make_table(dev, 4), to = must_make_table(dev, 1);
	struct cosy_share_move wrong = { .size = sizeof(wrong), .to = -1 };
	int reads, installed;
	long writes, moved, copy;
	char c = 0;

	reads = pipe_in(from, &writes);
	moved = move_fd(from, writes, to.fd, 0);
	check(is_of(to, moved), "a descriptor is handed to another share");
	check(call_in(from, SYS_write, writes, addr("x"), 1) == -EBADF,
	      "the first does not have it any more");
	check(call_in(to, SYS_write, moved, addr("m"), 1) == 1 && read(reads, &c, 1) == 1 && c == 'm',
	      "the other one has it");
	check(move_fd(from, writes, to.fd, 0) == -EBADF || call_in(to, SYS_dup, 0) == -EMFILE,
	      "a descriptor that was handed over cannot be handed over again");
	copy = call_in(from, SYS_dup, 0);
	check(move_fd(from, copy, to.fd, 0) == -EMFILE && call_in(from, SYS_fcntl, copy, F_GETFL) >= 0,
	      "a full share does not take one, which then stays");
	check(move_fd(from, moved, -1, 0) == -EBADF, "only the share that has it hands it over");
	check(move_fd(from, copy, from.fd, 0) == copy + 1, "a share can hand it to itself");
	check(move_fd(from, copy + 1, dev, 0) == -EINVAL && move_fd(from, copy + 1, 999, 0) == -EBADF,
	      "other files and descriptors that are not open are no shares");

	installed = (int)move_fd(to, moved, -1, COSY_SHARE_CLOEXEC | COSY_SHARE_COPY);
	check(installed >= 0 && fcntl(installed, F_GETFD) == FD_CLOEXEC && write(installed, "i", 1) == 1 &&
		      read(reads, &c, 1) == 1 && c == 'i',
	      "it is copied to the table of the process, close-on-exec");
	check(call_in(to, SYS_write, moved, addr("x"), 1) == 1, "the share still has it");
	close(installed);
	installed = (int)move_fd(to, moved, -1, 0);
	check(installed >= 0 && fcntl(installed, F_GETFD) == 0,
	      "the descriptor is handed to the process, without close-on-exec");
	check(call_in(to, SYS_write, moved, addr("x"), 1) == -EBADF, "the share does not have it any more");
	close(installed);
	check(read(reads, &c, 1) == 1 && has_ended(reads),
	      "closing the handed descriptor closes the file");

	wrong.fd = copy + 1;
	wrong.flags = 16;
	check(table_ioctl(from.fd, COSY_SHARE_MOVE, &wrong) == -EINVAL, "an unknown flag");
	wrong.flags = 0;
	wrong.to = -2;
	check(table_ioctl(from.fd, COSY_SHARE_MOVE, &wrong) == -EINVAL, "a negative target");
	wrong.to = to.fd;
	wrong.flags = COSY_SHARE_CLOEXEC;
	check(table_ioctl(from.fd, COSY_SHARE_MOVE, &wrong) == -EINVAL, "close-on-exec in a share");
	wrong.size = 4;
	check(table_ioctl(from.fd, COSY_SHARE_MOVE, &wrong) == -EINVAL, "a short argument");
	wrong = (struct cosy_share_move){ .size = sizeof(wrong), .flags = COSY_SHARE_IN | COSY_SHARE_COPY,
					  .to = -1 };
	check(table_ioctl(from.fd, COSY_SHARE_MOVE, &wrong) == -EINVAL, "COSY_SHARE_IN with another flag");
	check(move_fd(from, 0, to.fd, COSY_SHARE_IN) == -EINVAL, "COSY_SHARE_IN with another share");
	check(is_of(from, move_fd(from, 0, -1, COSY_SHARE_IN)) &&
		      move_fd(from, 999, -1, COSY_SHARE_IN) == -EBADF &&
		      move_fd(from, copy, -1, COSY_SHARE_IN) == -EBADF,
	      "COSY_SHARE_IN copies descriptors of the process");
	check(move_fd(from, copy + 1, -1, COSY_SHARE_CLOSE | COSY_SHARE_COPY) == -EINVAL &&
		      move_fd(from, copy + 1, -1, COSY_SHARE_CLOSE | COSY_SHARE_IN) == -EINVAL &&
		      move_fd(from, copy + 1, -1, COSY_SHARE_CLOSE | COSY_SHARE_CLOEXEC) == -EINVAL,
	      "COSY_SHARE_CLOSE with another flag");
	check(move_fd(from, copy + 1, to.fd, COSY_SHARE_CLOSE) == -EINVAL,
	      "COSY_SHARE_CLOSE with another share");
	check(move_fd(from, copy + 1, -1, COSY_SHARE_CLOSE) == 0 &&
		      move_fd(from, copy + 1, -1, COSY_SHARE_CLOSE) == -EBADF &&
		      move_fd(from, 0, -1, COSY_SHARE_CLOSE) == -EBADF &&
		      move_fd(from, from.fd, -1, COSY_SHARE_CLOSE) == -EBADF,
	      "COSY_SHARE_CLOSE closes descriptors of the share once, and no others");
	close(from.fd);
	close(to.fd);
	close(reads);
}

static void test_limits(int dev)
{
	struct rlimit limit, before;
	struct table table, second;
	int pair[2], i;

	table = must_make_table(dev, 3);
	for (i = 0; i < 2; i++)
		call_in(table, SYS_dup, 0);
	check(call_in(table, SYS_pipe2, addr(pair), 0) == -EMFILE,
	      "a share with one free descriptor has no pipe");
	check(call_in(table, SYS_dup, 0) >= 0 && call_in(table, SYS_dup, 0) == -EMFILE &&
		      call_in(table, SYS_socket, AF_UNIX, SOCK_STREAM, 0) == -EMFILE,
	      "a share has no more descriptors than its maximum");
	close(table.fd);

	table = must_make_table(dev, 300);
	for (i = 0; i < 300 && call_in(table, SYS_dup, 0) >= 0; i++)
		;
	check(i == 300 && call_in(table, SYS_dup, 0) == -EMFILE, "300 descriptors in a share");
	close(table.fd);

	getrlimit(RLIMIT_NOFILE, &before);
	limit = (struct rlimit){ 64, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &limit);
	check(make_table(dev, 64, &table) == -EMFILE, "a maximum beyond RLIMIT_NOFILE");
	check(make_table(dev, 40, &table) == 0 && make_table(dev, 40, &second) == -EMFILE,
	      "the limit is for all shares and the table together");
	limit.rlim_cur = 8;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (i = 0; call_in(table, SYS_dup, 0) >= 0; i++)
		;
	check(i == 7, "a lower limit is in force at once");
	setrlimit(RLIMIT_NOFILE, &before);
	close(table.fd);
	check(make_table(dev, 0, &table) == -EINVAL && make_table(dev, COSY_SHARE_MAX + 1, &table) == -EINVAL,
	      "no maximum of 0, and none above COSY_SHARE_MAX");
}

/* A user's memory is limited for shares and loops together, and is given back. */
static void test_memory(void)
{
	const struct rlimit many = { 1 << 16, 1 << 16 };
	struct cosy_async_create loop = { .size = sizeof(loop), .nentries = 1 << 18 };
	unsigned int n, again, first;
	struct table table;
	int dev, error;

	if (setrlimit(RLIMIT_NOFILE, &many))
		die("setrlimit");
	become_user(65521);
	dev = open_device();
	/* Loops take nearly all of it. */
	for (; loop.nentries >= COSY_ASYNC_MIN_ENTRIES; loop.nentries /= 2)
		while (!ioctl(dev, COSY_IOC_ASYNC, &loop))
			;
	check(errno == EDQUOT, "loops take the user's memory");
	first = (unsigned int)dup(0);
	close((int)first);
	for (n = 0; !make_table(dev, 1, &table); n++)
		;
	error = errno;
	check(error == EDQUOT && n < 1000, "so do %u shares: %s", n, strerror(error));
	for (again = 0; again < n; again++)
		close((int)(first + again));
	for (again = 0; again < n && !make_table(dev, 1, &table); again++)
		;
	check(again == n, "after %u shares are closed, as many are made: %u", n, again);
}

static void run_child(void (*function)(int), int arg, const char *what)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		function(arg);
		exit(finish());
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", what);
}

static void limits_memory(int unused)
{
	(void)unused;
	test_memory();
}

static struct table inherited;

static void use_inherited(int fd)
{
	check(call_in(inherited, SYS_dup, fd) == -EPERM && move_fd(inherited, fd, -1, 0) == -EPERM &&
		      table_ioctl(inherited.fd, COSY_SHARE_END, NULL) == -EPERM,
	      "a child cannot use a share");
	close(inherited.fd);
}

/* A child has none; neither its close() nor its end changes anything. exec() closes them. */
static void test_processes(int dev)
{
	long writes;
	int reads;
	pid_t pid;

	inherited = must_make_table(dev, 4);
	reads = pipe_in(inherited, &writes);
	run_child(use_inherited, 0, "a child of fork()");
	check(call_in(inherited, SYS_write, writes, addr("x"), 1) == 1,
	      "the share is as before when the child has closed it");
	pid = vfork();
	if (!pid) {
		close(inherited.fd);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	check(call_in(inherited, SYS_write, writes, addr("x"), 1) == 1, "the same for vfork()");
	close(inherited.fd);
	close(reads);

	/* The child makes a share, and executes a program that never ends by itself. */
	int fds[2];

	if (pipe(fds))
		die("pipe");
	pid = fork();
	if (!pid) {
		inherited = must_make_table(dev, 4);
		call_in(inherited, SYS_dup, fds[1]);
		close(fds[0]);
		fcntl(fds[1], F_SETFD, FD_CLOEXEC);
		execl("/proc/self/exe", "shares", "sleep", NULL);
		_exit(1);
	}
	close(fds[1]);
	check(has_ended(fds[0]), "exec() closes the descriptors");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fds[0]);

	if (pipe(fds))
		die("pipe");
	pid = fork();
	if (!pid) {
		inherited = must_make_table(dev, 4);
		call_in(inherited, SYS_dup, fds[1]);
		close(fds[0]);
		close(fds[1]);
		/* It is killed in a call. */
		call_in_args(inherited, SYS_read, (const __u64[6]){ call_in(inherited, SYS_eventfd2, 0, 0),
								    addr(&pid), 8 });
		_exit(1);
	}
	close(fds[1]);
	wait_until_asleep_in_module(pid);
	kill(pid, SIGKILL);
	check(has_ended(fds[0]), "a process that is killed in a call closes them");
	waitpid(pid, NULL, 0);
	close(fds[0]);
}

static void send_fd(int socket, int fd)
{
	char c = 0, control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec iov = { &c, 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	if (sendmsg(socket, &message, 0) != 1)
		die("sendmsg");
}

/* A share that contains itself, or is in flight in a socket that it contains, ends. */
static void test_cycles(int dev)
{
	struct table table = must_make_table(dev, 8), second;
	int reads, pair[2];
	long writes;

	reads = pipe_in(table, &writes);
	check(call_in(table, SYS_dup, table.fd) >= 0 && call_in(table, SYS_dup, dev) >= 0,
	      "a share contains its own file");
	close(table.fd);
	check(has_ended(reads), "a share that contains its own file ends with its last descriptor outside");
	close(reads);

	table = must_make_table(dev, 8);
	second = must_make_table(dev, 8);
	reads = pipe_in(table, &writes);
	call_in(table, SYS_dup, second.fd);
	call_in(second, SYS_dup, table.fd);
	close(second.fd);
	close(table.fd);
	check(has_ended(reads), "two shares that contain each other end");
	close(reads);

	table = must_make_table(dev, 8);
	reads = pipe_in(table, &writes);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		die("socketpair");
	send_fd(pair[0], table.fd);
	call_in(table, SYS_dup, pair[0]);
	call_in(table, SYS_dup, pair[1]);
	close(pair[0]);
	close(pair[1]);
	close(table.fd);
	check(has_ended(reads), "a share in flight in its own socket ends");
	close(reads);
}

/* The descriptor of a share is closed by another one; the share has ended for all of them. */
static void test_copies(int dev)
{
	struct table table = must_make_table(dev, 8);
	int copy = dup(table.fd), reads;
	long writes;

	reads = pipe_in(table, &writes);
	close(table.fd);
	check(has_ended(reads), "closing one descriptor of a share ends it");
	table.fd = copy;
	check(call_in(table, SYS_dup, 0) == -ESHUTDOWN && move_fd(table, writes, -1, 0) == -ESHUTDOWN,
	      "ESHUTDOWN: calls by another descriptor of the share");
	check((int)enter_short(table, SYS_dup, (unsigned int)writes) == -EBADF &&
		      (int)enter_short(table, SYS_close, (unsigned int)writes) == -EBADF,
	      "EBADF: the descriptors of the ended share");
	close(copy);
	close(reads);
}

/* Shared with a child. */
static volatile int *alarms;

static void on_alarm(int signal)
{
	(void)signal;
	++*alarms;
}

/* Send a signal when the thread has had @handled of them, and waits in a call. */
static void interrupt(pid_t thread, int signal, int handled)
{
	while (*alarms < handled)
		usleep(1000);
	wait_until_asleep_in_module(thread);
	kill(thread, signal);
}

/* A call that waits is interrupted by a handler, and made again with SA_RESTART. */
static void test_signals(int dev)
{
	struct table table = must_make_table(dev, 8);
	struct sigaction action = { .sa_handler = on_alarm };
	const pid_t self = getpid();
	int pair[2];
	char c;

	alarms = mmap(NULL, sizeof(*alarms), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	call_in(table, SYS_pipe2, addr(pair), 0);
	sigaction(SIGALRM, &action, NULL);
	/* The parent's descriptors of the share are not the child's. */
	if (!fork()) {
		interrupt(self, SIGALRM, 0);
		_exit(0);
	}
	check(call_in(table, SYS_read, pair[0], addr(&c), 1) == -EINTR && *alarms == 1,
	      "a signal interrupts a call");
	wait(NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	action.sa_flags = 0;
	sigaction(SIGUSR1, &action, NULL);
	if (!fork()) {
		interrupt(self, SIGALRM, 1);
		interrupt(self, SIGUSR1, 2);
		_exit(0);
	}
	check(call_in(table, SYS_read, pair[0], addr(&c), 1) == -EINTR && *alarms == 3,
	      "with SA_RESTART it is made again");
	wait(NULL);
	munmap((void *)alarms, sizeof(*alarms));
	close(table.fd);
}

static void test_shown(int dev)
{
	struct table table = must_make_table(dev, 8);
	char name[64], text[512] = "", line[64];
	int fd;

	call_in(table, SYS_dup, 0);
	call_in(table, SYS_dup, 0);
	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", table.fd);
	fd = open(name, O_RDONLY);
	check(read(fd, text, sizeof(text) - 1) > 0, "/proc shows a share");
	close(fd);
	snprintf(line, sizeof(line), "cosy-share:\t%u\nprocess:\t%d\nmax:\t8\nopen:\t2\ncalls:\t2\n",
		 table.id, getpid());
	check(strstr(text, line), "its number, process, maximum, descriptors and calls: %s", text);
	close(table.fd);
}

int main(int argc, char **argv)
{
	int dev;

	(void)argv;
	if (argc > 1)
		return pause();
	dev = open_device();
	test_calls(dev);
	test_accept(dev);
	test_epoll(dev);
	test_epoll_of_process(dev);
	test_end(dev);
	test_refused(dev);
	test_stale(dev);
	test_move(dev);
	test_limits(dev);
	run_child(limits_memory, 0, "memory");
	test_processes(dev);
	test_cycles(dev);
	test_copies(dev);
	test_signals(dev);
	test_shown(dev);
	return finish();
}
