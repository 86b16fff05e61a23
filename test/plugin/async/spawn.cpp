// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// COSY_SPAWN starts its function wherever C++ allows an expression: where destructors or handlers of
// exceptions surround it, and where destructors follow the call.
// RUN: for level in -O0 -O2 -Os '-O2 -fno-exceptions' '-O1 -fsanitize=address,undefined -fno-sanitize-recover=all'; do \
// RUN:   %clangxx $level -std=c++20 -Wall -Wextra -Werror -pthread %s -o %t -L%lib -l:libcosy.a && \
// RUN:   COSY_EXECUTOR=user %bounded %t || exit; done
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>

#include <cosy/task.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			std::exit(1); \
		} \
	} while (0)

static struct cosy_loop *loop;
static std::mutex mutex;
static int sum, destroyed;

struct Object {
	int value;

	explicit Object(int value) : value(value) {}
	~Object();
};

/* Not known to throw nothing. */
__attribute__((noinline)) Object::~Object()
{
	destroyed += value;
}

COSY_ASYNC static int add(int n)
{
	usleep(1);
	sum += n;
	return n;
}

COSY_ASYNC static int add_owned(Object *object)
{
	int n = add(object->value);

	delete object;
	return n;
}

/* Runs the functions that were spawned, which add up to value. */
static void expect(int line, int value)
{
	CHECK(cosy_loop_run(loop) >= 0);
	if (sum != value) {
		std::fprintf(stderr, "line %d: %d instead of %d\n", line, sum, value);
		std::exit(1);
	}
	sum = 0;
}
#define EXPECT(value) expect(__LINE__, value)

/*
 * In scopes with a destructor or a handler.
 */

static int with_destructor(int n)
{
	std::lock_guard<std::mutex> guard(mutex);

	return COSY_SPAWN(loop, add(n));
}

static int without_exceptions(int n) noexcept
{
	return COSY_SPAWN(loop, add(n), .colour = 1);
}

#ifdef __cpp_exceptions
static int with_handler(int n)
{
	try {
		return COSY_SPAWN(loop, add(n));
	} catch (...) {
		return -1;
	}
}
#else
#define with_handler without_exceptions
#endif

static int in_loop(int n)
{
	int err = 0;

	for (std::string i = "1"; i.size() <= 3; i += "1") {
		Object object(0);

		err |= COSY_SPAWN(loop, add(n * std::atoi(i.c_str())));
	}
	return err;
}

/*
 * With destructors between the call and the start.
 */

static int of_temporary(int n)
{
	return COSY_SPAWN(loop, add_owned(std::make_unique<Object>(n).release()));
}

static int of_conditional_temporary(int n)
{
	return COSY_SPAWN(loop, add(n > 1 ? Object(n).value : n + Object(2 * n).value));
}

static int in_argument(int n)
{
	Object object(n);

	return COSY_SPAWN(loop, add(100 * n + COSY_SPAWN(loop, add(Object(n).value)) +
				    COSY_SPAWN(loop, add(10 * Object(n).value))));
}

/*
 * In expressions.
 */

static int in_expressions(int n)
{
	Object object(n);
	int err = (object.value++, COSY_SPAWN(loop, add(object.value)));

	err |= n ? COSY_SPAWN(loop, add(10)) : COSY_SPAWN(loop, add(20));
	err |= n && COSY_SPAWN(loop, add(100));
	return err + COSY_SPAWN(loop, add(1000)) + COSY_SPAWN(loop, add(10000));
}

struct Starter {
	Object object;
	int err;

	explicit Starter(int n)
		: object(n), err(COSY_SPAWN(loop, add(10 * Object(n).value)))
	{
	}
};

static int in_lambda(int n)
{
	Object object(n);
	auto start = [&] { return COSY_SPAWN(loop, add(object.value)); };
	auto start_of = [](auto v) {
		Object object(1);

		return COSY_SPAWN(loop, add(v));
	};

	return start() | start_of(10 * n);
}

template <typename T> COSY_ASYNC static T twice(T n)
{
	return add(2 * n);
}

template <typename T> static int in_template(T n)
{
	Object object(n);

	return COSY_SPAWN(loop, twice<T>(n)) | COSY_SPAWN(loop, twice(10 * n));
}

struct Coroutine {
	struct promise_type {
		Coroutine get_return_object() { return {}; }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
};

static Coroutine in_coroutine(int n, int *err)
{
	Object object(n);

	*err = COSY_SPAWN(loop, add(object.value));
	co_await std::suspend_never();
	*err |= COSY_SPAWN(loop, add(10 * Object(n).value));
}

COSY_ASYNC static int in_function(int n)
{
	add(1000 * n);
	return COSY_SPAWN(loop, add(n)) | COSY_SPAWN(loop, add(10 * add(10 * n)));
}

/*
 * If an argument throws, nothing has started, and nothing is left.
 */

#ifdef __cpp_exceptions
__attribute__((noinline)) static int throws(int n)
{
	throw n;
}

static int with_argument_that_throws(int n)
{
	try {
		return COSY_SPAWN(loop, add(throws(n)), .colour = 1);
	} catch (int thrown) {
		return thrown;
	}
}
#endif

int main()
{
	int err = 1;

	CHECK(!cosy_loop_create(&loop, nullptr));
	CHECK(!with_destructor(1) && !without_exceptions(10) && !with_handler(100));
	EXPECT(111);
	CHECK(!in_loop(1));
	EXPECT(1 + 11 + 111);
	CHECK(!of_temporary(1) && !of_temporary(10));
	EXPECT(11);
	CHECK(destroyed == 11);
	CHECK(!of_conditional_temporary(1) && !of_conditional_temporary(2));
	EXPECT(3 + 2);
	CHECK(!in_argument(3));
	EXPECT(333);
	CHECK(!in_expressions(1));
	EXPECT(11112);
	Starter starter(2);
	CHECK(!starter.err);
	EXPECT(20);
	CHECK(!in_lambda(2));
	EXPECT(22);
	CHECK(!in_template(2));
	EXPECT(44);
	in_coroutine(3, &err);
	CHECK(!err);
	EXPECT(33);
	CHECK(!COSY_SPAWN(loop, in_function(2)));
	EXPECT(2000 + 2 + 20 + 200);
#ifdef __cpp_exceptions
	CHECK(with_argument_that_throws(5) == 5);
	EXPECT(0);
#endif
	return cosy_loop_destroy(loop);
}
