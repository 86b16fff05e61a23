// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Coroutine.h - COSY_ASYNC functions become coroutines ---------------===//
//
// A COSY_ASYNC function `f` becomes `f.cosy`, an LLVM coroutine with switched
// resume. Its first argument is the task (cosy/task.h). It is suspended at each
// system call that may wait and at each call of a COSY_ASYNC function; libcosy
// resumes it. There is no `f` any more, so that a caller which does not know
// what it is does not link.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_COROUTINE_H
#define COSY_PLUGIN_COROUTINE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// The annotation of COSY_ASYNC.
constexpr llvm::StringLiteral AsyncAnnotation = "cosy_async";
/// The function's result is extended with zeros. The IR has no unsigned types.
constexpr llvm::StringLiteral AsyncUnsignedAnnotation = "cosy_async_unsigned";
/// int cosy_task_start(struct cosy_spawn *): the call in front of it is
/// spawned.
constexpr llvm::StringLiteral SpawnFunction = "cosy_task_start";

/// Makes coroutines of the COSY_ASYNC functions of \p M and splits them. Must
/// run before all optimizations: they would take the address of errno, and of
/// other variables of the thread, for constants. markOwnCalls() has been
/// called. \p CompileParts makes compounds of parts of a function, before it
/// becomes a coroutine.
/// \returns whether there were any.
bool lowerCoroutines(llvm::Module &M, llvm::ModuleAnalysisManager &MAM,
                     llvm::function_ref<void(llvm::Function &)> CompileParts);

/// Reports the COSY_ASYNC functions of a module for another machine.
void rejectCoroutines(llvm::Module &M);

} // namespace cosy

#endif // COSY_PLUGIN_COROUTINE_H
