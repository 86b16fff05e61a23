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

/// \returns true if \p U, a use of an address, only accesses memory, or derives
/// another address, which is only used so.
static bool isAccess(const Use &U) {
  auto *I = cast<Instruction>(U.getUser());
  if (auto *SI = dyn_cast<StoreInst>(I))
    return U.getOperandNo() == SI->getPointerOperandIndex();
  if (auto *MI = dyn_cast<MemIntrinsic>(I))
    return !MI->isVolatile();
  return isa<LoadInst>(I) ||
         (isa<GetElementPtrInst>(I) && all_of(I->uses(), isAccess));
}

/// \returns the variable of which \p U uses the address, or one that is derived
/// from it outside \p R, and sets \p First to the use of the variable itself.
/// Null if there is no such variable.
static const AllocaInst *variableOf(const Use &U, const Region *R,
                                    const Use *&First) {
  First = &U;
  while (auto *GEP = dyn_cast<GetElementPtrInst>(First->get())) {
    if (R && R->Blocks.count(const_cast<BasicBlock *>(GEP->getParent())))
      return nullptr;
    First = &GEP->getOperandUse(GEP->getPointerOperandIndex());
  }
  return dyn_cast<AllocaInst>(First->get());
}

bool HostVariables::onlyAccesses(const AllocaInst &Variable, const Region &R) {
  auto [It, IsNew] = Others.try_emplace(&Variable);
  if (IsNew)
    for (const Use &U : Variable.uses())
      if (!isAccess(U))
        It->second.push_back(U.getUser());
  return all_of(It->second, [&](const WeakVH &I) {
    return !I || R.Blocks.count(cast<Instruction>(I)->getParent());
  });
}

void HostVariables::addPath(const Region &R, const BasicBlock &Run) {
  // These change which instructions use an address.
  if (!R.LiveIn.empty() ||
      any_of(R.Outputs,
             [](const Instruction *I) { return isa<GetElementPtrInst>(I); }) ||
      any_of(R.Exits, [](const Region::Exit &E) {
        return any_of(E.From->phis(), [](const PHINode &P) {
          return P.getType()->isPtrOrPtrVectorTy();
        });
      })) {
    clear();
    return;
  }
  for (const Instruction &I : Run)
    for (const Use &U : I.operands()) {
      const Use *First;
      auto It = Others.find(variableOf(U, nullptr, First));
      if (It != Others.end() && !isAccess(U))
        It->second.push_back(First->getUser());
    }
}

/// \returns the variables from which the host derives an address that \p R
/// uses.
static SmallPtrSet<const AllocaInst *, 8> derivedOutside(const Region &R) {
  SmallPtrSet<const AllocaInst *, 8> Variables;
  for (const BasicBlock *BB : R.Blocks)
    for (const Instruction &I : *BB)
      for (const Use &U : I.operands()) {
        const Use *First;
        const AllocaInst *Variable = variableOf(U, &R, First);
        if (Variable && First != &U)
          Variables.insert(Variable);
      }
  return Variables;
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

SmallVector<PrivateLocal, 4> privatizeLocals(Region &R, HostVariables &Known) {
  const DataLayout &DL = R.Host->getDataLayout();
  SmallVector<PrivateLocal, 4> List;
  SmallVector<Type *, 4> Types;
  SmallVector<Value *, 4> Changed;
  DominatorTree DT(*R.Body);
  SmallPtrSet<const AllocaInst *, 8> Derived = derivedOutside(R);
  for (auto [N, V] : enumerate(R.Inputs)) {
    auto *Variable = dyn_cast<AllocaInst>(V);
    if (!Variable || !Variable->isStaticAlloca())
      continue;
    uint64_t Size = Variable->getAllocationSize(DL)->getFixedValue();
    Argument *A = R.Body->getArg(N);
    if (Size == 0 || Size > MaxCopiedLocal || A->use_empty() ||
        mayBeCaptured(A) || Derived.count(Variable) ||
        !Known.onlyAccesses(*Variable, R))
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
