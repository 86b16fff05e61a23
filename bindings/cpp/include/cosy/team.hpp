// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- cosy/team.hpp - Teams for C++20 ------------------------------------===//
//
// <cosy/team.h> with lambdas, coroutines and destructors. Header only; link
// with -lcosy.
//
//   cosy::team team;
//   cosy::spawn(team, key, [=] { work(key); });
//
//   cosy::task<void> serve(int fd) {
//     std::array<char, 4096> buffer;
//     int64_t n;
//     while ((n = co_await cosy::recv(fd, buffer.data(), buffer.size())) > 0)
//       if (co_await cosy::send(fd, buffer.data(), n) < 0)
//         break;
//     co_await cosy::close(fd);
//   }
//   cosy::spawn(team, fd, serve(fd));
//
// A coroutine has a colour, that of cosy::spawn(), and gives it back while it
// waits. `co_await cosy::colour(0)` continues it with another one. Operations
// return what the system call returns, or -errno. Functions throw
// std::system_error if the team refuses a callback.
//
// Where compilers make no tail calls (GCC without optimisation), a coroutine
// that awaits very many tasks in a loop, none of which waits, overflows the
// stack: compile it with -O2.
//
// An exception that leaves a callback ends the program, as one that leaves a
// thread does. An exception of a coroutine reaches the coroutine that awaits
// it.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_TEAM_HPP
#define COSY_TEAM_HPP

#if __cplusplus < 202002L
#error "<cosy/team.hpp> needs C++20 (-std=c++20); <cosy/team.h> does not"
#endif

#include <cosy/team.h>

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace cosy {

namespace team_detail {
inline void check(int error, const char *function) {
  if (error)
    throw std::system_error(-error, std::system_category(), function);
}
} // namespace team_detail

/// A team, which is destroyed with this object: what is queued runs, and
/// operations are cancelled.
class team {
public:
  /// \p workers: 0: one for each CPU that the thread may use.
  explicit team(std::uint32_t workers = 0) : team(options(workers)) {}
  explicit team(const cosy_team_options &options) {
    team_detail::check(cosy_team_create(&handle, &options), "cosy_team_create");
  }
  team(const team &) = delete;
  team &operator=(const team &) = delete;
  ~team() { cosy_team_destroy(handle); }

  cosy_team *get() const noexcept { return handle; }
  operator cosy_team *() const noexcept { return handle; }

  /// Wait until nothing is queued, running or outstanding.
  void wait() {
    team_detail::check(cosy_team_wait(handle, nullptr), "cosy_team_wait");
  }
  void resize(unsigned int workers) {
    team_detail::check(cosy_team_resize(handle, workers), "cosy_team_resize");
  }
  void stop() noexcept { cosy_team_stop(handle); }
  struct cosy_team_info info() const {
    struct cosy_team_info info;
    team_detail::check(cosy_team_info(handle, &info, sizeof(info)),
                       "cosy_team_info");
    return info;
  }

private:
  static cosy_team_options options(std::uint32_t workers) noexcept {
    cosy_team_options options = {};
    options.size = sizeof(options);
    options.workers = workers;
    return options;
  }

  cosy_team *handle = nullptr;
};

/// Queue a call of \p callback, which is moved to the heap.
template <std::invocable Callback>
void spawn(cosy_team *team, std::uint64_t colour, Callback &&callback) {
  using Stored = std::decay_t<Callback>;
  auto stored = std::make_unique<Stored>(std::forward<Callback>(callback));
  team_detail::check(cosy_team_call(
                         team, colour,
                         [](void *arg) noexcept {
                           std::unique_ptr<Stored> callback(
                               static_cast<Stored *>(arg));
                           (*callback)();
                         },
                         stored.get()),
                     "cosy_team_call");
  stored.release();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace team_detail {
/// An operation that is submitted when it is awaited. \p Submit is called with
/// the worker's loop and the operation.
template <typename Submit> class awaitable {
public:
  explicit awaitable(Submit submit) : submit(std::move(submit)) {}
  awaitable(const awaitable &) = delete;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) {
    op.op.data = caller.address();
    // The colour of the running callback cannot run before this returns.
    int error = submit(cosy_team_loop(),
                       cosy_colour(&op, cosy_team_colour(), complete));
    if (error) {
      cosy_team_rejected(&op);
      op.op.result = error;
    }
    return !error;
  }
  std::int64_t await_resume() const noexcept { return op.op.result; }

private:
  static void complete(cosy_coloured *coloured) {
    std::coroutine_handle<>::from_address(coloured->op.data).resume();
  }

  Submit submit;
  cosy_coloured op = {};
};
} // namespace team_detail

/// Await any operation: \p submit calls a function of <cosy/async.h> with the
/// loop and the operation that it is given.
template <typename Submit> auto operation(Submit submit) {
  return team_detail::awaitable<Submit>(std::move(submit));
}

inline auto recv(int fd, void *buffer, std::size_t size, int flags = 0) {
  return operation([=](cosy_loop *loop, cosy_async *op) {
    return cosy_async_recv(loop, op, fd, buffer, size, flags);
  });
}

inline auto send(int fd, const void *buffer, std::size_t size, int flags = 0) {
  return operation([=](cosy_loop *loop, cosy_async *op) {
    return cosy_async_send(loop, op, fd, buffer, size, flags);
  });
}

inline auto read(int fd, void *buffer, std::size_t size) {
  return operation([=](cosy_loop *loop, cosy_async *op) {
    return cosy_async_read(loop, op, fd, buffer, size);
  });
}

inline auto write(int fd, const void *buffer, std::size_t size) {
  return operation([=](cosy_loop *loop, cosy_async *op) {
    return cosy_async_write(loop, op, fd, buffer, size);
  });
}

inline auto close(int fd) {
  return operation([=](cosy_loop *loop, cosy_async *op) {
    return cosy_async_close(loop, op, fd);
  });
}

/// The colour may move to another worker meanwhile.
template <typename Rep, typename Period>
auto sleep_for(std::chrono::duration<Rep, Period> time) {
  const auto ns = std::chrono::ceil<std::chrono::nanoseconds>(time).count();
  timespec until = {};
  until.tv_sec = static_cast<time_t>(ns / 1000000000);
  until.tv_nsec = static_cast<long>(ns % 1000000000);
  // The lambda is a part of what is awaited, and so is the time.
  return operation([until](cosy_loop *loop, cosy_async *op) {
    return cosy_async_timer(loop, cosy_team_moves(op), &until, 0);
  });
}

/// Await it to continue with another colour: `co_await cosy::colour(0)`.
/// Throws if the team has no memory.
class colour {
public:
  explicit colour(std::uint64_t number) noexcept : number(number) {}

  bool await_ready() const noexcept { return number == cosy_team_colour(); }
  void await_suspend(std::coroutine_handle<> caller) const {
    // The coroutine may continue on another worker before this returns.
    team_detail::check(
        cosy_team_call(
            cosy_team_self(), number,
            [](void *arg) {
              std::coroutine_handle<>::from_address(arg).resume();
            },
            caller.address()),
        "cosy_team_call");
  }
  void await_resume() const noexcept {}

private:
  std::uint64_t number;
};

//===----------------------------------------------------------------------===//
// Coroutines
//===----------------------------------------------------------------------===//

template <typename Result> class task;

namespace team_detail {
/// What promises of all results have in common.
struct promise_base {
  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<>
    await_suspend(std::coroutine_handle<Promise> done) const noexcept {
      std::coroutine_handle<> next = done.promise().caller;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }

  std::coroutine_handle<> caller;
  std::exception_ptr error;
};

template <typename Result> struct promise : promise_base {
  task<Result> get_return_object() noexcept;
  template <typename Value> void return_value(Value &&value) {
    result.emplace(std::forward<Value>(value));
  }
  Result take() { return std::move(*result); }

  std::optional<Result> result;
};

template <> struct promise<void> : promise_base {
  task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const noexcept {}
};
} // namespace team_detail

/// A coroutine that starts when it is awaited, or given to cosy::spawn(). It
/// is freed with this object, which must not be destroyed while it waits.
template <typename Result = void> class [[nodiscard]] task {
public:
  using promise_type = team_detail::promise<Result>;

  explicit task(std::coroutine_handle<promise_type> handle) noexcept
      : handle(handle) {}
  task(task &&other) noexcept : handle(std::exchange(other.handle, {})) {}
  task &operator=(task &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~task() {
    if (handle)
      handle.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
    handle.promise().caller = caller;
    return handle;
  }
  Result await_resume() {
    if (handle.promise().error)
      std::rethrow_exception(handle.promise().error);
    return handle.promise().take();
  }

private:
  std::coroutine_handle<promise_type> handle;
};

namespace team_detail {
template <typename Result>
task<Result> promise<Result>::get_return_object() noexcept {
  return task<Result>(std::coroutine_handle<promise>::from_promise(*this));
}

inline task<void> promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<promise>::from_promise(*this));
}

/// A coroutine that owns another one, and frees itself.
struct detached {
  struct promise_type {
    detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
};

template <typename Result> detached run(task<Result> task) {
  co_await std::move(task);
}
} // namespace team_detail

/// Start a coroutine with a colour. It is freed when it returns.
template <typename Result>
void spawn(cosy_team *team, std::uint64_t colour, task<Result> coroutine) {
  spawn(team, colour, [coroutine = std::move(coroutine)]() mutable {
    team_detail::run(std::move(coroutine));
  });
}

//===----------------------------------------------------------------------===//
// Operations with callbacks
//===----------------------------------------------------------------------===//

/// An operation whose callback is a lambda. It belongs to the colour of the
/// callback that has submitted it: only callbacks of that colour use this
/// object. Destroying it cancels the operation, and the lambda is not called.
class pending {
  struct node_base {
    cosy_coloured op = {};
    bool wanted = true;
  };

public:
  pending() = default;
  pending(pending &&other) noexcept : node(std::move(other.node)) {}
  pending &operator=(pending &&other) noexcept {
    drop();
    node = std::move(other.node);
    return *this;
  }
  ~pending() { drop(); }

  /// Cancel it. The lambda is called all the same, with -ECANCELED unless the
  /// operation is complete by then.
  void cancel() {
    if (node && node.use_count() > 1)
      cosy_team_cancel(&node->op);
  }

  /// Submit an operation; see operation() for \p submit. \p callback is called
  /// with the result. What it has captured lives as long as the operation.
  template <typename Submit, std::invocable<std::int64_t> Callback>
  static pending submit(Submit &&submit, Callback callback) {
    struct node_of : node_base {
      explicit node_of(Callback &&callback) : callback(std::move(callback)) {}
      Callback callback;
      std::shared_ptr<node_of> self;
    };
    auto node = std::make_shared<node_of>(std::move(callback));
    auto complete = [](cosy_coloured *op) noexcept {
      auto self = std::move(static_cast<node_of *>(op->op.data)->self);
      if (self->wanted)
        self->callback(op->op.result);
    };

    node->op.op.data = node.get();
    node->self = node;
    int error = submit(cosy_team_loop(),
                       cosy_colour(&node->op, cosy_team_colour(), complete));
    if (error) {
      cosy_team_rejected(&node->op);
      node->self.reset();
    }
    team_detail::check(error, "cosy::pending::submit");
    return pending(std::move(node));
  }

private:
  explicit pending(std::shared_ptr<node_base> node) noexcept
      : node(std::move(node)) {}
  void drop() {
    if (!node)
      return;
    node->wanted = false;
    cancel();
    node.reset();
  }

  std::shared_ptr<node_base> node;
};

} // namespace cosy

#endif // COSY_TEAM_HPP
