// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COSY_BATCH in C++: destructors, range-based loops, lambdas; templates, exceptions
// and temporary objects are errors.
// RUN: %cosy-cc -x c++ -O0 -fno-exceptions %s -o %t -lstdc++ && %run-all %t | FileCheck %s
// RUN: %cosy-cc -x c++ -O2 -fno-exceptions %s -o %t -lstdc++ && %run-all %t | FileCheck %s
// RUN: %cosy-cc -x c++ -O1 -fno-exceptions -fcosy-batch-check %s -o %t -lstdc++ && %t 2>&1 | FileCheck %s
// RUN: %clangxx -fsyntax-only -DSOURCE -Xclang -verify=source %s
// RUN: %clangxx -O1 -c -o %t.o -DIR -Xclang -verify=ir %s
#include <cosy.h>
#include <stdio.h>
#include <unistd.h>

struct Counted {
	static int alive;
	int value;
	explicit Counted(int v) : value(v) { alive++; }
	~Counted() { alive--; }
};
int Counted::alive;

extern int ready(int i);

#ifdef SOURCE
template <class T> void in_template(T n)
{
	while (n--) {
		COSY_BATCH(8); // source-error {{COSY_BATCH in a template}}
		COSY_START;
		getpid();
		COSY_END;
	}
}

void in_lambda(int n)
{
	auto loop = [](auto n) {
		while (n--) {
			COSY_BATCH(8); // source-error {{COSY_BATCH in a template}}
			COSY_START;
			getpid();
			COSY_END;
		}
	};
	loop(n);
}

void condition(int n)
{
	while (int left = n--) {
		COSY_BATCH(8); // source-error {{declares a variable in its condition}}
		COSY_START;
		getpid();
		COSY_END;
		ready(left);
	}
}

void temporary(int n)
{
	while (n--) {
		const int &r = ready(n); // source-error {{reference to a temporary object}}

		COSY_BATCH(8);
		COSY_START;
		getpid();
		COSY_END;
		ready(r);
	}
}
#elif defined(IR)
void exceptions(int n)
{
	while (n--) {
		COSY_BATCH(8);
		Counted c(n);
		COSY_START;
		getpid();
		COSY_END;
		ready(n); // ir-error {{a cleanup or an exception handler}}
	}
}
#else
static int destroyed(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		Counted c(i);

		COSY_BATCH(3);
		if (i == 4)
			continue;
		if (i == 8)
			return -i;
		COSY_START;
		c.value += getpid() > 0;
		COSY_END;
		sum = sum * 2 + c.value;
	}
	return sum;
}

/* Jumps out of scopes with destructors, from each phase. */
struct Loud {
	int value;
	explicit Loud(int v) : value(v) {}
	~Loud() { printf("~%d ", value); }
};
static int scopes(int n, int stop, int how)
{
	int i;

	for (i = 0; i < n; i++) {
		Counted c(i);
		int r;

		{
			Counted inner(100 + i);

			COSY_BATCH(4);
			if (i == 3)
				continue;
			if (i == stop && how < 3) {
				Loud loud(i);

				if (how == 0)
					return -i;
				if (how == 1)
					break;
				goto out;
			}
			COSY_START;
			r = getpid() > 0;
			if (i == stop && how == 3)
				goto out;
			COSY_END;
			if (i == stop && how == 4)
				return -i;
			if (i == stop && how == 5)
				break;
			printf("%d ", i * r);
		}
	}
	printf("end ");
out:
	return i;
}

int main()
{
	// CHECK: 58 0
	printf("%d", destroyed(6));
	printf(" %d\n", Counted::alive);
	// CHECK-NEXT: -8 0
	printf("%d", destroyed(10));
	printf(" %d\n", Counted::alive);

	int all[] = { 3, 1, 4, 1, 5 }, total = 0;
	// CHECK-NEXT: 14 5
	for (int &v : all) {
		int r;

		COSY_BATCH(2);
		COSY_START;
		r = getppid() >= 0 ? v : 0;
		COSY_END;
		total += r;
		v = -r;
	}
	auto loop = [](int n) {
		int count = 0;

		while (n--) {
			COSY_BATCH(4);
			COSY_START;
			getpid();
			COSY_END;
			count++;
		}
		return count;
	};
	printf("%d %d\n", total, loop(5));

	// CHECK-NEXT: 1 3 5
	const char *const names[] = { "/none", "/", "/dev/null/x", "/proc" };
	auto find = [&](int n, Counted from) {
		for (int i = 0; i < n; i++) {
			char name[16];
			int r;

			COSY_BATCH(4);
			snprintf(name, sizeof(name), "%s", names[i]);
			COSY_START;
			r = access(name, F_OK);
			COSY_END;
			if (!r)
				printf("%d ", i + from.value);
		}
		return n + from.value;
	};
	printf("%d\n", find(4, Counted(0)) + 1);

	// CHECK-NEXT: 0 1 2 4 5 ~6 = -6 0
	// CHECK-NEXT: 0 1 2 4 5 ~6 end = 6 0
	// CHECK-NEXT: 0 1 2 4 5 ~6 = 6 0
	for (int how = 0; how < 3; how++) {
		printf("= %d", scopes(9, 6, how));
		printf(" %d\n", Counted::alive);
	}
	/* Iterations that are dropped do not destroy the objects that they have constructed. */
	// CHECK-NEXT: 0 1 2 4 5 = 6
	// CHECK-NEXT: 0 1 2 4 5 = -6
	// CHECK-NEXT: 0 1 2 4 5 end = 6
	for (int how = 3; how < 6; how++)
		printf("= %d\n", scopes(9, 6, how));
	return 0;
}
#endif
