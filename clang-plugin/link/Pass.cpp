// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pass.cpp - Make the deferred compounds -----------------------------===//
#include "link/Pass.h"
#include "body/Body.h"
#include "body/Callees.h"
#include "body/LibraryCalls.h"
#include "body/Operations.h"
#include "bpf/Function.h"
#include "codegen/Compound.h"
#include "host/Host.h"
#include "host/LinkStep.h"
#include "link/Deferred.h"
#include "support/Copyable.h"
#include "support/Diagnostics.h"
#include "support/Names.h"
#include "support/Thresholds.h"
#include "support/UserFunctions.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace cosy {

namespace {

/// A region whose compound is being made.
struct Deferred {
  Region R;
  GlobalVariable *Descriptor = nullptr;
  SmallVector<CallBase *, 1> Runs; ///< calls of DeferredRun
  SmallVector<Function *, 8> Library;
  Compound C;
  bool HasCompound = false;
};

class Program {
public:
  Program(Module &M, FunctionAnalysisManager &FAM)
      : M(M), FAM(FAM), Functions(M), Table(M) {}
  bool run();

private:
  void find();
  void compile(Deferred &D);
  void complete(Deferred &D);

  Module &M;
  FunctionAnalysisManager &FAM;
  FunctionTable Functions;
  RegionTable Table;
  std::vector<std::unique_ptr<Deferred>> Regions;
};

} // namespace

/// \returns whether \p F runs a compound that was made in the compile step.
static bool hasCompound(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *CB = dyn_cast<CallBase>(&I);
    const Function *Callee = CB ? CB->getCalledFunction() : nullptr;
    return Callee && Callee->getName() == "cosy_region_run";
  });
}

/// \returns whether a body gains by inlining \p Callee, which may be of another
/// file.
static bool mayInline(const Function &Callee) {
  // Error paths make a compound larger without a gain.
  return !Callee.hasFnAttribute(Attribute::Cold) && !Callee.doesNotReturn() &&
         !Callee.hasFnAttribute(NotInlinedAttribute) && !hasCompound(Callee);
}

/// Makes loads of the region's mode through \p Address return 0, so that no
/// compound runs, and removes calls for its measurement. Changes only \p In,
/// unless that is null.
static void foldMode(Value &Address, const Function *In) {
  for (User *U : make_early_inc_range(Address.users())) {
    if (isa<GEPOperator>(U)) {
      foldMode(*U, In);
      continue;
    }
    auto *I = dyn_cast<Instruction>(U);
    if (!I || (In && I->getFunction() != In))
      continue;
    auto *Call = dyn_cast<CallBase>(I);
    if (isa<LoadInst>(I))
      I->replaceAllUsesWith(Constant::getNullValue(I->getType()));
    else if (!Call || !Call->getCalledFunction() ||
             Call->getCalledFunction()->getName() != RegionLeft)
      continue;
    I->eraseFromParent();
  }
}

/// Replaces \p Run, a call of DeferredRun, by the result for "no compound ran".
static void dropRun(CallBase &Run) {
  CallBase *Call = &Run;
  if (auto *Invoke = dyn_cast<InvokeInst>(Call))
    Call = changeToCall(Invoke);
  Call->replaceAllUsesWith(Constant::getAllOnesValue(Call->getType()));
  Call->eraseFromParent();
}

/// Lets regions of functions that were inlined into \p Body run natively within
/// its compound.
static void dropRunsIn(Function &Body) {
  SmallVector<CallBase *, 4> Runs;
  for (Instruction &I : instructions(Body))
    if (auto *CB = dyn_cast<CallBase>(&I);
        CB && CB->getCalledFunction() &&
        CB->getCalledFunction()->getName() == DeferredRun)
      Runs.push_back(CB);
  for (CallBase *Run : Runs) {
    foldMode(*Run->getArgOperand(0), &Body);
    dropRun(*Run);
  }
}

/// \returns whether \p A comes before \p B in the sources.
static bool isBefore(const std::unique_ptr<Deferred> &A,
                     const std::unique_ptr<Deferred> &B) {
  auto Place = [](const Deferred &D) {
    const DebugLoc &Loc =
        D.R.Body->getEntryBlock().getTerminator()->getDebugLoc();
    return Loc ? std::tuple(Loc->getFilename(), Loc.getLine(), Loc.getCol())
               : std::tuple(StringRef(), 0u, 0u);
  };
  return Place(*A) < Place(*B);
}

void Program::find() {
  removeFromUsedLists(M, [](Constant *C) { return isKeptForLinkStep(*C); });
  for (Function &F : M)
    if (isDeferredBody(F))
      dropRunsIn(F);
  for (Function &F : M) {
    if (!isDeferredBody(F))
      continue;
    auto D = std::make_unique<Deferred>();
    D->R.Body = &F;
    F.removeDeadConstantUsers();
    for (User *U : F.users())
      D->Runs.push_back(cast<CallBase>(U));
    Regions.push_back(std::move(D));
  }
  // Remove regions without calls.
  erase_if(Regions, [](const std::unique_ptr<Deferred> &D) {
    if (D->Runs.empty())
      D->R.Body->eraseFromParent();
    return D->Runs.empty();
  });
  // The order of messages.
  sort(Regions, isBefore);
  for (const std::unique_ptr<Deferred> &D : Regions)
    D->Descriptor = cast<GlobalVariable>(D->Runs.front()->getArgOperand(0));
}

void Program::compile(Deferred &D) {
  Region &R = D.R;
  Function &Body = *R.Body;
  R.Host = D.Runs.front()->getFunction();
  R.Before = D.Runs.front()->getParent();
  BodyDescription Written = resumeBody(R);
  R.Host->addFnAttr(Body.getFnAttribute(WarningAttribute));
  inlineCallees(Body, *R.Host, PristineMap(),
                {MaxLinkedCallee, MaxLinkedInlined, Written.NoOutline, true},
                [&](const Function &Callee) {
                  return Callee.isDeclaration() || mayInline(Callee);
                });
  dropRunsIn(Body);
  for (const std::unique_ptr<Deferred> &Other : Regions)
    foldMode(*Other->Descriptor, &Body);
  FAM.invalidate(Body, PreservedAnalyses::none());
  if (Written.IsPart && !isWorthwhile(Body, FAM))
    return;
  if (!Written.IsOptimized)
    FAM.invalidate(Body, DefineValuesPass().run(Body, FAM));
  D.Library = findLibraryFunctions(Body);
  D.HasCompound = makeCompound(R, D.C, FAM);
}

void Program::complete(Deferred &D) {
  if (!D.HasCompound) {
    // The native code remains. Also after an error, the module must be valid.
    for (CallBase *Run : D.Runs)
      dropRun(*Run);
    foldMode(*D.Descriptor, nullptr);
  } else {
    Constant *Descriptor = Table.add(D.R, D.C.Img, D.C.Sel.C, D.C.Thunks,
                                     Functions.list({}), D.Library);
    D.Descriptor->replaceAllUsesWith(Descriptor);
    for (CallBase *Run : D.Runs)
      completeDeferred(*Run, D.C.Sel.C, D.C.Sel.Inputs);
  }
  D.Descriptor->removeDeadConstantUsers();
  D.Descriptor->eraseFromParent();
  eraseBody(D.R, FAM);
}

bool Program::run() {
  find();
  if (Regions.empty())
    return false;
  // Must run before inlining.
  markOwnCalls(M, {});
  // Regions call user functions of other files natively, as without link-time
  // optimisation.
  for (Function &F : M)
    if (hasProgram(F))
      makeNative(F);
  findCallees(M);
  markFunctionsThatSeeCallers(M);
  for (const std::unique_ptr<Deferred> &D : Regions)
    compile(*D);
  // Change the hosts last, because a region may inline a function that contains
  // another region.
  for (const std::unique_ptr<Deferred> &D : Regions)
    complete(*D);
  Table.finish();
  eraseOperationFunctions(M);
  for (StringRef Name : {StringRef(DeferredRun), StringRef(ExitMarker)})
    if (Function *F = M.getFunction(Name); F && F->use_empty())
      F->eraseFromParent();
  return true;
}

PreservedAnalyses LinkPass::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  return Program(M, FAM).run() ? PreservedAnalyses::none()
                               : PreservedAnalyses::all();
}

} // namespace cosy
