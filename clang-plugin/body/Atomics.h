// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Atomics.h - Atomic operations as compare and exchange --------------===//
//
// The only atomic operation of a compound is a compare and exchange, CMPXCHG.
// In a body it is a call of cosy.cmpxchg.iN(address, old, new), which returns
// what was there. These functions are defined, so up-calls can contain such
// calls, too.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_ATOMICS_H
#define COSY_PLUGIN_BODY_ATOMICS_H

#include "body/State.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace cosy {

/// An attribute of cosy.cmpxchg.iN.
constexpr llvm::StringLiteral CompareExchangeAttribute =
    "cosy-compare-exchange";

/// \returns true if \p I is a call of cosy.cmpxchg.iN.
bool isCompareExchange(const llvm::Instruction &I);

/// Creates a call of cosy.cmpxchg.iN for integers of the type of \p Old, which
/// are in 1, 2, 4 or 8 bytes.
llvm::CallInst *createCompareExchange(llvm::IRBuilder<> &B,
                                      llvm::Value *Address, llvm::Value *Old,
                                      llvm::Value *New);

/// Replaces aligned atomic operations on integers and pointers by calls of
/// cosy.cmpxchg.iN, in a loop where the new value depends on the old one. A
/// store with sequential consistency is an exchange, and so is a fence.
class AtomicsPass : public BodyPass<AtomicsPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-atomics";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

} // namespace cosy

#endif // COSY_PLUGIN_BODY_ATOMICS_H
