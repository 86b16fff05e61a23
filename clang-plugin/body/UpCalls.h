// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UpCalls.h - What a compound leaves to native code ------------------===//
//
// Instructions the executor has no operation for are grouped; each group is an
// up-call: the compound leaves, a thunk runs the group natively on the frame,
// the compound resumes.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_UPCALLS_H
#define COSY_PLUGIN_UPCALLS_H

#include "body/State.h"
#include "codegen/Code.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace cosy {

/// Neighbouring instructions of one block that run natively.
struct UpCall {
  llvm::SmallVector<llvm::Instruction *, 4> Insts;
  /// Values defined outside that they read; not constants.
  llvm::SmallVector<llvm::Value *, 4> Uses;
  /// Those of them that are read outside.
  llvm::SmallVector<llvm::Instruction *, 2> Defs;
  /// The instruction because of which it exists; perhaps in an outlined piece.
  llvm::Instruction *Culprit = nullptr;
};

struct UpCallList {
  std::vector<UpCall> Calls;
  /// The up-call an instruction belongs to.
  llvm::DenseMap<const llvm::Instruction *, unsigned> Of;
};

/// \returns the number of the up-call that \p I belongs to, if there is one.
std::optional<unsigned> upCallOf(const llvm::Instruction &I);

/// \returns the up-calls of \p Body, which is grouped.
UpCallList readUpCalls(llvm::Function &Body);

/// Groups what no operation can do. Values too wide for a register that would
/// cross the border of a group go through memory after this.
class GroupUpCallsPass
    : public BodyPass<GroupUpCallsPass, BodyState::Recognised,
                      BodyState::Grouped> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-group-upcalls";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Creates the native function of \p Call. Its operands are in the slots
/// \p Uses of the frame, its results belong in \p Defs. If \p OwnErrno, errno
/// is the thread's in it, and another one in the compound.
llvm::Function *createThunk(const UpCall &Call, llvm::ArrayRef<Reg> Uses,
                            llvm::ArrayRef<Reg> Defs, const llvm::Twine &Name,
                            const llvm::Function &Host, bool OwnErrno);

/// Returns the reason of the up-call for messages, such as "call of printf" or
/// "floating point".
std::string describe(const llvm::Instruction &Culprit);

} // namespace cosy

#endif // COSY_PLUGIN_UPCALLS_H
