// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Annotations.cpp - What the source tells the IR about functions -----===//
#include "Annotations.h"

#include "llvm/IR/Constants.h"

using namespace llvm;

namespace cosy {

void forEachAnnotation(Module &M,
                       function_ref<void(Function &, StringRef)> Fn) {
  auto *Notes = M.getNamedGlobal("llvm.global.annotations");
  if (!Notes || !Notes->hasInitializer())
    return;
  auto *All = dyn_cast<ConstantArray>(Notes->getInitializer());
  if (!All)
    return;
  for (Value *Op : All->operands()) {
    auto *Note = dyn_cast<ConstantStruct>(Op);
    if (!Note || Note->getNumOperands() < 2)
      continue;
    auto *F = dyn_cast<Function>(Note->getOperand(0)->stripPointerCasts());
    auto *Text =
        dyn_cast<GlobalVariable>(Note->getOperand(1)->stripPointerCasts());
    if (!F || !Text || !Text->hasInitializer())
      continue;
    auto *S = dyn_cast<ConstantDataSequential>(Text->getInitializer());
    if (S && S->isCString())
      Fn(*F, S->getAsCString());
  }
}

} // namespace cosy
