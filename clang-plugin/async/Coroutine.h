// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Coroutine.h - COSY_ASYNC functions become coroutines ---------------===//
//
// A COSY_ASYNC function `f` becomes `f.cosy`, an LLVM coroutine with switched
// resume. Its first argument is the task (cosy/task.h). It is suspended at each
// system call that may wait and at each call of a COSY_ASYNC function; libcosy
// resumes it. The symbol `f` no longer exists, so a caller that is compiled
// without its COSY_ASYNC declaration does not link.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_ASYNC_COROUTINE_H
#define COSY_PLUGIN_ASYNC_COROUTINE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/OptimizationLevel.h"

namespace cosy {

/// Makes coroutines of the COSY_ASYNC functions of \p M and splits them. Must
/// run before all optimizations, which would treat the addresses of errno and
/// of other thread-local variables as constants. markOwnCalls() must have been
/// called. Optimizations of \p Level follow. \p Compile makes compounds of
/// the regions or parts of a function, before it becomes a coroutine.
/// \returns whether there were any.
bool lowerCoroutines(llvm::Module &M, llvm::ModuleAnalysisManager &MAM,
                     llvm::OptimizationLevel Level,
                     llvm::function_ref<void(llvm::Function &)> Compile);

/// Reports the COSY_ASYNC functions of a module for another machine.
void rejectCoroutines(llvm::Module &M);

} // namespace cosy

#endif // COSY_PLUGIN_ASYNC_COROUTINE_H
