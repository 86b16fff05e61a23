// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Locals.cpp - Local variables whose address stays private -----------===//
#include "region/Locals.h"
#include "support/LlvmCompat.h"
#include "support/Names.h"
#include "support/Thresholds.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cosy {

/// Returns true if the host uses \p P outside the region only to access memory,
/// and the region uses only \p P itself, no pointer that the host derives from
/// it.
static bool isPrivateOutside(const Value &P, const Region &R, bool IsVariable) {
  for (const User *U : P.users()) {
    auto *I = cast<Instruction>(U);
    if (R.Blocks.count(const_cast<BasicBlock *>(I->getParent()))) {
      if (!IsVariable)
        return false;
      continue;
    }
    if (isa<LoadInst>(I))
      continue;
    if (auto *SI = dyn_cast<StoreInst>(I)) {
      if (SI->getValueOperand() == &P)
        return false;
      continue;
    }
    if (auto *MI = dyn_cast<MemIntrinsic>(I)) {
      if (MI->isVolatile())
        return false;
      continue;
    }
    if (!isa<GetElementPtrInst>(I) || !isPrivateOutside(*I, R, false))
      return false;
  }
  return true;
}

/// \returns true if the code of the body may write to \p P.
static bool mayWrite(const Value &P) {
  return any_of(P.users(), [](const User *U) {
    if (isa<LoadInst>(U) || isa<ICmpInst>(U))
      return false;
    return !isa<GetElementPtrInst>(U) || mayWrite(*U);
  });
}

/// \returns true if the host uses \p Variable only in blocks that it reaches
/// through the region's beginning.
static bool isOfRegion(const AllocaInst &Variable, const Region &R) {
  return all_of(Variable.users(), [&](const User *U) {
    auto *BB = const_cast<BasicBlock *>(cast<Instruction>(U)->getParent());
    return R.Blocks.count(BB) && !R.Reentered.count(BB);
  });
}

/// \returns true if the body writes all \p Size bytes of the variable \p A
/// before it uses it otherwise.
static bool isWrittenFirst(const Argument &A, uint64_t Size,
                           const DominatorTree &DT) {
  const DataLayout &DL = A.getParent()->getDataLayout();
  const StoreInst *First = nullptr;
  for (const User *U : A.users())
    if (auto *SI = dyn_cast<StoreInst>(U);
        SI && DL.getTypeStoreSize(SI->getValueOperand()->getType()) == Size &&
        (!First || DT.dominates(SI, First)))
      First = SI;
  return First && all_of(A.users(), [&](const User *U) {
           return U == First || DT.dominates(First, cast<Instruction>(U));
         });
}

/// Adds the values of \p Variables, of the types \p Types, as outputs to all
/// exits of \p Body.
static void addOutputs(Function &Body, ArrayRef<Type *> Types,
                       ArrayRef<Value *> Variables) {
  SmallVector<CallInst *, 4> Exits;
  for (Instruction &I : instructions(Body))
    if (auto *CI = dyn_cast<CallInst>(&I);
        CI && CI->getCalledFunction() &&
        CI->getCalledFunction()->getName() == ExitMarker)
      Exits.push_back(CI);
  for (CallInst *CI : Exits) {
    IRBuilder<> B(CI);
    SmallVector<Value *, 8> Args(CI->args());
    for (auto [Ty, P] : zip(Types, Variables))
      Args.push_back(B.CreateLoad(Ty, P));
    CallInst *New =
        B.CreateCall(CI->getFunctionType(), CI->getCalledOperand(), Args);
    New->setAttributes(CI->getAttributes());
    New->setDebugLoc(CI->getDebugLoc());
    CI->eraseFromParent();
  }
}

SmallVector<PrivateLocal, 4> privatizeLocals(Region &R) {
  const DataLayout &DL = R.Host->getDataLayout();
  SmallVector<PrivateLocal, 4> List;
  SmallVector<Type *, 4> Types;
  SmallVector<Value *, 4> Changed;
  DominatorTree DT(*R.Body);
  for (auto [N, V] : enumerate(R.Inputs)) {
    auto *Variable = dyn_cast<AllocaInst>(V);
    if (!Variable || !Variable->isStaticAlloca())
      continue;
    uint64_t Size = Variable->getAllocationSize(DL)->getFixedValue();
    Argument *A = R.Body->getArg(N);
    if (Size == 0 || Size > MaxCopiedLocal || A->use_empty() ||
        mayBeCaptured(A) || !isPrivateOutside(*Variable, R, true))
      continue;
    PrivateLocal L = {Variable,     (unsigned)N,
                      Size,         isPowerOf2_64(Size) && Size <= 8,
                      mayWrite(*A), ~0u};
    if (L.ByValue) {
      // Its value does not matter before and after the region.
      if (isOfRegion(*Variable, R) && isWrittenFirst(*A, Size, DT))
        L.Changes = false;
      IRBuilder<> B(&*R.Body->getEntryBlock().getFirstInsertionPt());
      Type *Ty = B.getIntNTy(Size * 8);
      AllocaInst *Copy = B.CreateAlloca(Variable->getAllocatedType());
      Copy->setAlignment(Variable->getAlign());
      A->replaceAllUsesWith(Copy);
      B.CreateStore(B.CreatePtrToInt(A, Ty), Copy);
      if (L.Changes) {
        L.Output = R.Outputs.size() + Changed.size();
        Types.push_back(Ty);
        Changed.push_back(Copy);
      }
    }
    List.push_back(L);
  }
  addOutputs(*R.Body, Types, Changed);
  return List;
}

} // namespace cosy
