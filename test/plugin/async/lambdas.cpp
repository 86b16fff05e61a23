// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COSY_ASYNC lambdas, members and instances of templates have the results of ordinary functions, and
// the same rules.
// RUN: for level in -O0 -O2; do \
// RUN:   %clangxx $level -std=c++20 -Wall -Wextra -Werror -pthread %s -o %t -L%lib -l:libcosy.a && \
// RUN:   COSY_EXECUTOR=user %bounded %t || exit; done
// RUN: %clangxx -std=c++20 -fsyntax-only -DERRORS -Xclang -verify %s
// RUN: %clangxx -std=c++20 -O0 -c -DUSES -o %t.o -Xclang -verify=uses %s
// RUN: %clangxx -std=c++20 -O2 -c -DUSES -o %t.o -Xclang -verify=uses %s
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

#include <cosy/task.h>

#if defined(ERRORS)

COSY_ASYNC static int async(int n)
{
	return read(n, &n, 1);
}

void lambdas(struct cosy_loop *loop)
{
	auto floating = [](int n) COSY_ASYNC -> double { return n; }; // expected-error {{a COSY_ASYNC function returns an integer of at most 64 bits, a pointer or nothing}}
	auto object = [](std::string s) COSY_ASYNC { return s.size(); }; // expected-error {{the parameter of a COSY_ASYNC function has a destructor or is not copied as memory}}
	auto variadic = [](int n, ...) COSY_ASYNC { return n; }; // expected-error {{a COSY_ASYNC function cannot have variable arguments}}
	auto generic = [](auto n) COSY_ASYNC { return n; }; // expected-error {{a COSY_ASYNC function returns an integer of at most 64 bits, a pointer or nothing}}
	auto captures = [n = async(1)] { return n; }; // expected-error {{'async' is COSY_ASYNC: only COSY_SPAWN}}

	COSY_SPAWN(loop, generic(1));
	COSY_SPAWN(loop, generic(1.0));
	(void)floating, (void)object, (void)variadic, (void)captures;
}

auto outside = [](int n) COSY_ASYNC -> float { return n; }; // expected-error {{a COSY_ASYNC function returns an integer of at most 64 bits, a pointer or nothing}}

struct Initializes {
	int (*first)(int);
	int (*second)(int) = async; // expected-error {{'async' is COSY_ASYNC: only COSY_SPAWN}}
	float (*third)(int) = [](int n) COSY_ASYNC -> float { return n; }; // expected-error {{a COSY_ASYNC function returns an integer of at most 64 bits, a pointer or nothing}}

	Initializes() : first(async) {} // expected-error {{'async' is COSY_ASYNC: only COSY_SPAWN}}
};

template <int Function(int)> static int call(int n)
{
	return Function(n); // expected-error {{'async' is COSY_ASYNC: only COSY_SPAWN}}
}

int instantiates()
{
	return call<async>(1);
}

int by_default(int n = async(1)); // expected-error {{'async' is COSY_ASYNC: only COSY_SPAWN}}

#elif defined(USES)

COSY_ASYNC static int async(int n) // uses-error {{a COSY_ASYNC function has no address}}
{
	return read(n, &n, 1);
}

template <int Function(int)> struct Holds {
	static inline int (*volatile function)(int) = Function;
};

/* What is not in the source, where the function has another name or none. */
int hidden()
{
	int (*invoked)(int) = [](int n) COSY_ASYNC { return async(n); }; // uses-error {{only COSY_SPAWN and COSY_ASYNC functions can call a COSY_ASYNC function}}

	return Holds<async>::function(1) + invoked(1);
}

#else

static struct cosy_loop *loop;

#define EXPECT(value, ...) \
	do { \
		struct cosy_async op_ = {}; \
		if (COSY_SPAWN(loop, __VA_ARGS__, .op = &op_) || \
		    cosy_wait_for(loop, &op_, nullptr) || op_.result != (value)) { \
			std::fprintf(stderr, "line %d: %lld\n", __LINE__, \
				     (long long)op_.result); \
			std::exit(1); \
		} \
	} while (0)

enum class Large : unsigned { value = 0x90000001 };

static void wait()
{
	usleep(1);
}

template <typename T> COSY_ASYNC static T same(T value)
{
	read(-1, nullptr, 0);
	return value;
}

template <typename T> COSY_ASYNC static auto deduced(T value)
{
	read(-1, nullptr, 0);
	return value;
}

template <typename T> struct Of {
	T value;

	COSY_ASYNC T get() const
	{
		read(-1, nullptr, 0);
		return value;
	}
	COSY_ASYNC T operator+(T other) const
	{
		return get() + other;
	}
	template <typename U> COSY_ASYNC static U convert(T value)
	{
		read(-1, nullptr, 0);
		return (U)value;
	}
};

template <typename T> static void in_template(T value)
{
	struct Local {
		T value;

		COSY_ASYNC T get()
		{
			read(-1, nullptr, 0);
			return value;
		}
	};
	Local local = { value };
	auto lambda = [&](T add) COSY_ASYNC {
		read(-1, nullptr, 0);
		return value + add;
	};

	EXPECT((int64_t)value, local.get());
	EXPECT((int64_t)(T)(value + 1), lambda(1));
}

static auto outside = [](unsigned char value) COSY_ASYNC {
	read(-1, nullptr, 0);
	return value;
};

int main()
{
	const unsigned n = 0x90000001;
	auto plain = [](unsigned v) COSY_ASYNC -> unsigned {
		read(-1, nullptr, 0);
		return v;
	};
	auto generic = [](auto v) COSY_ASYNC {
		read(-1, nullptr, 0);
		return v;
	};
	auto awaits = [=](unsigned v) COSY_ASYNC { return plain(v) + generic(v) - plain(n); };
	auto spawns = [&](unsigned v) COSY_ASYNC { return COSY_SPAWN(loop, plain(v)); };
	auto ordinary = [] { wait(); };

	if (cosy_loop_create(&loop, nullptr))
		return 2;
	EXPECT(n, plain(n));
	EXPECT(n, generic(n));
	EXPECT((int)n, generic((int)n));
	EXPECT(n, generic(Large::value));
	EXPECT(n, awaits(n));
	EXPECT(0, spawns(n));
	EXPECT(200, outside(200));
	EXPECT(n, same(n));
	EXPECT((int)n, same((int)n));
	EXPECT(n, deduced(n));
	EXPECT(n, Of<unsigned>{ n }.get());
	EXPECT(n + 1, Of<unsigned>{ n } + 1);
	EXPECT((int)n, Of<unsigned>::convert<int>(n));
	EXPECT(n, Of<int>::convert<unsigned>((int)n));
	in_template(n);
	in_template((int)n);
	ordinary();
	return cosy_loop_destroy(loop);
}
#endif
