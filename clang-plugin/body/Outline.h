// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Outline.h - Code that is cheaper native ----------------------------===//
//
// An operation takes several instructions where native code takes one. A piece
// of a region without system calls becomes a function, and so one up-call, if
// it would take longer as operations than leaving and entering the kernel. The
// same applies to a piece that would make several up-calls.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_OUTLINE_H
#define COSY_PLUGIN_BODY_OUTLINE_H

#include "body/State.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Moves the pieces that are cheaper native to functions, which the body then
/// calls. It adds functions to the module, although function passes usually
/// must not. No other pass runs on another function at the same time.
class OutlinePass : public BodyPass<OutlinePass, BodyState::Recognised> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-outline";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// \returns the outlined functions, which must be erased after \p Body.
llvm::SmallVector<llvm::Function *, 0>
outlinedPieces(const llvm::Function &Body);

/// \returns the outlined function that \p I calls, or null.
const llvm::Function *outlinedPieceOf(const llvm::Instruction &I);

/// \returns the instruction because of which \p I is not an operation: a call
/// in the outlined piece that \p I calls, otherwise \p I.
const llvm::Instruction &culpritOf(const llvm::Instruction &I);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_OUTLINE_H
