// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fortify.h - Calls as _FORTIFY_SOURCE makes them --------------------===//
//
// With _FORTIFY_SOURCE, read() is an inline function that hands the size of the
// buffer to __read_chk(). The size is known where the buffer is, in the host;
// the check is an operation of the compound, and what it guards is the plain
// call.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_FORTIFY_H
#define COSY_PLUGIN_FORTIFY_H

#include "body/State.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Takes the functions that are always inlined into \p Host.
void inlineAlways(llvm::Function &Host);

/// Evaluates the sizes of objects \p Host knows.
void evaluateObjectSizes(llvm::Function &Host,
                         llvm::FunctionAnalysisManager &FAM);

/// Replaces \p CI by what \p Plain makes, in front of an instruction, where
/// \p Fails does not hold.
void guard(llvm::CallInst &CI, llvm::Value *Fails,
           llvm::function_ref<llvm::Value *(llvm::Instruction *)> Plain);

/// Makes checked calls in \p F comparisons and plain calls; only if the check
/// fails, the checking function is called. \returns whether there were any.
bool expandChecks(llvm::Function &F);

/// The stage for bodies.
class FortifyPass : public BodyPass<FortifyPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-fortify";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

} // namespace cosy

#endif // COSY_PLUGIN_FORTIFY_H
