// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Replies.cpp - Sends and receives that are one operation ------------===//
//
// The search follows the one path that the function takes after a send() that
// has sent all its bytes. Nothing on that path may be visible to others, or
// depend on what they do meanwhile: a load of memory could have another value
// when the send() has returned. So the arguments of the recv() have to be
// computable before the send() from values that the function has already.
//
//===----------------------------------------------------------------------===//
#include "async/Replies.h"
#include "async/Parts.h"
#include "body/Recognise.h"
#include "support/LlvmCompat.h"
#include "support/Names.h"
#include "support/SystemCalls.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>
#include <sys/syscall.h>

using namespace llvm;

namespace cosy {

namespace {

/// The path of a function from a send() to the next recv().
class Path {
public:
  Path(CallInst &Send, const DominatorTree &DT)
      : Send(Send), SendArgs(systemCallShape(Send).Args), DT(DT) {}

  /// \returns the recv() at the end of the path, or null. Its buffer and its
  /// size are available() then.
  CallInst *follow();
  /// \returns \p V, an argument of the recv(), as a value before the send().
  Value *materialize(Value *V) { return materialize(V, Steps); }
  const CallShape &receive() const { return Shape; }

private:
  bool enter(BasicBlock &To);
  BasicBlock *successor(Instruction &Terminator);
  ConstantInt *evaluate(Value *Condition);
  std::optional<bool> compareResult(const ICmpInst &Compare);
  bool isHarmless(const Instruction &I);
  bool isReceive(CallInst &CI);
  bool isOnPath(const Value *V, unsigned Before) const;
  Value *withoutCopies(Value *V, unsigned &Before) const;
  Value *origin(Value *V, unsigned Before) const;
  bool isLength(Value *V, unsigned Before) const;
  bool isAvailable(Value *V, unsigned Before, unsigned Depth = 0) const;
  Value *materialize(Value *V, unsigned Before);

  CallInst &Send;
  const SmallVector<Value *, 6> SendArgs;
  const DominatorTree &DT;
  CallShape Shape;
  /// When the instructions of the path are executed. A phi has the time of the
  /// edge, and its incoming value there.
  DenseMap<const Value *, unsigned> Time;
  DenseMap<const Value *, Value *> Incoming;
  SmallPtrSet<const BasicBlock *, 8> Entered;
  SmallPtrSet<const Value *, 4> Ended; ///< variables whose lifetime changes
  unsigned Steps = 0;
};

} // namespace

/// \returns true if \p V was computed on the path before the time \p Before.
bool Path::isOnPath(const Value *V, unsigned Before) const {
  auto It = Time.find(V);
  return It != Time.end() && It->second < Before;
}

/// Looks through the phis of the path. \p Before becomes the time at which the
/// result is read.
Value *Path::withoutCopies(Value *V, unsigned &Before) const {
  while (isOnPath(V, Before)) {
    auto It = Incoming.find(V);
    if (It == Incoming.end())
      break;
    Before = Time.lookup(V);
    V = It->second;
  }
  return V;
}

/// \returns true if \p V, as it is at the time \p Before, can be computed
/// before the send().
bool Path::isAvailable(Value *V, unsigned Before, unsigned Depth) const {
  constexpr unsigned MaxDepth = 4;
  V = withoutCopies(V, Before);
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return true;
  if (!isOnPath(I, Before))
    return DT.dominates(I, &Send);
  if (Depth == MaxDepth || isa<PHINode>(I) || I->mayReadFromMemory() ||
      !isSafeToSpeculativelyExecute(I))
    return false;
  unsigned At = Time.lookup(I);
  return all_of(I->operands(),
                [&](Value *Op) { return isAvailable(Op, At, Depth + 1); });
}

Value *Path::materialize(Value *V, unsigned Before) {
  V = withoutCopies(V, Before);
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !isOnPath(I, Before))
    return V;
  Instruction *Copy = I->clone();
  for (Use &U : Copy->operands())
    U.set(materialize(U.get(), Time.lookup(I)));
  Copy->insertBefore(Send.getIterator());
  Copy->setDebugLoc(Send.getDebugLoc());
  return Copy;
}

/// \returns true if \p V is a cast between integers that keeps the result of
/// the send(), which is positive and below 2^31.
static bool keepsResult(const Value *V) {
  auto IsWide = [](Type *Ty) {
    return Ty->isIntegerTy() && Ty->getIntegerBitWidth() >= 32;
  };
  auto *Cast = dyn_cast<CastInst>(V);
  return Cast && isa<TruncInst, SExtInst, ZExtInst>(Cast) &&
         IsWide(Cast->getDestTy()) && IsWide(Cast->getSrcTy());
}

/// Looks through such casts and the phis of the path. \returns null if the
/// result is computed on the path.
Value *Path::origin(Value *V, unsigned Before) const {
  for (;;) {
    V = withoutCopies(V, Before);
    if (!keepsResult(V))
      return isOnPath(V, Before) ? nullptr : V;
    if (isOnPath(V, Before))
      Before = Time.lookup(V);
    V = cast<CastInst>(V)->getOperand(0);
  }
}

/// \returns true if \p V equals the length of the send(), if that is positive
/// and below 2^31. The length may be an extension of \p V, but a value of which
/// it is a truncation may be another one.
bool Path::isLength(Value *V, unsigned Before) const {
  Value *Length = SendArgs[2];
  while (isa<SExtInst, ZExtInst>(Length) && keepsResult(Length))
    Length = cast<CastInst>(Length)->getOperand(0);
  for (;;) {
    V = withoutCopies(V, Before);
    bool OnPath = isOnPath(V, Before);
    if (V == Length && !OnPath)
      return true;
    if (!keepsResult(V))
      return false;
    if (OnPath)
      Before = Time.lookup(V);
    V = cast<CastInst>(V)->getOperand(0);
  }
}

/// \returns the value of \p Compare if that is known: it compares the result of
/// the send(), which has sent all bytes, with their number, or with 0, 1 or -1.
std::optional<bool> Path::compareResult(const ICmpInst &Compare) {
  Value *L = Compare.getOperand(0), *R = Compare.getOperand(1);
  unsigned At = Time.lookup(&Compare);
  CmpInst::Predicate P = Compare.getPredicate();
  if (origin(L, At) != &Send) {
    std::swap(L, R);
    P = CmpInst::getSwappedPredicate(P);
  }
  if (origin(L, At) != &Send)
    return std::nullopt;
  if (isLength(R, At))
    return CmpInst::isTrueWhenEqual(P);
  auto *C = dyn_cast<ConstantInt>(withoutCopies(R, At));
  if (!C)
    return std::nullopt;
  if (C->isZero() || (C->isMinusOne() && !CmpInst::isUnsigned(P)))
    return P == CmpInst::ICMP_NE || ICmpInst::isGT(P) || ICmpInst::isGE(P);
  if (C->isOne() && P == CmpInst::ICMP_SLT)
    return false;
  if (C->isOne() && P == CmpInst::ICMP_SGE)
    return true;
  return std::nullopt;
}

/// \returns true if \p V is the flag with which libcosy asks a function to
/// choose how it goes on, see addChoices().
static bool isTaskFlag(const Value *V) {
  auto *Load = dyn_cast<LoadInst>(V);
  auto *Asks = Load ? dyn_cast<CallInst>(Load->getPointerOperand()) : nullptr;
  const Function *F = Asks ? Asks->getCalledFunction() : nullptr;
  return F && F->getName() == AsyncAsksMarker;
}

/// \returns the value of \p Condition at the present place of the path if that
/// is known, or null.
ConstantInt *Path::evaluate(Value *Condition) {
  unsigned Before = Steps;
  Value *V = withoutCopies(Condition, Before);
  if (auto *C = dyn_cast<ConstantInt>(V))
    return C;
  auto *Compare = dyn_cast<ICmpInst>(V);
  if (!Compare || !isOnPath(Compare, Before))
    return nullptr;
  std::optional<bool> Result;
  unsigned At = Time.lookup(Compare), AtOther = At;
  auto *L = dyn_cast<ConstantInt>(withoutCopies(Compare->getOperand(0), At));
  auto *R =
      dyn_cast<ConstantInt>(withoutCopies(Compare->getOperand(1), AtOther));
  if (L && R)
    Result = ICmpInst::compare(L->getValue(), R->getValue(),
                               Compare->getPredicate());
  // libcosy makes no reply if the flag of the task is set.
  else if (isTaskFlag(Compare->getOperand(0)))
    Result = Compare->getPredicate() == CmpInst::ICMP_EQ;
  else
    Result = compareResult(*Compare);
  return Result ? ConstantInt::getBool(Compare->getContext(), *Result)
                : nullptr;
}

/// \returns true if nothing sees when \p I is executed, and nothing else
/// changes what it computes.
bool Path::isHarmless(const Instruction &I) {
  if (isa<DbgInfoIntrinsic>(I))
    return true;
  if (I.isLifetimeStartOrEnd()) {
    Ended.insert(lifetimeVariable(*cast<CallInst>(&I)));
    return true;
  }
  return isTaskFlag(&I) ||
         (isSafeToSpeculativelyExecute(&I) && !I.mayReadOrWriteMemory());
}

static bool isZero(const Value *V) {
  auto *C = dyn_cast<Constant>(V);
  return C && C->isNullValue();
}

/// \returns true if \p CI is a recv() from the descriptor of the send(), whose
/// other arguments are available.
bool Path::isReceive(CallInst &CI) {
  Shape = systemCallShape(CI);
  if (!mayWait(CI) || !Shape.Call || Shape.Call->Number != SYS_recvfrom ||
      !isZero(Shape.Args[4]))
    return false;
  if (!isZero(Shape.Args[3]) || origin(Shape.Args[0], Steps) != SendArgs[0])
    return false;
  Value *Buffer = Shape.Args[1];
  return isAvailable(Buffer, Steps) && isAvailable(Shape.Args[2], Steps) &&
         !Ended.count(getUnderlyingObject(Buffer));
}

/// Goes from the present block to \p To. \returns false if the path was there.
bool Path::enter(BasicBlock &To) {
  if (!Entered.insert(&To).second)
    return false;
  ++Steps;
  return true;
}

/// \returns the block that follows \p Terminator on the path, or null.
BasicBlock *Path::successor(Instruction &Terminator) {
  if (auto *Switch = dyn_cast<SwitchInst>(&Terminator)) {
    ConstantInt *Value = evaluate(Switch->getCondition());
    return Value ? Switch->findCaseValue(Value)->getCaseSuccessor() : nullptr;
  }
  auto *Branch = dyn_cast<BranchInst>(&Terminator);
  if (!Branch || Branch->isUnconditional())
    return Branch ? Branch->getSuccessor(0) : nullptr;
  ConstantInt *Taken = evaluate(Branch->getCondition());
  return Taken ? Branch->getSuccessor(Taken->isOne() ? 0 : 1) : nullptr;
}

CallInst *Path::follow() {
  BasicBlock::iterator It = std::next(Send.getIterator());
  BasicBlock *BB = Send.getParent();
  for (;;) {
    for (; !It->isTerminator(); ++It) {
      if (auto *CI = dyn_cast<CallInst>(&*It); CI && isReceive(*CI))
        return CI;
      if (&*It == &Send || !isHarmless(*It))
        return nullptr;
      Time[&*It] = Steps++;
    }
    BasicBlock *Next = successor(*It);
    if (!Next || !enter(*Next))
      return nullptr;
    for (PHINode &Phi : Next->phis()) {
      Time[&Phi] = Steps - 1;
      Incoming[&Phi] = Phi.getIncomingValueForBlock(BB);
    }
    BB = Next;
    It = firstNonPhi(*BB)->getIterator();
  }
}

/// \returns true if \p I is a send() without an address.
static bool isSend(const Instruction &I) {
  auto *CI = dyn_cast<CallInst>(&I);
  if (!CI || !mayWait(I))
    return false;
  CallShape Shape = systemCallShape(*CI);
  return Shape.Call->Number == SYS_sendto && isZero(Shape.Args[4]);
}

std::vector<Reply> findReplies(Function &F) {
  std::vector<Reply> Replies;
  DominatorTree DT(F);
  SmallVector<CallInst *, 4> Sends;
  for (Instruction &I : instructions(F))
    if (isSend(I))
      Sends.push_back(cast<CallInst>(&I));
  for (CallInst *Send : Sends) {
    Path P(*Send, DT);
    CallInst *Receive = P.follow();
    if (!Receive)
      continue;
    Value *Buffer = P.materialize(P.receive().Args[1]);
    Replies.push_back(
        {Send, Receive, Buffer, P.materialize(P.receive().Args[2])});
  }
  return Replies;
}

} // namespace cosy
