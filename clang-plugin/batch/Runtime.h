// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Runtime.h - Calls of the check of COSY_BATCH -----------------------===//
//
// With -fplugin-arg-cosy-batch-check the program itself finds loops that break
// the promise of COSY_BATCH: cosy/batch-check.h. Emit.cpp reports the
// iterations to libcosy, Access.cpp their accesses.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BATCH_RUNTIME_H
#define COSY_PLUGIN_BATCH_RUNTIME_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace cosy {

/// Emits a call of the function \p Name of cosy/batch-check.h. Integer
/// arguments have the types of its prototype.
void callBatchRuntime(llvm::IRBuilderBase &B, llvm::StringRef Name,
                      llvm::ArrayRef<llvm::Value *> Args);

/// \returns the text "file:line:column" of \p Loc, or of the function \p F if
/// \p Loc is null.
llvm::Constant *batchSite(const llvm::Function &F, const llvm::DebugLoc &Loc);

/// \returns the letters of Library.def for the function that \p CI calls,
/// or "".
llvm::StringRef libraryLetters(const llvm::CallInst &CI);

/// Makes all functions of \p M report their accesses to libcosy. Their regions
/// without options stay native, because libcosy does not see the accesses of a
/// compound. Runs only once for each module.
void recordAccesses(llvm::Module &M);

} // namespace cosy

#endif // COSY_PLUGIN_BATCH_RUNTIME_H
