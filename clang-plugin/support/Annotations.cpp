// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Annotations.cpp - Annotations, from the source to the IR -----------===//
#include "support/Annotations.h"

#include "llvm/IR/Constants.h"

using namespace llvm;

namespace cosy {

StringRef annotationText(const Value *V) {
  auto *Text = dyn_cast<GlobalVariable>(V->stripPointerCasts());
  if (!Text || !Text->hasInitializer())
    return "";
  auto *S = dyn_cast<ConstantDataSequential>(Text->getInitializer());
  return S && S->isCString() ? S->getAsCString() : "";
}

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
    if (F)
      Fn(*F, annotationText(Note->getOperand(1)));
  }
}

} // namespace cosy
