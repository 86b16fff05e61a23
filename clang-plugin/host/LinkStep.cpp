// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinkStep.cpp - What a host keeps for the link step -----------------===//
#include "host/LinkStep.h"
#include "support/Names.h"

#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace cosy {

bool isDeferredBody(const Function &F) {
  return F.hasFnAttribute(DeferredAttribute);
}

/// An attribute of the descriptor of a deferred region.
static constexpr StringLiteral DescriptorAttribute = "cosy-descriptor";

void keepForLinkStep(Function &Body, GlobalVariable &Descriptor) {
  Descriptor.addAttribute(DescriptorAttribute);
  appendToCompilerUsed(*Body.getParent(), {&Body, &Descriptor});
}

bool isKeptForLinkStep(const Constant &C) {
  const Value *V = C.stripPointerCasts();
  if (auto *F = dyn_cast<Function>(V))
    return isDeferredBody(*F);
  auto *GV = dyn_cast<GlobalVariable>(V);
  return GV && GV->hasAttribute(DescriptorAttribute);
}

} // namespace cosy
