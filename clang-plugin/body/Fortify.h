// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fortify.h - Calls that _FORTIFY_SOURCE checks ----------------------===//
//
// With _FORTIFY_SOURCE, read() is an inline function that passes the size of
// the buffer to __read_chk(). The host computes the size, because it knows the
// buffer. In the compound, the check is an operation that guards the plain
// call.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_FORTIFY_H
#define COSY_PLUGIN_BODY_FORTIFY_H

#include "body/State.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Inlines into \p Host the functions that are always inlined.
void inlineAlways(llvm::Function &Host);

/// Evaluates the sizes of objects that \p Host knows.
void evaluateObjectSizes(llvm::Function &Host,
                         llvm::FunctionAnalysisManager &FAM);

/// Replaces \p CI by the code that \p Plain creates before the given
/// instruction. If \p Fails holds, \p CI is executed.
void guard(llvm::CallInst &CI, llvm::Value *Fails,
           llvm::function_ref<llvm::Value *(llvm::Instruction *)> Plain);

/// Replaces checked calls in \p F by comparisons and plain calls. The checking
/// function is called only if the check fails. \returns whether there were any.
bool expandChecks(llvm::Function &F);

/// The stage for bodies.
class FortifyPass : public BodyPass<FortifyPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-fortify";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

} // namespace cosy

#endif // COSY_PLUGIN_BODY_FORTIFY_H
