// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Unreached.h - Functions that only compounds refer to ---------------===//
//
// Programs may call a function that exists nowhere, if the optimisations prove
// that the call is never reached: checks of a condition at link time do so. The
// program can be linked with regions, too:
//
// - A variable that the module never writes becomes a constant before regions
//   use its address. Afterwards the optimisations could not prove that any
//   more.
// - In an up-call the call may remain, because less is known about the values
//   there. If the native code has no reference to the function any more, the
//   reference of the up-call becomes weak.
// - In a coroutine the call may remain, because optimisations know less about
//   it than about an ordinary function: it is not inlined into the function
//   that awaits it, and its variables are in a frame. If the same code as
//   ordinary functions would have no reference, the reference becomes weak.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_HOST_UNREACHED_H
#define COSY_PLUGIN_HOST_UNREACHED_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/OptimizationLevel.h"

namespace cosy {

/// Makes variables that optimised code only reads constants, and marks the
/// functions that \p M declares. Must run before optimisations, which make
/// declarations of inline definitions.
void prepareUnreached(llvm::Module &M);

/// Makes references weak that \p M would not have after optimizations of \p
/// Level. Must run before its COSY_ASYNC functions become coroutines. \p
/// Prepare makes a copy of \p M what the optimizations may take it for.
void weakenUnreached(llvm::Module &M, llvm::FunctionAnalysisManager &FAM,
                     llvm::OptimizationLevel Level,
                     llvm::function_ref<void(llvm::Module &)> Prepare);

/// Makes references of up-calls weak. Runs after the optimizations.
class UnreachedPass : public llvm::PassInfoMixin<UnreachedPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
  static bool isRequired() { return true; }
};

} // namespace cosy

#endif // COSY_PLUGIN_HOST_UNREACHED_H
