// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that COSY_BATCH cannot split. The errors of the first part are found on the source, those
// of the second part on the IR, which exists only if the first part has no errors.
// RUN: %clang -fsyntax-only -DSOURCE -Xclang -verify=source %s
// RUN: %clang -O0 -ferror-limit=0 -c -o %t.o -DIR -Xclang -verify=ir %s
// RUN: %clang -O2 -ferror-limit=0 -c -o %t.o -DIR -Xclang -verify=ir %s
#include <cosy.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

void use(const char *path, const struct stat *st);
int prepare(int i);
extern const char *names[];

#ifdef SOURCE
void no_loop(void)
{
	COSY_BATCH(8); // source-error {{COSY_BATCH is in no loop}}
	COSY_START;
	getpid();
	COSY_END;
}

void size(int n)
{
	while (n--) {
		COSY_BATCH(n); // source-error {{size of COSY_BATCH has to be a constant of 1 to 4096}}
		COSY_START;
		getpid();
		COSY_END;
	}
	while (n--)
		COSY_BATCH(4097); // source-error {{size of COSY_BATCH has to be a constant}}
	while (n--)
		COSY_BATCH(-1); // source-error {{size of COSY_BATCH has to be a constant}}
}

void twice(int n)
{
	while (n--) {
		COSY_BATCH(8);
		COSY_START;
		getpid();
		COSY_END;
		COSY_BATCH(8); // source-error {{second COSY_BATCH in the same loop}}
	}
}

void once(int n)
{
	while (n--)
		do {
			COSY_BATCH(8); // source-error {{the innermost loop around COSY_BATCH runs only once}}
			COSY_START;
			getpid();
			COSY_END;
		} while (0);
}

/* The step of a loop is not its body. */
void step(int n)
{
	for (; n; ({ COSY_BATCH(8); n--; })) { // source-error {{COSY_BATCH is in no loop}}
		COSY_START;
		getpid();
		COSY_END;
	}
}

void literal(int n)
{
	while (n--) {
		const struct stat *p = &(struct stat){ 0 }; // source-error {{compound literal whose address is used}}
		struct timespec t = (struct timespec){ 0 };

		COSY_BATCH(8);
		COSY_START;
		getpid();
		COSY_END;
		use(0, p);
		t.tv_sec++;
	}
}
#endif

#ifdef IR
void no_region(int n)
{
	while (n--)
		COSY_BATCH(8); // ir-error {{no region in the loop of COSY_BATCH}}
}

void region_around(int n)
{
	COSY_START;
	while (n--)
		COSY_BATCH(8); // ir-error {{no region in the loop of COSY_BATCH}} ir-note@-2 {{region starts here}}
	getpid();
	COSY_END;
}

void two_regions(int n)
{
	while (n--) {
		COSY_BATCH(8);
		COSY_START;
		getpid();
		COSY_END;
		COSY_START; // ir-error {{second region in a loop with COSY_BATCH}}
		getpid();
		COSY_END;
	}
}

void inner_loop(int n)
{
	while (n--) {
		COSY_BATCH(8);
		for (int k = 0; k < 3; k++) {
			COSY_START; // ir-error {{region is in another loop inside the loop of COSY_BATCH}}
			getpid();
			COSY_END;
		}
	}
}

void options(int n)
{
	while (n--) {
		COSY_BATCH(8);
		COSY_START_STOP_ON_ERROR; // ir-error {{region with options in a loop with COSY_BATCH}}
		getpid();
		COSY_END;
	}
}

void leaves_always(int n)
{
	while (n--) {
		COSY_BATCH(8); // ir-error {{COSY_BATCH is in no loop that repeats}}
		COSY_START;
		getpid();
		COSY_END;
		break;
	}
}

void another_loop(int n)
{
	while (n--) {
again:
		COSY_BATCH(8); // ir-error {{not in the innermost loop of the control flow}}
		COSY_START;
		getpid();
		COSY_END;
		if (prepare(n))
			goto again;
	}
}

void into_the_loop(int n)
{
	if (prepare(n))
		goto inside;
	while (n--) {
		COSY_BATCH(8); // ir-error {{a jump leads into it}}
inside:
		COSY_START;
		getpid();
		COSY_END;
	}
}

void into_the_region(int n)
{
	while (n--) {
		COSY_BATCH(8);
		if (prepare(n))
			goto inside;
		COSY_START;
		getpid();
inside:
		prepare(1); // ir-error {{a jump leads into the region}} ir-note@-3 {{region starts here}}
		COSY_END;
	}
}

void array(int n)
{
	while (n--) {
		char path[n + 1]; // ir-error {{variable-length array}}

		COSY_BATCH(8);
		path[0] = 0;
		COSY_START;
		rmdir(path);
		COSY_END;
	}
}

void jumps(int n, jmp_buf env)
{
	while (n--) {
		COSY_BATCH(8); // ir-error {{a call that returns twice}}
		if (setjmp(env))
			return;
		COSY_START;
		getpid();
		COSY_END;
	}
}

void too_much(int n)
{
	while (n--) {
		char path[4096];

		COSY_BATCH(64); // ir-error {{bytes of stack, at most 262144 are allowed}}
		path[0] = prepare(n);
		COSY_START;
		rmdir(path);
		COSY_END;
	}
}

/* The result of one iteration's region determines the beginning of the next one. */
int carried(int n)
{
	int last = 0;

	while (n--) {
		COSY_BATCH(8);
		if (last)
			prepare(n);
		COSY_START;
		last = rmdir("a"); // ir-error {{'last' is read before the region, but an earlier iteration of the batch writes it later, here; write it before COSY_START, or use one variable before the region and another after it}} ir-note@-1 {{region starts here}}
		COSY_END;
	}
	return last;
}

int carried_by_condition(int n)
{
	int r;

	do {
		COSY_BATCH(8);
		COSY_START;
		r = rmdir("a"); // ir-error {{'r' is read before the region}} ir-note@-1 {{region starts here}}
		COSY_END;
	} while (!r && n--);
	return r;
}

int carried_to_region(int n)
{
	int fd = 0;

	while (n--) {
		COSY_BATCH(8);
		COSY_START;
		close(fd);
		COSY_END;
		fd = prepare(n); // ir-error {{'fd' is read in the region, but an earlier iteration of the batch writes it later, here}}
	}
	return fd;
}

int counted_twice(int n)
{
	int count = 0;

	while (n--) {
		COSY_BATCH(8);
		if (prepare(n)) {
			count++;
			continue;
		}
		COSY_START;
		getpid();
		COSY_END;
		count++; // ir-error {{'count' is read before the region, but an earlier iteration}}
	}
	return count;
}

void shared(int n)
{
	struct stat st;

	while (n--) {
		COSY_BATCH(8);
		COSY_START;
		lstat(names[n], &st); // ir-error {{'st' is declared outside the loop, and its address is used}} ir-note@-1 {{region starts here}}
		COSY_END;
		use(names[n], &st);
	}
}

void keep(int *p);
int counted(int n)
{
	int begun = 0;

	keep(&begun);
	while (n--) {
		struct stat st;
		int err;

		COSY_BATCH(8);
		begun++; // ir-error {{'begun' is declared outside the loop, and its address is used: when the loop is left, it would have the value of a later iteration}}
		COSY_START;
		err = lstat(names[n], &st);
		COSY_END;
		if (err)
			break;
	}
	return begun;
}

struct pair {
	long a[4];
};
void keep_pair(struct pair *p);
/* Other ways to store than by an ordinary assignment. */
long stored(int n, const struct pair *pairs)
{
	struct pair assigned = { { 0 } };
	_Atomic int atomic = 0;
	_Atomic(struct pair) large = (struct pair){ { 0 } };
	int exchanged = 0, assembled = 0;

	keep_pair(&assigned);
	while (n--) {
		struct stat st;
		int err;

		COSY_BATCH(8);
		assigned = pairs[n]; // ir-error {{'assigned' is declared outside the loop, and its address is used: when the loop is left, it would have the value of a later iteration}}
		atomic = n; // ir-error {{'atomic' is declared outside the loop, and its address is used: when the loop is left, it would have the value of a later iteration}}
		large = pairs[n]; // ir-error {{'large' is declared outside the loop, and its address is used: when the loop is left, it would have the value of a later iteration}}
		__atomic_exchange_n(&exchanged, n, __ATOMIC_SEQ_CST); // ir-error {{'exchanged' is declared outside the loop, and its address is used: when the loop is left, it would have the value of a later iteration}}
		asm("movl %1, %0" : "=m"(assembled) : "r"(n)); // ir-error {{'assembled' is declared outside the loop, and its address is used: when the loop is left, it would have the value of a later iteration}}
		COSY_START;
		err = lstat(names[n], &st);
		COSY_END;
		if (err)
			break;
	}
	struct pair last = large;
	return assigned.a[0] + atomic + last.a[0] + exchanged + assembled;
}

/* To one of two variables. */
long stored_to_one(int n, int c, const struct pair *pairs)
{
	struct pair first = { { 0 } }, second = { { 0 } }, only_read = { { 0 } };
	long sum = 0;

	keep_pair(&first);
	keep_pair(&second);
	keep_pair(&only_read);
	while (n--) {
		struct stat st;
		int err;

		COSY_BATCH(8);
		(c ? &first : &second)->a[1] = n; // ir-error {{'first' is declared outside the loop, and its address is used: when the loop is left, it would have the value of a later iteration}} ir-error {{'second' is declared outside the loop, and its address is used: when the loop is left, it would have the value of a later iteration}}
		COSY_START;
		err = lstat(names[n], &st);
		COSY_END;
		sum += (c ? &only_read : pairs)->a[0];
		if (err)
			break;
	}
	return sum + first.a[1] + second.a[1] + only_read.a[0];
}

/* Here assembly only reads the variable. */
int read_by_assembly(int n)
{
	int last = 7;

	while (n--) {
		struct stat st;
		int err;

		COSY_BATCH(8);
		asm("" : : "m"(last));
		COSY_START;
		err = lstat(names[n], &st);
		COSY_END;
		if (err)
			break;
	}
	return last;
}

/* Parts of an iteration that do not always write a variable, or write only a member. */
int kept(int n)
{
	int found = 0, last = 0, failed = 0, always = 0;
	struct { int before, after; } members = { 0, 0 };

	for (int i = 0; i < n; i++) {
		struct stat st;

		COSY_BATCH(8);
		always = i;
		members.before = i;
		if (prepare(i)) {
			found = 1;
			continue;
		}
		COSY_START;
		if (lstat(names[i], &st) && prepare(i))
			failed = 1; // ir-error {{'failed' is written before and after the beginning or the end of the region, but not in every iteration, and read after the loop}} ir-note@-2 {{region starts here}}
		COSY_END;
		if (st.st_size) {
			found = 1; // ir-error {{'found' is written before and after the beginning or the end of the region, but not in every iteration, and read after the loop}}
			failed = 2;
			always = 3;
			members.after = 4; // ir-error {{'members' is written before and after}}
		}
		last = i;
	}
	return found + last + failed + always + members.before + members.after;
}

struct pair returned(int n)
{
	while (1) {
		struct pair p = { { n } }; // (in the place of the result)

		COSY_BATCH(8); // ir-error {{'p' is the function's result}}
		COSY_START;
		p.a[1] = getpid();
		COSY_END;
		if (prepare(p.a[1]))
			return p;
	}
}
#endif
