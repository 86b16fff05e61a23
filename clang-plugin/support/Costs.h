// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Costs.h - Costs of operations in a compound ------------------------===//
//
// Costs, in instructions counted in a VM, beyond those of native code. The
// figures and their origin are in <cosy/costs.h>; libcosy decides by the same
// figures. All estimates and messages use the costs of this file.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_SUPPORT_COSTS_H
#define COSY_PLUGIN_SUPPORT_COSTS_H

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

#include <cosy/costs.h>

namespace cosy {

constexpr unsigned EntryCost = COSY_COST_ENTRY;
constexpr unsigned CallSaves = COSY_CALL_SAVES;
constexpr unsigned UpCallCost = COSY_COST_UPCALL;
constexpr unsigned AsyncUpCallCost = COSY_COST_ASYNC_UPCALL;
constexpr unsigned MaxAsyncCost = COSY_MAX_ASYNC_COST;
constexpr unsigned PublishCost = COSY_COST_PUBLISH;

constexpr unsigned OperationCost = COSY_COST_OPERATION;
constexpr unsigned MemoryCost = COSY_COST_MEMORY; ///< a load, a store
constexpr unsigned LoopCost = COSY_COST_LOOP;     ///< a jump back

/// The maximum that a call saves by a fast path: the 4 KiB of a name are not
/// cleared, and the descriptor is not looked up.
constexpr unsigned NameCallSaves = COSY_NAME_CALL_SAVES;
constexpr unsigned FileCallSaves = COSY_FILE_CALL_SAVES;
/// The saving of a read or write of a pipe or connection.
constexpr unsigned StreamCallSaves = COSY_STREAM_CALL_SAVES;
/// The saving of an lseek with COSY_HINT_JOIN.
constexpr unsigned JoinedSeekSaves = COSY_JOINED_SEEK_SAVES;

/// The saving of an openat whose flags are COSY_PRELOAD_WALKS(), as an entry of
/// its own.
constexpr unsigned WalkSaves = COSY_PRELOAD_WALK_SAVES;
/// The same in a compound.
constexpr unsigned WalkedOpenSaves = COSY_WALKED_OPEN_SAVES;

/// \returns what a call of the system call \p Name usually saves in a compound,
/// if its fast path can be used.
inline unsigned usualCallSaves(llvm::StringRef Name) {
#define SAVING(Call, Saved) .Case(#Call, Saved)
  return llvm::StringSwitch<unsigned>(Name) COSY_USUAL_SAVINGS(SAVING).Default(
      CallSaves);
#undef SAVING
}

/// The name that a call takes.
enum class NameForm {
  Path,        ///< of several components
  Here,        ///< of one, in the working directory
  InDirectory, ///< of one, in a directory that is open
};

/// \returns what native code usually saves if it makes a call of the system
/// call \p Name through the module, as an entry of its own; 0 if it does not.
inline unsigned singleCallSaves(llvm::StringRef Name,
                                NameForm Form = NameForm::Path) {
  struct Savings {
    unsigned Path = 0, Here = 0, InDirectory = 0;
  };
#define SAVING(Call, ...) .Case(#Call, Savings{__VA_ARGS__})
  auto Each =
      llvm::StringSwitch<Savings>(Name) COSY_PRELOAD_SAVINGS(SAVING).Default(
          Savings());
#undef SAVING
  switch (Form) {
  case NameForm::Path:
    return Each.Path;
  case NameForm::Here:
    return Each.Here;
  case NameForm::InDirectory:
    return Each.InDirectory;
  }
  llvm_unreachable("unknown form of a name");
}

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_COSTS_H
