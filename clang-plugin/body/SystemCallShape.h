// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SystemCallShape.h - System calls that libc's functions make --------===//
#ifndef COSY_PLUGIN_SYSTEMCALLSHAPE_H
#define COSY_PLUGIN_SYSTEMCALLSHAPE_H

#include "codegen/Code.h"

#include "llvm/IR/InstrTypes.h"

namespace cosy {

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

} // namespace cosy

#endif // COSY_PLUGIN_SYSTEMCALLSHAPE_H
