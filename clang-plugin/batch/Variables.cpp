// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Variables.cpp - Local variables of a loop that is split ------------===//
//
// In a batch, all iterations are collected before the calls of the first one
// are made. So a variable that one phase writes and a later phase reads needs a
// value for each iteration; the split provides that. A value that an early
// phase reads must not come from a late phase of the iteration before; that is
// an error.
//
//===----------------------------------------------------------------------===//
#include "batch/Loop.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <limits>

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

using AccessMap = DenseMap<Instruction *, Access>;

/// A set of variables.
using VariableBits = uint64_t;
constexpr unsigned MaxBits = std::numeric_limits<VariableBits>::digits;

/// Finds how values of variables reach reads, for up to MaxBits variables at a
/// time: functions can have thousands of variables and of blocks.
class VariableFlow {
public:
  explicit VariableFlow(const BatchLoop &L);
  /// Forgets the variables.
  void clear();
  void add(unsigned Bit, const AccessMap &Accesses);
  void solve();
  /// \returns whether edges from \p Phases leave the loop.
  bool hasExits(unsigned Phases) const { return ExitPhases & Phases; }

  // The results of solve().

  /// What an iteration writes last is read by a later one when that is
  /// collected, in its calls, or when it is finished.
  VariableBits CarriedToCollect = 0, CarriedToCalls = 0, CarriedToFinish = 0;
  /// It is read after the loop.
  VariableBits LiveOut = 0;
  /// The value that the collect phase saves, or that it keeps for the next
  /// batch, may lack what a later phase of an earlier iteration writes, and is
  /// read after the loop.
  VariableBits LostByCopy = 0;

private:
  struct Block {
    BasicBlock *BB;
    unsigned Phases; ///< 0: outside the loop
    SmallVector<unsigned, 2> Successors;
    VariableBits Read = 0;    ///< before they are overwritten
    VariableBits Killed = 0;  ///< overwritten
    VariableBits Written = 0; ///< in part, before they are overwritten
  };
  unsigned number(const BasicBlock *BB) const { return Numbers.lookup(BB); }
  std::vector<VariableBits> findLive(unsigned Phases, unsigned ReadIn) const;
  VariableBits lostByCopy(ArrayRef<VariableBits> Live) const;

  const BatchLoop &L;
  /// In post-order, after an empty one for blocks that are never reached.
  std::vector<Block> Blocks;
  DenseMap<const BasicBlock *, unsigned> Numbers;
  SmallVector<unsigned, 4> Exits; ///< the blocks after the loop
  unsigned ExitPhases = 0;        ///< in which edges leave the loop
};

class VariableCheck {
public:
  VariableCheck(const BatchLoop &L, BatchVariable &V) : L(L), V(V) {
    findAccesses();
  }
  const AccessMap &accesses() const { return Accesses; }
  /// \returns whether the loop writes the variable.
  bool isWritten() const { return Writers; }
  /// \p Flow has been solved, with the variable as \p Bit if it is written.
  bool run(const VariableFlow &Flow, VariableBits Bit);

private:
  void findAccesses();
  void add(Instruction &I, Access A);
  bool checkEscaping(const VariableFlow &Flow, VariableBits Bit);
  bool checkValues(const VariableFlow &Flow, VariableBits Bit);
  Instruction *find(unsigned Phases, bool Writes) const;
  bool error(const Instruction *At, const Twine &Text);
  std::string name() const;

  const BatchLoop &L;
  BatchVariable &V;
  AccessMap Accesses;
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
  Escapes = !V.Size;
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

//===----------------------------------------------------------------------===//
// Flow
//===----------------------------------------------------------------------===//

VariableFlow::VariableFlow(const BatchLoop &L) : L(L), Blocks(1) {
  for (BasicBlock *BB : post_order(L.F)) {
    Numbers[BB] = Blocks.size();
    Blocks.push_back({BB, L.phasesOf(BB), {}});
  }
  for (Block &B : drop_begin(Blocks))
    for (BasicBlock *S : successors(B.BB)) {
      B.Successors.push_back(number(S));
      if (L.Blocks.count(B.BB) && !L.Blocks.count(S)) {
        Exits.push_back(number(S));
        ExitPhases |= B.Phases;
      }
    }
}

void VariableFlow::clear() {
  for (Block &B : Blocks)
    B.Read = B.Killed = B.Written = 0;
}

void VariableFlow::add(unsigned Bit, const AccessMap &Accesses) {
  VariableBits Variable = VariableBits(1) << Bit;
  DenseMap<const BasicBlock *, const Instruction *> Killers;
  for (auto &[I, A] : Accesses)
    if (A.Kills) {
      const Instruction *&First = Killers[I->getParent()];
      if (!First || I->comesBefore(First))
        First = I;
    }
  for (auto &[I, A] : Accesses) {
    Block &B = Blocks[number(I->getParent())];
    const Instruction *Killer = Killers.lookup(I->getParent());
    if (A.Kills)
      B.Killed |= Variable;
    if (A.Reads && (I == Killer || !Killer || I->comesBefore(Killer)))
      B.Read |= Variable;
    if (A.Writes && I != Killer && (!Killer || I->comesBefore(Killer)))
      B.Written |= Variable;
  }
}

/// \returns for each block which variables a path that begins there reads
/// before they are overwritten. The path goes through blocks of the loop in
/// \p Phases, and only reads in \p ReadIn count. If that is 0, the path may
/// also leave the loop and enter it again, and all reads count.
std::vector<VariableBits> VariableFlow::findLive(unsigned Phases,
                                                 unsigned ReadIn) const {
  std::vector<VariableBits> Live(Blocks.size());
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned N = 1; N < Blocks.size(); ++N) {
      const Block &B = Blocks[N];
      bool Inside = L.Blocks.count(B.BB);
      if (Inside ? !(B.Phases & Phases) : ReadIn)
        continue;
      VariableBits Now = 0;
      for (unsigned S : B.Successors)
        Now |= Live[S];
      Now &= ~B.Killed;
      if (!ReadIn || (B.Phases & ReadIn))
        Now |= B.Read;
      Changed |= Now != Live[N];
      Live[N] = Now;
    }
  }
  return Live;
}

VariableBits VariableFlow::lostByCopy(ArrayRef<VariableBits> Live) const {
  // What paths from the step to a block, in the collect phase, do not
  // overwrite.
  std::vector<VariableBits> Kept(Blocks.size());
  Kept[number(L.Step)] = ~VariableBits(0);
  VariableBits Lost = 0;
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned N = Blocks.size() - 1; N > 0; --N) {
      const Block &B = Blocks[N];
      if (B.BB == L.RegionEntry) {
        Lost |= Kept[N] & Live[N];
        continue;
      }
      Lost |= Kept[N] & B.Written & Live[N];
      for (unsigned S : B.Successors) {
        BasicBlock *Next = Blocks[S].BB;
        VariableBits Now = Kept[S] | (Kept[N] & ~B.Killed);
        if (Now == Kept[S] || (Next != L.RegionEntry && !L.Collect.count(Next)))
          continue;
        Kept[S] = Now;
        Changed = true;
      }
    }
  }
  return Lost;
}

void VariableFlow::solve() {
  unsigned Step = number(L.Step);
  CarriedToCollect = findLive(Collecting, Collecting)[Step];
  CarriedToCalls = findLive(Collecting | Calling, Calling)[Step];
  CarriedToFinish = findLive(All, Finishing)[Step];
  std::vector<VariableBits> Live = findLive(All, 0);
  LiveOut = 0;
  for (unsigned Exit : Exits)
    LiveOut |= Live[Exit];
  LostByCopy = lostByCopy(Live);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

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

bool VariableCheck::checkEscaping(const VariableFlow &Flow, VariableBits Bit) {
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
  if (Store && Flow.hasExits(Later) && (Flow.LiveOut & Bit))
    return error(Store, name() +
                            " is declared outside the loop, and its address is "
                            "used: when the loop is left, it would have the "
                            "value of a later iteration of the batch; use a "
                            "variable whose address is not used");
  return true;
}

bool VariableCheck::checkValues(const VariableFlow &Flow, VariableBits Bit) {
  if (!Writers)
    return true;
  unsigned Late = Writers & (Calling | Finishing);
  // A variable of the body has no value when an iteration begins.
  bool CarriedToCollect = !V.InBody && (Flow.CarriedToCollect & Bit);
  bool CarriedToCalls = !V.InBody && (Flow.CarriedToCalls & Bit);
  bool CarriedToFinish = !V.InBody && (Flow.CarriedToFinish & Bit);
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
  if (hasSeveral(Writers) && !V.InBody && (Flow.LostByCopy & Bit))
    return error(find(Late, true),
                 name() + " is written before and after the beginning or the "
                          "end of the region, but not in every iteration, and "
                          "read after the loop; use a variable for each part");
  bool LiveOut = Flow.LiveOut & Bit;
  bool LateExits = Flow.hasExits(Calling | Finishing);
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

bool VariableCheck::run(const VariableFlow &Flow, VariableBits Bit) {
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
  // Also if it is not named in the loop: a pointer may be all that is used.
  V.IsShared = Escapes;
  return Escapes ? checkEscaping(Flow, Bit) : checkValues(Flow, Bit);
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
  VariableFlow Flow(L);
  for (size_t Begin = 0; Begin < All.size(); Begin += MaxBits) {
    auto Some = MutableArrayRef(All).slice(Begin).take_front(MaxBits);
    std::vector<VariableCheck> Checks;
    Flow.clear();
    for (auto [Bit, V] : enumerate(Some)) {
      if (auto It = Notes.find(V.Base); It != Notes.end()) {
        V.Name = It->second.Name;
        V.InBody = It->second.Id == L.Id;
      }
      VariableCheck &Check = Checks.emplace_back(L, V);
      if (Check.isWritten())
        Flow.add(Bit, Check.accesses());
    }
    Flow.solve();
    for (auto [Bit, V] : enumerate(Some)) {
      if (!Checks[Bit].run(Flow, VariableBits(1) << Bit))
        Good = false;
      else if (V.IsArray || V.isSaved() || V.RestoreCollect || V.IsShared)
        Variables.push_back(V);
    }
  }
  return Good;
}

} // namespace cosy
