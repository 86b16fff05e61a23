//===- Profile.h - places, transitions and loops ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a recording says, by executable: the places that make system calls,
// which call follows which, and the loops that these form.
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_PROFILE_H
#define COSY_PROFILE_PROFILE_H

#include "Recorder.h"
#include "Unwinder.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace cosy {

/// The name of a system call; "syscall N" if it is not known.
std::string syscallName(unsigned Number);

/// A position in the source.
struct SourceLine {
  std::string Function, File;
  unsigned Line = 0;
};

/// A place that makes a system call, by its whole stack.
struct Site {
  unsigned Number;
  std::string Syscall;
  /// Indices of Unwinder::address(), the innermost first.
  std::vector<unsigned> Stack;
  /// The first of Stack that is not in the C library, or its size.
  unsigned Caller = 0;
  /// The C library's function is one that libcosy-preload.so interposes.
  bool Interposed = false;
  profile_edge Sum = {};
};

struct Transition {
  /// Indices of Executable::Sites; From is empty for a thread's first call.
  std::optional<unsigned> From;
  unsigned To;
  uint64_t Count = 0;
  uint64_t UserNs = 0;
};

/// Places whose calls follow each other again and again.
struct Loop {
  /// Those that are in no inner loop, in the order of the calls.
  std::vector<unsigned> Sites;
  std::vector<unsigned> Inner;
  uint64_t Iterations = 0;
  /// How often it begins.
  uint64_t Entries = 0;
  /// The innermost function that all of Sites are called from. File is empty
  /// and Line 0 without debug information.
  SourceLine Function;
  unsigned LastLine = 0;
  /// All of Sites are called in this function's source file.
  bool InOneFile = false;
};

struct Executable {
  std::string Path;
  unsigned Runs = 0, Forks = 0, Threads = 0;
  uint64_t Calls = 0;
  /// Without what recording cost.
  double CpuNs = 0;
  /// It uses a C library that libcosy-preload.so knows, and is not below it.
  bool Preloadable = false;
  bool Preloaded = false;
  std::vector<Site> Sites;
  std::vector<Transition> Transitions;
  std::vector<Loop> Loops;

  llvm::StringRef name() const {
    return llvm::StringRef(Path).rsplit('/').second.empty()
               ? llvm::StringRef(Path)
               : llvm::StringRef(Path).rsplit('/').second;
  }
};

class Profile {
public:
  explicit Profile(const Recording &Recording);

  /// Those that took most CPU time are first.
  std::vector<Executable> Executables;
  Unwinder Stacks;
  Calibration Machine;

  double CpuNs = 0;
  /// Processes includes the command's own.
  uint64_t Calls = 0, Processes = 1;

  /// The source of what calls the C library, or of its innermost caller with
  /// debug information.
  SourceLine source(const Site &Site) const;
  /// The same as text: "file.c:12 (function)", or what is known.
  std::string describe(const Site &Site) const;

private:
  void addSites(const Recording &Recording);
  void findLoops(Executable &Executable);
  void findSource(const Executable &Executable, Loop &Loop) const;
};

} // namespace cosy

#endif // COSY_PROFILE_PROFILE_H
