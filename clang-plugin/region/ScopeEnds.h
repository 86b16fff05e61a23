// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScopeEnds.h - Jumps out of scopes ----------------------------------===//
//
// clang leads all jumps out of a scope with lifetime markers or destructors
// through one block, which ends the scope and dispatches on a variable. So a
// path that leaves a loop or a region would seem to continue in it.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_REGION_SCOPEENDS_H
#define COSY_PLUGIN_REGION_SCOPEENDS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"

namespace cosy {

/// Gives each jump of \p F its own end of the scope, which leads to where the
/// jump goes. Local variables must be in memory. Does not dispatch on variables
/// for which \p IsOfProgram is true.
void threadScopeEnds(llvm::Function &F,
                     llvm::function_ref<bool(const llvm::Value *)> IsOfProgram);

} // namespace cosy

#endif // COSY_PLUGIN_REGION_SCOPEENDS_H
