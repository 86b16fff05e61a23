//===- Profile.h - sites, transitions and loops -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes from a recording, for each executable: the sites that make system
// calls, the transitions between them, and the loops that these form.
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_PROFILE_H
#define COSY_PROFILE_PROFILE_H

#include "Recorder.h"
#include "Unwinder.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cosy {

/// Return the name of a system call; "syscall N" if it is unknown.
std::string syscallName(unsigned Number);

/// A position in the source.
struct SourceLine {
  std::string Function, File;
  unsigned Line = 0;
};

/// How cosy run makes a call through the module.
enum class Reach {
  None,
  Function, ///< libcosy-preload.so interposes the C library's function
  Realpath, ///< realpath() makes it; one call of the module replaces them
  Library,  ///< the C library makes it at a place that is redirected in
            ///< processes with one thread that often call it
};

/// A place that makes a system call, identified by its whole stack.
struct Site {
  unsigned Number;
  std::string Syscall;
  /// Indices of Unwinder::address(), the innermost first. A wrapper of the C
  /// library is the innermost one of its calls.
  std::vector<unsigned> Stack;
  /// Index in Stack of the first address outside of the C library, or the size
  /// of Stack.
  unsigned Caller = 0;
  Reach Reached = Reach::None;
  /// The C library makes the call itself, in this function, which is not a
  /// wrapper of the call: "readdir", "localtime". The name may be unknown: "?".
  std::string Within;
  profile_edge Sum = {};
  /// The calls of processes that have the library under cosy run.
  uint64_t WithLibrary = 0;
};

struct Transition {
  /// Indices of Executable::Sites; From is empty for a thread's first call.
  std::optional<unsigned> From;
  unsigned To;
  uint64_t Count = 0;
  uint64_t UserNs = 0;
};

/// Sites whose calls follow each other repeatedly.
struct Loop {
  /// The sites that are in no inner loop, in the order of the calls.
  std::vector<unsigned> Sites;
  std::vector<unsigned> Inner;
  uint64_t Iterations = 0;
  /// The number of times it begins.
  uint64_t Entries = 0;
  /// The innermost function that calls all Sites. Without debug information,
  /// File is empty and Line is 0.
  SourceLine Function;
  unsigned LastLine = 0;
  /// All functions between this function and the calls are in its source file.
  bool InOneFile = false;
};

struct Executable {
  std::string Path;
  unsigned Runs = 0, Forks = 0, Threads = 0;
  /// Runs that cosy run executes without its library, because they are short.
  unsigned ShortRuns = 0;
  uint64_t Calls = 0;
  /// Without the time of recording.
  double CpuNs = 0;
  /// It uses a C library that libcosy-preload.so supports.
  bool Preloadable = false;
  /// It runs with libcosy-preload.so already.
  bool Preloaded = false;
  /// A program in Go, which C's remedies do not help.
  bool IsGo = false;
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

  /// By CPU time, the largest first.
  std::vector<Executable> Executables;
  Unwinder Stacks;
  Calibration Machine;

  double CpuNs = 0;
  /// Processes includes the process of the command.
  uint64_t Calls = 0, Processes = 1;

  /// Return the source of the function that calls the C library, or of its
  /// innermost caller with debug information.
  SourceLine source(const Site &Site) const;
  /// Return source() as text: "file.c:12 (function)", or the known part.
  std::string describe(const Site &Site) const;

private:
  /// A place in a program: where a call is made.
  using Place = std::pair<uint32_t, uint64_t>;
  /// Indices of Executables, by program.
  using ProgramMap = std::map<uint32_t, unsigned>;
  /// Indices of Executable::Sites.
  using PlaceMap = std::map<Place, unsigned>;

  ProgramMap addExecutables(const Recording &Recording);
  PlaceMap addSites(const Recording &Recording, const ProgramMap &ByProgram);
  void addTransitions(const Recording &Recording, const ProgramMap &ByProgram,
                      const PlaceMap &ByPlace);
  /// Return the stack of a system call without the functions by which its
  /// wrapper in the C library makes it: as if the wrapper made it directly.
  std::vector<unsigned> fromWrapper(unsigned Number,
                                    const std::vector<unsigned> &Stack) const;
  /// Return a site without calls: the system call \p Number from \p Stack.
  Site siteOf(unsigned Number, const std::vector<unsigned> &Stack) const;
  std::string libraryFunction(const Site &Site) const;
  Reach reachOf(const Site &Site) const;
  void findLoops(Executable &Executable);
  void findSource(const Executable &Executable, Loop &Loop) const;
};

} // namespace cosy

#endif // COSY_PROFILE_PROFILE_H
