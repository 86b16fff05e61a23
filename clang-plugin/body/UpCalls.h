// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UpCalls.h - Code that runs natively in a compound ------------------===//
//
// Instructions without an operation are grouped. Each group is an up-call: the
// compound leaves, a thunk runs the group natively on the frame, the compound
// resumes.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_UPCALLS_H
#define COSY_PLUGIN_BODY_UPCALLS_H

#include "body/State.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace cosy {

/// Neighbouring instructions of one block that run natively.
struct UpCall {
  llvm::SmallVector<llvm::Instruction *, 4> Insts;
  /// The values defined outside that they read, except constants.
  llvm::SmallVector<llvm::Value *, 4> Uses;
  /// The values of these instructions that are read outside.
  llvm::SmallVector<llvm::Instruction *, 2> Defs;
  /// The instruction that causes the up-call. It may be in an outlined piece.
  llvm::Instruction *Culprit = nullptr;
};

struct UpCallList {
  std::vector<UpCall> Calls;
  /// The number of the up-call of each instruction.
  llvm::DenseMap<const llvm::Instruction *, unsigned> Of;
};

/// Metadata of an instruction: the number of its up-call.
constexpr llvm::StringLiteral UpCallName = "cosy.upcall";

/// \returns the number of the up-call that \p I belongs to, if there is one.
std::optional<unsigned> upCallOf(const llvm::Instruction &I);

/// \returns the up-calls of \p Body, which is grouped.
UpCallList readUpCalls(llvm::Function &Body);

/// Groups instructions without an operation. Values too wide for a register
/// that cross the border of a group are then passed through memory.
class GroupUpCallsPass
    : public BodyPass<GroupUpCallsPass, BodyState::Recognised,
                      BodyState::Grouped> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-group-upcalls";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Returns the reason of the up-call for messages, such as "call of printf" or
/// "floating point".
std::string describe(const llvm::Instruction &Culprit);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_UPCALLS_H
