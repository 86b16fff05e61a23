// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThinCalls.cpp - Calls that are thin with some arguments only -------===//
#include "body/ThinCalls.h"
#include "body/Fortify.h"
#include "body/LibraryCalls.h"
#include "body/Recognise.h"
#include "support/Names.h"
#include "support/SystemCalls.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "cosy-thin-calls"

using namespace llvm;

STATISTIC(NumCompared, "Calls whose arguments are compared to be thin");

namespace cosy {

/// \returns true if \p CI is a system call with some arguments, and the
/// compiler does not know whether it has these.
static bool mayBeThin(const CallInst &CI) {
  return !CI.isMustTailCall() && !CI.hasOperandBundles() &&
         !CI.hasFnAttr(ThinAttribute) && !systemCallShape(CI).Call &&
         systemCallShape(CI, /*IfThin=*/true).Call;
}

/// \returns true if the compiler knows here that \p CI has arguments with which
/// it is a system call.
static bool isKnownThin(const CallInst &CI) {
  return !CI.hasFnAttr(ThinAttribute) && systemCallShape(CI).Call &&
         findLibcFunction(libraryFunction(CI).Name).IfArg >= 0;
}

bool expandThinCalls(Function &F) {
  SmallVector<CallInst *, 8> Calls;
  bool Changed = false;
  for (Instruction &I : instructions(F)) {
    auto *CI = dyn_cast<CallInst>(&I);
    if (CI && mayBeThin(*CI)) {
      Calls.push_back(CI);
    } else if (CI && isKnownThin(*CI)) {
      // A later pass may make it harder to see: a pointer into an array becomes
      // one that a loop increments.
      CI->addFnAttr(Attribute::get(CI->getContext(), ThinAttribute, "yes"));
      Changed = true;
    }
  }
  for (CallInst *CI : Calls) {
    LLVMContext &Ctx = CI->getContext();
    IRBuilder<> B(CI);
    Value *IsOther =
        createIsNotThin(B, findLibcFunction(libraryFunction(*CI).Name), *CI);
    if (isa<Constant>(IsOther))
      continue; // certainly not thin
    // Calls that differ in an attribute are not merged again.
    CI->addFnAttr(Attribute::get(Ctx, ThinAttribute, "no"));
    guard(*CI, IsOther, [&](Instruction *At) {
      auto *Thin = cast<CallInst>(CI->clone());
      Thin->insertBefore(*At->getParent(), At->getIterator());
      Thin->addFnAttr(Attribute::get(Ctx, ThinAttribute, "yes"));
      return Thin;
    });
    ++NumCompared;
    Changed = true;
  }
  return Changed;
}

PreservedAnalyses ThinCallsPass::runOnBody(Function &Body,
                                           FunctionAnalysisManager &) {
  return expandThinCalls(Body) ? PreservedAnalyses::none()
                               : PreservedAnalyses::all();
}

} // namespace cosy
