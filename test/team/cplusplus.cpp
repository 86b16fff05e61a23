// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- cplusplus.cpp - Teams with lambdas and coroutines ------------------===//
//
// RUN: %clangxx -std=c++20 -g -O1 -Wall -Wextra -Werror -pthread \
// RUN:   -I%root/bindings/cpp/include -I%root/test/Inputs %s -o %t -L%lib \
// RUN:   -l:libcosy.a
// RUN: COSY_EXECUTOR=user %bounded %t
// RUN: %clangxx -std=c++20 -g -O1 -fsanitize=thread -pthread \
// RUN:   -I%root/bindings/cpp/include -I%root/test/Inputs %s -o %t.tsan \
// RUN:   -L%lib -l:libcosy.a
// RUN: COSY_EXECUTOR=user %bounded %t.tsan
// RUN: %not %clangxx -std=c++17 -fsyntax-only -I%root/bindings/cpp/include \
// RUN:   %s 2>&1 | %FileCheck --check-prefix=OLD %s
// OLD: needs C++20
//
//===----------------------------------------------------------------------===//
#include <cosy/team.hpp>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "check.h"

namespace {

constexpr int Clients = 20;
constexpr int Requests = 100;
constexpr int Times = 10;

// Only colour 0 uses these.
int answered;
int ended;
std::string error;

cosy::task<int64_t> echo(int fd, char *buffer, std::size_t size) {
  int64_t n = co_await cosy::recv(fd, buffer, size);
  if (n > 0)
    co_await cosy::send(fd, buffer, static_cast<std::size_t>(n));
  co_return n;
}

cosy::task<> serve(int fd) {
  std::array<char, 16> buffer;
  uint64_t colour = cosy_team_colour();

  while (co_await echo(fd, buffer.data(), buffer.size()) > 0) {
    EQUAL(cosy_team_colour(), colour);
    co_await cosy::colour(0);
    EQUAL(cosy_team_colour(), 0);
    answered++;
    co_await cosy::colour(colour);
  }
  EQUAL(co_await cosy::close(fd), 0);
}

cosy::task<> ask(int fd) {
  char byte = 0;

  for (int i = 0; i < Requests; i++) {
    char answer = 0;
    EQUAL(co_await cosy::send(fd, &byte, 1), 1);
    EQUAL(co_await cosy::recv(fd, &answer, 1), 1);
    EQUAL(answer, byte);
    byte++;
  }
  co_await cosy::sleep_for(std::chrono::microseconds(100));
  EQUAL(co_await cosy::close(fd), 0);
  co_await cosy::colour(0);
  ended++;
}

// The numbers of descriptors are used again, on whatever workers.
void coroutines(cosy::team &team) {
  answered = ended = 0;
  for (int i = 0; i < Clients; i++) {
    int fds[2];
    EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    cosy::spawn(team, 100 + static_cast<uint64_t>(i), serve(fds[0]));
    cosy::spawn(team, 200 + static_cast<uint64_t>(i), ask(fds[1]));
  }
  team.wait();
  EQUAL(answered, Clients * Requests);
  EQUAL(ended, Clients);
}

// An exception reaches the coroutine that awaits the one that has thrown it.
cosy::task<int> fail() {
  co_await cosy::sleep_for(std::chrono::duration<double>(0.000001));
  throw std::runtime_error("failed");
}

cosy::task<> catches() {
  try {
    co_await fail();
  } catch (const std::runtime_error &e) {
    error = e.what();
  }
}

void lambdas(cosy::team &team) {
  auto sum = std::make_unique<int>(0);
  auto results = std::make_shared<std::vector<int>>();

  for (int i = 0; i < 1000; i++)
    cosy::spawn(team, 5, [&sum = *sum, i, results] {
      sum += i;
      results->push_back(i);
    });
  // What is moved into a lambda is freed with it.
  cosy::spawn(team, 6,
              [owned = std::make_unique<int>(3)] { EQUAL(*owned, 3); });
  team.wait();
  EQUAL(*sum, 499500);
  EQUAL(results.use_count(), 1);
  for (int i = 0; i < 1000; i++)
    EQUAL((*results)[static_cast<std::size_t>(i)], i);
}

// Only colour 9 uses it.
cosy::pending receive;

cosy::pending wait_for(int fd, std::shared_ptr<char> buffer, int *called) {
  return cosy::pending::submit(
      [&](cosy_loop *loop, cosy_async *op) {
        return cosy_async_recv(loop, op, fd, buffer.get(), 1, 0);
      },
      [buffer, called](int64_t result) {
        EQUAL(result, -ECANCELED);
        ++*called;
      });
}

// An operation that the loop rejects does not keep its colour.
cosy::task<> rejected() {
  const auto submit = [](cosy_loop *loop, cosy_async *op) {
    return cosy_async_call(loop, op, SYS_execve, 0, 0, 0, 0, 0, 0);
  };
  bool thrown = false;

  CHECK(co_await cosy::operation(submit) < 0);
  try {
    cosy::pending::submit(submit, [](int64_t) { CHECK(false); });
  } catch (const std::system_error &) {
    thrown = true;
  }
  CHECK(thrown);
}

void rejections(cosy::team &team) {
  constexpr uint64_t Colours = 40000;

  for (uint64_t i = 1; i <= Colours; i++)
    cosy::spawn(team, i * 64, rejected());
  team.wait();
  // With the sanitizer, a team remembers all colours.
#if !__has_feature(thread_sanitizer)
  CHECK(team.info().colours < Colours / 2);
#endif
}

void pending(cosy::team &team) {
  auto buffer = std::make_shared<char>();
  int fds[2], called = 0;

  EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  cosy::spawn(team, 9, [&] { receive = wait_for(fds[0], buffer, &called); });
  cosy::spawn(team, 9, [] { receive.cancel(); });
  team.wait();
  EQUAL(called, 1);
  // Destroyed while it waits: its lambda is not called, and is freed.
  cosy::spawn(team, 9, [&] { receive = wait_for(fds[0], buffer, &called); });
  cosy::spawn(team, 9, [] { receive = {}; });
  team.wait();
  EQUAL(called, 1);
  EQUAL(buffer.use_count(), 1);
}

} // namespace

int main() {
  cosy::team team(3);

  alarm(600);
  for (int i = 0; i < Times; i++)
    coroutines(team);
  cosy::spawn(team, 0, catches());
  team.wait();
  EQUAL_TEXT(error.c_str(), "failed");
  lambdas(team);
  pending(team);
  rejections(team);
  team.resize(2);
  EQUAL(team.info().workers, 2);
  EQUAL(team.info().queued, 0);
  try {
    cosy::team none(COSY_TEAM_MAX + 1);
    CHECK(false);
  } catch (const std::system_error &e) {
    EQUAL(e.code().value(), EINVAL);
  }
  // While the team ends, lambdas that are queued still run.
  cosy::spawn(team, 1, [] { cosy::spawn(cosy_team_self(), 2, [] {}); });
  return 0;
}
