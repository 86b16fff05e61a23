// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BatchVariables.cpp - Local variables of a loop that is split -------===//
//
// In a batch, all iterations are collected before the calls of the first one
// are made. So a variable that one phase writes and a later phase reads needs a
// value for each iteration; the split provides that. A value that an early
// phase reads must not come from a late phase of the iteration before; that is
// an error.
//
//===----------------------------------------------------------------------===//
#include "Diagnostics.h"
#include "batch/BatchLoop.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace cosy {

namespace {

constexpr unsigned All = Collecting | Calling | Finishing;

/// An access of an instruction to a variable.
struct Access {
  bool Reads = false;
  bool Writes = false;
  bool Kills = false; ///< writes all of it
};

class VariableCheck {
public:
  VariableCheck(const BatchLoop &L, BatchVariable &V) : L(L), V(V) {}
  bool run();

private:
  void findAccesses();
  void add(Instruction &I, Access A);
  bool isReadBeforeWritten(ArrayRef<BasicBlock *> From, unsigned Phases,
                           unsigned ReadIn) const;
  bool copyLosesValue() const;
  bool checkEscaping();
  bool checkValues();
  Instruction *find(unsigned Phases, bool Writes) const;
  bool error(const Instruction *At, const Twine &Text);
  std::string name() const;

  const BatchLoop &L;
  BatchVariable &V;
  DenseMap<Instruction *, Access> Accesses;
  bool Escapes = false;
  bool UsedOutside = false;          ///< after the loop, or before
  unsigned Readers = 0, Writers = 0; ///< phases
};

} // namespace

std::string VariableCheck::name() const {
  return V.Name.empty() ? "a temporary object" : ("'" + V.Name + "'").str();
}

bool VariableCheck::error(const Instruction *At, const Twine &Text) {
  return L.fail(At ? At->getDebugLoc() : DebugLoc(), Text);
}

void VariableCheck::add(Instruction &I, Access A) {
  Access &All = Accesses[&I];
  All.Reads |= A.Reads;
  All.Writes |= A.Writes;
  All.Kills |= A.Kills;
  if (!L.Blocks.count(I.getParent())) {
    UsedOutside = true;
    return;
  }
  unsigned Phases = L.phasesOf(I.getParent());
  if (A.Reads)
    Readers |= Phases;
  if (A.Writes)
    Writers |= Phases;
}

/// Returns the size of the object at the address \p A, if that is a variable of
/// the function in the source, otherwise 0.
static uint64_t variableSize(const Argument &A) {
  const DataLayout &DL = A.getParent()->getDataLayout();
  if (A.hasByValAttr())
    return DL.getTypeAllocSize(A.getParamByValType());
  if (A.hasStructRetAttr())
    return DL.getTypeAllocSize(A.getParamStructRetType());
  return 0;
}

/// Returns true if the instruction that uses the address \p U writes there by
/// itself. Of memcpy() and memset(), those of constant size count, which an
/// assignment or initialisation of a structure becomes.
static bool isStore(const Use &U) {
  if (isa<StoreInst>(U.getUser()))
    return U.getOperandNo() == StoreInst::getPointerOperandIndex();
  if (isa<AtomicRMWInst>(U.getUser()))
    return U.getOperandNo() == AtomicRMWInst::getPointerOperandIndex();
  if (isa<AtomicCmpXchgInst>(U.getUser()))
    return U.getOperandNo() == AtomicCmpXchgInst::getPointerOperandIndex();
  if (auto *MI = dyn_cast<MemIntrinsic>(U.getUser()))
    return U.getOperandNo() == 0 && isa<ConstantInt>(MI->getLength());
  auto *CB = dyn_cast<CallBase>(U.getUser());
  // Atomic variables that are larger than a register.
  if (const Function *F = CB ? CB->getCalledFunction() : nullptr)
    return F->getName().starts_with("__atomic_") &&
           F->getName() != "__atomic_load" && U.getOperandNo() == 1;
  auto *Asm = CB ? dyn_cast<InlineAsm>(CB->getCalledOperand()) : nullptr;
  if (!Asm)
    return false;
  unsigned N = 0;
  for (const InlineAsm::ConstraintInfo &C : Asm->ParseConstraints())
    if (C.hasArg() && N++ == U.getOperandNo())
      return C.Type == InlineAsm::isOutput;
  return false;
}

/// Notes a store of the loop \p L to the variable \p Base by its name. The name
/// may be one of several, as in (c ? a : b).x = 1.
static void findStore(Value &Base, BatchLoop &L) {
  SmallSetVector<Value *, 8> Addresses;
  Addresses.insert(&Base);
  for (unsigned N = 0; N < Addresses.size(); ++N)
    for (Use &U : Addresses[N]->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (isStore(U) && L.Blocks.count(I->getParent())) {
        L.Stores[&Base] = I;
        return;
      }
      if (isa<GetElementPtrInst, PHINode, SelectInst, FreezeInst>(I))
        Addresses.insert(I);
    }
}

void findStores(BatchLoop &L) {
  for (Argument &A : L.F->args())
    if (variableSize(A))
      findStore(A, L);
  for (Instruction &I : instructions(*L.F))
    if (isa<AllocaInst>(I))
      findStore(I, L);
}

void VariableCheck::findAccesses() {
  const DataLayout &DL = L.F->getDataLayout();
  SmallVector<Value *, 8> Work{V.Base};
  while (!Work.empty()) {
    Value *P = Work.pop_back_val();
    for (Use &U : P->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (isa<GetElementPtrInst>(I)) {
        Work.push_back(I);
        continue;
      }
      // A volatile variable has a value for each iteration, too.
      if (auto *Load = dyn_cast<LoadInst>(I); Load && !Load->isAtomic()) {
        add(*I, {true, false, false});
        continue;
      }
      if (auto *St = dyn_cast<StoreInst>(I);
          St && !St->isAtomic() && U.getOperandNo() == 1) {
        TypeSize Stored = DL.getTypeStoreSize(St->getValueOperand()->getType());
        add(*I, {false, true, P == V.Base && Stored == V.Size});
        continue;
      }
      if (auto *MI = dyn_cast<MemIntrinsic>(I)) {
        auto *Length = dyn_cast<ConstantInt>(MI->getLength());
        bool All = P == V.Base && Length && Length->getZExtValue() >= V.Size;
        if (U.getOperandNo() == 0)
          add(*I, {false, true, All});
        else
          add(*I, {true, false, false});
        continue;
      }
      // A check of -fsanitize=undefined.
      if (I->hasMetadata(LLVMContext::MD_nosanitize) &&
          !I->mayReadOrWriteMemory() && !I->getType()->isPointerTy())
        continue;
      if (isa<VAEndInst>(I)) // does nothing on x86-64
        continue;
      if (isa<VACopyInst>(I) && U.getOperandNo() == 1) {
        add(*I, {true, false, false});
        continue;
      }
      if (isa<VAStartInst, VACopyInst>(I)) {
        add(*I, {false, true, P->stripPointerCasts() == V.Base});
        continue;
      }
      // Its address is used: a call, an atomic access, a pointer variable.
      Escapes = true;
      add(*I, {true, true, false});
    }
  }
  // The caller reads the result.
  if (auto *A = dyn_cast<Argument>(V.Base); A && A->hasStructRetAttr())
    for (BasicBlock &BB : *L.F)
      if (auto *Return = dyn_cast<ReturnInst>(BB.getTerminator()))
        add(*Return, {true, false, false});
}

/// Returns true if a path from \p From reads the variable before it is
/// overwritten. The path goes through blocks of the loop in \p Phases, and if
/// \p ReadIn is 0 also through blocks outside. Only reads in \p ReadIn count,
/// or, if that is 0, those outside.
bool VariableCheck::isReadBeforeWritten(ArrayRef<BasicBlock *> From,
                                        unsigned Phases,
                                        unsigned ReadIn) const {
  SmallVector<BasicBlock *, 16> Work;
  SmallPtrSet<BasicBlock *, 16> Seen;
  auto Push = [&](BasicBlock *BB) {
    bool Inside = L.Blocks.count(BB);
    if ((Inside ? (L.phasesOf(BB) & Phases) != 0 : !ReadIn) &&
        Seen.insert(BB).second)
      Work.push_back(BB);
  };
  for (BasicBlock *BB : From)
    Push(BB);
  while (!Work.empty()) {
    BasicBlock *BB = Work.pop_back_val();
    // The loop may be entered again after it was left.
    bool Counts = !ReadIn ? Phases == All || !L.Blocks.count(BB)
                          : (L.phasesOf(BB) & ReadIn) != 0;
    bool Killed = false;
    for (Instruction &I : *BB) {
      auto It = Accesses.find(&I);
      if (It == Accesses.end())
        continue;
      if (Counts && It->second.Reads)
        return true;
      if (It->second.Kills) {
        Killed = true;
        break;
      }
    }
    if (!Killed)
      for (BasicBlock *S : successors(BB))
        Push(S);
  }
  return false;
}

/// Returns true if the value that the collect phase saves, or that it keeps for
/// the next batch, may lack what a later phase of an earlier iteration writes,
/// and is read after the loop.
bool VariableCheck::copyLosesValue() const {
  SmallVector<BasicBlock *, 16> Work{L.Step};
  SmallPtrSet<BasicBlock *, 16> Seen{L.Step};
  while (!Work.empty()) {
    BasicBlock *BB = Work.pop_back_val();
    bool Copied = BB == L.RegionEntry, Killed = Copied;
    for (Instruction &I : *BB) {
      auto It = Accesses.find(&I);
      if (Killed || It == Accesses.end())
        continue;
      Killed = It->second.Kills;
      Copied |= It->second.Writes && !Killed;
    }
    if (Copied && isReadBeforeWritten(BB, All, 0))
      return true;
    if (!Killed)
      for (BasicBlock *S : successors(BB))
        if ((S == L.RegionEntry || L.Collect.count(S)) && Seen.insert(S).second)
          Work.push_back(S);
  }
  return false;
}

/// The first access of one of \p Phases, in the order of the function.
Instruction *VariableCheck::find(unsigned Phases, bool Writes) const {
  for (BasicBlock *BB : L.Blocks)
    if (L.phasesOf(BB) & Phases)
      for (Instruction &I : *BB) {
        auto It = Accesses.find(&I);
        if (It != Accesses.end() &&
            (Writes ? It->second.Writes : It->second.Reads))
          return &I;
      }
  return nullptr;
}

/// Returns true if \p Phases contains more than one phase.
static bool hasSeveral(unsigned Phases) { return Phases & (Phases - 1); }

/// The blocks that edges from \p Phases out of the loop lead to.
static SmallVector<BasicBlock *, 4> exitsOf(const BatchLoop &L,
                                            unsigned Phases) {
  SmallVector<BasicBlock *, 4> List;
  for (BasicBlock *BB : L.Blocks)
    if (L.phasesOf(BB) & Phases)
      for (BasicBlock *S : successors(BB))
        if (!L.Blocks.count(S))
          List.push_back(S);
  return List;
}

bool VariableCheck::checkEscaping() {
  if (!Writers)
    return true;
  if (hasSeveral(Readers | Writers))
    return error(
        find(Writers & ~Collecting ? Writers & ~Collecting : Writers, true),
        name() + " is declared outside the loop, and its address is "
                 "used: all iterations of a batch would share it; "
                 "declare it in the loop's body, or use a pointer to "
                 "it, set before the loop, if they are to share it");
  // The phases after the only one that accesses it.
  unsigned Later = All & ~(Writers | (Writers - 1));
  Instruction *Store = L.Stores.lookup(V.Base);
  if (Store && !exitsOf(L, Later).empty() &&
      isReadBeforeWritten(exitsOf(L, All), All, 0))
    return error(Store, name() +
                            " is declared outside the loop, and its address is "
                            "used: when the loop is left, it would have the "
                            "value of a later iteration of the batch; use a "
                            "variable whose address is not used");
  return true;
}

bool VariableCheck::checkValues() {
  if (!Writers)
    return true;
  unsigned Late = Writers & (Calling | Finishing);
  // Returns true if a phase reads a value that an earlier iteration wrote last.
  // A variable of the body has no value when an iteration begins.
  auto IsCarried = [&](unsigned Through, unsigned ReadIn) {
    return !V.InBody && isReadBeforeWritten(L.Step, Through, ReadIn);
  };
  bool CarriedToCollect = IsCarried(Collecting, Collecting);
  bool CarriedToCalls = IsCarried(Collecting | Calling, Calling);
  bool CarriedToFinish = IsCarried(All, Finishing);
  if (Late && CarriedToCollect)
    return error(find(Late, true),
                 name() +
                     " is read before the region, but an earlier iteration "
                     "of the batch writes it later, here; write it before "
                     "COSY_START, or use one variable before the region "
                     "and another after it");
  if ((Writers & Finishing) && CarriedToCalls)
    return error(find(Finishing, true),
                 name() + " is read in the region, but an earlier iteration of "
                          "the batch writes it later, here; write it in the "
                          "region, or before COSY_START");
  if (hasSeveral(Writers) &&
      (CarriedToCollect || CarriedToCalls || CarriedToFinish))
    return error(find(Late, true),
                 name() + " is written before and after the beginning or the "
                          "end of the region, and read by a later iteration; "
                          "declare it in the loop's body, or use a variable "
                          "for each part");
  if (hasSeveral(Writers) && !V.InBody && copyLosesValue())
    return error(find(Late, true),
                 name() + " is written before and after the beginning or the "
                          "end of the region, but not in every iteration, and "
                          "read after the loop; use a variable for each part");
  bool LiveOut = isReadBeforeWritten(exitsOf(L, All), All, 0);
  bool LateExits = !exitsOf(L, Calling | Finishing).empty();
  unsigned Uses = Readers | Writers;
  V.SaveCollected = (Writers & Collecting) &&
                    ((Uses & (Calling | Finishing)) || (LiveOut && LateExits));
  bool ReadLate = (Uses & Finishing) || LiveOut;
  V.SaveCalled = (Writers & Calling) && ReadLate;
  V.RestoreCalls = V.SaveCollected && (Uses & Calling);
  V.RestoreFinish = V.isSaved() && ReadLate;
  V.RestoreCollect =
      (Writers & Collecting) && (V.RestoreCalls || V.RestoreFinish || Late);
  if ((Writers & Collecting) && Late && LiveOut)
    for (auto &[I, A] : Accesses)
      if (A.Writes && L.Collect.count(I->getParent()))
        V.CollectWrites.push_back(I);
  return true;
}

bool VariableCheck::run() {
  findAccesses();
  Escapes |= !V.Size;
  // The function's result cannot become an array, but is copied where only the
  // caller reads it.
  bool Several =
      hasSeveral(Readers | Writers) || (UsedOutside && isa<AllocaInst>(V.Base));
  // Copying more bytes than this costs more than addressing an array.
  constexpr uint64_t MaxCopied = 16;
  if (V.InBody && (Escapes || (Several && V.Size > MaxCopied))) {
    if (!isa<AllocaInst>(V.Base))
      return error(nullptr, name() +
                                " is the function's result and declared in "
                                "the body of a loop with COSY_BATCH; "
                                "declare it outside of the loop");
    V.IsArray = true;
    return true;
  }
  V.IsShared = Escapes && (Readers | Writers);
  return Escapes ? checkEscaping() : checkValues();
}

bool findBatchVariables(const BatchLoop &L, const VariableNotes &Notes,
                        SmallVectorImpl<BatchVariable> &Variables) {
  const DataLayout &DL = L.F->getDataLayout();
  SmallVector<BatchVariable, 16> All;
  for (Argument &A : L.F->args())
    if (uint64_t Size = variableSize(A)) {
      BatchVariable V;
      V.Base = &A;
      V.Size = Size;
      V.Alignment = A.getParamAlign().valueOrOne();
      All.push_back(V);
    }
  for (Instruction &I : instructions(*L.F))
    if (auto *AI = dyn_cast<AllocaInst>(&I)) {
      BatchVariable V;
      V.Base = AI;
      // The size of a variable-length array is not known.
      if (AI->isStaticAlloca())
        V.Size = AI->getAllocationSize(DL)->getFixedValue();
      V.Alignment = AI->getAlign();
      All.push_back(V);
    }
  bool Good = true;
  for (BatchVariable &V : All) {
    if (auto It = Notes.find(V.Base); It != Notes.end()) {
      V.Name = It->second.Name;
      V.InBody = It->second.Id == L.Id;
    }
    if (!VariableCheck(L, V).run())
      Good = false;
    else if (V.IsArray || V.isSaved() || V.RestoreCollect || V.IsShared)
      Variables.push_back(V);
  }
  return Good;
}

} // namespace cosy
