// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Select.h - From LLVM IR to operations ------------------------------===//
#ifndef COSY_PLUGIN_SELECT_H
#define COSY_PLUGIN_SELECT_H

#include "body/UpCalls.h"
#include "codegen/Code.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace cosy {

/// The function a compound's body calls where the region is left:
/// void cosy.exit(i32 exit, outputs...).
constexpr llvm::StringLiteral ExitMarker = "cosy.exit";

/// \returns true if a register can contain values of type \p Ty.
bool isRegisterType(const llvm::Type *Ty, const llvm::DataLayout &DL);

/// Can \p I be done by operations? Everything else is an up-call.
bool isOperation(const llvm::Instruction &I, const llvm::DataLayout &DL);

struct SystemCall;

/// A system call and where its arguments come from.
struct CallShape {
  const SystemCall *Call = nullptr;
  llvm::SmallVector<Operand, 6> Consts; ///< constants, where Args is null
  llvm::SmallVector<llvm::Value *, 6> Args;
};

/// \returns the system call that \p CB makes; Call is null if it makes none.
CallShape systemCallShape(const llvm::CallBase &CB);

/// \returns true if \p I is a system call that the compound makes itself.
bool isSystemCall(const llvm::Instruction &I);

/// \returns true if \p I is the test whether the region has to end.
bool isStopTest(const llvm::Instruction &I);

/// \returns true if \p I ends the compound.
bool isExit(const llvm::Instruction &I);

/// Is \p I computed by the host before it runs the compound: the address of a
/// local or thread-local variable or of errno?
bool isHostComputed(const llvm::Instruction &I);

/// What selection made.
struct Selection {
  Code C;
  /// The values of the inputs: arguments of the body, constants that are
  /// addresses, instructions for which isHostComputed() holds.
  std::vector<llvm::Value *> Inputs;
  unsigned NumSystemCalls = 0;
};

/// Selects the operations of \p Body, whose critical edges are split and
/// whose unsupported instructions are all in \p UpCalls.
Selection select(llvm::Function &Body, llvm::LoopInfo &LI,
                 const UpCallList &UpCalls, unsigned NumOutputs);

} // namespace cosy

#endif // COSY_PLUGIN_SELECT_H
