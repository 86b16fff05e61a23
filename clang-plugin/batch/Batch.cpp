// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Batch.cpp - Loops that are split -----------------------------------===//
//
// Finds the loop, its region and its phases, and rejects what cannot be split.
// This runs before any optimisation, so local variables are in memory.
//
//===----------------------------------------------------------------------===//
#include "batch/Batch.h"
#include "batch/Loop.h"
#include "batch/Runtime.h"
#include "body/Body.h"
#include "body/LibraryCalls.h"
#include "body/Recognise.h"
#include "region/Marked.h"
#include "region/ScopeEnds.h"
#include "support/Annotations.h"
#include "support/Copyable.h"
#include "support/Diagnostics.h"
#include "support/LlvmCompat.h"
#include "support/Markers.h"
#include "support/Names.h"
#include "support/Recompute.h"
#include "support/SystemCalls.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace cosy {

namespace {

class LoopCheck {
public:
  /// The loop of \p Marker, a COSY_BATCH.
  LoopCheck(CallInst *Marker, const VariableNotes &Notes, bool Check)
      : Notes(Notes) {
    L.Check = Check;
    L.F = Marker->getFunction();
    L.Marker = Marker;
    if (auto *Size = dyn_cast<ConstantInt>(Marker->getArgOperand(0)))
      L.Size = Size->getZExtValue();
    if (auto *Id = dyn_cast<ConstantInt>(Marker->getArgOperand(1)))
      L.Id = Id->getZExtValue();
  }
  /// The loop number \p Id of \p F, which has no COSY_BATCH. \p ReadsErrno is
  /// known from the proof.
  LoopCheck(Function &F, uint64_t Id, const VariableNotes &Notes,
            bool ReadsErrno = true)
      : Notes(Notes) {
    L.F = &F;
    L.Id = Id;
    L.Promised = false;
    L.ReadsErrno = ReadsErrno;
  }
  /// \returns false after an error, or if the loop has no COSY_BATCH and cannot
  /// be split.
  bool split();
  /// Tries to prove that a loop without COSY_BATCH can be split. The function
  /// is a copy for this purpose.
  bool prove(FunctionAnalysisManager &FAM);
  bool readsErrno() const { return L.ReadsErrno; }
  /// Emits a remark about a loop of the function \p F that is not split, if the
  /// split would gain.
  void explainMissed(Function &F) const;

private:
  bool check();
  bool findLoop();
  bool findRegion(const Loop &Found, const LoopInfo &LI);
  bool findStep(const Loop &Found, const LoopInfo &LI);
  bool findPhases();
  bool checkInstructions();
  void demoteValues();
  /// Reports that the loop has a form that cannot be split. Without COSY_BATCH
  /// that is nothing to report.
  bool error(const Instruction *At, const Twine &Text) {
    return L.Promised && L.fail(At ? At->getDebugLoc() : DebugLoc(), Text);
  }

  BatchLoop L;
  const VariableNotes &Notes;
  SmallVector<BatchVariable, 16> Variables;
  bool StaysNative = false; ///< the region begins with COSY_START_NATIVE
  bool MayGain = false;     ///< the region makes calls that only report
};

} // namespace

bool BatchLoop::fail(const DebugLoc &At, const Twine &Text) const {
  DebugLoc Loc = At ? At : Marker->getDebugLoc();
  if (Promised) {
    reportError(*F, Loc, Text);
  } else if (Why.empty()) {
    Why = Text.str();
    WhyAt = Loc;
  }
  return false;
}

/// \returns the step marker number \p Id of \p F, or null.
static CallInst *findStepMarker(Function &F, uint64_t Id) {
  for (CallInst *C : markersOf(F, BatchStepMarker))
    if (match(C->getArgOperand(0), PatternMatch::m_SpecificInt(Id)))
      return C;
  return nullptr;
}

bool LoopCheck::findRegion(const Loop &Found, const LoopInfo &LI) {
  for (BasicBlock *BB : Found.blocks())
    for (Instruction &I : *BB) {
      CallInst *C = asMarker(I, StartMarker);
      if (!C)
        continue;
      if (L.Start)
        return error(C, "second region in a loop with COSY_BATCH; such a loop "
                        "is split around one region");
      L.Start = C;
    }
  if (!L.Start)
    return error(nullptr,
                 "no region in the loop of COSY_BATCH; write COSY_START and "
                 "COSY_END around the system calls in the loop's body");
  if (LI.getLoopFor(L.Start->getParent()) != &Found)
    return error(L.Start, "region is in another loop inside the loop of "
                          "COSY_BATCH; put COSY_START before that loop, or "
                          "COSY_BATCH into it");
  StringRef Name = L.Start->getCalledFunction()->getName();
  if (Name == StartWithMarker)
    return error(L.Start, "region with options in a loop with COSY_BATCH: its "
                          "options are about one iteration, its compound runs "
                          "many; use COSY_START");
  StaysNative = Name == StartNativeMarker;
  if (!L.Marker)
    L.Marker = L.Start;
  return true;
}

/// Splits blocks so that the step begins a block.
bool LoopCheck::findStep(const Loop &Found, const LoopInfo &LI) {
  L.Header = Found.getHeader();
  CallInst *Step = findStepMarker(*L.F, L.Id);
  if (!Step || LI.getLoopFor(Step->getParent()) != &Found)
    return error(nullptr, "COSY_BATCH is not in the innermost loop of the "
                          "control flow: a jump makes another, or the loop "
                          "never repeats; write the loop without goto");
  BasicBlock *BB = Step->getParent();
  if (BB == L.Header)
    L.Step = BB;
  else
    L.Step = SplitBlock(BB, Step);
  return true;
}

bool LoopCheck::findLoop() {
  if (!L.Id || L.Size > MaxBatch)
    return error(nullptr, "COSY_BATCH has to be compiled from source with "
                          "-fplugin=cosy-plugin.so");
  {
    DominatorTree DT(*L.F);
    LoopInfo LI(DT);
    const CallInst *Inside = L.Promised ? L.Marker : findStepMarker(*L.F, L.Id);
    const Loop *Found = Inside ? LI.getLoopFor(Inside->getParent()) : nullptr;
    if (!Found)
      return error(nullptr, "COSY_BATCH is in no loop that repeats: every "
                            "path leaves it, or a jump leads into it");
    if (!findRegion(*Found, LI))
      return false;
    if (StaysNative)
      return true;
    if (!findStep(*Found, LI))
      return false;
  }
  L.RegionEntry = SplitBlock(L.Start->getParent(), L.Start);
  // As in findMarked(), the first COSY_END on any path.
  BlockSet Reached;
  Reached.insert(L.RegionEntry);
  for (unsigned N = 0; N < Reached.size(); ++N) {
    BasicBlock *BB = Reached[N];
    auto It =
        find_if(*BB, [](Instruction &I) { return asMarker(I, EndMarker); });
    if (It != BB->end()) {
      L.End = cast<CallInst>(&*It);
      break;
    }
    for (BasicBlock *S : successors(BB))
      if (!L.endsIteration(S))
        Reached.insert(S);
  }
  if (!L.End)
    return error(L.Start, "the end of the region is not reached in the same "
                          "iteration of the loop with COSY_BATCH");
  L.RegionExit = SplitBlock(L.End->getParent(), L.End->getNextNode());
  DominatorTree DT(*L.F);
  LoopInfo LI(DT);
  const Loop *Found = LI.getLoopFor(L.RegionEntry);
  if (!Found || Found->getHeader() != L.Header ||
      LI.getLoopFor(L.RegionExit) != Found)
    return error(L.End, "COSY_END is not in the loop of COSY_BATCH, or every "
                        "path from it leaves the loop");
  // In the order of the function, which is the order of the source.
  for (BasicBlock &BB : *L.F)
    if (Found->contains(&BB))
      L.Blocks.insert(&BB);
  // The values of these variables pass from one phase to the next. Others
  // still share the stack.
  VariableSet Variables;
  for (BasicBlock *BB : L.Blocks)
    for (Instruction &I : *BB)
      addVariables(I, Variables);
  removeLifetimeMarkers(*L.F, Variables);
  return true;
}

/// Adds to \p Set the blocks of the loop that can be reached from it, except
/// through edges to blocks for which \p Stop is true.
static void reach(const BatchLoop &L, BlockSet &Set,
                  function_ref<bool(BasicBlock *)> Stop) {
  for (unsigned N = 0; N < Set.size(); ++N)
    for (BasicBlock *S : successors(Set[N]))
      if (L.Blocks.count(S) && !Stop(S))
        Set.insert(S);
}

bool LoopCheck::findPhases() {
  L.Collect.insert(L.Header);
  L.Collect.insert(L.Step);
  reach(L, L.Collect, [&](BasicBlock *BB) { return BB == L.RegionEntry; });

  // The calls are the blocks on a path from COSY_START to COSY_END.
  BlockSet Forward;
  Forward.insert(L.RegionEntry);
  reach(L, Forward, [&](BasicBlock *BB) {
    return BB == L.RegionExit || L.endsIteration(BB);
  });
  L.Call.insert(L.End->getParent());
  for (unsigned N = 0; N < L.Call.size(); ++N)
    if (L.Call[N] != L.RegionEntry)
      for (BasicBlock *P : predecessors(L.Call[N]))
        if (Forward.count(P))
          L.Call.insert(P);

  L.Finish.insert(L.RegionExit);
  for (BasicBlock *BB : L.Call)
    for (BasicBlock *S : successors(BB))
      if (L.Blocks.count(S) && !L.Call.count(S) && !L.endsIteration(S))
        L.Finish.insert(S);
  reach(L, L.Finish, [&](BasicBlock *BB) { return L.endsIteration(BB); });

  for (BasicBlock *BB : L.Call)
    if (L.phasesOf(BB) != Calling)
      return error(firstNonPhi(*BB),
                   "a jump leads into the region from the same iteration of "
                   "the loop with COSY_BATCH; enter it at COSY_START only");
  if (L.Step == L.Header)
    return true;
  // The step follows the body, and leads to the header.
  BlockSet Steps;
  Steps.insert(L.Step);
  reach(L, Steps, [&](BasicBlock *BB) { return BB == L.Header; });
  for (BasicBlock *BB : Steps)
    if (L.Call.count(BB) || L.Finish.count(BB) || BB == L.RegionEntry)
      return error(firstNonPhi(*BB),
                   "a jump leads into the step of the loop with COSY_BATCH, or "
                   "out of it");
  for (BasicBlock *BB : L.Blocks)
    if (!Steps.count(BB) && is_contained(successors(BB), L.Header))
      return error(BB->getTerminator(),
                   "a jump leaves out the step of the loop "
                   "with COSY_BATCH");
  return true;
}

bool LoopCheck::checkInstructions() {
  if (L.F->callsFunctionThatReturnsTwice())
    return error(nullptr, "COSY_BATCH in a function with a call that returns "
                          "twice, such as setjmp or vfork; move the loop to a "
                          "function of its own");
  for (BasicBlock *BB : L.Blocks)
    for (Instruction &I : *BB) {
      const char *Why = whyNotCopyable(I);
      if (!Why && I.getType()->isTokenTy())
        Why = "a construct that the plugin does not know";
      if (Why)
        return error(&I, Twine("a loop with COSY_BATCH contains ") + Why +
                             "; move it out of the loop or into a function the "
                             "loop calls");
    }
  return true;
}

/// Returns true if \p I is the address of a member of a variable, or of errno.
static bool isAddressByName(Instruction &I) {
  return isErrnoAddress(&I) ||
         (isa<GetElementPtrInst>(I) &&
          isa<AllocaInst, Argument>(I.stripInBoundsConstantOffsets()));
}

/// Afterwards no value of the loop is used in another block than its own.
void LoopCheck::demoteValues() {
  SmallVector<PHINode *, 16> Phis;
  auto AddPhis = [&](BasicBlock *BB) {
    for (PHINode &P : BB->phis())
      Phis.push_back(&P);
  };
  SmallSetVector<BasicBlock *, 8> Exits;
  for (BasicBlock *BB : L.Blocks) {
    AddPhis(BB);
    for (BasicBlock *S : successors(BB))
      if (!L.Blocks.count(S))
        Exits.insert(S);
  }
  for (BasicBlock *BB : Exits)
    AddPhis(BB);
  for (PHINode *P : Phis)
    DemotePHIToStack(P);
  // In memory, an address would count as a use of the variable's address.
  for (BasicBlock *BB : L.Blocks)
    for (Instruction &I : reverse(*BB))
      if (isAddressByName(I))
        recomputeWhereUsed(I);
  SmallVector<Instruction *, 16> Values;
  for (BasicBlock *BB : L.Blocks)
    for (Instruction &I : *BB)
      if (any_of(I.users(), [BB](User *U) {
            return isa<PHINode>(U) || cast<Instruction>(U)->getParent() != BB;
          }))
        Values.push_back(&I);
  for (Instruction *I : Values)
    DemoteRegToStack(*I);
}

/// Finds out whether the loop has a form that can be split.
bool LoopCheck::check() {
  if (!findPhases() || !checkInstructions())
    return false;
  for (BasicBlock *BB : L.Call)
    MayGain |= any_of(*BB, [](Instruction &I) {
      auto *CB = dyn_cast<CallBase>(&I);
      CallShape Shape = CB ? systemCallShape(*CB) : CallShape();
      return Shape.Call && isQuery(*Shape.Call, Shape.Args);
    });
  findStores(L);
  demoteValues();
  return findBatchVariables(L, Notes, Variables);
}

bool LoopCheck::split() {
  if (!findLoop())
    return false;
  if (StaysNative) {
    OptimizationRemarkMissed R("cosy", "Batch", L.Marker->getDebugLoc(),
                               L.Marker->getParent());
    R << "loop is not split: its region begins with COSY_START_NATIVE";
    OptimizationRemarkEmitter(L.F).emit(R);
    return true;
  }
  return check() && emitBatch(L, Variables);
}

bool LoopCheck::prove(FunctionAnalysisManager &FAM) {
  return findLoop() && check() && proveIndependence(L, Variables, FAM);
}

void LoopCheck::explainMissed(Function &F) const {
  if (L.Why.empty() || !MayGain)
    return;
  OptimizationRemarkMissed R("cosy", "Batch", L.WhyAt, &F.getEntryBlock());
  R << "loop is not split: " << ore::NV("Why", L.Why);
  OptimizationRemarkEmitter(&F).emit(R);
}

//===----------------------------------------------------------------------===//
// The markers
//===----------------------------------------------------------------------===//

/// \returns the variable that \p CI annotates for the split of a loop, with its
/// note, or null.
static Value *readNote(const CallInst &CI, VariableNote &Note) {
  auto *II = dyn_cast<IntrinsicInst>(&CI);
  if (!II || II->getIntrinsicID() != Intrinsic::var_annotation)
    return nullptr;
  StringRef Text = annotationText(II->getArgOperand(1));
  if (!Text.consume_front(BatchVariableAnnotation) ||
      Text.consumeInteger(10, Note.Id) || !Text.consume_front(":"))
    return nullptr;
  Note.Name = Text;
  return II->getArgOperand(0)->stripPointerCasts();
}

/// Reads and removes the annotations of the variables of \p F.
static VariableNotes readNotes(Function &F) {
  VariableNotes Notes;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *CI = dyn_cast<CallInst>(&I);
    VariableNote Note;
    if (Value *Variable = CI ? readNote(*CI, Note) : nullptr) {
      Notes[Variable] = Note;
      CI->eraseFromParent();
    }
  }
  return Notes;
}

bool removeBatchMarkers(Function &F) {
  // Also of loops that are never reached, whose markers are gone.
  readNotes(F);
  SmallVector<CallInst *, 4> Markers = markersOf(F, BatchMarker);
  append_range(Markers, markersOf(F, BatchStepMarker));
  if (Markers.empty())
    return false;
  for (CallInst *Marker : Markers)
    Marker->eraseFromParent();
  return true;
}

/// \returns the functions of \p M that contain markers, in the order of the
/// source, which is that of messages.
static SmallVector<Function *, 8> functionsWithMarkers(Module &M) {
  SmallPtrSet<Function *, 8> Marked;
  for (StringRef Name : {StringRef(BatchMarker), StringRef(BatchStepMarker)})
    for (CallInst *Marker : callsOf(M, Name))
      Marked.insert(Marker->getFunction());
  SmallVector<Function *, 8> List;
  for (Function &F : M)
    if (Marked.count(&F))
      List.push_back(&F);
  return List;
}

bool removeBatchMarkers(Module &M) {
  bool Any = false;
  for (Function *F : functionsWithMarkers(M))
    Any |= removeBatchMarkers(*F);
  // clang emits no marker for a loop that is never reached, but the notes.
  VariableNote Note;
  for (Function &F : M)
    if (F.getIntrinsicID() == Intrinsic::var_annotation)
      for (CallInst *CI : callsOf(F))
        if (readNote(*CI, Note)) {
          CI->eraseFromParent();
          Any = true;
        }
  for (StringRef Name : {StringRef(BatchMarker), StringRef(BatchStepMarker)})
    if (Function *F = M.getFunction(Name); F && F->use_empty())
      F->eraseFromParent();
  return Any;
}

/// Tells libcosy where the frame of \p F ends.
static void recordReturns(Function &F) {
  for (BasicBlock &BB : F) {
    Instruction *End = BB.getTerminator();
    if ((!isa<ReturnInst>(End) && !isa<ResumeInst>(End)) ||
        BB.getTerminatingMustTailCall())
      continue;
    IRBuilder<> B(End);
    B.SetCurrentDebugLocation(End->getDebugLoc());
    Value *Frame = B.CreateIntrinsic(Intrinsic::frameaddress, {B.getPtrTy()},
                                     {B.getInt32(0)});
    callBatchRuntime(B, "cosy_batch_return", {Frame});
  }
}

/// Prepares \p F for the split of loops. \returns the notes about its
/// variables.
static VariableNotes prepare(Function &F) {
  VariableNotes Notes = readNotes(F);
  threadScopeEnds(F, [&](const Value *V) { return Notes.count(V); });
  removeUnreachableBlocks(F);
  expandComputedGotos(F);
  return Notes;
}

/// The numbers of the loops of \p F that have no COSY_BATCH.
static SmallVector<uint64_t, 4> unpromisedLoops(Function &F) {
  SmallSetVector<uint64_t, 4> Ids;
  auto Number = [](CallInst *Marker, unsigned N) {
    auto *Id = dyn_cast<ConstantInt>(Marker->getArgOperand(N));
    return Id ? Id->getZExtValue() : 0;
  };
  for (CallInst *C : markersOf(F, BatchStepMarker))
    Ids.insert(Number(C, 0));
  for (CallInst *C : markersOf(F, BatchMarker))
    Ids.remove(Number(C, 1));
  return Ids.takeVector();
}

namespace {

/// A loop without COSY_BATCH whose iterations are independent.
struct ProvenLoop {
  uint64_t Id;
  bool ReadsErrno;
};

} // namespace

/// Finds the loops of \p F that can be split without COSY_BATCH. Works on
/// copies, so that other loops are not changed.
static std::vector<ProvenLoop> findProvenLoops(Function &F,
                                               FunctionAnalysisManager &FAM) {
  std::vector<ProvenLoop> Proven;
  // The labels in a table are those of F, not of a copy.
  bool HasLabels = any_of(F, [](const BasicBlock &BB) {
    return BB.hasAddressTaken() || isa<IndirectBrInst>(BB.getTerminator());
  });
  if (HasLabels || F.hasOptNone() || F.isPresplitCoroutine() || callsItself(F))
    return Proven;
  for (uint64_t Id : unpromisedLoops(F)) {
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(&F, Map);
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setComdat(nullptr);
    VariableNotes Notes = prepare(*Copy);
    LoopCheck Check(*Copy, Id, Notes);
    if (Check.prove(FAM))
      Proven.push_back({Id, Check.readsErrno()});
    else
      Check.explainMissed(F);
    FAM.clear(*Copy, Copy->getName());
    Copy->eraseFromParent();
  }
  if (Function *Variable = F.getParent()->getFunction(SharedVariable))
    Variable->eraseFromParent();
  return Proven;
}

bool splitBatches(Module &M, FunctionAnalysisManager &FAM, bool Check) {
  for (Function *F : functionsWithMarkers(M)) {
    std::vector<ProvenLoop> Proven;
    if (!Check)
      Proven = findProvenLoops(*F, FAM);
    SmallVector<CallInst *, 4> Markers = markersOf(*F, BatchMarker);
    if (Markers.empty() && Proven.empty())
      continue;
    VariableNotes Notes = prepare(*F);
    bool Good = true;
    for (CallInst *Marker : Markers)
      Good &= LoopCheck(Marker, Notes, Check).split();
    for (const ProvenLoop &P : Proven) {
      LoopCheck Loop(*F, P.Id, Notes, P.ReadsErrno);
      if (!Loop.split())
        Loop.explainMissed(*F);
    }
    if (Good && Check)
      recordReturns(*F);
    if (Good)
      continue;
    // No code is generated. Other messages about the regions would only
    // confuse.
    for (StringRef Name : {StringRef(StartMarker), StringRef(EndMarker)})
      for (CallInst *C : markersOf(*F, Name))
        C->eraseFromParent();
  }
  return removeBatchMarkers(M);
}

} // namespace cosy
