// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Invalid uses of COSY_ASYNC. The errors of the first part are found on the source, those of the
// second part on the IR, which exists only if the first part has no errors.
// RUN: %clang -fsyntax-only -DSOURCE -Xclang -verify=source %s
// RUN: %clang -O0 -c -o %t.o -DIR -Xclang -verify=ir %s
// RUN: %clang -O2 -c -o %t.o -DIR -Xclang -verify=ir %s
// RUN: %clang -x c++ -fsyntax-only -DCXX -Xclang -verify=cxx %s
// RUN: %clang -x c++ -O0 -fno-exceptions -c -o %t.o -DCXX_IR -Xclang -verify=cxx-ir %s
// RUN: %not %cc -I%include -fsyntax-only -DPLAIN %s 2>&1 | %FileCheck --check-prefix=PLAIN %s
// RUN: %not %cc -x c++ -I%include -fsyntax-only -DPLAIN %s 2>&1 | %FileCheck --check-prefix=PLAIN %s
#include <alloca.h>
#include <cosy.h>
#include <cosy/task.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

void use(void *);
extern jmp_buf env;

#ifdef SOURCE
struct pair {
	int a, b;
};

COSY_ASYNC static int async(int n)
{
	return read(n, &n, 1);
}

COSY_ASYNC static struct pair structure(void) // source-error {{a COSY_ASYNC function returns an integer of at most 64 bits, a pointer or nothing}}
{
	return (struct pair){ 1, 2 };
}

COSY_ASYNC static double floating(void) // source-error {{a COSY_ASYNC function returns an integer of at most 64 bits, a pointer or nothing}}
{
	return 0;
}

COSY_ASYNC static __int128 large(void); // source-error {{a COSY_ASYNC function returns an integer of at most 64 bits, a pointer or nothing}}

COSY_ASYNC int variadic(int n, ...); // source-error {{a COSY_ASYNC function cannot have variable arguments}}

COSY_ASYNC int main(void) // source-error {{this function cannot be COSY_ASYNC, because code that is not compiled from the source calls it}}
{
	return 0;
}

COSY_ASYNC __attribute__((constructor)) static void early(void) // source-error {{this function cannot be COSY_ASYNC}}
{
}

struct interrupted;

COSY_ASYNC __attribute__((interrupt)) static void interrupt(struct interrupted *frame) // source-error {{this function cannot be COSY_ASYNC}}
{
	(void)frame;
}

COSY_ASYNC static _Noreturn void endless(void) // source-error {{a COSY_ASYNC function returns to its loop when it waits; remove noreturn}}
{
	for (;;)
		async(1);
}

COSY_ASYNC __attribute__((ms_abi)) static int convention(int n) // source-error {{a COSY_ASYNC function has C's calling convention; remove the attribute}}
{
	return async(n);
}

int ordinary(void)
{
	return async(3); // source-error {{'async' is COSY_ASYNC: only COSY_SPAWN and other COSY_ASYNC functions can call it}}
}

static int (*pointer)(int) = async; // source-error {{'async' is COSY_ASYNC: only COSY_SPAWN}}

COSY_ASYNC static int address(void)
{
	int (*p)(int) = &async; // source-error {{'async' is COSY_ASYNC: only COSY_SPAWN}}

	use(p == pointer ? &p : 0);
	return sizeof(async(1)) + async(async(1));
}

int spawn(struct cosy_loop *loop)
{
	int err = COSY_SPAWN(loop, async(3), .data = loop);

	err |= COSY_SPAWN(loop, async(async(3))); // source-error {{'async' is COSY_ASYNC: only COSY_SPAWN}}
	err |= COSY_SPAWN(loop, async(3) + 1); // source-error {{COSY_SPAWN needs a call of a COSY_ASYNC function}} source-error {{'async' is COSY_ASYNC}}
	return err | COSY_SPAWN(loop, getpid()); // source-error {{COSY_SPAWN needs a call of a COSY_ASYNC function}}
}

COSY_ASYNC static void batch(int n)
{
	for (int i = 0; i < n; i++) {
		COSY_BATCH(0); // source-error {{COSY_BATCH in a COSY_ASYNC function; move the loop to a function that this one calls}}
		COSY_START;
		getpid();
		COSY_END;
	}
}

static void clean(int *p)
{
	use(p);
}

COSY_ASYNC static int cleanup(void)
{
	__attribute__((cleanup(clean))) int n = 1; // source-error {{a COSY_ASYNC function cannot contain the variable 'n', which has a destructor or a cleanup}}

	return async(n);
}
#endif

#ifdef IR
COSY_ASYNC int named(int fd) // ir-error {{a COSY_ASYNC function has no other names}}
{
	return read(fd, &fd, 1);
}

int another_name(int) __attribute__((alias("named")));

COSY_ASYNC long vla(int n)
{
	char a[n]; // ir-error {{a COSY_ASYNC function cannot contain a variable-length array or alloca; move it to a function that this one calls}}

	return read(0, a, sizeof(a));
}

COSY_ASYNC void dynamic(int n)
{
	use(alloca(n)); // ir-error {{a COSY_ASYNC function cannot contain a variable-length array or alloca}}
}

COSY_ASYNC int twice(void)
{
	return setjmp(env); // ir-error {{a COSY_ASYNC function cannot contain a call that returns twice, such as setjmp or vfork}}
}

COSY_ASYNC static int reads(int fd)
{
	return read(fd, &fd, 1);
}

COSY_ASYNC void awaits_in_region(int fd)
{
	COSY_START; // ir-note {{region starts here}}
	if (access("/", F_OK))
		reads(fd); // ir-error {{a region cannot await 'reads', because it is executed without a pause; call the COSY_ASYNC function outside of the region, or start it by COSY_SPAWN}}
	access("/dev", F_OK);
	COSY_END;
	reads(fd);
}

// The other calls in a function with an error are not reported.
COSY_ASYNC int first_error_only(int n)
{
	use(alloca(n)); // ir-error {{a COSY_ASYNC function cannot contain a variable-length array or alloca}}
	return reads(n) + reads(n + 1);
}

COSY_ASYNC void jump(void)
{
	longjmp(env, 1); // ir-error {{a COSY_ASYNC function cannot contain a call of longjmp}}
}

COSY_ASYNC void builtin_jump(void **buf)
{
	__builtin_longjmp(buf, 1); // ir-error {{a COSY_ASYNC function cannot contain a call of longjmp}}
}

COSY_ASYNC int jumps(void)
{
	asm goto("" : : : : out); // ir-error {{a COSY_ASYNC function cannot contain an asm goto}}
	return 1;
out:
	return 2;
}

COSY_ASYNC int jumps_over_symbol(void)
{
	asm goto("in_jump:" : : : : out); // ir-error {{a COSY_ASYNC function cannot contain an asm goto}}
	return 1;
out:
	return 2;
}

COSY_ASYNC void *frame(void)
{
	return __builtin_frame_address(0); // ir-error {{a COSY_ASYNC function cannot contain the address of the function's own stack frame}}
}
#endif

#ifdef CXX
struct object {
	int fd;
	object(const object &);
};

struct plain {
	int fd;
};

COSY_ASYNC int copied(plain p)
{
	return read(p.fd, &p.fd, 1);
}

COSY_ASYNC int passed(object o) // cxx-error {{the parameter of a COSY_ASYNC function has a destructor or is not copied as memory; pass a pointer}}
{
	return read(o.fd, &o.fd, 1);
}
#endif

#ifdef CXX_IR
COSY_ASYNC static int waits(int fd)
{
	static int result = read(fd, &fd, 1); // cxx-ir-error {{a COSY_ASYNC function cannot wait while it initializes a static variable}}

	return result;
}

COSY_ASYNC int awaits(int fd)
{
	static int result = fd > 1 ? waits(fd) : 1; // cxx-ir-error {{a COSY_ASYNC function cannot wait while it initializes a static variable}}

	return result;
}

COSY_ASYNC int computes(int fd)
{
	static int result = getpid();

	return result + waits(fd);
}
#endif

#ifdef PLAIN
// PLAIN: COSY_ASYNC needs the Cosy plugin (cosy-cc)
COSY_ASYNC int plain(void);
#endif
