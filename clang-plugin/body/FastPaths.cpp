// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FastPaths.cpp - What the module may do with less work --------------===//
#include "body/FastPaths.h"
#include "SystemCalls.h"
#include "body/Operations.h"
#include "body/SystemCallShape.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

#include <cosy/format.h>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cosy {

static constexpr StringLiteral HintsName = "cosy.hints";

unsigned hintsOf(const CallBase &Call) {
  const MDNode *N = Call.getMetadata(HintsName);
  return N ? mdconst::extract<ConstantInt>(N->getOperand(0))->getZExtValue()
           : 0;
}

void addHints(CallBase &Call, unsigned Hints) {
  LLVMContext &Ctx = Call.getContext();
  Constant *All =
      ConstantInt::get(Type::getInt32Ty(Ctx), hintsOf(Call) | Hints);
  Call.setMetadata(HintsName, MDNode::get(Ctx, ConstantAsMetadata::get(All)));
}

void forbidFastPaths(Function &Body) {
  for (Instruction &I : instructions(Body))
    if (isSystemCall(I))
      addHints(cast<CallBase>(I), COSY_HINT_PLAIN);
}

namespace {

class Finder {
public:
  Finder(Function &Body, const LoopInfo &LI, const UpCallList &UpCalls,
         std::vector<FastNote> &Notes)
      : Body(Body), LI(LI), UpCalls(UpCalls), Notes(Notes) {}
  void run();

private:
  void findPrivate(CallBase &Open);
  void findRest(CallBase &Read, const CallShape &Shape);
  void note(const CallBase &Call, bool Chosen, const Twine &Text) {
    Notes.push_back({Call.getDebugLoc(), Chosen, Text.str()});
  }

  Function &Body;
  const LoopInfo &LI;
  const UpCallList &UpCalls;
  std::vector<FastNote> &Notes;
  SmallPtrSet<const Value *, 8> PrivateFds;
};

} // namespace

//===----------------------------------------------------------------------===//
// Private files
//===----------------------------------------------------------------------===//

/// Calls that find private files by their first argument.
static bool takesPrivate(StringRef Call) {
  return StringSwitch<bool>(Call)
      .Cases("read", "pread64", "write", "pwrite64", true)
      .Cases("lseek", "fstat", "close", true)
      .Default(false);
}

/// What \p I does with the descriptor \p Fd that makes others see it; empty if
/// nothing. \p Closes is set if it closes it, \p Copy if it is one.
static std::string whyNotPrivate(const Instruction &I, const Value *Fd,
                                 bool &Closes, bool &Copy) {
  if (isa<PHINode, SelectInst, FreezeInst, SExtInst, ZExtInst>(I)) {
    Copy = true;
    return "";
  }
  if (isa<ICmpInst>(I))
    return "";
  if (auto *SI = dyn_cast<StoreInst>(&I); SI && SI->getValueOperand() == Fd)
    return "is stored in memory";
  auto *CB = dyn_cast<CallBase>(&I);
  if (!CB)
    return "is computed with";
  if (CB->getCalledFunction() &&
      CB->getCalledFunction()->getName() == ExitMarker)
    return "";
  CallShape Shape = systemCallShape(*CB);
  if (!Shape.Call)
    return "is given to a function";
  for (auto [N, Arg] : enumerate(Shape.Args))
    if (Arg == Fd && (N || !takesPrivate(Shape.Call->Name)))
      return ("is given to " + Shape.Call->Name).str();
  Closes |= Shape.Call->Name == "close";
  return "";
}

/// A descriptor that is opened and closed here, and goes only to calls that the
/// compound makes on it and to comparisons, is nobody else's business. Where
/// the region is left, for an up-call or for good, it becomes an ordinary one.
void Finder::findPrivate(CallBase &Open) {
  SmallSetVector<const Value *, 8> Fds;
  std::string Why;
  bool Closes = false;
  Fds.insert(&Open);
  for (unsigned N = 0; N < Fds.size(); ++N)
    for (const User *U : Fds[N]->users()) {
      auto *I = cast<Instruction>(U);
      if (UpCalls.Of.count(const_cast<Instruction *>(I)))
        continue;
      bool Copy = false;
      std::string This = whyNotPrivate(*I, Fds[N], Closes, Copy);
      if (Why.empty())
        Why = This;
      if (Copy)
        Fds.insert(I);
    }
  if (!Closes)
    return;
  if (!Why.empty())
    return note(Open, false, "the descriptor is not private: it " + Why);
  addHints(Open, COSY_HINT_PRIVATE);
  PrivateFds.insert(Fds.begin(), Fds.end());
  note(Open, true,
       "the descriptor is private: it is closed here and passed to no other "
       "code");
}

//===----------------------------------------------------------------------===//
// Joined calls
//===----------------------------------------------------------------------===//

/// The value in a variable that only the program itself names: no call writes
/// to it that is a system call.
static bool isLoadOfVariable(const Instruction &I) {
  auto *Load = dyn_cast<LoadInst>(&I);
  return Load && Load->isSimple() &&
         isa<GlobalVariable, AllocaInst>(
             getUnderlyingObject(Load->getPointerOperand()));
}

/// Has \p I, after the system call \p Call, the value of \p Fd, loaded before
/// it from the same variable?
static bool isSameLoad(const Instruction &I, const Value *Fd,
                       const CallBase &Call) {
  auto *Load = dyn_cast<LoadInst>(&I);
  auto *First = dyn_cast_or_null<LoadInst>(Fd);
  if (!Load || !First || !isLoadOfVariable(I) || !isLoadOfVariable(*First) ||
      Load->getPointerOperand() != First->getPointerOperand() ||
      Load->getType() != First->getType() ||
      First->getParent() != Call.getParent())
    return false;
  for (const Instruction *N = First->getNextNode(); N != &Call;
       N = N->getNextNode())
    if (!N || N->mayWriteToMemory())
      return false;
  return true;
}

/// \returns true if \p I may be moved before the system call \p Call.
static bool mayGoBefore(const Instruction &I, const CallBase &Call) {
  return (!I.mayReadOrWriteMemory() || isLoadOfVariable(I)) &&
         !isa<PHINode>(I) && !I.isTerminator() &&
         isSafeToSpeculativelyExecute(&I) && !is_contained(I.operands(), &Call);
}

/// \returns the successor of \p Br if \p Seek has not failed, or null.
static BasicBlock *whereItSucceeds(const BranchInst &Br, const CallBase &Seek) {
  if (!Br.isConditional())
    return nullptr;
  auto *Cmp = dyn_cast<ICmpInst>(Br.getCondition());
  auto *C = Cmp ? dyn_cast<ConstantInt>(Cmp->getOperand(1)) : nullptr;
  if (!C || Cmp->getOperand(0) != &Seek || !Cmp->hasOneUse())
    return nullptr;
  ICmpInst::Predicate P = Cmp->getPredicate();
  bool Fails = (P == ICmpInst::ICMP_EQ && C->isMinusOne()) ||
               (P == ICmpInst::ICMP_SLT && C->isZero());
  bool Succeeds = (P == ICmpInst::ICMP_NE && C->isMinusOne()) ||
                  (P == ICmpInst::ICMP_SGT && C->isMinusOne());
  if (!Fails && !Succeeds)
    return nullptr;
  BasicBlock *To = Br.getSuccessor(Fails);
  return To->getSinglePredecessor() ? To : nullptr;
}

/// Joins \p Seek with a read or write of the same file that follows at once:
/// nobody else has a look at the position, so it need not be set before.
static void joinWithNext(CallBase &Seek, const CallShape &Shape,
                         std::vector<FastNote> &Notes) {
  const DataLayout &DL = Seek.getDataLayout();
  auto Note = [&](bool Chosen, const Twine &Text) {
    Notes.push_back({Seek.getDebugLoc(), Chosen, Text.str()});
  };
  auto *Whence = dyn_cast_or_null<ConstantInt>(Shape.Args[2]);
  if (!(Whence ? Whence->isZero() : !Shape.Args[2] && !Shape.Consts[2].Imm))
    return;
  SmallVector<Instruction *, 8> Before;
  SmallPtrSet<const Value *, 2> SameFd{Shape.Args[0]};
  bool Branched = false;
  for (Instruction *I = Seek.getNextNode(); I;) {
    if (auto *CB = dyn_cast<CallBase>(I); CB && isSystemCall(*I)) {
      CallShape Next = systemCallShape(*CB);
      if ((Next.Call->Name != "read" && Next.Call->Name != "write") ||
          !SameFd.count(Next.Args[0]) ||
          Next.Consts[0].Imm != Shape.Consts[0].Imm)
        return;
      for (Instruction *B : Before) {
        B->moveBefore(&Seek);
        if (SameFd.count(B))
          B->replaceAllUsesWith(Shape.Args[0]);
      }
      addHints(Seek, COSY_HINT_JOIN);
      return Note(true, "joined with the " + Next.Call->Name + " after it");
    }
    if (auto *Br = dyn_cast<BranchInst>(I)) {
      BasicBlock *To = Branched ? nullptr : whereItSucceeds(*Br, Seek);
      if (!To)
        return;
      Branched = true;
      I = &To->front();
      continue;
    }
    if (!isOperation(*I, DL))
      return;
    bool Tests = isa<ICmpInst>(I) && I->getOperand(0) == &Seek &&
                 I->hasOneUse() && isa<BranchInst>(I->user_back());
    if (!Tests && !isa<DbgInfoIntrinsic>(I)) {
      if (!mayGoBefore(*I, Seek))
        return Note(false,
                    "not joined with a call after it: something else is done "
                    "between them");
      Before.push_back(I);
      if (isSameLoad(*I, Shape.Args[0], Seek))
        SameFd.insert(I);
    }
    I = I->getNextNode();
  }
}

void joinCalls(Function &Body, std::vector<FastNote> &Notes) {
  SmallVector<CallBase *, 8> Seeks;
  for (Instruction &I : instructions(Body)) {
    // The body may have changed since it was looked at before.
    I.setMetadata(HintsName, nullptr);
    auto *CB = dyn_cast<CallBase>(&I);
    if (CB && isSystemCall(I) && systemCallShape(*CB).Call->Name == "lseek")
      Seeks.push_back(CB);
  }
  // Joining moves and replaces loads; no call goes away.
  for (CallBase *Seek : Seeks)
    joinWithNext(*Seek, systemCallShape(*Seek), Notes);
}

//===----------------------------------------------------------------------===//
// The rest of a file
//===----------------------------------------------------------------------===//

/// \returns true if \p V grows by \p Read's result in each iteration of \p L.
static bool growsBy(const Value *V, const CallBase &Read, const Loop &L) {
  const DataLayout &DL = Read.getDataLayout();
  // The offset of V from what does not change: none, or one variable.
  auto OffsetFrom = [&](const Value *P, const Value *Base) -> const Value * {
    auto *GEP = dyn_cast<GEPOperator>(P);
    MapVector<Value *, APInt> Variable;
    APInt Constant(64, 0);
    if (!GEP ||
        (Base ? GEP->getPointerOperand() != Base
              : !L.isLoopInvariant(GEP->getPointerOperand())) ||
        !GEP->collectOffset(DL, 64, Variable, Constant) ||
        Variable.size() != 1 || !Variable.front().second.isOne() ||
        (Base && !Constant.isZero()))
      return nullptr;
    return Variable.front().first;
  };
  bool IsPointer = isa<PHINode>(V);
  auto *Phi = dyn_cast_or_null<PHINode>(IsPointer ? V : OffsetFrom(V, nullptr));
  const BasicBlock *Latch = L.getLoopLatch();
  if (!Phi || Phi->getParent() != L.getHeader() || !Latch)
    return false;
  const Value *Next = Phi->getIncomingValueForBlock(Latch);
  if (IsPointer)
    return OffsetFrom(Next, Phi) == &Read;
  return match(Next, m_c_Add(m_Specific(Phi), m_Specific(&Read)));
}

/// \returns true if \p L continues whenever \p Read has returned \p Size.
static bool goesOn(const CallBase &Read, const ConstantInt &Size,
                   const Loop &L) {
  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  return all_of(Exiting, [&](const BasicBlock *BB) {
    auto *Br = dyn_cast<BranchInst>(BB->getTerminator());
    auto *Cmp = Br && Br->isConditional()
                    ? dyn_cast<ICmpInst>(Br->getCondition())
                    : nullptr;
    auto *C = Cmp ? dyn_cast<ConstantInt>(Cmp->getOperand(1)) : nullptr;
    if (!C || Cmp->getOperand(0) != &Read)
      return false;
    bool Holds =
        ICmpInst::compare(Size.getValue(), C->getValue(), Cmp->getPredicate());
    return L.contains(Br->getSuccessor(!Holds));
  });
}

/// A loop that does nothing but read a private file to its end, piece after
/// piece: nobody can tell whether it is read at once.
void Finder::findRest(CallBase &Read, const CallShape &Shape) {
  const Loop *L = LI.getLoopFor(Read.getParent());
  if (!L || !L->isInnermost() || !Shape.Args[0] || !Shape.Args[1] ||
      !PrivateFds.count(Shape.Args[0]) || !L->isLoopInvariant(Shape.Args[0]))
    return;
  auto *Size = dyn_cast_or_null<ConstantInt>(Shape.Args[2]);
  if (!Size || !Size->getValue().isStrictlyPositive())
    return note(Read, false, "not read at once: not always the same size");
  if (!goesOn(Read, *Size, *L))
    return note(Read, false,
                "not read at once: the loop may end before the "
                "end of the file");
  for (const BasicBlock *BB : L->blocks())
    for (const Instruction &I : *BB)
      if (&I != &Read && !isa<DbgInfoIntrinsic>(I) &&
          (I.mayReadOrWriteMemory() || UpCalls.Of.count(&I)))
        return note(Read, false,
                    "not read at once: the loop does more than "
                    "read");
  if (!growsBy(Shape.Args[1], Read, *L))
    return note(Read, false,
                "not read at once: the pieces do not follow each "
                "other in memory");
  addHints(Read, COSY_HINT_REST);
  note(Read, true, "reads on to the end of the file are made at once");
}

void Finder::run() {
  SmallVector<std::pair<CallBase *, CallShape>, 16> Calls;
  for (Instruction &I : instructions(Body))
    if (isSystemCall(I) && !UpCalls.Of.count(&I))
      Calls.push_back({cast<CallBase>(&I), systemCallShape(cast<CallBase>(I))});
  for (auto &[CB, Shape] : Calls)
    if (Shape.Call->Name == "open" || Shape.Call->Name == "openat")
      findPrivate(*CB);
  for (auto &[CB, Shape] : Calls)
    if (Shape.Call->Name == "read")
      findRest(*CB, Shape);
}

void chooseFastPaths(Function &Body, const LoopInfo &LI,
                     const UpCallList &UpCalls, std::vector<FastNote> &Notes) {
  Finder(Body, LI, UpCalls, Notes).run();
}

} // namespace cosy
