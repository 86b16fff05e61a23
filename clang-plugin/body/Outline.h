// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Outline.h - Code that is better left to the machine ----------------===//
//
// Operations take several instructions where the machine takes one. Where a
// piece of a region makes no system call and would take longer as operations
// than leaving the kernel and coming back, it becomes a function of its own:
// one up-call. So does what would leave the kernel several times.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_OUTLINE_H
#define COSY_PLUGIN_OUTLINE_H

#include "body/State.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Moves the pieces that are better native into functions, which the body then
/// calls. It adds functions to the module, which function passes usually do
/// not; no other function is changed at the same time.
class OutlinePass : public BodyPass<OutlinePass, BodyState::Recognised> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-outline";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// \returns these functions, to be erased after \p Body.
llvm::SmallVector<llvm::Function *, 0>
outlinedPieces(const llvm::Function &Body);

/// \returns the function that \p I calls if that is such a piece, else null.
const llvm::Function *outlinedPieceOf(const llvm::Instruction &I);

/// \returns why \p I is no operation: a call in the piece it calls, or else \p
/// I.
const llvm::Instruction &culpritOf(const llvm::Instruction &I);

} // namespace cosy

#endif // COSY_PLUGIN_OUTLINE_H
