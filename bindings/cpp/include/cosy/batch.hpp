// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- cosy/batch.hpp - The batch functions for C++20 ---------------------===//
//
// <cosy/batch.h> with spans, ranges and exceptions. Header only; link with
// -lcosy-batch -lcosy.
//
//   for (const cosy::directory_entry &entry : cosy::directory("/etc"))
//     if (const struct stat *status = entry.status())
//       total += status->st_size;
//
// Each item has a result of its own, also if it fails. If the whole function
// fails, it throws: std::system_error for errors of the system,
// std::invalid_argument for spans of different lengths. The functions are as
// thread-safe as the C functions.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_BATCH_HPP
#define COSY_BATCH_HPP

#if __cplusplus < 202002L
#error "<cosy/batch.hpp> needs C++20 (-std=c++20); <cosy/batch.h> does not"
#endif

#include <cosy/batch.h>

#include <cstddef>
#include <fcntl.h>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace cosy {

/// Return the error of a result of the C functions, which is a negative errno
/// after a failure.
inline std::error_code error_of(std::ptrdiff_t result) noexcept {
  return result < 0 ? std::error_code(static_cast<int>(-result),
                                      std::system_category())
                    : std::error_code();
}

namespace detail {
template <typename T> T check(T result, const char *function) {
  if (result < 0)
    throw std::system_error(error_of(result), function);
  return result;
}

/// The message names the files, as far as there are any.
template <typename T>
T check(T result, const char *function, const char *path,
        const char *second = nullptr) {
  if (result < 0) {
    std::string what = std::string(function) + ": " + (path ? path : "NULL");

    if (second)
      what += std::string(" -> ") + second;
    throw std::system_error(error_of(result), what);
  }
  return result;
}

inline void check_lengths(bool same, const char *function) {
  if (!same)
    throw std::invalid_argument(std::string(function) +
                                ": spans of different lengths");
}
} // namespace detail

/// Where relative paths start, and the flags of a function.
struct at {
  int dirfd = AT_FDCWD;
  int flags = 0;
};

/// Get the status of \p paths. \p status and \p results have an element for
/// each; a result is 0 or a negative errno.
///
/// \returns the number of paths that succeeded.
inline std::size_t stat_many(std::span<const char *const> paths,
                             std::span<struct ::stat> status,
                             std::span<int> results, at where = {}) {
  detail::check_lengths(paths.size() == status.size() &&
                            paths.size() == results.size(),
                        "cosy::stat_many");
  return detail::check(::cosy_stat_many(where.dirfd, paths.data(), paths.size(),
                                        where.flags, status.data(),
                                        results.data()),
                       "cosy_stat_many");
}

/// Remove \p paths; \p where.flags is 0 or AT_REMOVEDIR. A result is 0 or a
/// negative errno.
///
/// \returns the number of names that were removed.
inline std::size_t unlink_many(std::span<const char *const> paths,
                               std::span<int> results, at where = {}) {
  detail::check_lengths(paths.size() == results.size(), "cosy::unlink_many");
  return detail::check(::cosy_unlink_many(where.dirfd, paths.data(),
                                          paths.size(), where.flags,
                                          results.data()),
                       "cosy_unlink_many");
}

/// Read the whole files \p paths through \p buffer. For each, in order, call
/// \p use(index, contents, error). The contents are a std::span<std::byte> of
/// the buffer. They are valid until \p use returns, and empty after an error. A
/// file that is larger than the buffer fails with EFBIG.
template <typename Use>
void read_many(std::span<const char *const> paths, std::span<std::byte> buffer,
               Use &&use, at where = {}) {
  std::vector<cosy_read_result> results(paths.size());

  for (std::size_t done = 0; done < paths.size();) {
    const std::size_t n = detail::check(
        ::cosy_read_many(where.dirfd, paths.data() + done, paths.size() - done,
                         where.flags, buffer.data(), buffer.size(),
                         results.data()),
        "cosy_read_many");
    for (std::size_t i = 0; i < n; ++i) {
      const cosy_read_result &result = results[i];
      use(done + i,
          result.length < 0
              ? std::span<std::byte>()
              : buffer.subspan(result.offset,
                               static_cast<std::size_t>(result.length)),
          error_of(result.length));
    }
    done += n;
  }
}

/// Copy the contents of a regular file; \p flags as for cosy_copy_file().
///
/// \returns the number of bytes copied.
/// \throws std::system_error.
inline off_t copy_file(const char *from, const char *to, int flags = 0,
                       int from_dirfd = AT_FDCWD, int to_dirfd = AT_FDCWD) {
  off_t copied = 0;

  detail::check(
      ::cosy_copy_file(from_dirfd, from, to_dirfd, to, flags, &copied),
      "cosy_copy_file", from, to);
  return copied;
}

/// An entry of a directory. Valid until its iterator is incremented.
class directory_entry : private cosy_dir_entry {
public:
  /// The name, which is followed by a NUL.
  std::string_view name() const noexcept { return cosy_dir_entry::name; }
  /// The inode number in the directory.
  ino_t inode() const noexcept { return cosy_dir_entry::inode; }
  /// DT_REG, DT_DIR, ...
  unsigned char type() const noexcept { return cosy_dir_entry::type; }
  /// The status as of lstat(); nullptr if that failed or was not requested.
  const struct ::stat *status() const noexcept {
    return result == 0 ? &(cosy_dir_entry::status) : nullptr;
  }
  /// The reason why there is no status; ENODATA if it was not requested.
  std::error_code error() const noexcept { return error_of(result); }
};
static_assert(sizeof(directory_entry) == sizeof(cosy_dir_entry));

/// A directory that is being listed: a range with one pass.
class directory {
public:
  /// Open \p path. Entries have their status if \p flags contains
  /// COSY_DIR_STATUS.
  ///
  /// \throws std::system_error.
  explicit directory(const char *path, int flags = COSY_DIR_STATUS,
                     int dirfd = AT_FDCWD) {
    ::cosy_dir *opened;

    detail::check(::cosy_dir_open(&opened, dirfd, path, flags),
                  "cosy_dir_open", path);
    dir.reset(opened);
  }

  /// Return the next entries, none at the end. Valid until the next call.
  ///
  /// \throws std::system_error.
  std::span<const directory_entry> read() {
    const cosy_dir_entry *entries;
    const std::size_t n =
        detail::check(::cosy_dir_read(dir.get(), &entries), "cosy_dir_read");

    return {reinterpret_cast<const directory_entry *>(entries), n};
  }

  class iterator {
  public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = directory_entry;
    using difference_type = std::ptrdiff_t;

    const directory_entry &operator*() const noexcept { return block.front(); }
    const directory_entry *operator->() const noexcept {
      return &block.front();
    }
    iterator &operator++() {
      block = block.subspan(1);
      if (block.empty())
        block = from->read();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator &i,
                           std::default_sentinel_t) noexcept {
      return i.block.empty();
    }

  private:
    friend class directory;
    explicit iterator(directory &dir) : from(&dir), block(dir.read()) {}

    directory *from;
    std::span<const directory_entry> block;
  };

  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const noexcept { return {}; }

private:
  struct closer {
    void operator()(::cosy_dir *dir) const noexcept { ::cosy_dir_close(dir); }
  };

  std::unique_ptr<::cosy_dir, closer> dir;
};

} // namespace cosy

#endif // COSY_BATCH_HPP
