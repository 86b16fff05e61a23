// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Markers.cpp - Calls of markers -------------------------------------===//
#include "support/Markers.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

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

CallInst *firstMarker(BasicBlock &BB) {
  for (Instruction &I : BB)
    if (asMarker(I, StartMarker) || asMarker(I, EndMarker))
      return cast<CallInst>(&I);
  return nullptr;
}

SmallVector<CallInst *, 4> callsOf(Function &F) {
  SmallVector<CallInst *, 4> List;
  for (User *U : F.users())
    if (auto *CI = dyn_cast<CallInst>(U); CI && CI->getCalledOperand() == &F)
      List.push_back(CI);
  return List;
}

SmallVector<CallInst *, 4> callsOf(Module &M, StringRef Name) {
  Function *F = M.getFunction(Name);
  return F ? callsOf(*F) : SmallVector<CallInst *, 4>();
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
