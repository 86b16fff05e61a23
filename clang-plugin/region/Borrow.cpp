// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Borrow.cpp - Reads whose data need not reach the process -----------===//
//
// The module can leave the data of a read in the page cache, and let the write
// copy it from there. Then the buffer is stale. No code may observe that:
//
// - The buffer is a local or static variable. Its address is passed only to one
//   read and to writes of the region, and is used nowhere else.
// - Each write has exactly the bytes of that read: its length is the read's
//   result, which is not negative there.
// - Nothing that could change the file's data happens between the read and a
//   write: no other write, and no volatile or atomic access, because another
//   thread could wait for it and then change the file.
//
// If the region is left between the read and the write, the module fills the
// buffer.
//
//===----------------------------------------------------------------------===//
#include "region/Borrow.h"
#include "body/FastPaths.h"
#include "body/LibraryCalls.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <cosy/format.h>

using namespace llvm;

namespace cosy {

namespace {

enum class Kind { Other, Read, Write, Seek };

/// The uses of a buffer in the body.
struct Uses {
  SmallVector<CallBase *, 2> Reads;
  SmallVector<CallBase *, 2> Writes;
  bool Others = false;
};

class Borrowing {
public:
  Borrowing(Function &Body, const Region &R, const DominatorTree &DT,
            function_ref<bool(const Function *)> Ignored)
      : Body(Body), R(R), DT(DT), Ignored(Ignored) {}

  std::string whyNot(const Value &Buffer, const Uses &U) const;

private:
  bool isUsedOnlyHere(const Value &Buffer) const;
  bool isNotNegative(Value &Result, BasicBlock &At) const;
  std::string conflictBetween(CallBase &Read, CallBase &Write) const;
  bool mayChangeFiles(const Instruction &I) const;

  Function &Body;
  const Region &R;
  const DominatorTree &DT;
  function_ref<bool(const Function *)> Ignored;
};

} // namespace

/// Classifies calls of functions whose arguments are those of the system call.
static Kind classify(const CallBase &CB) {
  StringRef Name = libraryFunction(CB).Name;
  if (Name == "sendto" && !isa<ConstantPointerNull>(CB.getArgOperand(4)))
    return Kind::Other;
  return StringSwitch<Kind>(Name)
      .Case("read", Kind::Read)
      .Case("pread", Kind::Read)
      .Case("pread64", Kind::Read)
      .Case("write", Kind::Write)
      .Case("pwrite", Kind::Write)
      .Case("pwrite64", Kind::Write)
      .Case("send", Kind::Write)
      .Case("sendto", Kind::Write)
      .Case("lseek", Kind::Seek)
      .Case("lseek64", Kind::Seek)
      .Default(Kind::Other);
}

/// \returns the variable whose address \p V is in the body, or null. A part of
/// a variable does not count.
static const Value *variableOf(const Value *V, const Region &R) {
  if (auto *A = dyn_cast<Argument>(V))
    return dyn_cast<AllocaInst>(R.Inputs[A->getArgNo()]);
  if (auto *G = dyn_cast<GlobalVariable>(V))
    return G->hasLocalLinkage() && !G->isThreadLocal() && !G->isConstant()
               ? G
               : nullptr;
  return nullptr;
}

/// Returns true if only the region uses \p Buffer. Uses in the region itself
/// are those in the body.
bool Borrowing::isUsedOnlyHere(const Value &Buffer) const {
  const Value *Variable = variableOf(&Buffer, R);
  if (!Variable)
    return false;
  return all_of(Variable->users(), [&](const User *U) {
    auto *I = dyn_cast<Instruction>(U);
    if (!I)
      return false;
    if (I->getFunction() == &Body || Ignored(I->getFunction()))
      return true;
    return R.Blocks.count(const_cast<BasicBlock *>(I->getParent())) != 0;
  });
}

/// \returns true if a branch shows that \p Result, of a read, is >= 0 in \p At.
bool Borrowing::isNotNegative(Value &Result, BasicBlock &At) const {
  // The range of results of a read.
  ConstantRange Possible(APInt(64, -1, true), APInt::getSignedMinValue(64));
  for (User *U : Result.users()) {
    auto *Cmp = dyn_cast<ICmpInst>(U);
    if (!Cmp)
      continue;
    auto *C = dyn_cast<ConstantInt>(Cmp->getOperand(1));
    if (!C || Cmp->getOperand(0) != &Result)
      continue;
    for (User *V : Cmp->users()) {
      auto *Br = dyn_cast<BranchInst>(V);
      if (!Br)
        continue;
      for (unsigned Side : {0u, 1u}) {
        CmpInst::Predicate P =
            Side ? Cmp->getInversePredicate() : Cmp->getPredicate();
        ConstantRange Range =
            ConstantRange::makeExactICmpRegion(P, C->getValue())
                .intersectWith(Possible, ConstantRange::Signed);
        BasicBlockEdge Edge(Br->getParent(), Br->getSuccessor(Side));
        if (Range.getSignedMin().isNonNegative() &&
            Br->getSuccessor(0) != Br->getSuccessor(1) &&
            DT.dominates(Edge, &At))
          return true;
      }
    }
  }
  return false;
}

/// \returns true if \p I may change the contents of a file.
bool Borrowing::mayChangeFiles(const Instruction &I) const {
  if (auto *SI = dyn_cast<StoreInst>(&I)) {
    // A store to a variable cannot change a mapped file.
    const Value *To = getUnderlyingObject(SI->getPointerOperand());
    if (auto *A = dyn_cast<Argument>(To))
      To = R.Inputs[A->getArgNo()];
    // Other threads may wait for this access, and then change the file.
    return !SI->isSimple() ||
           (!isa<AllocaInst>(To) && !isa<GlobalVariable>(To));
  }
  if (auto *CB = dyn_cast<CallBase>(&I))
    if (classify(*CB) == Kind::Seek)
      return false;
  return I.mayHaveSideEffects();
}

using Step = function_ref<void(const Instruction &,
                               function_ref<void(const Instruction *)>)>;

/// \returns the instructions that \p Next reaches from \p From. \p From is one
/// of them only if it is reached again, \p Stop never.
static SmallPtrSet<const Instruction *, 32>
reach(const Instruction &From, const Instruction &Stop, Step Next) {
  SmallPtrSet<const Instruction *, 32> Seen;
  SmallVector<const Instruction *, 32> Work = {&From};
  while (!Work.empty())
    Next(*Work.pop_back_val(), [&](const Instruction *I) {
      if (I != &Stop && Seen.insert(I).second)
        Work.push_back(I);
    });
  return Seen;
}

static void stepForward(const Instruction &I,
                        function_ref<void(const Instruction *)> Take) {
  if (const Instruction *Next = I.getNextNode())
    return Take(Next);
  for (const BasicBlock *BB : successors(I.getParent()))
    Take(&BB->front());
}

static void stepBack(const Instruction &I,
                     function_ref<void(const Instruction *)> Take) {
  if (const Instruction *Previous = I.getPrevNode())
    return Take(Previous);
  for (const BasicBlock *BB : predecessors(I.getParent()))
    Take(BB->getTerminator());
}

/// \returns the reason if anything on a path from the read to the write
/// prevents borrowing.
std::string Borrowing::conflictBetween(CallBase &Read, CallBase &Write) const {
  auto After = reach(Read, Read, stepForward);
  auto Before = reach(Write, Read, stepBack);
  for (const Instruction *I : After)
    if (Before.count(I) && mayChangeFiles(*I))
      return I == &Write ? "it may be written twice"
                         : "something between the read and the write may "
                           "change the file";
  return "";
}

std::string Borrowing::whyNot(const Value &Buffer, const Uses &U) const {
  if (U.Others)
    return "the buffer is used for something else";
  if (U.Reads.size() != 1)
    return "there are several reads into the buffer";
  if (!isUsedOnlyHere(Buffer))
    return "the buffer is known outside the region";
  CallBase &Read = *U.Reads.front();
  for (CallBase *Write : U.Writes) {
    if (Write->getArgOperand(2) != &Read)
      return "what is written is not what the read returned";
    if (!isNotNegative(Read, *Write->getParent()))
      return "the read may have failed when its result is written";
    if (std::string Why = conflictBetween(Read, *Write); !Why.empty())
      return Why;
  }
  return "";
}

/// \returns the address from which \p V, which equals it, was derived: a
/// pointer to its first member.
static const Value *withoutZeroIndices(const Value *V) {
  auto *GEP = dyn_cast<GetElementPtrInst>(V);
  while (GEP && GEP->hasAllZeroIndices()) {
    V = GEP->getPointerOperand();
    GEP = dyn_cast<GetElementPtrInst>(V);
  }
  return V;
}

/// \returns the uses in \p Body of each variable. A static one may have many in
/// other functions, which are not visited.
static DenseMap<const Value *, Uses> usesOfVariables(Function &Body,
                                                     const Region &R) {
  DenseMap<const Value *, Uses> Found;
  for (Instruction &I : instructions(Body)) {
    auto *GEP = dyn_cast<GetElementPtrInst>(&I);
    if (GEP && GEP->hasAllZeroIndices())
      continue;
    auto *CB = dyn_cast<CallBase>(&I);
    Kind K = CB ? classify(*CB) : Kind::Other;
    for (const Use &Operand : I.operands()) {
      if (!Operand->getType()->isPointerTy())
        continue;
      const Value *V = withoutZeroIndices(Operand);
      const Value *Object = isa<Constant>(V) ? getUnderlyingObject(V) : V;
      if (!variableOf(Object, R))
        continue;
      Uses &U = Found[Object];
      if ((K == Kind::Read || K == Kind::Write) && V == Object &&
          &Operand == &CB->getArgOperandUse(1))
        (K == Kind::Read ? U.Reads : U.Writes).push_back(CB);
      else
        U.Others = true;
    }
  }
  return Found;
}

std::vector<ReadBuffer>
findBorrowed(Function &Body, const Region &R, const DominatorTree &DT,
             function_ref<bool(const Function *)> Ignored) {
  std::vector<ReadBuffer> List;
  SmallPtrSet<const Value *, 4> Done;
  Borrowing B(Body, R, DT, Ignored);
  DenseMap<const Value *, Uses> Variables;
  for (Instruction &I : instructions(Body)) {
    auto *Read = dyn_cast<CallBase>(&I);
    if (!Read || classify(*Read) != Kind::Read)
      continue;
    const Value *Buffer = Read->getArgOperand(1)->stripPointerCasts();
    if (!variableOf(Buffer, R) || !Done.insert(Buffer).second)
      continue;
    if (Variables.empty())
      Variables = usesOfVariables(Body, R);
    const Uses &U = Variables[Buffer];
    ReadBuffer Found;
    Found.Loc = Read->getDebugLoc();
    Found.Why = B.whyNot(*Buffer, U);
    Found.Written = !U.Writes.empty();
    if (Found.Why.empty())
      for (CallBase *CB : concat<CallBase *const>(U.Reads, U.Writes))
        CB->setMetadata(BorrowMark, MDNode::get(Body.getContext(), {}));
    List.push_back(std::move(Found));
  }
  return List;
}

} // namespace cosy
