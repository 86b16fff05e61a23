// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recompute.h - Compute a value where it is used ---------------------===//
//
// Some values must not be live across other code. If they are cheap, each block
// that uses them computes them again.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_SUPPORT_RECOMPUTE_H
#define COSY_PLUGIN_SUPPORT_RECOMPUTE_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"

namespace cosy {

/// Lets each use of \p I in another block use a copy of its own, which is just
/// before it. Phis keep the original. The operands of \p I dominate its uses.
inline void recomputeWhereUsed(llvm::Instruction &I) {
  for (llvm::Use &U : llvm::make_early_inc_range(I.uses())) {
    auto *User = llvm::cast<llvm::Instruction>(U.getUser());
    if (User->getParent() == I.getParent() || llvm::isa<llvm::PHINode>(User))
      continue;
    llvm::Instruction *Copy = I.clone();
    Copy->insertBefore(User->getIterator());
    U.set(Copy);
  }
}

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_RECOMPUTE_H
