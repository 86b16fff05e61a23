// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * What a process does to the limits of its shares, and to the table that a thread has
 * during a call: execve(), unshare(), processes that share tables or memory, tracers, memory that changes.
 */
// RUN: %compile %s -o %t
// RUN: %vm env SECONDS=%seconds %t
#include "compound.h"

#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "table.h"

#define STACK	(256 << 10)

static int device;
static struct table table;
static int pair[2];
static atomic_bool stop;
static atomic_int waiter;

static long count(struct table of)
{
	return table_ioctl(of.fd, COSY_SHARE_COUNT, NULL);
}

static void set_limit(rlim_t n)
{
	const struct rlimit limit = { n, n };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
}

static void in_child(void (*test)(void), const char *what)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		test();
		exit(finish());
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status), "%s: status %x", what, (unsigned int)status);
}

/* Run a function in a process that has the memory, the table, or both, of this one. */
static void in_clone(int (*function)(void *), int flags)
{
	char *stack = malloc(STACK);
	int status;
	pid_t pid;

	pid = clone(function, stack + STACK, flags | SIGCHLD, NULL);
	if (pid < 0)
		die("clone");
	waitpid(pid, &status, 0);
	check(!status, "a process with flags %x: status %x", (unsigned int)flags, (unsigned int)status);
	free(stack);
}

/* The rest of test_limit_of_exec(), after execve(). */
static void after_exec(int share)
{
	struct table second;

	device = open_device();
	check(make_table(device, 40, &second) == -EMFILE,
	      "a share that stays open in execve() still counts towards the limit");
	check(count((struct table){ share, 0 }) == -EPERM,
	      "EPERM: a program uses a share of the one that executed it");
	close(share);
	check(make_table(device, 40, &second) == 0, "until it is closed");
}

static void test_limit_of_exec(void)
{
	char number[16];

	set_limit(64);
	table = must_make_table(device, 40);
	fcntl(table.fd, F_SETFD, 0);
	snprintf(number, sizeof(number), "%d", table.fd);
	close(device);
	execl("/proc/self/exe", "shares", number, NULL);
	die("execl");
}

static int reads;

/* Has its own memory, and the table of its parent, where its share stays open. */
static int makes_and_leaves(void *arg)
{
	long writes;

	(void)arg;
	table = must_make_table(device, 40);
	reads = pipe_in(table, &writes);
	/* The parent learns the numbers. */
	if (write(pair[1], &table, sizeof(table)) != sizeof(table) ||
	    write(pair[1], &reads, sizeof(reads)) != sizeof(reads))
		return 1;
	return 0;
}

static void test_limit_of_table(void)
{
	struct table second;
	char c;

	set_limit(64);
	if (pipe(pair))
		die("pipe");
	in_clone(makes_and_leaves, CLONE_FILES);
	if (read(pair[0], &table, sizeof(table)) != sizeof(table) ||
	    read(pair[0], &reads, sizeof(reads)) != sizeof(reads))
		die("read");
	fcntl(reads, F_SETFL, O_NONBLOCK);
	check(read(reads, &c, 1) == -1 && errno == EAGAIN,
	      "a share in a table that a process leaves to others stays");
	check(make_table(device, 40, &second) == -EMFILE,
	      "EMFILE: such a share counts towards the limit of the table");
	check(count(table) == -EPERM, "EPERM: the process without the table uses its share");
	close(table.fd);
	check(has_ended(reads), "closing it ends it");
	check(make_table(device, 40, &second) == 0,
	      "a closed share counts no longer");
}

/* What fails in the middle gives back what it has taken. */
static void test_limit_after_failures(void)
{
	struct cosy_share_create *create = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, first, second;

	set_limit(64);
	first = dup(0);
	close(first);
	*create = (struct cosy_share_create){ .size = sizeof(*create), .max = 40 };
	mprotect(create, 4096, PROT_READ);
	for (i = 0; i < 100 && ioctl(device, COSY_IOC_SHARE, create) == -1 && errno == EFAULT; i++)
		;
	check(i == 100, "the answer cannot be written: %s", strerror(errno));
	second = dup(0);
	check(first == second && make_table(device, 40, &table) == 0, "nothing is left of 100 of these");
	munmap(create, 4096);
}

/* Options that have or make descriptors. */
static void test_options(void)
{
	int value = 0;
	socklen_t size = sizeof(value);
	long before;

	table = must_make_table(device, 2);
	check(call_in(table, SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, addr(pair)) == 0,
	      "socketpair() in a share succeeds");
	before = count(table);
	/* SO_PEERPIDFD makes a descriptor, SO_ATTACH_BPF and SO_ATTACH_REUSEPORT_EBPF name one. */
	check(call_in(table, SYS_getsockopt, pair[0], SOL_SOCKET, 77, addr(&value), addr(&size)) ==
		      -EINVAL &&
		      count(table) == before,
	      "getsockopt() makes no descriptor beyond the maximum: %ld", count(table));
	check(call_in(table, SYS_setsockopt, pair[0], SOL_SOCKET, 50, addr(&value), 4) == -EINVAL &&
		      call_in(table, SYS_setsockopt, pair[0], 1ull << 32 | SOL_SOCKET, 1ull << 32 | 52,
			      addr(&value), 4) == -EINVAL,
	      "EINVAL: setsockopt() with an option that names a descriptor");
	check(call_in(table, SYS_getsockopt, pair[0], 132, 102, addr(&value), addr(&size)) == -EINVAL,
	      "EINVAL: getsockopt() with an option of SCTP that makes a descriptor");
	check(call_in(table, SYS_getsockopt, pair[0], SOL_SOCKET, SO_TYPE, addr(&value), addr(&size)) ==
			      0 &&
		      value == SOCK_STREAM,
	      "other options work");
	close(table.fd);
}

static atomic_int held, exceeded, taken;

/* Take the only free place, keep it for a moment, and give it back. */
static void *takes_place(void *arg)
{
	const long fd = (long)(intptr_t)arg;
	volatile int spin;
	long mine;

	while (!stop) {
		mine = fd ? (int)enter_short(table, SYS_dup, (unsigned int)fd) :
			    call_in(table, SYS_eventfd2, 0, 0);
		if (mine < 0)
			continue;
		taken++;
		if (++held > 1)
			exceeded++;
		for (spin = 0; spin < 2000; spin++)
			;
		held--;
		if (fd)
			enter_short(table, SYS_close, (unsigned int)mine);
		else
			call_in(table, SYS_close, mine);
	}
	return NULL;
}

/* Threads never exceed the maximum together. */
static void test_maximum(void)
{
	pthread_t threads[2];
	long fd;

	table = must_make_table(device, 2);
	fd = call_in(table, SYS_dup, 0);
	stop = false;
	pthread_create(&threads[0], NULL, takes_place, (void *)(intptr_t)fd);
	pthread_create(&threads[1], NULL, takes_place, NULL);
	usleep((useconds_t)(race_seconds() / 2 * 1e6));
	while (taken <= 100)
		usleep(1000);
	stop = true;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	check(!exceeded && count(table) == 1,
	      "two threads never have one place: %d of %d times", exceeded, taken);
	close(table.fd);
}

/* Make and close random descriptors, also by calls that fail. */
static void *makes_and_closes(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;
	int ends[2];

	while (!stop) {
		const long fd = COSY_SHARE_FD | table.id << COSY_SHARE_ID_SHIFT | rand_r(&seed) % 24;

		switch (rand_r(&seed) % 8) {
		case 0:
			enter_short(table, SYS_dup, (unsigned int)fd);
			break;
		case 1:
			call_in(table, SYS_dup, 0);
			break;
		case 2:
			call_in(table, SYS_pipe2, addr(ends), 0);
			break;
		case 3:
			call_in(table, SYS_pipe2, addr(ends), -1);
			break;
		case 4:
			call_in(table, SYS_openat, AT_FDCWD, addr("/does-not-exist"), O_RDONLY);
			break;
		case 5:
			move_fd(table, fd, table.fd, rand_r(&seed) % 2 ? COSY_SHARE_COPY : 0);
			break;
		case 6:
			call_in(table, SYS_close, fd);
			break;
		default:
			enter_short(table, SYS_close, (unsigned int)fd);
		}
	}
	return NULL;
}

/* Return the number of descriptors that are open in a share, by trying each. */
static int open_in(struct table of)
{
	int i, n = 0;

	for (i = 0; i < 24; i++)
		n += call_in(of, SYS_fcntl,
			     COSY_SHARE_FD | of.id << COSY_SHARE_ID_SHIFT | i, F_GETFL) >= 0;
	return n;
}

/* The count of descriptors stays exact, whatever happens at the same time. */
static void test_count(void)
{
	pthread_t threads[4];
	int i, n, more;

	table = must_make_table(device, 16);
	stop = false;
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, makes_and_closes, (void *)(uintptr_t)(i + 1));
	usleep((useconds_t)(race_seconds() / 2 * 1e6));
	stop = true;
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	n = open_in(table);
	check(n <= 16 && count(table) == n, "%d descriptors are open, and %ld counted", n, count(table));
	for (more = 0; call_in(table, SYS_dup, 0) >= 0; more++)
		;
	check(n + more == 16 && open_in(table) == 16, "the others can be opened: %d + %d", n, more);
	for (i = 0; i < 16; i++)
		enter_short(table, SYS_close,
			    COSY_SHARE_FD | table.id << COSY_SHARE_ID_SHIFT | (unsigned int)i);
	check(!count(table) && !open_in(table), "all 16 descriptors are closed and not counted");
	close(table.fd);
}

static void *accepts(void *arg)
{
	waiter = gettid();
	*(long *)arg = call_in(table, SYS_accept4, *(long *)arg, 0, 0, 0);
	return NULL;
}

/* Return once a thread waits in the call that @makes makes. */
static void start_waiter(pthread_t *thread, void *(*makes)(void *), long *result)
{
	waiter = 0;
	pthread_create(thread, NULL, makes, result);
	while (!waiter)
		usleep(1000);
	wait_until_asleep_in_module(waiter);
}

/* A call that waits takes a place for what it will make, and no more. */
static void test_waiting_accept(void)
{
	char address[32] = { AF_UNIX };
	socklen_t size = sizeof(sa_family_t);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	pthread_t thread;
	long listener, accepted;

	table = must_make_table(device, 3);
	accepted = listener = call_in(table, SYS_socket, AF_UNIX, SOCK_STREAM, 0);
	call_in(table, SYS_bind, listener, addr(address), size);
	size = sizeof(address);
	call_in(table, SYS_listen, listener, 4);
	call_in(table, SYS_getsockname, listener, addr(address), addr(&size));
	start_waiter(&thread, accepts, &accepted);
	check(count(table) == 2, "accept() takes one place while it waits: %ld", count(table));
	check(is_of(table, call_in(table, SYS_dup, 0)) && call_in(table, SYS_dup, 0) == -EMFILE &&
		      (int)enter_short(table, SYS_dup, (unsigned int)listener) == -EMFILE,
	      "the third place is free, a fourth is none");
	check(!connect(fd, (void *)address, size), "connect() to the listener succeeds");
	pthread_join(thread, NULL);
	check(is_of(table, accepted) && accepted != listener && count(table) == 3,
	      "accept() has made its descriptor in the place that it took");
	close(fd);
	close(table.fd);
}

/* Wait in a call of the share, until it is interrupted. */
static void *waits(void *arg)
{
	__u64 value;

	waiter = gettid();
	*(long *)arg = call_in(table, SYS_read, call_in(table, SYS_eventfd2, 0, 0), addr(&value), 8);
	return NULL;
}

static void *executes(void *arg)
{
	(void)arg;
	execl("/proc/self/exe", "shares", "sleep", NULL);
	return NULL;
}

/* execve() ends the threads that wait; those of the process's first thread, too. */
static void test_exec_while_waiting(void)
{
	int fds[2], other;
	pthread_t thread;
	long result;
	pid_t pid;

	for (other = 0; other < 2; other++) {
		if (pipe(fds))
			die("pipe");
		pid = fork();
		if (!pid) {
			close(fds[0]);
			table = must_make_table(device, 8);
			call_in(table, SYS_dup, fds[1]);
			fcntl(fds[1], F_SETFD, FD_CLOEXEC);
			if (other) {
				pthread_create(&thread, NULL, executes, NULL);
				waits(&result);
			} else {
				start_waiter(&thread, waits, &result);
				executes(NULL);
			}
			_exit(1);
		}
		close(fds[1]);
		check(has_ended(fds[0]), "execve() by %s thread ends a share in use",
		      other ? "another" : "the first");
		close(fds[0]);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static void *leaves_table(void *arg)
{
	(void)arg;
	check(!unshare(CLONE_FILES), "unshare(CLONE_FILES) succeeds");
	/* The copy of this thread does not end the share. */
	close(table.fd);
	return NULL;
}

/* Other threads leave the table, copy it and close it while one waits. */
static void test_tables_while_waiting(void)
{
	pthread_t thread, second;
	long result = 0, writes;
	int status;
	pid_t pid;

	table = must_make_table(device, 8);
	reads = pipe_in(table, &writes);
	start_waiter(&thread, waits, &result);
	pthread_create(&second, NULL, leaves_table, NULL);
	pthread_join(second, NULL);
	pid = fork();
	if (!pid)
		_exit(close(table.fd) || fcntl(1, F_GETFD) < 0);
	waitpid(pid, &status, 0);
	check(!status, "the table of a child is that of the process");
	check(call_in(table, SYS_write, writes, addr("x"), 1) == 1, "the share has not ended");
	close(table.fd);
	check(read(reads, &status, 1) == 1 && has_ended(reads),
	      "it ends while a thread waits in a call of it");
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	check(result == -EINTR, "the call returns: %ld", result);
	close(reads);
}

static int uses_copy(void *arg)
{
	struct table own;

	(void)arg;
	if (call_in(table, SYS_dup, 0) < 0 || make_table(device, 4, &own) ||
	    call_in(own, SYS_dup, 0) < 0)
		return 1;
	close(table.fd);
	/* That of the first process has the same number in its own table. */
	return call_in(table, SYS_dup, 0) != -EBADF;
}

/* A process with the same memory and another table may use the share, but not end it. */
static void test_same_memory(void)
{
	long before;

	table = must_make_table(device, 8);
	before = call_in(table, SYS_dup, 0);
	in_clone(uses_copy, CLONE_VM);
	check(count(table) == 2 && call_in(table, SYS_close, before) == 0,
	      "a process with the same memory uses a share, and does not end it");
	close(table.fd);
}

/* A tracer that attaches while the call waits sees the call that is made instead. */
static void test_traced_while_waiting(void)
{
	struct cosy_call call = { .nr = SYS_read };
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		table = must_make_table(device, 8);
		call.args[0] = call_in(table, SYS_eventfd2, 0, 0);
		call.args[1] = addr(&call.args[5]);
		call.args[2] = 8;
		_exit(enter_call(table, &call) != (long)(COSY_CALL_LEFT | COSY_CALL_TRACED));
	}
	wait_until_asleep_in_module(pid);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		die("ptrace");
	waitpid(pid, &status, 0);
	/* Stopped, it is not in the call: it has the table of the process. */
	check(syscall(SYS_kcmp, getpid(), pid, KCMP_FILE, 1, 1) == 0,
	      "a thread that has stopped has its own table");
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status), "the call is left to the process: %x",
	      (unsigned int)status);
}

static void *scribbles(void *arg)
{
	volatile int *to = arg;
	unsigned int i = 0;

	while (!stop) {
		to[i % 2] = (int)(i * 2654435761u);
		i++;
	}
	return NULL;
}

/* The memory of pipe2() changes, or disappears, meanwhile. */
static void test_memory_changes(void)
{
	int *ends = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	int i, first;
	long ret = 0;

	first = dup(0);
	close(first);
	table = must_make_table(device, 8);
	stop = false;
	pthread_create(&thread, NULL, scribbles, ends);
	for (i = 0; i < 3000 && (!ret || ret == -EMFILE); i++) {
		ret = call_in(table, SYS_pipe2, addr(ends), 0);
		if (ret) {
			/* Their numbers were overwritten. */
			close(table.fd);
			table = must_make_table(device, 8);
		}
	}
	check(i == 3000, "pipe2() into memory that changes: %ld", ret);
	stop = true;
	pthread_join(thread, NULL);
	check(fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0 &&
		      fcntl(device, F_GETFD) >= 0,
	      "the descriptors of the process are as before");
	close(table.fd);
	/* One of two results lies in a page that is not there. */
	munmap((char *)ends + 4096, 4096);
	table = must_make_table(device, 8);
	check(call_in(table, SYS_pipe2, addr((char *)ends + 4092), 0) == -EFAULT && count(table) == 0,
	      "pipe2() whose second result cannot be written leaves nothing");
	close(table.fd);
	i = dup(0);
	check(i == first, "nothing is left in the process's table");
	close(i);
	munmap(ends, 4096);
}

/* A lock of the process belongs to its own table. */
static void test_locks(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int fd = open("/tmp/cosy-share-lock", O_RDWR | O_CREAT, 0600), status;
	pid_t pid;
	long in;

	table = must_make_table(device, 8);
	check(!fcntl(fd, F_SETLK, &lock), "the process locks the file");
	in = call_in(table, SYS_dup, fd);
	check(call_in(table, SYS_close, in) == 0, "a share closes the file");
	pid = fork();
	if (!pid)
		_exit(fcntl(fd, F_SETLK, &lock) != -1 || errno != EAGAIN);
	waitpid(pid, &status, 0);
	check(!status, "the process keeps its lock");
	check(call_in(table, SYS_openat, AT_FDCWD, addr("/proc/self/fd/1"), O_RDONLY) == -ENOENT,
	      "/proc/self/fd is the share of the first thread");
	close(table.fd);
	close(fd);
	unlink("/tmp/cosy-share-lock");
}

static void on_signal(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	const struct sigaction interrupts = { .sa_handler = on_signal };

	if (argc == 2 && !strcmp(argv[1], "sleep"))
		return pause();
	if (argc == 2) {
		after_exec(atoi(argv[1]));
		return finish();
	}
	device = open_device();
	sigaction(SIGUSR1, &interrupts, NULL);
	test_maximum();
	test_count();
	test_waiting_accept();
	in_child(test_limit_of_exec, "the limit and execve()");
	in_child(test_limit_of_table, "the limit of a table");
	in_child(test_limit_after_failures, "failures");
	test_options();
	test_exec_while_waiting();
	test_tables_while_waiting();
	test_same_memory();
	test_traced_while_waiting();
	test_memory_changes();
	test_locks();
	return finish();
}
