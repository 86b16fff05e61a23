// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Attacks through the device: reach it by other calls than it supports, pass it to
 * another user, make runs wait for ever, freeze them, dump core and use up memory while they run.
 */
// REQUIRES: root
// RUN: %compile %s -o %t
// RUN: %vm %t
#include "compound.h"
#include "uring.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

static struct cosy_run fresh(__u64 handle, const void *frame)
{
	return (struct cosy_run){ .handle = handle,
				  .frame = (__u64)(uintptr_t)frame,
				  .errno_addr = (__u64)(uintptr_t)&errno };
}

static bool ends(pid_t pid, int *status, double seconds)
{
	double deadline = now() + seconds;

	while (now() < deadline) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		usleep(1000);
	}
	return false;
}

/* SIGKILL ends it in any state. */
static bool killable(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	return ends(pid, &status, 120) && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGKILL;
}

/* --- other calls -------------------------------------------------------------- */

/* One request of io_uring; returns its result. */
static int by_uring(int opcode, int fd, void *address, unsigned int len)
{
	int result = -ENOSYS;
	struct ring ring;

	if (!ring_make(&ring, opcode, fd, address, len))
		return -ENOSYS;
	ring.request->off = COSY_RUN_TAG | (__u64)(uintptr_t)address;
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1)
		result = ring_result(&ring);
	ring_end(&ring);
	return result;
}

static void test_other_ways(int dev)
{
	static const int opcodes[] = { IORING_OP_READ, IORING_OP_WRITE, IORING_OP_READV,
				       IORING_OP_FSYNC, IORING_OP_FALLOCATE, IORING_OP_URING_CMD,
				       IORING_OP_SPLICE };
	struct iovec iov;
	char buffer[64];
	__u64 frame[4] = { 0 }, handle = must_load(dev, 4, SYS(0, SYS_getpid, 0), EXIT(0));
	struct cosy_run run = fresh(handle, frame);
	int pipes[2], again, refused = 0;
	char name[40];
	void *map;

	iov = (struct iovec){ buffer, sizeof(buffer) };
	if (pipe(pipes))
		die("pipe");
	for (size_t i = 0; i < sizeof(opcodes) / sizeof(*opcodes); i++)
		refused += by_uring(opcodes[i], dev, i == 2 ? (void *)&iov : &run, 1) < 0;
	check(refused == sizeof(opcodes) / sizeof(*opcodes),
	      "no operation of io_uring uses the device");
	check(read(dev, buffer, 1) < 0 && write(dev, buffer, 1) < 0 && readv(dev, &iov, 1) < 0 &&
	      pread(dev, buffer, 1, 0) < 0 && ftruncate(dev, 1) < 0 && fsync(dev) < 0 &&
	      splice(dev, NULL, pipes[1], NULL, 10, 0) < 0 && sendfile(pipes[1], dev, NULL, 10) < 0 &&
	      sendfile(dev, pipes[0], NULL, 10) < 0, "reads, writes, splices and their like fail");
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, dev, 0);
	check(map == MAP_FAILED, "the device cannot be mapped");
	check(lseek(dev, 0, SEEK_SET) < 0 && lseek(dev, (off_t)(COSY_RUN_TAG | (__u64)(uintptr_t)&run),
						   SEEK_END) < 0 && !frame[0],
	      "lseek() without the tag or with another whence executes nothing");

	/* The same device by another path is another file. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", dev);
	again = open(name, O_RDWR);
	check(again >= 0 && enter(again, &run) == -ENOENT,
	      "ENOENT: another file of the device does not have the compound");
	check(run_on(dev, &run) == done(0) && frame[0] == (__u64)getpid(),
	      "the file that loaded the compound still runs it");
	close(again);
	close(pipes[0]);
	close(pipes[1]);
}

/*
 * io_uring closes the descriptor and drops the last reference to the file while its call waits,
 * inside a compound of that file, which continues.
 */
static void test_closed_by_uring(void)
{
	int dev, closed = 0, gone_on = 0, rounds = 0;
	__u64 frame[5], handle;
	struct cosy_run run;
	struct ring ring;
	long ret;

	for (; rounds < 20; rounds++) {
		dev = open_device();
		if (!ring_make(&ring, IORING_OP_CLOSE, dev, NULL, 0))
			break;
		handle = must_load(dev, 5, SYS(0, SYS_io_uring_enter, 6), ARG(1), ARGI(1), ARGI(1),
				   ARGI(IORING_ENTER_GETEVENTS), ARGI(0), ARGI(0),
				   ADDI(2, 2, 1), SYS(3, SYS_getpid, 0), BR(2, ULT, 3000, 7),
				   EXIT(0));
		memset(frame, 0, sizeof(frame));
		frame[1] = (__u64)ring.fd;
		ret = run_frame(dev, handle, frame, &run);
		/*
		 * After it has been left, possibly directly after the call, it cannot be entered
		 * again.
		 */
		closed += (ret == done(0) || ret == -EBADF) && frame[0] == 1 &&
			  !ring_result(&ring) && fcntl(dev, F_GETFD) < 0;
		gone_on += frame[2] && frame[3] == (__u64)getpid();
		ring_end(&ring);
	}
	check(closed == rounds && (gone_on || !rounds),
	      "a compound continues after io_uring has closed its file (%d closed, %d continued, %d rounds)",
	      closed, gone_on, rounds);
}

/* --- another user -------------------------------------------------------------- */

static void send_fd(int to, int fd)
{
	union {
		char text[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec iov = { (void *)"", 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (sendmsg(to, &message, 0) != 1)
		die("sendmsg");
}

static int take_fd(int from)
{
	char c, control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = { &c, 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(from, &message, 0) != 1)
		die("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static void test_another_user(int dev)
{
	__u64 frame[4] = { 0 };
	__u64 handle = must_load(dev, 4, SYS(0, SYS_getuid, 0), SYS(1, SYS_open, 3), ARG(2), ARG(3),
				 ARG(3), EXIT(0));
	struct cosy_run run = fresh(handle, frame);
	int pair[2], status;
	pid_t pid;

	frame[2] = (__u64)(uintptr_t)"/etc/shadow";
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("socketpair");
	pid = fork();
	if (!pid) {
		int got;

		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(2);
		close(dev);
		got = take_fd(pair[1]);
		_exit(run_on(got, &run) != done(0) || frame[0] != 65534 ||
		      frame[1] != (__u64)-EACCES);
	}
	send_fd(pair[0], dev);
	waitpid(pid, &status, 0);
	check(!status, "a process that receives the file has only its own rights");
	check(run_on(dev, &run) == done(0) && frame[0] == 0 && (long)frame[1] >= 0,
	      "the process that has sent it keeps its rights");
	close((int)frame[1]);
	close(pair[0]);
	close(pair[1]);
}

/* --- waiting for ever ---------------------------------------------------------- */

/* Memory whose faults are never resolved. */
static char *endless_memory(size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	char *p = must_map(size);
	struct uffdio_register area = { .range = { (__u64)(uintptr_t)p, size },
					.mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &area))
		die("userfaultfd");
	return p;
}

/* Places where a run waits. */
enum wait { IN_RUN, IN_FRAME, IN_NAME, IN_LOAD, IN_COPY, IN_STRING, IN_READ, IN_REST, IN_BORROW,
	    IN_STAT, IN_ERRNO, NR_WAITS };

/* Return: where it was left instead, as 16 * status + value. */
static int wait_in(int dev, enum wait where)
{
	static char buffer[65536];
	__u64 endless = (__u64)(uintptr_t)endless_memory(1 << 17), frame[8] = { 0 };
	__u64 there = (__u64)(uintptr_t)buffer;
	struct cosy_op open_op = SYS(0, SYS_open, 3), read_op = SYS(1, SYS_read, 3);
	struct cosy_run run;

	open_op.c = COSY_HINT_PRIVATE;
	if (where == IN_REST)
		read_op.c = COSY_HINT_REST;
	if (where == IN_BORROW)
		read_op.c = COSY_HINT_BORROW;
	const struct cosy_op ops[] = {
		open_op, ARG(2), ARGI(O_RDONLY), ARGI(0), read_op, ARG(0), ARG(3), ARGI(10000),
		LOAD(8, 4, 4), COPY(3, 5, 6), STRLEN(6, 5), SYS(1, SYS_stat, 2), ARG(2), ARG(7),
		LIBC(1, SYS_close, 1), ARGI(-1), EXIT(0)
	};

	frame[2] = where == IN_NAME ? endless : (__u64)(uintptr_t)"/tmp/attacks";
	frame[3] = where == IN_READ || where == IN_REST || where == IN_BORROW ? endless + 100 : there;
	frame[4] = where == IN_LOAD ? endless : there;
	frame[5] = where == IN_STRING ? endless : there;
	frame[6] = where == IN_COPY ? 4096 : 0;
	if (where == IN_COPY)
		frame[5] = endless;
	frame[7] = where == IN_STAT ? endless : there;
	run = fresh(must_load_ops(dev, ops, sizeof(ops) / sizeof(*ops), 8), frame);
	if (where == IN_FRAME)
		run.frame = endless;
	if (where == IN_ERRNO)
		run.errno_addr = endless;
	/*
	 * A fault that does not wait leaves. User mode, which is next, would fault again. So does
	 * a bulk operation when the thread has pending work.
	 */
	for (int tries = 0; tries < 10; tries++) {
		run_on(dev, where == IN_RUN ? (void *)(uintptr_t)endless : &run);
		if (run.status != COSY_STEP ||
		    (run.value != COSY_STEP_FAULT && run.value != COSY_STEP_BULK))
			break;
		run.status = COSY_AGAIN;
	}
	return (int)(run.status << 4 | run.value);
}

static void test_endless(int dev)
{
	int fd = open("/tmp/attacks", O_RDWR | O_CREAT | O_TRUNC, 0644), status;
	static char text[40000];

	memset(text, 'x', sizeof(text));
	if (write(fd, text, sizeof(text)) != sizeof(text))
		die("write");
	close(fd);
	for (int i = 0; i < NR_WAITS; i++) {
		pid_t pid = fork();

		if (!pid) {
			_exit(wait_in(dev, (enum wait)i));
		}
		if (ends(pid, &status, 0.5)) {
			check(false,
			      "the child of wait %d has not ended by itself: status %#x",
			      i, WEXITSTATUS(status));
			continue;
		}
		check(killable(pid), "SIGKILL ends wait %d", i);
	}
	unlink("/tmp/attacks");
}

/* --- freezing, dumping core, memory -------------------------------------------- */

static bool put(const char *dir, const char *file, const char *text)
{
	char name[100];
	int fd;
	bool good;

	snprintf(name, sizeof(name), "%s/%s", dir, file);
	fd = open(name, O_WRONLY);
	good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return good;
}

static bool says(const char *dir, const char *file, const char *what)
{
	char name[100], text[1000] = "";
	int fd;

	snprintf(name, sizeof(name), "%s/%s", dir, file);
	fd = open(name, O_RDONLY);
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strstr(text, what);
}

static bool says_soon(const char *dir, const char *file, const char *what)
{
	double deadline = now() + 120;

	while (!says(dir, file, what) && now() < deadline)
		usleep(10000);
	return says(dir, file, what);
}

static void join(const char *dir)
{
	if (!put(dir, "cgroup.procs", "0"))
		_exit(1);
}

static void test_freezer(int dev, const char *dir)
{
	/* Counts at r2 without end. */
	__u64 handle = must_load(dev, 4, ADDI(1, 1, 1), STORE(8, 2, 1), JMP(0));
	volatile __u64 *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				     -1, 0);
	__u64 before, frozen;
	pid_t pid = fork();

	if (!pid) {
		__u64 frame[4] = { 0, 0, (__u64)(uintptr_t)count, 0 };
		struct cosy_run run;

		join(dir);
		run_frame(dev, handle, frame, &run);
		_exit(0);
	}
	while (!*count)
		usleep(1000);
	check(put(dir, "cgroup.freeze", "1") && says_soon(dir, "cgroup.events", "frozen 1"),
	      "a frozen cgroup stops an endless compound");
	frozen = *count;
	usleep(50000);
	check(*count == frozen, "a frozen compound executes nothing");
	before = *count;
	put(dir, "cgroup.freeze", "0");
	for (double end = now() + 120; *count == before && now() < end;)
		usleep(1000);
	check(*count > before, "it continues when the cgroup is thawed");
	check(put(dir, "cgroup.freeze", "1") && killable(pid), "SIGKILL ends a frozen compound");
	put(dir, "cgroup.freeze", "0");
}

static void *endless_run(void *arg)
{
	__u64 frame[4] = { 0, 0, (__u64)(uintptr_t)"/proc/self/exe", 0 };
	struct cosy_op open_op = SYS(0, SYS_open, 3);
	struct cosy_run run;
	int dev = *(int *)arg;

	open_op.c = COSY_HINT_PRIVATE;
	const struct cosy_op ops[] = {
		open_op, ARG(2), ARGI(O_RDONLY), ARGI(0), SYS(1, SYS_read, 3), ARG(0), ARG(3), ARGI(0),
		JMP(4)
	};

	run_frame(dev, must_load_ops(dev, ops, sizeof(ops) / sizeof(*ops), 4), frame, &run);
	return NULL;
}

/* One thread ends while another is in a compound with a private file. */
static void test_core(int dev)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct rlimit any = { RLIM_INFINITY, RLIM_INFINITY };
		pthread_t thread;

		if (chdir("/tmp") || setrlimit(RLIMIT_CORE, &any))
			_exit(1);
		for (int i = 0; i < 2; i++)
			pthread_create(&thread, NULL, endless_run, &dev);
		usleep(100000);
		*(volatile int *)8 = 1;
		_exit(2);
	}
	check(ends(pid, &status, 120) && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
	      "a process dumps core while its threads run compounds (%#x)", status);
	if (system("rm -f /tmp/core /tmp/core.*"))
		die("rm");
}

/* Loads until there is no more memory; there is little. */
static void test_memory(const char *dir)
{
	int status;
	pid_t pid;

	if (!put(dir, "memory.max", "16M") || !put(dir, "memory.swap.max", "0")) {
		printf("no limit of memory\n");
		return;
	}
	pid = fork();
	if (!pid) {
		static struct cosy_op ops[60000];
		struct image *im;
		int dev;

		join(dir);
		dev = open_device();
		for (int i = 0; i < 60000; i++)
			ops[i] = (struct cosy_op)ADDI(0, 0, 1);
		ops[59999] = (struct cosy_op)EXIT(0);
		im = make_image(ops, 60000, 4, 4, 0, 4);
		for (int i = 0; i < 100; i++)
			if (!load_image(dev, im))
				_exit(errno == ENOMEM ? 0 : 1);
		_exit(2);
	}
	check(ends(pid, &status, 120) && !status,
	      "too little memory is an error, and the kernel kills no process for it (%#x)",
	      status);
	put(dir, "memory.max", "max");
}

int main(void)
{
	static const char dir[] = "/sys/fs/cgroup/attacks";
	int dev = open_device();

	test_other_ways(dev);
	test_closed_by_uring();
	test_another_user(dev);
	test_endless(dev);
	put("/sys/fs/cgroup", "cgroup.subtree_control", "+memory");
	if (mkdir(dir, 0755) && errno != EEXIST)
		die(dir);
	test_freezer(dev, dir);
	test_memory(dir);
	test_core(dev);
	for (int i = 0; i < 100 && rmdir(dir); i++)
		usleep(10000);
	return finish();
}
