// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Select.h - From LLVM IR to operations ------------------------------===//
#ifndef COSY_PLUGIN_SELECT_H
#define COSY_PLUGIN_SELECT_H

#include "body/UpCalls.h"
#include "codegen/Code.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace cosy {

/// The result of instruction selection.
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
