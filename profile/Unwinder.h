//===- Unwinder.h - find the source lines of a copied stack -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unwinds by the call frame information of each file. Debian's programs have
// it, although they have no frame pointers and no debug information. Functions
// and lines come from the file or its separate debug information, if these are
// regular files.
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_UNWINDER_H
#define COSY_PROFILE_UNWINDER_H

#include "Recorder.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cosy {

/// A function in a stack. Without debug information, File is empty and Line is
/// 0; without a symbol, Function is empty, too.
struct Frame {
  std::string Function, File;
  unsigned Line = 0;
};

/// An address in a file, and the functions there: the innermost function, then
/// those into which it was inlined.
struct CodeAddress {
  /// The path of the file.
  std::string Module;
  /// The address in the numbering of the file's symbols.
  uint64_t Address = 0;
  /// The begin of the function that is not inlined, or 0.
  uint64_t Function = 0;
  std::vector<Frame> Frames;
};

/// Return true if \p Path is that of glibc's libc.
bool isGlibc(const std::string &Path);

class Unwinder {
public:
  Unwinder();
  ~Unwinder();

  /// Return the addresses of a stack, as indices of address(), the innermost
  /// first. The result may lack outer functions.
  std::vector<unsigned> unwind(const StackCopy &Stack,
                               const AddressSpace &Space);

  const CodeAddress &address(unsigned Index) const { return Addresses[Index]; }

  /// Return true if the file is a program in Go, which makes its system calls
  /// without the C library.
  bool isGo(const std::string &Path);

private:
  struct Module;
  struct Registers;

  Module &moduleOf(const std::string &Path);
  unsigned addressOf(Module &Module, uint64_t Address);
  bool step(Module &Module, uint64_t Address, const StackCopy &Stack,
            Registers &Registers);

  std::map<std::string, std::unique_ptr<Module>> Modules;
  std::vector<CodeAddress> Addresses;
};

} // namespace cosy

#endif // COSY_PROFILE_UNWINDER_H
