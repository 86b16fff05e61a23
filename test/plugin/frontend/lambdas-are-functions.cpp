// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a lambda is a function of its own, also where a variable outside of all functions is
// initialized.
// RUN: %clangxx -std=c++20 -O2 -c %s -o /dev/null
// RUN: not %clangxx -std=c++20 -O2 -DWRONG -c %s -o /dev/null 2>&1 | %FileCheck %s
#include <cosy.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

auto status = [](const char *const *names, int n) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    struct stat st;
    int result;
    COSY_BATCH(8);
    COSY_START;
    result = stat(names[i], &st);
    COSY_END;
    found += !result;
  }
  return found;
};

int stops(int n) {
  int size = 0;
  COSY_START_STOP_ON_ERROR;
  auto length = [](int k) {
    std::string text(k, 'x');
    return static_cast<int>(text.size());
  };
  size = length(n) + getppid();
  COSY_END;
  return size;
}

int contains(int n) {
  int sum = 0;
  COSY_START;
  auto region = [](int k) {
    int pid;
    COSY_START;
    pid = getpid() + getppid();
    COSY_END;
    return pid + k;
  };
  sum = getpid() + region(n);
  COSY_END;
  return sum;
}

#ifdef WRONG
auto wrong = [](int n) {
  // CHECK: [[#@LINE+2]]:{{.*}} error: COSY_START {{.*}}
  if (n)
    COSY_START;
  getppid();
  COSY_END;
};

int array(int n) {
  int sum = 0;
  COSY_START_STOP_ON_ERROR;
  // CHECK: [[#@LINE+1]]:{{.*}} error: a region that may stop cannot contain the array 'bytes', whose length is not constant
  char bytes[n];
  bytes[0] = getppid();
  sum = bytes[0];
  COSY_END;
  return sum;
}
#endif
