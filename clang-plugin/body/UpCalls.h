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

/// Groups what \p Body cannot do by operations. Values too wide for a
/// register that would cross the border of a group go through memory after
/// this.
UpCallList findUpCalls(llvm::Function &Body);

/// Creates the native function of \p Call. Its operands are in the slots
/// \p Uses of the frame, its results belong in \p Defs. If \p OwnErrno, errno
/// is the thread's in it, and another one in the compound.
llvm::Function *createThunk(const UpCall &Call, llvm::ArrayRef<Reg> Uses,
                            llvm::ArrayRef<Reg> Defs, const llvm::Twine &Name,
                            const llvm::Function &Host, bool OwnErrno);

/// What the up-call is for, for people: "call of printf", "floating point".
std::string describe(const llvm::Instruction &Culprit);

} // namespace cosy

#endif // COSY_PLUGIN_UPCALLS_H
