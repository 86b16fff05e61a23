// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FastPaths.cpp - Hints for the module's fast paths ------------------===//
#include "body/FastPaths.h"
#include "body/Operations.h"
#include "body/Recognise.h"
#include "body/UpCalls.h"
#include "support/Costs.h"
#include "support/LlvmCompat.h"
#include "support/Names.h"
#include "support/SystemCalls.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

#include <cosy/format.h>

#define DEBUG_TYPE "cosy-fast-paths"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumJoined, "Seeks that were joined with a read or write");
STATISTIC(NumPrivate, "Files that are private");
STATISTIC(NumRest, "Reads of the rest of a file");

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

/// Metadata of the first instruction of an up-call that makes a private file an
/// ordinary one.
static constexpr StringLiteral PublishesName = "cosy.publishes";

bool publishesFile(const Instruction &I) {
  return I.getMetadata(PublishesName);
}

/// Function metadata: a FastNote each.
static constexpr StringLiteral NoteName = "cosy.note";

/// \returns \p Loc as a node of its line, column, scope and place of inlining:
/// LLVM allows no DILocation in other metadata.
static MDNode *asNode(const DILocation *Loc) {
  if (!Loc)
    return nullptr;
  LLVMContext &Ctx = Loc->getContext();
  auto Number = [&](unsigned N) {
    return ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(Ctx), N));
  };
  return MDNode::get(Ctx, {Number(Loc->getLine()), Number(Loc->getColumn()),
                           Loc->getScope(), asNode(Loc->getInlinedAt())});
}

/// The reverse of asNode().
static DILocation *asLocation(const Metadata *M) {
  auto *Node = cast_or_null<MDNode>(M);
  if (!Node)
    return nullptr;
  auto Number = [&](unsigned N) {
    return mdconst::extract<ConstantInt>(Node->getOperand(N))->getZExtValue();
  };
  return DILocation::get(Node->getContext(), Number(0), Number(1),
                         cast<DILocalScope>(Node->getOperand(2)),
                         asLocation(Node->getOperand(3)));
}

/// Adds the note \p Text about \p Call: what was \p Chosen, or why it was not.
static void addNote(CallBase &Call, bool Chosen, const Twine &Text) {
  LLVMContext &Ctx = Call.getContext();
  Constant *Flag = ConstantInt::getBool(Ctx, Chosen);
  Call.getFunction()->addMetadata(
      NoteName, *MDNode::get(Ctx, {asNode(Call.getDebugLoc()),
                                   ConstantAsMetadata::get(Flag),
                                   MDString::get(Ctx, Text.str())}));
}

SmallVector<FastNote, 0> fastNotesOf(const Function &Body) {
  SmallVector<FastNote, 0> Notes;
  SmallVector<MDNode *, 8> Nodes;
  Body.getMetadata(NoteName, Nodes);
  for (const MDNode *N : Nodes)
    Notes.push_back({asLocation(N->getOperand(0)),
                     mdconst::extract<ConstantInt>(N->getOperand(1))->isOne(),
                     cast<MDString>(N->getOperand(2))->getString()});
  return Notes;
}

namespace {

class Finder {
public:
  Finder(Function &Body, const LoopInfo &LI) : Body(Body), LI(LI) {}
  void run();

private:
  void findPrivate(CallBase &Open);
  void findRest(CallBase &Read);

  Function &Body;
  const LoopInfo &LI;
  SmallPtrSet<const Value *, 8> PrivateFds;
};

} // namespace

//===----------------------------------------------------------------------===//
// Private files
//===----------------------------------------------------------------------===//

/// Returns true if \p Call can find a private file by its first argument.
static bool acceptsPrivate(StringRef Call) {
  return StringSwitch<bool>(Call)
      .Case("read", true)
      .Case("pread64", true)
      .Case("write", true)
      .Case("pwrite64", true)
      .Case("lseek", true)
      .Case("fstat", true)
      .Case("close", true)
      .Default(false);
}

/// Returns how \p I makes the descriptor \p Fd visible to other code; empty if
/// it does not. \p Closes is set if \p I closes it, \p Copy if \p I is a copy.
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
  const SystemCall *Call = systemCallOf(*CB);
  if (!Call)
    return "is given to a function";
  for (auto [N, Arg] : enumerate(CB->args()))
    if (Arg == Fd && (N || !acceptsPrivate(Call->Name)))
      return ("is given to " + Call->Name).str();
  Closes |= Call->Name == "close";
  return "";
}

/// \returns the up-calls that can be the first one after \p Open and before a
/// call that closes one of \p Fds.
static SmallVector<Instruction *, 2>
upCallsWhileOpen(CallBase &Open, const SmallSetVector<const Value *, 8> &Fds) {
  SmallVector<Instruction *, 2> Found;
  SmallSetVector<BasicBlock *, 16> Reached;
  auto Scan = [&](BasicBlock &BB, Instruction *I) {
    for (; I; I = I->getNextNode()) {
      if (upCallOf(*I)) {
        Found.push_back(I);
        return;
      }
      const SystemCall *Call = isSystemCall(*I) ? systemCallOf(*I) : nullptr;
      if (Call && Call->Name == "close" && Fds.count(I->getOperand(0)))
        return;
    }
    Reached.insert(succ_begin(&BB), succ_end(&BB));
  };
  Scan(*Open.getParent(), Open.getNextNode());
  for (unsigned N = 0; N < Reached.size(); ++N)
    Scan(*Reached[N], &Reached[N]->front());
  return Found;
}

/// Marks a descriptor as private if it is opened and closed here, and only used
/// by calls of the compound and by comparisons. When the region is left, for an
/// up-call or at an exit, it becomes an ordinary descriptor.
void Finder::findPrivate(CallBase &Open) {
  SmallSetVector<const Value *, 8> Fds;
  std::string Why;
  bool Closes = false;
  Fds.insert(&Open);
  for (unsigned N = 0; N < Fds.size(); ++N)
    for (const User *U : Fds[N]->users()) {
      auto *I = cast<Instruction>(U);
      if (upCallOf(*I))
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
    return addNote(Open, false, "the descriptor is not private: it " + Why);
  ++NumPrivate;
  addHints(Open, COSY_HINT_PRIVATE);
  PrivateFds.insert(Fds.begin(), Fds.end());
  std::string Published;
  for (Instruction *I : upCallsWhileOpen(Open, Fds)) {
    if (Published.empty()) {
      Published = "; an up-call before the close";
      if (const DebugLoc &Loc = I->getDebugLoc())
        Published += ", in line " + std::to_string(Loc.getLine()) + ",";
      Published += " makes it an ordinary one each time, which costs about " +
                   std::to_string(PublishCost) + " instructions";
    }
    I->setMetadata(PublishesName, MDNode::get(I->getContext(), {}));
  }
  addNote(Open, true,
          "the descriptor is private: it is closed here and passed to no other "
          "code" +
              Published);
}

//===----------------------------------------------------------------------===//
// Joined calls
//===----------------------------------------------------------------------===//

/// Returns true if \p I loads a variable that the program accesses by name. No
/// system call writes to such a variable.
static bool isLoadOfVariable(const Instruction &I) {
  auto *Load = dyn_cast<LoadInst>(&I);
  return Load && Load->isSimple() &&
         isa<GlobalVariable, AllocaInst>(
             getUnderlyingObject(Load->getPointerOperand()));
}

/// Returns true if \p I, after the system call \p Call, has the value of \p Fd,
/// which was loaded from the same variable before the call.
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
static bool canMoveBefore(const Instruction &I, const CallBase &Call) {
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

/// Joins \p Seek with a read or write of the same file that directly follows.
/// No other code reads the position between them, so it need not be set.
static void joinWithNext(CallBase &Seek) {
  const DataLayout &DL = Seek.getDataLayout();
  Value *SeekFd = Seek.getArgOperand(0);
  auto *Whence = dyn_cast<ConstantInt>(Seek.getArgOperand(2));
  if (!Whence || !Whence->isZero())
    return;
  SmallVector<Instruction *, 8> Before;
  SmallPtrSet<const Value *, 2> SameFd{SeekFd};
  bool Branched = false;
  for (Instruction *I = Seek.getNextNode(); I;) {
    if (auto *CB = dyn_cast<CallBase>(I); CB && isSystemCall(*I)) {
      const SystemCall *Next = systemCallOf(*I);
      if ((Next->Name != "read" && Next->Name != "write") ||
          !SameFd.count(CB->getArgOperand(0)))
        return;
      for (Instruction *B : Before) {
        B->moveBefore(*Seek.getParent(), Seek.getIterator());
        if (SameFd.count(B))
          B->replaceAllUsesWith(SeekFd);
      }
      addHints(Seek, COSY_HINT_JOIN);
      ++NumJoined;
      return addNote(Seek, true, "joined with the " + Next->Name + " after it");
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
      if (!canMoveBefore(*I, Seek))
        return addNote(
            Seek, false,
            "not joined with a call after it: something else is done "
            "between them");
      Before.push_back(I);
      if (isSameLoad(*I, SeekFd, Seek))
        SameFd.insert(I);
    }
    I = I->getNextNode();
  }
}

PreservedAnalyses JoinCallsPass::runOnBody(Function &Body,
                                           FunctionAnalysisManager &) {
  // The body may have changed since an earlier run.
  Body.eraseMetadata(Body.getContext().getMDKindID(NoteName));
  SmallVector<CallBase *, 8> Seeks;
  for (Instruction &I : instructions(Body)) {
    I.setMetadata(HintsName, nullptr);
    if (const SystemCall *Call = systemCallOf(I); Call && Call->Name == "lseek")
      Seeks.push_back(cast<CallBase>(&I));
  }
  if (Body.hasFnAttribute(NoFastAttribute))
    return PreservedAnalyses::all();
  // Joining moves and replaces loads, but erases no call.
  for (CallBase *Seek : Seeks)
    joinWithNext(*Seek);
  return Seeks.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

//===----------------------------------------------------------------------===//
// Reads up to the end of a file
//===----------------------------------------------------------------------===//

/// \returns true if \p V grows by \p Read's result in each iteration of \p L.
static bool growsBy(const Value *V, const CallBase &Read, const Loop &L) {
  const DataLayout &DL = Read.getDataLayout();
  // The offset of V from an invariant address, if it is one variable.
  auto OffsetFrom = [&](const Value *P, const Value *Base) -> const Value * {
    auto *GEP = dyn_cast<GEPOperator>(P);
    VariableOffsets Variable;
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
static bool continuesIfFull(const CallBase &Read, const ConstantInt &Size,
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

/// Finds a loop that only reads a private file to its end, piece by piece. No
/// code can observe whether the file is read at once.
void Finder::findRest(CallBase &Read) {
  const Loop *L = LI.getLoopFor(Read.getParent());
  Value *Fd = Read.getArgOperand(0);
  if (!L || !L->isInnermost() || !PrivateFds.count(Fd) ||
      !L->isLoopInvariant(Fd))
    return;
  auto *Size = dyn_cast<ConstantInt>(Read.getArgOperand(2));
  if (!Size || !Size->getValue().isStrictlyPositive())
    return addNote(Read, false, "not read at once: not always the same size");
  if (!continuesIfFull(Read, *Size, *L))
    return addNote(Read, false,
                   "not read at once: the loop may end before the "
                   "end of the file");
  for (const BasicBlock *BB : L->blocks())
    for (const Instruction &I : *BB)
      if (&I != &Read && !isa<DbgInfoIntrinsic>(I) &&
          (I.mayReadOrWriteMemory() || upCallOf(I)))
        return addNote(Read, false,
                       "not read at once: the loop does more than "
                       "read");
  if (!growsBy(Read.getArgOperand(1), Read, *L))
    return addNote(Read, false,
                   "not read at once: the pieces do not follow each "
                   "other in memory");
  ++NumRest;
  addHints(Read, COSY_HINT_REST);
  addNote(Read, true, "reads on to the end of the file are made at once");
}

void Finder::run() {
  SmallVector<CallBase *, 16> Calls;
  for (Instruction &I : instructions(Body))
    if (isSystemCall(I))
      Calls.push_back(cast<CallBase>(&I));
  for (CallBase *CB : Calls)
    if (StringRef Name = systemCallOf(*CB)->Name;
        Name == "open" || Name == "openat")
      findPrivate(*CB);
  for (CallBase *CB : Calls)
    if (systemCallOf(*CB)->Name == "read")
      findRest(*CB);
}

/// Adds the hint BORROW to the calls of \p Body that findBorrowed() has marked,
/// if all calls of their buffer still have the mark.
static void hintBorrowed(Function &Body) {
  SmallPtrSet<const Value *, 4> Buffers;
  auto IsMarked = [&](const User *U) {
    auto *CB = dyn_cast<CallBase>(U);
    return CB && CB->getMetadata(BorrowMark);
  };
  for (Instruction &I : instructions(Body))
    if (IsMarked(&I))
      Buffers.insert(cast<CallBase>(I).getArgOperand(1));
  for (const Value *Buffer : Buffers) {
    SmallVector<CallBase *, 4> Calls;
    bool Whole = true;
    for (const User *U : Buffer->users()) {
      auto *I = const_cast<Instruction *>(dyn_cast<Instruction>(U));
      if (I && I->getFunction() != &Body)
        continue;
      Whole &= I && IsMarked(I);
      if (Whole)
        Calls.push_back(cast<CallBase>(I));
    }
    // The mark is lost if two calls were merged.
    if (Whole && (isa<Argument>(Buffer) || isa<GlobalVariable>(Buffer)))
      for (CallBase *CB : Calls)
        addHints(*CB, COSY_HINT_BORROW);
  }
}

PreservedAnalyses FastPathsPass::runOnBody(Function &Body,
                                           FunctionAnalysisManager &FAM) {
  if (Body.hasFnAttribute(NoFastAttribute)) {
    for (Instruction &I : instructions(Body))
      if (isSystemCall(I))
        addHints(cast<CallBase>(I), COSY_HINT_PLAIN);
    return PreservedAnalyses::all();
  }
  Finder(Body, FAM.getResult<LoopAnalysis>(Body)).run();
  hintBorrowed(Body);
  return PreservedAnalyses::all();
}

} // namespace cosy
