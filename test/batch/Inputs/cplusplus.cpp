// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- cplusplus.cpp - What <cosy/batch.hpp> gives ------------------------===//
#include <cosy/batch.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <iostream>
#include <ranges>
#include <string>
#include <unistd.h>

static_assert(std::ranges::input_range<cosy::directory>);

static std::string text(int result) {
  return result ? cosy::error_of(result).message() : "0";
}

static void stat_some() {
  const std::array paths = {"one", "missing", "two"};
  std::array<struct stat, 3> status;
  std::array<int, 3> results;

  const std::size_t n = cosy::stat_many(paths, status, results);
  std::cout << "stat: " << n << " of 3: " << text(results[0]) << ' '
            << text(results[1]) << ' ' << text(results[2]) << ", "
            << status[0].st_size << " bytes\n";
  try {
    cosy::stat_many(paths, status, std::span(results).first(2));
  } catch (const std::invalid_argument &error) {
    std::cout << "lengths: " << error.what() << '\n';
  }
  try {
    cosy::stat_many(paths, status, results, {.flags = -1});
  } catch (const std::system_error &error) {
    std::cout << "flags: " << error.what() << '\n';
  }
}

static void read_some() {
  const std::array paths = {"one", "missing", "two", "large"};
  std::array<std::byte, 8> buffer;

  cosy::read_many(
      paths, buffer,
      [](std::size_t i, std::span<std::byte> contents, std::error_code error) {
        std::cout << "read " << i << ": ";
        if (error)
          std::cout << error.message() << '\n';
        else
          std::cout << contents.size() << ' '
                    << std::string_view(
                           reinterpret_cast<char *>(contents.data()),
                           contents.size())
                    << '\n';
      });
}

static void list() {
  std::vector<std::string> names;
  off_t total = 0;

  for (const cosy::directory_entry &entry : cosy::directory(".")) {
    names.emplace_back(entry.name());
    total += entry.status()->st_size;
  }
  std::ranges::sort(names);
  for (std::size_t i = 0; i < names.size(); ++i)
    std::cout << names[i] << (i + 1 < names.size() ? " " : ": ");
  std::cout << total << " bytes\n";
  for (const cosy::directory_entry &entry : cosy::directory(".", 0))
    if (entry.name() == "one")
      std::cout << "without status: "
                << (!entry.status() && entry.type() == DT_REG &&
                            entry.error().value() == ENODATA
                        ? "ENODATA"
                        : "?")
                << '\n';
  try {
    cosy::directory("missing");
  } catch (const std::system_error &error) {
    std::cout << "opened: " << error.what() << '\n';
  }
}

static void copy_and_remove() {
  std::cout << "copied: " << cosy::copy_file("two", "three") << '\n';
  try {
    cosy::copy_file("one", "three", COSY_COPY_EXCLUSIVE);
  } catch (const std::system_error &error) {
    std::cout << "not copied: " << error.what() << '\n';
  }
  const std::array paths = {"three", "."};
  std::array<int, 2> results;
  const std::size_t n = cosy::unlink_many(paths, results);
  std::cout << "unlink: " << n << " of 2: " << text(results[0]) << ' '
            << text(results[1]) << '\n';
}

int main() {
  char scratch[] = "/tmp/cosy-batch-XXXXXX";

  if (!mkdtemp(scratch) || chdir(scratch))
    return 1;
  std::ofstream("one") << "first";
  std::ofstream("two") << "second";
  std::ofstream("large") << std::string(1000000, 'x');
  if (symlink("none", "link"))
    return 1;
  stat_some();
  read_some();
  list();
  copy_and_remove();
  return std::system((std::string("rm -r ") + scratch).c_str());
}
