// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Markers.cpp - Calls of markers -------------------------------------===//
#include "support/Markers.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace cosy {

CallInst *asMarker(Instruction &I, StringRef Name) {
  auto *CI = dyn_cast<CallInst>(&I);
  Function *F = CI ? CI->getCalledFunction() : nullptr;
  if (!F || !F->isDeclaration())
    return nullptr;
  StringRef Is = F->getName();
  bool Same = Is == Name || (Name == StartMarker && (Is == StartWithMarker ||
                                                     Is == StartNativeMarker));
  return Same ? CI : nullptr;
}

SmallVector<CallInst *, 4> markersOf(Function &F, StringRef Name) {
  SmallVector<CallInst *, 4> List;
  for (BasicBlock &BB : F)
    for (Instruction &I : BB)
      if (CallInst *C = asMarker(I, Name))
        List.push_back(C);
  return List;
}

CallInst *splitGateOf(CallInst &Start) {
  const MDNode *Node = Start.getMetadata(SplitGateKind);
  if (Node)
    for (CallInst *Gate : markersOf(*Start.getFunction(), SplitGate))
      if (Gate->getMetadata(SplitGateKind) == Node)
        return Gate;
  return nullptr;
}

void closeSplitGates(Function &F) {
  for (CallInst *Gate : markersOf(F, SplitGate)) {
    Gate->replaceAllUsesWith(ConstantInt::getFalse(F.getContext()));
    Gate->eraseFromParent();
  }
}

} // namespace cosy
