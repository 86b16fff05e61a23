// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Callees.h - The functions that calls through pointers call ---------===//
//
// Finds with LLVM's analyses which functions a call through a pointer can call,
// and stores them as LLVM does, in metadata !callees. IndirectCalls.h uses it.
//
// LLVM's own pass for this, CalledValuePropagation, runs after the bodies were
// cloned. It also needs code whose variables are in registers and whose
// constants were propagated. Bodies need code that was not optimised. So the
// analyses run on a copy of the module:
//
// - GlobalOpt finds variables that are never written, such as a structure of
//   operations; their contents are constant then.
// - IPSCCP propagates constants into callees, hence also the addresses of such
//   structures.
// - CalledValuePropagation finds sets of functions, for instance those that are
//   stored to a static variable.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_CALLEES_H
#define COSY_PLUGIN_BODY_CALLEES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Adds !callees to calls through pointers in \p M. Does not change code.
void findCallees(llvm::Module &M);

/// Runs findCallees().
class CalleesPass : public llvm::PassInfoMixin<CalleesPass> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-callees";
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &) {
    findCallees(M);
    return llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

} // namespace cosy

#endif // COSY_PLUGIN_BODY_CALLEES_H
