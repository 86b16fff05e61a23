// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Legalize.h - Rewrite code without operations -----------------------===//
#ifndef COSY_PLUGIN_BODY_LEGALIZE_H
#define COSY_PLUGIN_BODY_LEGALIZE_H

#include "body/State.h"

#include "llvm/IR/Function.h"

namespace cosy {

/// Rewrites intrinsics, addresses and odd-sized accesses into
/// instructions that are operations, and moves what the host computes
/// (addresses of thread-local variables and of errno) to the entry block.
class LegalizePass
    : public BodyPass<LegalizePass, BodyState::Body, BodyState::Legal> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-legalize";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Moves the computation of thread-dependent addresses to the entry of \p Body.
void hoistAddresses(llvm::Function &Body);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_LEGALIZE_H
