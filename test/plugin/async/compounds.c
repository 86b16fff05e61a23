// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of COSY_ASYNC functions become compounds, which the module parks on sockets: the code
// between calls of recv(), send(), read(), write() and close(). The rest stays in the coroutine.
// RUN: %clang -O0 -c -o %t.o -D_GNU_SOURCE -Werror -fplugin-arg-cosy-Wcosy -Rpass=cosy -fplugin-arg-cosy-dump %s 2>&1 | %FileCheck --implicit-check-not="became a compound" %s
// RUN: %clang -O2 -g -c -o %t.o -D_GNU_SOURCE -Werror -fplugin-arg-cosy-Wcosy -Rpass=cosy -fplugin-arg-cosy-dump %s 2>&1 | %FileCheck --implicit-check-not="became a compound" %s
// RUN: %clang -O0 -S -emit-llvm -o - -D_GNU_SOURCE %s | %FileCheck --check-prefix=NATIVE %s
// RUN: %clang -O1 -S -emit-llvm -o %t.ll -D_GNU_SOURCE %s
// RUN: %FileCheck --check-prefix=IR %s <%t.ll
// RUN: %FileCheck --check-prefix=THUNK %s <%t.ll
#include <cosy/task.h>
#include <cosy.h>
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 256 };
char in[SIZE], out[SIZE];
size_t reply(ssize_t n);

// The code before the first call and after the last one is native.
// CHECK: compounds.c:[[#@LINE+12]]:{{.*}}remark: part of the function became a compound: {{.*}}, 3 system calls, {{.*}}, 2 up-calls
// CHECK: .compound "serve"
// CHECK: libc {{.*}}, recvfrom,
// CHECK: upcall
// CHECK: libc {{.*}}, sendto,
// CHECK: libc {{.*}}, close,
// CHECK: exit
COSY_ASYNC ssize_t serve(int fd)
{
	ssize_t n;

	puts("begins");
	while ((n = recv(fd, in, SIZE, 0)) > 0)
		if (send(fd, out, reply(n), 0) < 0)
			break;
	puts("ends");
	close(fd);
	return n;
}

// IR: @cosy.regions = {{.*}}{ i32 5, i32 0, ptr @cosy.image.serve, {{.*}}, i32 1, ptr null, i64 0, ptr @cosy.library
// IR-LABEL: define {{.*}}@serve.cosy.resume(
// IR: load atomic i32, {{.*}}@cosy.regions
// IR: call zeroext i1 @cosy_task_region(ptr %{{.*}}, ptr {{.*}}@cosy.regions, ptr
// IR: call void @cosy_task_call(

// A variable whose address the compound uses is in the coroutine's frame.
// CHECK: compounds.c:[[#@LINE+6]]:{{.*}}remark: part of the function became a compound
// CHECK: .compound "sum"
COSY_ASYNC long sum(int fd)
{
	unsigned char byte;
	long total = 0;
	while (recv(fd, &byte, 1, 0) == 1)
		total += byte;
	return total;
}

// IR-LABEL: define {{.*}}@sum.cosy.resume(
// IR-NOT: alloca
// IR: call zeroext i1 @cosy_task_region(

// A part needs two calls, or one in a loop; and one that may wait without a limit.
COSY_ASYNC ssize_t one(int fd)
{
	return recv(fd, in, SIZE, 0);
}

COSY_ASYNC int closes(int first, int last)
{
	close(0);
	for (int fd = first; fd <= last; fd++)
		close(fd);
	return 0;
}

// CHECK: compounds.c:[[#@LINE+6]]:{{.*}}remark: part of the function became a compound
// CHECK: .compound "acceptor"
// CHECK: libc {{.*}}, accept4,
// CHECK: libc {{.*}}, close,
COSY_ASYNC int acceptor(int listener)
{
	for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;)
		close(fd);
	return 0;
}

// CHECK: compounds.c:[[#@LINE+4]]:{{.*}}remark: part of the function became a compound: {{.*}}, 2 system calls
// CHECK: .compound "last_byte"
COSY_ASYNC ssize_t last_byte(int fd)
{
	ssize_t n = recv(fd, in, 1, 0);

	close(fd);
	return n;
}

COSY_ASYNC int receive_and_sync(int fd)
{
	while (recv(fd, in, SIZE, 0) > 0)
		fsync(1);
	return 0;
}

// The module waits for read() and write() of sockets. The types of the files are not known here.
// CHECK: compounds.c:[[#@LINE+8]]:{{.*}}remark: part of the function became a compound: {{.*}}, {{[23]}} system calls
// CHECK: .compound "copy"
// CHECK: libc {{.*}}, read,
// CHECK: libc {{.*}}, write,
COSY_ASYNC int copy(int from, int to)
{
	ssize_t n;

	while ((n = read(from, in, SIZE)) > 0)
		write(to, in, n);
	return 0;
}

// CHECK: compounds.c:[[#@LINE+6]]:{{.*}}remark: part of the function became a compound: {{.*}}, 2 system calls
// CHECK: .compound "two"
COSY_ASYNC ssize_t two(int fd)
{
	int value;

	if (recv(fd, &value, sizeof(value), MSG_WAITALL) < 0)
		return -1;
	value *= 2;
	return send(fd, &value, sizeof(value), 0);
}

// The coroutine makes calls that wait for something else, and a compound begins
// after them. A call by its number is the same call.
// CHECK: compounds.c:[[#@LINE+9]]:{{.*}}remark: part of the function became a compound: {{.*}}, 2 system calls
// CHECK: .compound "pieces"
// CHECK: compounds.c:[[#@LINE+12]]:{{.*}}remark: part of the function became a compound: {{.*}}, 1 system call,
// CHECK: .compound "pieces"
COSY_ASYNC ssize_t pieces(int fd, int log)
{
	ssize_t n = 0;

	for (int i = 0; i < 10; i++) {
		n += send(fd, out, 1, 0);
		n += recv(fd, in, 1, 0);
		fsync(log);
	}
	do
		n = syscall(SYS_recvfrom, fd, in, SIZE, 0, NULL, NULL);
	while (n > 0);
	return n;
}

// A COSY_ASYNC function is awaited, also if it calls itself. COSY_SPAWN is an
// up-call.
// CHECK: compounds.c:[[#@LINE+6]]:{{.*}}remark: part of the function became a compound
// CHECK: .compound "awaits"
COSY_ASYNC int awaits(int fd, int depth)
{
	char byte = 0;

	while (recv(fd, &byte, 1, 0) == 1 && byte)
		;
	return depth ? awaits(fd, depth - 1) + byte : 0;
}

COSY_ASYNC int awaits_in_loop(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1)
		awaits(fd, byte);
	return 0;
}

// CHECK: compounds.c:[[#@LINE+6]]:{{.*}}remark: part of the function became a compound: {{.*}}, {{[12]}} up-call
// CHECK: .compound "spawns"
COSY_ASYNC int spawns(struct cosy_loop *loop, int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1)
		COSY_SPAWN(loop, awaits(fd, byte));
	return 0;
}

// THUNK-LABEL: define {{.*}}@spawns.cosy.0.upcall.0(
// THUNK: call void @cosy_task_create(
// THUNK: call i32 @cosy_task_start(

// Plain functions are inlined, but not one that waits: that blocks the thread.
static int next(int n)
{
	return n * 3 + (getpid() > 0);
}

static int receive(int fd, char *byte)
{
	return recv(fd, byte, 1, MSG_DONTWAIT) == 1;
}

// CHECK: compounds.c:[[#@LINE+8]]:{{.*}}remark: part of the function became a compound: {{.*}}, 1 up-call
// CHECK: .compound "inlined"
// CHECK: getpid
COSY_ASYNC int inlined(int fd)
{
	char byte = 0;
	int n = 0;

	while (recv(fd, &byte, 1, 0) == 1)
		n = next(n) + receive(fd, &byte);
	return n;
}

// errno belongs to the function in the compound, and to the thread in an up-call.
// CHECK: compounds.c:[[#@LINE+6]]:{{.*}}remark: part of the function became a compound: {{.*}}, 1 up-call
// CHECK: .compound "error"
COSY_ASYNC int error(int fd)
{
	ssize_t n;
	long sum = 0;
	while ((n = recv(fd, in, SIZE, 0)) > 0 || errno == EINTR) {
		errno = 0;
		sum += strtol(in, NULL, 10);
		sum += errno;
		sum += strtol(out, NULL, 10);
	}
	return sum;
}

// THUNK-LABEL: define {{.*}}@error.cosy.0.upcall.0(
// THUNK: call ptr @__errno_location(
// THUNK: call i64 @{{(__isoc23_)?}}strtol(
// THUNK: call i64 @{{(__isoc23_)?}}strtol(
// Each iteration may leave the compound, or begin it.
// IR-LABEL: define {{.*}}@error.cosy.resume(
// IR: load atomic i8, ptr {{.*}} monotonic
// IR: call ptr @cosy_task_errno(
// IR: call zeroext i1 @cosy_task_region(

// A part with an access that is either to errno or to another variable stays native.
extern int other;

COSY_ASYNC int merged(int fd)
{
	int sum = 0;
	char byte;

	while (recv(fd, &byte, 1, 0) == 1) {
		int *place = &errno;

		sum += *(byte ? place : &other);
	}
	return sum;
}

// NATIVE-LABEL: define {{.*}}@merged.cosy.resume(
// NATIVE-NOT: load atomic
// NATIVE-NOT: cosy_task_region
// NATIVE: ret void

// Code that depends on the thread stays in the coroutine.
static _Thread_local int calls;

COSY_ASYNC int thread_local_variable(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1)
		calls++;
	return 0;
}

COSY_ASYNC int address_of_errno(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1)
		reply((long)&errno);
	return 0;
}

COSY_ASYNC int thread(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1)
		reply((long)pthread_self());
	return 0;
}

COSY_ASYNC int locale(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1)
		if (isalpha(byte))
			reply(1);
	return 0;
}

COSY_ASYNC int forks(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1)
		if (!fork())
			_exit(byte);
	return 0;
}
