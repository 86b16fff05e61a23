// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Proof.cpp - Loops whose iterations are independent -----------------===//
//
// A loop without COSY_BATCH is split only if its split version cannot be told
// from the loop as written. The split exchanges code of two iterations if the
// later iteration is in an earlier phase. So this is to be proven:
//
// - Calls. The region's system calls only report (COSY_QUERY in syscalls.def).
//   They are made in the same order, with the same arguments. The other phases
//   make none.
// - No speculation. The region and the code after it neither leave the loop nor
//   end the program, and their inner loops end. So a call is made exactly if
//   the loop as written makes it.
// - Other code. Every call is known: it is inlined here, or a function of
//   string.h whose name is reserved (Library.def), or has no effects.
//   There are no volatile or atomic accesses, fences, or assembly: without them
//   C promises neither threads nor signal handlers an order.
// - Memory. Two accesses in different phases, at least one of which writes, are
//   to different memory in any two iterations. LLVM's BasicAA proves that;
//   types prove nothing, because allocated memory may change its type.
//   Variables of the body exist once for each iteration, and Variables.cpp
//   handles those whose addresses are not used.
// - errno. Only the region sets it, and the code before the region does not
//   read it. So it passes from one call to the next as in the loop as written.
//   An int that is accessed through a pointer of unknown origin may be errno.
// - Faults. Divisions that may trap are excluded. A memory access that faults
//   has undefined behaviour, so nothing is promised about what ran before it,
//   nor about memory that a handler of SIGSEGV makes accessible.
// - The C library. If a function that the region calls is not libc's, the loop
//   runs as it was written (SplitGate in Batch.h).
//
// The proof works on a copy of the function, in which callees are inlined and
// variables are promoted to registers. Nothing there may remove or move an
// access to other memory: SROA would move loads to other phases. So no pass
// runs on it but mem2reg.
//
//===----------------------------------------------------------------------===//
#include "batch/Loop.h"
#include "batch/Runtime.h"
#include "body/Body.h"
#include "body/LibraryCalls.h"
#include "body/Recognise.h"
#include "support/Costs.h"
#include "support/Names.h"
#include "support/SystemCalls.h"
#include "support/Thresholds.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"

using namespace llvm;

namespace cosy {

namespace {

/// More accesses are not compared with each other.
constexpr unsigned MaxAccesses = 300;

/// An access to memory that all iterations share.
struct Access {
  Instruction *I;
  MemoryLocation Where;
  bool Writes;
  unsigned Phases;
};

class Proof {
public:
  Proof(BatchLoop &L, FunctionAnalysisManager &FAM)
      : L(L), F(*L.F), M(*F.getParent()), FAM(FAM) {
    for (BasicBlock *BB : L.Blocks)
      Phases[BB] = L.phasesOf(BB);
  }
  bool run(ArrayRef<BatchVariable> Variables);

private:
  bool staysInLoop();
  bool keepsErrnoPrivate();
  void inlineCalls();
  void shareVariables(ArrayRef<BatchVariable> Variables);
  bool loopsEnd();
  bool findAccesses();
  bool addInstruction(Instruction &I);
  bool addCall(CallBase &CB);
  bool addErrno(Instruction &I);
  bool add(Instruction &I, const MemoryLocation &Where, bool Writes);
  bool areSeparate();
  bool gains(ArrayRef<BatchVariable> Variables);
  unsigned phasesOf(const Instruction &I) const {
    return Phases.lookup(I.getParent());
  }
  bool fail(const Instruction &At, const Twine &Text) {
    return L.fail(At.getDebugLoc(), Text);
  }

  BatchLoop &L;
  Function &F;
  Module &M;
  FunctionAnalysisManager &FAM;
  DenseMap<const BasicBlock *, unsigned> Phases; ///< of blocks of the loop
  std::vector<Access> Accesses;
  int Saved = 0, SavedSingly = 0; ///< by the region's system calls
};

} // namespace

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// The region and the code after it must not leave the loop.
bool Proof::staysInLoop() {
  for (BasicBlock *BB : L.Blocks)
    for (BasicBlock *S : successors(BB))
      if (!L.Blocks.count(S) && (L.phasesOf(BB) & (Calling | Finishing)))
        return fail(*BB->getTerminator(),
                    "the region or the code after it may leave the loop here, "
                    "when the calls of later iterations have been made");
  return true;
}

bool Proof::loopsEnd() {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  ReversePostOrderTraversal<Function *> Order(&F);
  if (containsIrreducibleCFG<BasicBlock *>(Order, LI))
    return L.fail(DebugLoc(),
                  "a jump leads into an inner loop of the function");
  for (const Loop *Inner : LI.getLoopsInPreorder())
    if (Phases.count(Inner->getHeader()) && Inner->getHeader() != L.Header &&
        !isMustProgress(Inner))
      return L.fail(Inner->getStartLoc(),
                    "it is not known whether this inner loop ends");
  return true;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The module must access errno only by its name.
bool Proof::keepsErrnoPrivate() {
  Function *Location = M.getFunction("__errno_location");
  if (!Location)
    return true;
  for (const Use &U : Location->uses()) {
    auto *CB = dyn_cast<CallBase>(U.getUser());
    if (!CB || !CB->isCallee(&U) || !all_of(CB->uses(), isAccess))
      return L.fail(DebugLoc(), "this file uses the address of errno");
  }
  return true;
}

void Proof::inlineCalls() {
  constexpr unsigned MaxDepth = 8;
  std::vector<std::pair<CallBase *, unsigned>> Work;
  for (BasicBlock *BB : L.Blocks)
    for (Instruction &I : *BB)
      if (auto *CB = dyn_cast<CallBase>(&I))
        Work.push_back({CB, 0});
  unsigned Total = 0;
  for (size_t N = 0; N < Work.size(); ++N) {
    auto [Call, Depth] = Work[N];
    Function *Callee = Call->getCalledFunction();
    // A function that another object may define, too, has effects that are not
    // known.
    if (!Callee || !Callee->isDefinitionExact() || !Callee->isDSOLocal() ||
        mayBeInterposed(*Callee) || !canContain(F, *Callee, MaxGuessed) ||
        Depth == MaxDepth)
      continue;
    Total += Callee->getInstructionCount();
    if (Total > MaxCallee)
      return;
    unsigned Of = phasesOf(*Call);
    DenseSet<const BasicBlock *> Before;
    for (const BasicBlock &BB : F)
      Before.insert(&BB);
    InlineFunctionInfo IFI;
    if (!InlineFunction(*Call, IFI, false, nullptr, false).isSuccess())
      continue;
    for (const BasicBlock &BB : F)
      if (!Before.count(&BB))
        Phases[&BB] = Of;
    for (CallBase *CB : IFI.InlinedCallSites)
      Work.push_back({CB, Depth + 1});
  }
}

bool Proof::addCall(CallBase &CB) {
  if (&CB == L.Start || &CB == L.End || isErrnoAddress(&CB) ||
      isa<DbgInfoIntrinsic>(CB) || CB.isLifetimeStartOrEnd() ||
      isa<AssumeInst, NoAliasScopeDeclInst>(CB))
    return true;
  const Function *Callee = CB.getCalledFunction();
  if (Callee && Callee->getName() == BatchStepMarker)
    return true;
  if (auto *MI = dyn_cast<MemIntrinsic>(&CB)) {
    if (MI->isVolatile())
      return fail(CB, "a volatile access");
    auto *Copy = dyn_cast<MemTransferInst>(MI);
    return add(CB, MemoryLocation::getForDest(MI), true) &&
           (!Copy || add(CB, MemoryLocation::getForSource(Copy), false));
  }
  if (!CB.isInlineAsm() && CB.doesNotAccessMemory() && CB.doesNotThrow() &&
      CB.hasFnAttr(Attribute::WillReturn))
    return true;
  CallShape Shape = systemCallShape(CB);
  if (Shape.Call && phasesOf(CB) == Calling &&
      isQuery(*Shape.Call, Shape.Args)) {
    Saved += usualCallSaves(Shape.Call->Name);
    SavedSingly += singleCallSaves(Shape.Call->Name);
    for (auto [V, Kind] : zip(Shape.Args, Shape.Call->Args)) {
      bool IsMemory = StringRef("srwx").contains(Kind);
      if (V->getType()->isPointerTy() != IsMemory && !isa<Constant>(V))
        return fail(CB, "a system call with an address that is no pointer");
      if (V->getType()->isPointerTy() &&
          !add(CB, MemoryLocation::getAfter(V), Kind == 'w' || Kind == 'x'))
        return false;
    }
    return true;
  }
  if (Shape.Call)
    return fail(CB, Twine("the call of '") + Callee->getName() +
                        "' may not be exchanged with other code: only calls "
                        "in the region that report and change nothing may");
  StringRef Letters =
      isa<CallInst>(CB) ? libraryLetters(cast<CallInst>(CB)) : "";
  if (LibraryFunction Library = libraryFunction(CB);
      Library && isReserved(Library.Name) && !Letters.empty() &&
      Letters.find_first_not_of("stSTArwni") == StringRef::npos) {
    for (auto [V, Kind] : zip(CB.args(), Letters))
      if (V->getType()->isPointerTy() && !add(CB, MemoryLocation::getAfter(V),
                                              StringRef("STAw").contains(Kind)))
        return false;
    return true;
  }
  if (CB.isInlineAsm())
    return fail(CB, "inline assembly");
  if (!Callee)
    return fail(CB, "a call through a pointer");
  return fail(CB, Twine("the effects of '") + Callee->getName() +
                      "' are not known");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Makes the variables that all iterations share, and whose addresses are used,
/// objects that mem2reg does not promote.
void Proof::shareVariables(ArrayRef<BatchVariable> Variables) {
  for (const BatchVariable &V : Variables) {
    auto *AI = dyn_cast<AllocaInst>(V.Base);
    if (!AI || !V.IsShared)
      continue;
    IRBuilder<> B(AI);
    CallInst *Object = B.CreateCall(M.getOrInsertFunction(
        SharedVariable, FunctionType::get(AI->getType(), false)));
    Object->addRetAttr(Attribute::NoAlias);
    AI->replaceAllUsesWith(Object);
    AI->eraseFromParent();
  }
}

/// \returns the objects that \p P may point into.
static SmallVector<const Value *, 4> objectsOf(const Value *P) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(P, Objects, nullptr, /*MaxLookup=*/0);
  return Objects;
}

/// \returns true if \p P is the address of a member of a structure.
static bool isMember(const Value *P) {
  auto *GEP = dyn_cast<GEPOperator>(P);
  return GEP && GEP->getSourceElementType()->isStructTy() &&
         GEP->getNumIndices() > 1;
}

/// \returns true if \p I copies as many bytes as errno has.
static bool copiesErrno(const Instruction &I) {
  auto *Copy = dyn_cast<MemTransferInst>(&I);
  auto *Length = Copy ? dyn_cast<ConstantInt>(Copy->getLength()) : nullptr;
  return Length && Length->equalsInt(4);
}

bool Proof::add(Instruction &I, const MemoryLocation &Where, bool Writes) {
  if (isErrnoAddress(Where.Ptr))
    return addErrno(I);
  SmallVector<const Value *, 4> Objects = objectsOf(Where.Ptr);
  // A variable of the body, or one that Variables.cpp handles.
  if (all_of(Objects, [](const Value *V) { return isa<AllocaInst>(V); }))
    return true;
  bool MayBeErrno =
      (Writes || isa<LoadInst>(I) || copiesErrno(I)) && !isMember(Where.Ptr) &&
      !(isa<LoadInst, StoreInst>(I) &&
        getLoadStoreType(&I)->getScalarSizeInBits() != 32) &&
      any_of(Objects, [](const Value *V) { return !isIdentifiedObject(V); });
  if (MayBeErrno && (phasesOf(I) & (Collecting | Finishing)))
    return fail(I, "an access through a pointer that may be the address of "
                   "errno; a parameter declared with restrict is not");
  Accesses.push_back({&I, Where, Writes, phasesOf(I)});
  return Accesses.size() <= MaxAccesses ||
         fail(I, "the loop accesses memory at too many places");
}

bool Proof::addErrno(Instruction &I) {
  if (phasesOf(I) & Collecting)
    return fail(I, "errno is used before the region, and the region of an "
                   "earlier iteration may set it");
  if (!(phasesOf(I) & Finishing))
    return true;
  if (!isa<LoadInst>(I))
    return fail(I, "errno is set after the region");
  L.ReadsErrno = true;
  return true;
}

bool Proof::addInstruction(Instruction &I) {
  if (auto *CB = dyn_cast<CallBase>(&I))
    return addCall(*CB);
  if (isa<LoadInst, StoreInst>(I)) {
    if (I.isVolatile())
      return fail(I, "a volatile access");
    if (I.isAtomic())
      return fail(I, "an atomic access");
    return add(I, MemoryLocation::get(&I), isa<StoreInst>(I));
  }
  if (I.isAtomic())
    return fail(I, "an atomic access or a fence");
  if (I.isIntDivRem() && !isSafeToSpeculativelyExecute(&I))
    return fail(I, "a division that may trap");
  if (isa<UnreachableInst, ReturnInst>(I))
    return fail(I, "a path that ends the program");
  if (I.mayReadOrWriteMemory() || I.mayThrow() || isa<AllocaInst>(I) ||
      (I.isTerminator() && !isa<BranchInst, SwitchInst>(I)))
    return fail(I, "code that the plugin does not know");
  return true;
}

bool Proof::findAccesses() {
  for (BasicBlock &BB : F)
    if (Phases.count(&BB))
      for (Instruction &I : BB)
        if (!addInstruction(I))
          return false;
  return true;
}

/// \returns true if the module accesses \p V only by its name, so that no other
/// pointer points into it.
static bool isOnlyNamed(const Value &V) {
  return all_of(V.uses(), [](const Use &U) {
    return isa<GEPOperator>(U.getUser())
               ? isOnlyNamed(*U.getUser())
               : isAccess(U) || isa<MemIntrinsic>(U.getUser());
  });
}

/// \returns true if \p A and \p B are in different objects, of which one is a
/// variable of the module that no pointer points to.
static bool areNamedApart(const MemoryLocation &A, const MemoryLocation &B) {
  const Value *Objects[] = {getUnderlyingObject(A.Ptr, 0),
                            getUnderlyingObject(B.Ptr, 0)};
  return Objects[0] != Objects[1] && any_of(Objects, [](const Value *V) {
           auto *GV = dyn_cast<GlobalVariable>(V);
           return GV && GV->hasLocalLinkage() && isOnlyNamed(*GV);
         });
}

/// \returns true if \p P is computed from one of several pointers.
static bool isChosen(const Value *P) {
  return isa<PHINode, SelectInst>(getUnderlyingObject(P, 0));
}

/// \returns true if \p A and \p B are different memory, in one iteration and
/// in two.
static bool areApart(BatchAAResults &AA, const MemoryLocation &A,
                     const MemoryLocation &B) {
  if (!isChosen(A.Ptr) && !isChosen(B.Ptr))
    return AA.alias(A, B) == AliasResult::NoAlias;
  // BasicAA compares two phis of one block edge by edge. In two iterations
  // their values come from different edges, so only whole objects are compared.
  SmallVector<const Value *, 4> OfB = objectsOf(B.Ptr);
  return all_of(objectsOf(A.Ptr), [&](const Value *O) {
    return all_of(OfB, [&](const Value *P) {
      return AA.alias(MemoryLocation::getBeforeOrAfter(O),
                      MemoryLocation::getBeforeOrAfter(P)) ==
             AliasResult::NoAlias;
    });
  });
}

static StringRef phaseName(unsigned Phases) {
  return Phases & Finishing ? "after the region"
         : Phases & Calling ? "in the region"
                            : "before the region";
}

bool Proof::areSeparate() {
  AAResults AA(FAM.getResult<TargetLibraryAnalysis>(F));
  AA.addAAResult(FAM.getResult<BasicAA>(F));
  BatchAAResults Batch(AA);
  // Pointers that are equal in one iteration may differ in two.
  Batch.enableCrossIterationMode();
  Batch.disableDominatorTree();
  for (size_t N = 0; N < Accesses.size(); ++N)
    for (size_t O = 0; O <= N; ++O) {
      const Access &A = Accesses[N], &B = Accesses[O];
      unsigned Both = A.Phases | B.Phases;
      if (!(Both & (Both - 1)) || !(A.Writes || B.Writes) ||
          areNamedApart(A.Where, B.Where) || areApart(Batch, A.Where, B.Where))
        continue;
      const Access &Writer = A.Writes ? A : B, &Other = A.Writes ? B : A;
      DebugLoc At = Other.I->getDebugLoc();
      return fail(*Writer.I,
                  Twine("memory that is written here, ") +
                      phaseName(Writer.Phases) +
                      ", may be accessed by another iteration " +
                      phaseName(Other.Phases) +
                      (At ? ", in line " + Twine(At.getLine()) : Twine()) +
                      "; pointers declared with restrict, or a variable of "
                      "the loop's body, show that it is not");
    }
  return true;
}

//===----------------------------------------------------------------------===//
// The gain
//===----------------------------------------------------------------------===//

bool Proof::gains(ArrayRef<BatchVariable> Variables) {
  // The loop over the collected iterations, and the copies of variables.
  int Cost = LoopCost + 4 * MemoryCost;
  for (const BatchVariable &V : Variables)
    Cost += ((V.SaveCollected || V.IsArray) + V.RestoreCalls + V.SaveCalled) *
            2 * MemoryCost;
  int Gain = Saved - SavedSingly;
  return Gain > Cost ||
         L.fail(DebugLoc(), "collecting an iteration costs about " +
                                Twine(Cost) + " instructions, its calls save " +
                                Twine(Gain));
}

bool Proof::run(ArrayRef<BatchVariable> Variables) {
  L.ReadsErrno = false;
  if (!staysInLoop() || !keepsErrnoPrivate())
    return false;
  inlineCalls();
  if (!loopsEnd())
    return false;
  shareVariables(Variables);
  FAM.invalidate(F, PreservedAnalyses::none());
  FAM.invalidate(F, PromotePass().run(F, FAM));
  return findAccesses() && areSeparate() && gains(Variables);
}

bool proveIndependence(BatchLoop &L, ArrayRef<BatchVariable> Variables,
                       FunctionAnalysisManager &FAM) {
  return Proof(L, FAM).run(Variables);
}

} // namespace cosy
