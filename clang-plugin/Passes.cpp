// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.cpp - The stages by name ------------------------------------===//
//
// Registers the stages of RegionPass by name, so that opt can run each alone:
// see README.md.
//
//===----------------------------------------------------------------------===//
#include "Passes.h"
#include "RegionPass.h"
#include "auto/Pass.h"
#include "batch/Batch.h"
#include "body/Atomics.h"
#include "body/Body.h"
#include "body/Callees.h"
#include "body/FastPaths.h"
#include "body/Fortify.h"
#include "body/Legalize.h"
#include "body/Mutexes.h"
#include "body/Outline.h"
#include "body/Recognise.h"
#include "body/Strings.h"
#include "body/ThinCalls.h"
#include "body/UpCalls.h"
#include "bpf/Function.h"
#include "codegen/Compound.h"
#include "host/LinkStep.h"
#include "host/Unreached.h"
#include "link/Deferred.h"
#include "link/Pass.h"
#include "region/Stops.h"
#include "support/Thresholds.h"

#include "llvm/Passes/PassBuilder.h"

using namespace llvm;

namespace cosy {

namespace {

/// A stage on functions that are not bodies.
class FunctionStage : public PassInfoMixin<FunctionStage> {
public:
  using Stage = void (*)(Function &);
  explicit FunctionStage(Stage Run) : Run(Run) {}
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    Run(F);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }

private:
  Stage Run;
};

/// A stage on a module.
class ModuleStage : public PassInfoMixin<ModuleStage> {
public:
  using Stage = void (*)(Module &);
  explicit ModuleStage(Stage Run) : Run(Run) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    Run(M);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }

private:
  Stage Run;
};

/// Splits loops.
class BatchPass : public PassInfoMixin<BatchPass> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    splitBatches(
        M, MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager(),
        /*Check=*/false);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

} // namespace

/// Inlines callees into bodies as RegionPass does, except functions with
/// regions.
static void inlineIntoBodies(Module &M) {
  for (Function &F : M)
    if (stateOf(F) == BodyState::Body)
      inlineCallees(F, F, PristineMap(), {MaxCallee, MaxInlined},
                    [](const Function &) { return true; });
}

/// Makes ordinary bodies of the deferred ones.
static void resumeBodies(Module &M) {
  for (Function &F : M)
    if (isDeferredBody(F)) {
      Region R;
      R.Body = &F;
      resumeBody(R);
    }
}

template <typename PassT>
static bool addIf(StringRef Name, FunctionPassManager &FPM) {
  if (Name != PassT::Name)
    return false;
  FPM.addPass(PassT());
  return true;
}

template <typename... PassTs>
static bool addOneOf(StringRef Name, FunctionPassManager &FPM) {
  return (addIf<PassTs>(Name, FPM) || ...);
}

static bool addFunctionPass(StringRef Name, FunctionPassManager &FPM,
                            ArrayRef<PassBuilder::PipelineElement>) {
  if (addOneOf<DefineValuesPass, FortifyPass, ThinCallsPass, StringsPass,
               MutexesPass, AtomicsPass, ThreadSwitchesPass, ErrorCallsPass,
               LoopsPass, LegalizePass, NarrowSwitchesPass, SinkIncrementsPass,
               MergeLocalsPass, RecognisePass, OutlinePass, SplitEdgesPass,
               JoinCallsPass, GroupUpCallsPass, FastPathsPass, SpillPass,
               PrintCompoundPass>(Name, FPM))
    return true;
  if (Name == "cosy-verify")
    FPM.addPass(VerifyBodyPass());
  else if (Name == "cosy-simplify")
    addSimplification(FPM);
  else if (Name == "cosy-group")
    addGrouping(FPM);
  else if (Name == "cosy-computed-gotos")
    FPM.addPass(FunctionStage(expandComputedGotos));
  else if (Name == "cosy-stops")
    FPM.addPass(FunctionStage(insertStops));
  else if (Name == "cosy-bpf-divisions")
    FPM.addPass(FunctionStage(guardDivisions));
  else if (Name == "cosy-bpf-expand")
    FPM.addPass(FunctionStage(expandForBpf));
  else
    return false;
  return true;
}

static bool addModulePass(StringRef Name, ModulePassManager &MPM,
                          ArrayRef<PassBuilder::PipelineElement>) {
  RegionOptions Options;
  if (Name == "cosy-regions") {
    MPM.addPass(RegionPass(Options));
  } else if (Name == "cosy-extract") {
    Options.Defer = true;
    MPM.addPass(RegionPass(Options));
    MPM.addPass(ModuleStage(resumeBodies));
  } else if (Name == "cosy-batch") {
    MPM.addPass(BatchPass());
  } else if (Name == CalleesPass::Name) {
    MPM.addPass(CalleesPass());
  } else if (Name == "cosy-inline") {
    MPM.addPass(ModuleStage(inlineIntoBodies));
  } else if (Name == "cosy-auto") {
    MPM.addPass(AutoPass(/*All=*/true));
  } else if (Name == "cosy-unreached") {
    MPM.addPass(UnreachedPass());
  } else if (Name == "cosy-link") {
    MPM.addPass(LinkPass());
  } else {
    return false;
  }
  return true;
}

void registerPasses(PassBuilder &PB) {
  PB.registerPipelineParsingCallback(addFunctionPass);
  PB.registerPipelineParsingCallback(addModulePass);
}

} // namespace cosy
