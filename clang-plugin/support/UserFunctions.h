// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UserFunctions.h - Functions that compounds call as programs --------===//
#ifndef COSY_PLUGIN_SUPPORT_USERFUNCTIONS_H
#define COSY_PLUGIN_SUPPORT_USERFUNCTIONS_H

#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"

namespace cosy {

/// Returns true if \p I calls a function that has a program. Such a call is the
/// operation CALL.
bool isUserFunctionCall(const llvm::Instruction &I);

/// \returns true if \p F has been compiled to a program.
bool hasProgram(const llvm::Function &F);

/// Removes the program of \p F, so that regions call the native function.
void makeNative(llvm::Function &F);

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_USERFUNCTIONS_H
