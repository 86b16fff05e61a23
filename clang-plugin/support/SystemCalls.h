// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SystemCalls.h - System calls by their libc names -------------------===//
#ifndef COSY_PLUGIN_SUPPORT_SYSTEMCALLS_H
#define COSY_PLUGIN_SUPPORT_SYSTEMCALLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class CallBase;
class IRBuilderBase;
class Value;
} // namespace llvm

namespace cosy {

/// A system call of the table (syscalls.def).
struct SystemCall {
  int64_t Number;
  llvm::StringRef Name;
  llvm::StringRef Args; ///< a letter for each argument
  bool Nested;          ///< may run inside a compound
};

/// A libc function that is a thin wrapper of a system call.
struct LibcFunction {
  const SystemCall *Call;
  llvm::StringRef Map; ///< the call's arguments, see syscalls.def
  /// The function is thin only if its argument IfArg has the relation IfCond
  /// (enum cosy_cond) to IfValue. Otherwise the function itself must be called.
  /// IfArg is -1 if it is always thin.
  int IfArg = -1;
  unsigned IfCond = 0;
  int64_t IfValue = 0;
};

/// \returns the system call with \p Number, or null.
const SystemCall *findSystemCall(uint64_t Number);

/// \returns the system call that the libc function \p Name makes. Call is null
/// if the function is not in the table.
LibcFunction findLibcFunction(llvm::StringRef Name);

/// \returns true if \p Call with the arguments \p Args only reports, as
/// COSY_QUERY in syscalls.def defines it.
bool isQuery(const SystemCall &Call, llvm::ArrayRef<llvm::Value *> Args);

/// \returns true if the libc function \p Name fails with -1 and errno.
bool failsAsSystemCall(llvm::StringRef Name);

/// \returns true if \p Call of the function \p F certainly only makes the
/// system call with these arguments.
bool isThin(const LibcFunction &F, const llvm::CallBase &Call);

/// \returns true if a comparison can tell whether \p Call of the function \p F
/// is thin.
bool canCompareThin(const LibcFunction &F, const llvm::CallBase &Call);

/// \returns a value that is true if \p Call of the function \p F, of which
/// canCompareThin() holds, is not thin.
llvm::Value *createIsNotThin(llvm::IRBuilderBase &B, const LibcFunction &F,
                             const llvm::CallBase &Call);

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_SYSTEMCALLS_H
