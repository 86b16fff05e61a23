// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Optimize.cpp - Optimise a program for BPF --------------------------===//
#include "bpf/Addresses.h"
#include "bpf/Function.h"
#include "bpf/Paths.h"
#include "bpf/ScopedOption.h"
#include "support/Analyses.h"
#include "support/LlvmCompat.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/ConstraintElimination.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"
#include "llvm/Transforms/Scalar/LowerConstantIntrinsics.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopPeel.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

extern "C" {
#include <cosy/function.h>
}

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cosy {

namespace {

/// The maximum number of instructions of an unrolled loop.
constexpr unsigned MaxCode = 400;

/// Returns the unroll count of an innermost loop that may have \p Branches
/// branches. A nested loop with an early exit is unrolled, because it seldom
/// executes many iterations.
static unsigned countFor(const Loop &L, ScalarEvolution &SE, unsigned Own,
                         unsigned Branches) {
  unsigned Size = sizeOf(L), Count = 1;
  unsigned MaxCount = SE.getSmallConstantMaxTripCount(&L);
  // The maximum count can be any number up to 2^32 - 1.
  if (MaxCount && MaxCount <= MaxCode / Size && MaxCount * Own <= Branches)
    return MaxCount;
  bool Short = L.getParentLoop() && !L.getExitingBlock();
  while (Count < 32 && 2 * Count * Size <= (Short ? MaxCode / 4 : MaxCode) &&
         2 * Count * Own <= Branches)
    Count *= 2;
  return Count;
}

/// Peels the first iteration of an inner loop, which often ends a search. It
/// becomes part of the outer loop, whose usual path then avoids the inner loop.
class PeelSearch : public PassInfoMixin<PeelSearch> {
public:
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    Loop *L = findSearch(F, FAM);
    if (!L)
      return PreservedAnalyses::all();
    peelFirst(*L->getSubLoops().front(), FAM.getResult<LoopAnalysis>(F),
              FAM.getResult<ScalarEvolutionAnalysis>(F),
              FAM.getResult<DominatorTreeAnalysis>(F),
              FAM.getResult<AssumptionAnalysis>(F));
    FAM.invalidate(F, PreservedAnalyses::none());
    // Conditions that the first iteration has tested, and invariant ones, are
    // not tested again.
    FunctionPassManager Simplify;
    LoopPassManager Hoist;
    Hoist.addPass(LICMPass(LICMOptions()));
    Hoist.addPass(SimpleLoopUnswitchPass(true));
    Simplify.addPass(SimplifyCFGPass());
    Simplify.addPass(JumpThreadingPass());
    Simplify.addPass(SimplifyCFGPass());
    Simplify.addPass(createFunctionToLoopPassAdaptor(std::move(Hoist), true));
    Simplify.addPass(CorrelatedValuePropagationPass());
    Simplify.addPass(GVNPass());
    Simplify.addPass(SimplifyCFGPass());
    Simplify.addPass(
        createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
    Simplify.addPass(CorrelatedValuePropagationPass());
    Simplify.addPass(InstCombinePass());
    Simplify.addPass(SimplifyCFGPass());
    Simplify.addPass(LoopSimplifyPass());
    Simplify.addPass(LCSSAPass());
    Simplify.run(F, FAM);
    FAM.invalidate(F, PreservedAnalyses::none());
    JumpThreadingPass().run(F, FAM);
    return PreservedAnalyses::none();
  }

private:
  /// The verifier cannot follow larger code or more branches.
  static constexpr unsigned MaxSearch = 60, MaxSearchBranches = 4;

  /// \returns the outer loop if the function is a small search.
  static Loop *findSearch(Function &F, FunctionAnalysisManager &FAM) {
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    auto Loops = LI.getLoopsInPreorder();
    if (Loops.size() != 2 || Loops[0] != Loops[1]->getParentLoop())
      return nullptr;
    Loop *L = Loops[0], *Inner = Loops[1];
    bool Fits = !Inner->getExitingBlock() && L->isLoopSimplifyForm() &&
                Inner->isLoopSimplifyForm() && sizeOf(*L) <= MaxSearch &&
                branchesIn(F, LI) <= MaxSearchBranches;
    return Fits ? L : nullptr;
  }
};

/// Replaces disjoint `or` by `add`: two different expressions for one value are
/// not merged by GVN.
class OrToAdd : public PassInfoMixin<OrToAdd> {
public:
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (auto *Or = dyn_cast<PossiblyDisjointInst>(&I);
          Or && Or->isDisjoint()) {
        Value *Add =
            IRBuilder<>(Or).CreateAdd(Or->getOperand(0), Or->getOperand(1));
        Or->replaceAllUsesWith(Add);
        Or->eraseFromParent();
      }
    return PreservedAnalyses::none();
  }
};

/// Compares bytes as the 32-bit words that contain them. Otherwise a register
/// that is live in another block would be truncated to a byte there each time.
class WidenCompares : public PassInfoMixin<WidenCompares> {
public:
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    Type *I32 = Type::getInt32Ty(F.getContext());
    DenseMap<Value *, Value *> Wide;
    auto Widen = [&](Value *V) -> Value * {
      if (auto *C = dyn_cast<ConstantInt>(V))
        return ConstantInt::get(I32, C->getZExtValue());
      auto *I = dyn_cast<Instruction>(V);
      if (!I)
        return nullptr;
      Value *&W = Wide[V];
      if (!W)
        W = IRBuilder<>(&**I->getInsertionPointAfterDef()).CreateZExt(V, I32);
      return W;
    };
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      auto *Cmp = dyn_cast<ICmpInst>(&I);
      Type *Ty = Cmp ? Cmp->getOperand(0)->getType() : nullptr;
      if (!Cmp || !(Ty->isIntegerTy(8) || Ty->isIntegerTy(16)))
        continue;
      ICmpInst::Predicate Pred = Cmp->getPredicate();
      Value *Y = Cmp->getOperand(1);
      // Test whether it is negative.
      auto *Half = ConstantInt::get(I32, 1u << (Ty->getIntegerBitWidth() - 1));
      if (Pred == ICmpInst::ICMP_SGT && match(Y, m_AllOnes())) {
        Pred = ICmpInst::ICMP_ULT;
        Y = Half;
      } else if (Pred == ICmpInst::ICMP_SLT && match(Y, m_Zero())) {
        Pred = ICmpInst::ICMP_UGE;
        Y = Half;
      } else if (!ICmpInst::isSigned(Pred)) {
        Y = Widen(Y);
      } else {
        continue;
      }
      Value *X = Widen(Cmp->getOperand(0));
      if (!X || !Y)
        continue;
      Cmp->replaceAllUsesWith(IRBuilder<>(Cmp).CreateICmp(Pred, X, Y));
      Cmp->eraseFromParent();
    }
    return PreservedAnalyses::none();
  }
};

/// Unrolls inner loops, so that there is one check of the budget, and mostly
/// one of the address, for a block of iterations.
class UnrollInner : public PassInfoMixin<UnrollInner> {
public:
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    auto &AC = FAM.getResult<AssumptionAnalysis>(F);
    auto &TTI = FAM.getResult<TargetIRAnalysis>(F);
    auto &ORE = FAM.getResult<OptimizationRemarkEmitterAnalysis>(F);
    // A loop is innermost after its inner loop was unrolled completely.
    SmallPtrSet<BasicBlock *, 16> Done;
    unsigned Max = maxBranches(LI);
    while (Loop *L = nextLoop(LI, Done, true)) {
      // The remaining loops share the remaining number of branches.
      unsigned Left =
          1 + count_if(LI.getLoopsInPreorder(), [&](const Loop *Other) {
            return Other->isInnermost() && !Done.contains(Other->getHeader());
          });
      unsigned All = branchesIn(F, LI), Own = branchesIn(F, LI, L);
      // Iterations with a known count share one exit.
      BasicBlock *Exit = L->getExitBlock();
      if (Exit && LI.getLoopFor(Exit) && L->getExitingBlock() &&
          SE.hasLoopInvariantBackedgeTakenCount(L))
        --Own;
      unsigned More = All < Max ? (Max - All) / Left : 0;
      unsigned Count = countFor(*L, SE, Own, Own + More);
      if (Count < 2 || !L->isLoopSimplifyForm() || !L->isLCSSAForm(DT))
        continue;
      // In other loops RepeatPaths unrolls only the usual path.
      if (Count != SE.getSmallConstantMaxTripCount(L) && hasUsualPath(*L, LI))
        continue;
      UnrollLoopOptions ULO = {};
      ULO.Count = Count;
      ULO.Force = true;
      ULO.Runtime = L->getExitingBlock() != nullptr;
      ULO.AllowExpensiveTripCount = true;
      Loop *Rest = nullptr;
      UnrollLoop(L, ULO, &LI, &SE, &DT, &AC, &TTI, &ORE, true, &Rest);
      if (Rest)
        Done.insert(Rest->getHeader());
    }
    return PreservedAnalyses::none();
  }
};

} // namespace

namespace {

/// Inlines all functions, or all but copies.
class InlineFunctions : public PassInfoMixin<InlineFunctions> {
public:
  explicit InlineFunctions(bool Copies) : Copies(Copies) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    for (Function &F : M)
      if (isCopy(F) && !F.isDeclaration()) {
        F.removeFnAttr(Copies ? Attribute::NoInline : Attribute::AlwaysInline);
        F.addFnAttr(Copies ? Attribute::AlwaysInline : Attribute::NoInline);
      }
    PreservedAnalyses PA = AlwaysInlinerPass(false).run(M, MAM);
    MAM.invalidate(M, PA);
    PA.intersect(GlobalDCEPass().run(M, MAM));
    return PA;
  }

private:
  bool Copies;
};

/// Calls checkAddresses() for the code that can be reached.
class CheckAddresses : public PassInfoMixin<CheckAddresses> {
public:
  CheckAddresses(const Function &User, bool &Good) : User(User), Good(Good) {}
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    if (F.getName() != COSY_FUNCTION_PROGRAM)
      return PreservedAnalyses::all();
    for (BasicBlock &BB : F)
      ConstantFoldTerminator(&BB);
    removeUnreachableBlocks(F);
    Good &= checkAddresses(F, User);
    return PreservedAnalyses::none();
  }

private:
  const Function &User;
  bool &Good;
};

} // namespace

bool optimizeProgram(Module &M, TargetMachine &TM, bool Unroll,
                     const Function &User) {
  bool Good = true;
  // Closed forms of loop counts need wider integers than BPF has.
  ScopedOption NoClosedForm("replexitval", "never");
  PipelineTuningOptions Tuning;
  PassBuilder PB(&TM, Tuning);
  Analyses A;
  TargetLibraryInfoImpl TLII{Triple(M.getTargetTriple())};
  TLII.disableAllFunctions();
  A.Functions.registerPass([&] { return TargetLibraryAnalysis(TLII); });
  A.registerWith(PB);

  auto Cfg = SimplifyCFGOptions().convertSwitchToLookupTable(false);
  ModulePassManager MPM;
  FunctionPassManager BeforeCheck, FPM;
  BeforeCheck.addPass(LowerExpectIntrinsicPass());
  BeforeCheck.addPass(SROAPass(SROAOptions::ModifyCFG));
  BeforeCheck.addPass(EarlyCSEPass(true));
  BeforeCheck.addPass(ADCEPass()); // removes checks of sanitizers
  BeforeCheck.addPass(CheckAddresses(User, Good));
  MPM.addPass(InlineFunctions(/*Copies=*/false));
  MPM.addPass(createModuleToFunctionPassAdaptor(std::move(BeforeCheck)));
  MPM.addPass(InlineFunctions(/*Copies=*/true));
  FPM.addPass(SROAPass(SROAOptions::ModifyCFG));
  FPM.addPass(EarlyCSEPass(true));
  FPM.addPass(LowerConstantIntrinsicsPass());
  FPM.addPass(SimplifyCFGPass(Cfg));
  FPM.addPass(InstCombinePass());
  FPM.addPass(SROAPass(SROAOptions::ModifyCFG));
  FPM.addPass(JumpThreadingPass());
  FPM.addPass(SimplifyCFGPass(Cfg));
  FPM.addPass(ReassociatePass());
  LoopPassManager Rotate;
  Rotate.addPass(LoopRotatePass());
  Rotate.addPass(LICMPass(LICMOptions()));
  FPM.addPass(createFunctionToLoopPassAdaptor(std::move(Rotate), true));
  FPM.addPass(SimplifyCFGPass(Cfg));
  FPM.addPass(InstCombinePass());
  FPM.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
  FPM.addPass(GVNPass());
  FPM.addPass(ADCEPass());
  FPM.addPass(SimplifyCFGPass(Cfg));
  FPM.addPass(LoopSimplifyPass());
  FPM.addPass(LCSSAPass());
  if (Unroll) {
    FPM.addPass(PeelSearch());
    FPM.addPass(SeparatePaths());
    FPM.addPass(LoopSimplifyPass());
    FPM.addPass(LCSSAPass());
    FPM.addPass(UnrollInner());
    FPM.addPass(RepeatPaths());
    FPM.addPass(ConstraintEliminationPass());
  }
  FPM.addPass(SimplifyCFGPass(Cfg));
  FPM.addPass(EarlyCSEPass(true));
  FPM.addPass(InstCombinePass());
  FPM.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
  FPM.addPass(SeparateConstOffsetFromGEPPass());
  FPM.addPass(EarlyCSEPass(true));
  FPM.addPass(createFunctionToLoopPassAdaptor(LoopStrengthReducePass()));
  FPM.addPass(OrToAdd());
  FPM.addPass(WidenCompares());
  FPM.addPass(EarlyCSEPass(true));
  FPM.addPass(ADCEPass());
  FPM.addPass(SimplifyCFGPass(Cfg));
  MPM.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
  MPM.addPass(GlobalDCEPass());
  MPM.run(M, A.Modules);
  return Good;
}

} // namespace cosy
