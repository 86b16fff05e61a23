// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Unreached.cpp - Functions that only compounds refer to -------------===//
#include "host/Unreached.h"
#include "support/Analyses.h"
#include "support/Names.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
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

/// \returns whether optimisations remove calls of \p F only if these are never
/// reached.
static bool isCallKept(const Function &F, const TargetLibraryInfo &TLI) {
  LibFunc Known;
  return !TLI.getLibFunc(F, Known) && !F.onlyReadsMemory() &&
         !F.returnDoesNotAlias();
}

/// \returns whether the program can do without \p F, if its calls are never
/// reached.
static bool canBeWeak(Function &F, FunctionAnalysisManager &FAM) {
  return F.hasFnAttribute(DeclaredAttribute) && F.isDeclaration() &&
         F.hasExternalLinkage() && !F.use_empty() &&
         all_of(F.uses(),
                [](const Use &U) {
                  auto *CB = dyn_cast<CallBase>(U.getUser());
                  return CB && CB->isCallee(&U);
                }) &&
         isCallKept(F, FAM.getResult<TargetLibraryAnalysis>(F));
}

static void makeWeak(Function &F) {
  F.setLinkage(GlobalValue::ExternalWeakLinkage);
  if (F.hasDefaultVisibility())
    F.setDSOLocal(false);
}

//===----------------------------------------------------------------------===//
// Coroutines
//===----------------------------------------------------------------------===//

/// Copies \p M. A context of its own keeps the remarks of optimizations away
/// from the user.
static std::unique_ptr<Module> copyTo(LLVMContext &Ctx, const Module &M) {
  SmallVector<char, 0> Bitcode;
  raw_svector_ostream OS(Bitcode);
  WriteBitcodeToFile(M, OS);
  std::unique_ptr<Module> Copy =
      cantFail(parseBitcodeFile({OS.str(), M.getName()}, Ctx));
  StripDebugInfo(*Copy);
  return Copy;
}

/// Makes the answers of __builtin_constant_p() in \p M unknown: they may differ
/// in a coroutine.
static void hideConstantTests(Module &M) {
  Type *I1 = Type::getInt1Ty(M.getContext());
  for (Function &F : M) {
    if (F.getIntrinsicID() != Intrinsic::is_constant)
      continue;
    auto *Unknown = new GlobalVariable(
        M, I1, /*isConstant=*/false, GlobalValue::ExternalLinkage, nullptr, "");
    for (User *U : make_early_inc_range(F.users())) {
      auto *Test = cast<CallInst>(U);
      Test->replaceAllUsesWith(
          IRBuilder<>(Test).CreateLoad(I1, Unknown, /*isVolatile=*/true));
      Test->eraseFromParent();
    }
  }
}

static void optimize(Module &M, OptimizationLevel Level) {
  PipelineTuningOptions Tuning;
  Tuning.LoopVectorization = false;
  Tuning.SLPVectorization = false;
  PassBuilder PB(nullptr, Tuning);
  Analyses A;
  A.registerWith(PB);

  PB.buildPerModuleDefaultPipeline(Level).run(M, A.Modules);
}

void weakenUnreached(Module &M, FunctionAnalysisManager &FAM,
                     OptimizationLevel Level,
                     function_ref<void(Module &)> Prepare) {
  SmallVector<Function *, 8> Candidates;
  for (Function &F : M)
    if (canBeWeak(F, FAM))
      Candidates.push_back(&F);
  if (Candidates.empty() || Level == OptimizationLevel::O0)
    return;
  LLVMContext Ctx;
  std::unique_ptr<Module> Copy = copyTo(Ctx, M);
  Prepare(*Copy);
  hideConstantTests(*Copy);
  optimize(*Copy, Level);
  for (Function *F : Candidates) {
    const Function *Left = Copy->getFunction(F->getName());
    if (Left && !Left->use_empty())
      continue;
    makeWeak(*F);
    F->removeFnAttr("dontcall-error");
    F->removeFnAttr("dontcall-warn");
  }
}

//===----------------------------------------------------------------------===//
// Up-calls
//===----------------------------------------------------------------------===//

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

PreservedAnalyses UnreachedPass::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *, 8> Candidates;
  bool HasThunks = false;
  for (Function &F : M) {
    HasThunks |= F.hasFnAttribute(ThunkAttribute);
    if (canBeWeak(F, FAM))
      Candidates.push_back(&F);
  }
  if (!HasThunks || Candidates.empty())
    return PreservedAnalyses::all();
  SmallPtrSet<const Constant *, 32> Reached = findReached(M);
  for (Function *F : Candidates)
    if (!Reached.count(F))
      makeWeak(*F);
  return PreservedAnalyses::none();
}

} // namespace cosy
