// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionPass.cpp - Compile regions to compounds ----------------------===//
#include "RegionPass.h"
#include "async/Coroutine.h"
#include "async/Parts.h"
#include "auto/Pass.h"
#include "batch/Batch.h"
#include "batch/Runtime.h"
#include "body/Body.h"
#include "body/Callees.h"
#include "body/Legalize.h"
#include "body/LibraryCalls.h"
#include "body/Operations.h"
#include "bpf/Function.h"
#include "codegen/Compound.h"
#include "host/Host.h"
#include "host/Unreached.h"
#include "link/Deferred.h"
#include "region/Locals.h"
#include "region/Remark.h"
#include "support/Copyable.h"
#include "support/Diagnostics.h"
#include "support/Markers.h"
#include "support/Names.h"
#include "support/Target.h"
#include "support/Thresholds.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Instrumentation/GCOVProfiler.h"
#include "llvm/Transforms/Instrumentation/InstrProfiling.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace cosy {

namespace {

class ModuleRegions {
public:
  ModuleRegions(Module &M, FunctionAnalysisManager &FAM, RegionOptions Options)
      : M(M), FAM(FAM), Options(Options), Functions(M), Table(M) {}
  bool compileFunctions();
  /// Makes compounds of the regions of \p Host, a COSY_ASYNC function, or of
  /// parts of it.
  void compileAsync(Function &Host);
  bool run();
  bool leaveNative();

private:
  void keepPristine(ArrayRef<Function *> Hosts);
  void beginFunction(Function &F);
  void compileRegions(Function &Host);
  void processMarked(CallInst *Start, bool Optimized);
  bool processRegion(const Marked &E, const Marked::Beginning &At,
                     bool Optimized, CallInst *Gate = nullptr);
  /// \returns true if \p R runs natively only what it cannot run itself, so
  /// that its operations are counted.
  bool keepsAllOperations(const Region &R) const {
    return Options.NoOutline || R.Options.countsRuns();
  }
  void inlineInto(const Region &R);
  void describeBody(const Region &R, ArrayRef<PrivateLocal> Locals,
                    BodyDescription &D) const;
  bool staysNativeForSanitizer(const Function &Host) const;
  void explainSanitizer(const Marked &E);
  void explainNatives(const Marked &E);

  Module &M;
  FunctionAnalysisManager &FAM;
  RegionOptions Options;
  FunctionTable Functions;
  RegionTable Table;
  PristineMap Pristine;
  bool HasSingleCalls = false;         ///< marked by markSingleCalls()
  unsigned NumRegions = 0;             ///< of the function
  StringSet<> Explained;               ///< up-calls of the function
  bool ReturnsTwice = false;           ///< the function calls setjmp() or so
  SmallVector<AllocaInst *, 4> Frames; ///< of its regions
  HostVariables Variables;             ///< of the function
};

} // namespace

/// Copies functions with regions before these change them, because other
/// regions may call them, by name or through a pointer. Functions that are not
/// used in this file are not copied. Nor are those that are not inlined because
/// another definition may replace them: the copy, which is internal, would hide
/// that.
void ModuleRegions::keepPristine(ArrayRef<Function *> Hosts) {
  for (Function *F : Hosts) {
    if (F->use_empty() || (mayBeInterposed(*F) && !mayBeReplaced(*F)))
      continue;
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(F, Map);
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setComdat(nullptr);
    Pristine[F] = Copy;
  }
}

/// \returns \p E as a region, for its remarks.
static Region regionOf(const Marked &E) {
  Region R;
  R.Host = E.Host;
  R.Loc = E.Loc;
  R.Before = E.Beginnings.front().Before;
  return R;
}

/// \returns true if MemorySanitizer must see what \p Host initializes. Also
/// what functions with no_sanitize write becomes initialized.
bool ModuleRegions::staysNativeForSanitizer(const Function &Host) const {
  return Options.MemorySanitizer ||
         Host.hasFnAttribute(Attribute::SanitizeMemory);
}

void ModuleRegions::explainSanitizer(const Marked &E) {
  remark<OptimizationRemarkMissed>(
      regionOf(E), E.Loc, "Sanitizer", [&](auto &Rem) {
        Rem << "region stays native: MemorySanitizer would not see that a "
               "compound initializes memory";
      });
}

void ModuleRegions::explainNatives(const Marked &E) {
  Region R = regionOf(E);
  for (const Instruction *I : E.Natives)
    remark<OptimizationRemarkMissed>(
        R, I->getDebugLoc(), "Native", [&](auto &Rem) {
          Rem << "leaves the compound for native code: "
              << ore::NV("Why", whyNotCopyable(*I));
        });
}

void ModuleRegions::processMarked(CallInst *Start, bool Optimized) {
  if (Start->getCalledFunction()->getName() == StartNativeMarker)
    return;
  CallInst *Gate = splitGateOf(*Start);
  Marked E;
  if (!findMarked(Start, E))
    return;
  if (!E.Natives.empty())
    Variables.clear(); // the blocks before its beginnings may have phis
  if (!E.Natives.empty() && E.Options.countsRuns()) {
    reportError(*E.Host, E.Natives.front()->getDebugLoc(),
                Twine("region with a limit contains ") +
                    whyNotCopyable(*E.Natives.front()) +
                    ", which only the function itself can execute, without a "
                    "count of operations; move it out of the region, or into "
                    "a function that the region calls");
    return;
  }
  if (staysNativeForSanitizer(*E.Host) && !E.Options.countsRuns()) {
    explainSanitizer(E);
    return;
  }
  if (!Options.Auto)
    HasSingleCalls |= markSingleCalls(E.Blocks.getArrayRef());
  bool Any = false;
  for (const Marked::Beginning &B : E.Beginnings)
    Any |= processRegion(E, B, Optimized, E.Natives.empty() ? Gate : nullptr);
  explainNatives(E);
  if (!Any)
    reportWarning(Warning::StaysNative, *E.Host, E.Loc,
                  Twine("region stays native: around ") +
                      whyNotCopyable(*E.Natives.front()) +
                      ", which only the function itself can execute, the "
                      "code is too small for a compound; move that out of "
                      "the region, or into a function that the region calls");
}

/// Inlines callees into the body of \p R, as far as its kind of region allows.
void ModuleRegions::inlineInto(const Region &R) {
  // A region stops at the beginning of an iteration of its own loops, so
  // callees with loops are not inlined.
  inlineCallees(
      *R.Body, *R.Host, Pristine,
      {MaxCallee, MaxInlined, keepsAllOperations(R), !R.Options.countsRuns()},
      [&](const Function &Callee) {
        // A call through a pointer blocks the thread, also in an
        // asynchronous function.
        if (Callee.isDeclaration())
          return !R.IsAsync;
        return R.IsAsync ? canBeInAsyncPart(Callee)
                         : !R.Options.stopsAtLimit() || !hasLoop(Callee);
      });
  // Must run before optimizations merge accesses to errno by different
  // addresses.
  if (R.IsAsync)
    hoistAddresses(*R.Body);
  FAM.invalidate(*R.Body, PreservedAnalyses::none());
}

/// Writes to the body of \p R what later passes need to know about the region.
void ModuleRegions::describeBody(const Region &R, ArrayRef<PrivateLocal> Locals,
                                 BodyDescription &D) const {
  D.Name = R.Name;
  D.NumExits = R.Exits.size();
  D.NumOutputs = R.Outputs.size();
  for (const PrivateLocal &L : Locals)
    D.NumOutputs += L.ByValue && L.Changes;
  if (R.Options.MaxOperations && R.Options.AtLimit == COSY_RESUME)
    D.Limit = R.Options.MaxOperations;
  D.Dump = Options.Dump;
  D.NoFast = Options.NoFast;
  D.NoOutline = keepsAllOperations(R);
  D.write(*R.Body);
}

/// Makes a compound of the region that begins at \p At. \p Gate is its call of
/// SplitGate, or null.
bool ModuleRegions::processRegion(const Marked &E, const Marked::Beginning &At,
                                  bool Optimized, CallInst *Gate) {
  Region R;
  R.Index = NumRegions++;
  R.Explained = &Explained;
  findRegion(E, At, R);
  cloneBody(R);
  inlineInto(R);
  SmallVector<Function *, 8> Library = findLibraryFunctions(*R.Body);
  bool IsPart = R.IsAsync || !E.Natives.empty();
  bool Defer = Options.Defer && canDefer(R);
  if (!R.IsAsync && IsPart && !Defer && !isWorthwhile(*R.Body, FAM)) {
    FAM.clear(*R.Body, R.Body->getName());
    R.Body->eraseFromParent();
    Variables.clear();
    return false;
  }
  CompoundPath Path(R);
  FAM.invalidate(*R.Body, SROAPass(SROAOptions::PreserveCFG).run(*R.Body, FAM));
  SmallVector<PrivateLocal, 4> Locals;
  if (!ReturnsTwice)
    Locals = privatizeLocals(R, Variables);
  // Variables that have become the body's.
  FAM.invalidate(*R.Body, SROAPass(SROAOptions::PreserveCFG).run(*R.Body, FAM));
  BodyDescription D;
  D.IsPart = IsPart;
  D.IsOptimized = Optimized;
  describeBody(R, Locals, D);
  Compound C;
  if (!Options.NoFast)
    C.Buffers = findBorrowed(
        *R.Body, R, FAM.getResult<DominatorTreeAnalysis>(*R.Body),
        [&](const Function *F) {
          return any_of(Pristine, [F](auto &P) { return P.second == F; });
        });
  if (!Optimized)
    FAM.invalidate(*R.Body, DefineValuesPass().run(*R.Body, FAM));
  if (Defer) {
    explainBuffers(R, C.Buffers);
    deferBody(R);
    if (Gate)
      Path.setGate(*Gate);
    Path.defer(D.NumOutputs, Locals);
    Variables.addPath(R, Path.run());
    return true;
  }
  // Also after an error, the module must be valid.
  if (makeCompound(R, C, FAM)) {
    if (Gate)
      Path.setGate(*Gate);
    Path.complete(Table.add(R, C.Img, C.Sel.C, C.Thunks,
                            Functions.list(C.Sel.C.Functions), Library),
                  C.Sel.C, C.Sel.Inputs, Locals);
    Variables.addPath(R, Path.run());
  } else {
    Path.abandon();
    Variables.clear();
  }
  if (Path.frame())
    Frames.push_back(Path.frame());
  eraseBody(R, FAM);
  return true;
}

/// Marks a user function that was compiled, or rejected with an error: bitcode
/// may have gone through the plugin before.
static constexpr StringLiteral SeenAttribute = "cosy-function-seen";

/// Runs before regions change the functions that user functions call.
bool ModuleRegions::compileFunctions() {
  bool Any = false;
  for (Function *F : findUserFunctions(M)) {
    if (F->hasFnAttribute(SeenAttribute))
      continue;
    F->addFnAttr(SeenAttribute);
    if (!checkUserFunction(*F))
      continue;
    if (std::optional<FunctionProgram> P = compileUserFunction(*F)) {
      Functions.add(*F, *P);
      Any = true;
    }
  }
  return Any;
}

/// Merges \p Frames into one, because only one of them is used at a time.
/// Otherwise the stack, or the coroutine's frame, would contain all of them.
static void mergeFrames(ArrayRef<AllocaInst *> Frames) {
  auto Size = [](AllocaInst *AI) {
    return cast<ConstantInt>(AI->getArraySize())->getZExtValue();
  };
  AllocaInst *Largest = nullptr;
  for (AllocaInst *AI : Frames)
    if (!Largest || Size(AI) > Size(Largest))
      Largest = AI;
  for (AllocaInst *AI : Frames)
    if (AI != Largest) {
      AI->replaceAllUsesWith(Largest);
      AI->eraseFromParent();
    }
}

/// Forgets what is known about the function before \p F.
void ModuleRegions::beginFunction(Function &F) {
  NumRegions = 0;
  Explained.clear();
  ReturnsTwice = F.callsFunctionThatReturnsTwice();
  Frames.clear();
  Variables.clear();
}

void ModuleRegions::compileAsync(Function &Host) {
  if (!markersOf(Host, StartMarker).empty())
    return compileRegions(Host);
  Marked E;
  if (staysNativeForSanitizer(Host) || !findAsyncParts(Host, E))
    return;
  beginFunction(Host);
  for (const Marked::Beginning &B : E.Beginnings)
    processRegion(E, B, !Host.hasFnAttribute(Attribute::OptimizeNone));
  if (markersOf(Host, AsyncRunMarker).empty())
    removeChoices(Host);
  mergeFrames(Frames);
  FAM.invalidate(Host, PreservedAnalyses::none());
}

/// Prevents inlining of \p F into regions in the link step.
static void keepOutOfRegions(Function &F) {
  F.addFnAttr(NotInlinedAttribute);
  if (!F.hasFnAttribute(Attribute::AlwaysInline))
    F.addFnAttr(Attribute::NoInline);
}

/// A C99 inline definition and the external one may differ. Which of them
/// native code calls depends on how large it is, so regions, and native code
/// that calls what a region calls, call the external one. C++ requires that
/// both are the same.
static void preferExternalDefinitions(Module &M) {
  for (Function &F : M)
    if (F.hasAvailableExternallyLinkage() && !F.getName().starts_with("_Z") &&
        !F.hasFnAttribute(Attribute::AlwaysInline))
      F.addFnAttr(NotInlinedAttribute);
}

/// Makes compounds of the regions of \p Host, and erases their markers.
/// prepareHost() must have been called, and a block must end after each marker
/// that begins a compound.
void ModuleRegions::compileRegions(Function &Host) {
  beginFunction(Host);
  bool Optimized = !Host.hasFnAttribute(Attribute::OptimizeNone);
  for (CallInst *Start : markersOf(Host, StartMarker)) {
    // A region in another file must not inline a function with a region that
    // stays native or has options.
    if (Options.Defer && Start->getCalledFunction()->getName() != StartMarker)
      keepOutOfRegions(Host);
    processMarked(Start, Optimized);
  }
  for (StringRef Name : {StartMarker, EndMarker})
    for (CallInst *Marker : markersOf(Host, Name))
      Marker->eraseFromParent();
  closeSplitGates(Host);
  mergeFrames(Frames);
  FAM.invalidate(Host, PreservedAnalyses::none());
}

bool ModuleRegions::run() {
  bool Any = splitBatches(M, FAM, Options.BatchCheck);
  if (Options.BatchCheck) {
    recordAccesses(M);
    Any = true;
  }
  SmallVector<Function *, 8> Hosts;
  for (Function &F : M)
    if (!markersOf(F, StartMarker).empty() || !markersOf(F, EndMarker).empty())
      Hosts.push_back(&F);
  for (Function *F : Hosts)
    expandComputedGotos(*F);
  keepPristine(Hosts);
  for (Function *F : Hosts) {
    if (any_of(markersOf(*F, StartMarker), [](CallInst *C) {
          return C->getCalledFunction()->getName() != StartNativeMarker;
        }))
      prepareHost(*F, FAM);
    splitAfterStarts(*F);
    compileRegions(*F);
  }
  if (HasSingleCalls && Options.Defer)
    deferSingleCalls(M);
  Functions.finish();
  Table.finish();
  for (auto [F, Copy] : Pristine) {
    FAM.clear(*Copy, Copy->getName());
    Copy->eraseFromParent();
  }
  auto EraseUnused = [&](StringRef Name) {
    if (Function *F = M.getFunction(Name); F && F->use_empty())
      F->eraseFromParent();
  };
  for (const StringLiteral *Name : AllMarkers)
    EraseUnused(*Name);
  EraseUnused(SplitGate);
  EraseUnused(ExitMarker);
  EraseUnused(StoppedMarker);
  eraseOperationFunctions(M);
  return Any || !Hosts.empty();
}

/// Removes the markers from code for another machine.
bool ModuleRegions::leaveNative() {
  bool Any = removeBatchMarkers(M);
  for (Function &F : M) {
    for (CallInst *Start : markersOf(F, StartMarker)) {
      const DILocation *Loc = Start->getDebugLoc();
      StringRef Name = Start->getCalledFunction()->getName();
      if (Name == StartWithMarker)
        reportError(F, Loc,
                    "COSY_START_WITH is for x86-64 with 64-bit pointers only");
      else if (Name != StartNativeMarker)
        reportWarning(Warning::StaysNative, F, Loc,
                      "region stays native: compounds are for x86-64 with "
                      "64-bit pointers");
    }
    for (StringRef Name : {StartMarker, EndMarker})
      for (CallInst *Marker : markersOf(F, Name)) {
        Marker->eraseFromParent();
        Any = true;
      }
  }
  return Any;
}

/// Adds the counters of --coverage to the native code, which becomes compounds
/// afterwards. \returns whether it did.
bool RegionPass::addCoverage(Module &M, ModuleAnalysisManager &MAM) {
  if (!Options.Coverage)
    return false;
  PreservedAnalyses PA = GCOVProfilerPass(*Options.Coverage).run(M, MAM);
  MAM.invalidate(M, PA);
  return !PA.areAllPreserved();
}

PreservedAnalyses RegionPass::run(Module &M, ModuleAnalysisManager &MAM) {
  bool Supported = canHaveCompounds(M);
  if (Supported)
    markCallsThatReturnTwice(M);
  // The marks are needed if calls are redirected, or may become part of a
  // region of another file.
  bool CallsCount = Supported && (Options.Auto || Options.Defer);
  if (CallsCount)
    markOwnCalls(M, Options.OwnFunctions);
  // Regions of other files may take such functions in.
  if (Supported && Options.Defer)
    markSameEverywhere(M);
  if (Supported && Options.Auto && Options.Defer)
    deferToLinkStep(M);
  if (!Options.BatchCheck && !M.getNamedGlobal("llvm.global.annotations") &&
      !M.getFunction(BatchMarker) && !M.getFunction(BatchStepMarker) &&
      none_of(M,
              [](const Function &F) {
                return F.getIntrinsicID() == Intrinsic::var_annotation;
              }) &&
      none_of(AllMarkers,
              [&](const StringLiteral *Name) { return M.getFunction(*Name); }))
    return addCoverage(M, MAM) ? PreservedAnalyses::none()
                               : PreservedAnalyses::all();
  if (!Supported)
    rejectCoroutines(M);
  else if (!CallsCount)
    markOwnCalls(M, Options.OwnFunctions);
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  ModuleRegions Regions(M, FAM, Options);
  if (!Supported) {
    bool Changed = Regions.leaveNative();
    Changed |= addCoverage(M, MAM);
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  findCallees(M);
  markFunctionsThatSeeCallers(M);
  prepareUnreached(M);
  markSameEverywhere(M);
  preferExternalDefinitions(M);
  bool Changed = Regions.compileFunctions();
  Changed |= addCoverage(M, MAM);
  // Lower counters to a load, an addition and a store.
  if (Options.Profile)
    InstrProfilingLoweringPass(*Options.Profile, false).run(M, MAM);
  Changed |= lowerCoroutines(M, MAM, Options.Level, [&](Function &Host) {
    Regions.compileAsync(Host);
  });
  Changed |= Regions.run();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace cosy
