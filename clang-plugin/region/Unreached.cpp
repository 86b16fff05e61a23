// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Unreached.cpp - Functions that only compounds refer to -------------===//
#include "region/Unreached.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cosy {

static constexpr StringLiteral DeclaredAttribute = "cosy-declared";

/// \returns whether optimised code only reads \p V, an address.
static bool isOnlyRead(const Value &V) {
  return all_of(V.users(), [](const User *U) {
    if (isa<GEPOperator>(U))
      return isOnlyRead(*U);
    auto *L = dyn_cast<LoadInst>(U);
    return L && L->isSimple() &&
           !L->getFunction()->hasFnAttribute(Attribute::OptimizeNone);
  });
}

void prepareUnreached(Module &M) {
  for (GlobalVariable &GV : M.globals())
    if (GV.hasLocalLinkage() && GV.hasDefinitiveInitializer() &&
        !GV.isThreadLocal() && !GV.hasSection() && isOnlyRead(GV))
      GV.setConstant(true);
  for (Function &F : M)
    if (F.isDeclaration() && F.hasExternalLinkage() && !F.isIntrinsic())
      F.addFnAttr(DeclaredAttribute);
}

/// \returns the constants that the native code and the data of \p M can reach.
static SmallPtrSet<const Constant *, 32> findReached(const Module &M) {
  SmallPtrSet<const Constant *, 32> Reached;
  SmallVector<const Constant *, 32> Work;
  auto Add = [&](const Value *V) {
    auto *C = dyn_cast<Constant>(V);
    auto *F = dyn_cast<Function>(V);
    if (C && !(F && F->hasFnAttribute(ThunkAttribute)) &&
        Reached.insert(C).second)
      Work.push_back(C);
  };
  for (const GlobalValue &GV : M.global_values())
    if (!GV.isDeclaration() && !GV.hasLocalLinkage())
      Add(&GV);
  while (!Work.empty()) {
    const Constant *C = Work.pop_back_val();
    for (const Use &U : C->operands())
      Add(U);
    if (auto *F = dyn_cast<Function>(C))
      for (const Instruction &I : instructions(*F))
        for (const Use &U : I.operands())
          Add(U);
  }
  return Reached;
}

/// \returns whether optimisations remove calls of \p F only if these are never
/// reached.
static bool isCallKept(const Function &F, const TargetLibraryInfo &TLI) {
  LibFunc Known;
  return !TLI.getLibFunc(F, Known) && !F.onlyReadsMemory() &&
         !F.returnDoesNotAlias();
}

PreservedAnalyses UnreachedPass::run(Module &M, ModuleAnalysisManager &MAM) {
  SmallVector<Function *, 8> Declared;
  bool HasThunks = false;
  for (Function &F : M) {
    HasThunks |= F.hasFnAttribute(ThunkAttribute);
    if (F.hasFnAttribute(DeclaredAttribute) && F.isDeclaration() &&
        F.hasExternalLinkage() && !F.use_empty())
      Declared.push_back(&F);
  }
  if (!HasThunks || Declared.empty())
    return PreservedAnalyses::all();
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallPtrSet<const Constant *, 32> Reached = findReached(M);
  for (Function *F : Declared) {
    bool IsOnlyCalled = all_of(F->uses(), [](const Use &U) {
      auto *CB = dyn_cast<CallBase>(U.getUser());
      return CB && CB->isCallee(&U);
    });
    if (Reached.count(F) || !IsOnlyCalled ||
        !isCallKept(*F, FAM.getResult<TargetLibraryAnalysis>(*F)))
      continue;
    F->setLinkage(GlobalValue::ExternalWeakLinkage);
    if (F->hasDefaultVisibility())
      F->setDSOLocal(false);
  }
  return PreservedAnalyses::none();
}

} // namespace cosy
