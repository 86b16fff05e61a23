// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Select.h - Select the operations of a body -------------------------===//
#ifndef COSY_PLUGIN_CODEGEN_SELECT_H
#define COSY_PLUGIN_CODEGEN_SELECT_H

#include "body/UpCalls.h"
#include "codegen/Code.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace cosy {

/// The result of instruction selection.
struct Selection {
  Code C;
  /// The values of the inputs: arguments of the body, addresses that are
  /// constants in the IR, and instructions for which isHostComputed() is true.
  std::vector<llvm::Value *> Inputs;
  unsigned NumSystemCalls = 0;
};

/// Selects the operations of \p Body. Its critical edges must be split. \p
/// UpCalls must contain all instructions without an operation.
Selection select(llvm::Function &Body, llvm::LoopInfo &LI,
                 const UpCallList &UpCalls, unsigned NumOutputs);

} // namespace cosy

#endif // COSY_PLUGIN_CODEGEN_SELECT_H
