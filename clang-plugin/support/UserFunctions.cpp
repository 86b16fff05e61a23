// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UserFunctions.cpp - Functions that compounds call as programs ------===//
#include "support/UserFunctions.h"
#include "support/Names.h"

#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace cosy {

bool isUserFunctionCall(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  const Function *F = CB ? CB->getCalledFunction() : nullptr;
  return F && hasProgram(*F) && F->getFunctionType() == CB->getFunctionType();
}

bool hasProgram(const Function &F) {
  return F.hasFnAttribute(ProgramAttribute);
}

void makeNative(Function &F) {
  F.removeFnAttr(ProgramAttribute);
  F.addFnAttr(NotInlinedAttribute);
}

} // namespace cosy
