// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Parts.cpp - Parts of coroutines that become compounds --------------===//
#include "async/Parts.h"
#include "body/LibraryCalls.h"
#include "body/Recognise.h"
#include "support/Copyable.h"
#include "support/LlvmCompat.h"
#include "support/Markers.h"
#include "support/Names.h"
#include "support/SystemCalls.h"
#include "support/UserFunctions.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cosy/calls.h>

using namespace llvm;

namespace cosy {

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// \returns the system call that \p I makes, or null. Those of regions are made
/// at once.
static const SystemCall *systemCallMadeBy(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  return CB && !CB->hasFnAttr(InRegionAttribute) ? systemCallShape(*CB).Call
                                                 : nullptr;
}

/// \returns how loops wait in the system call \p Name, from waits.def.
static StringRef waitKind(StringRef Name) {
  static const StringMap<StringRef> How = {
#define COSY_WAITS(name, how) {#name, #how},
#include "waits.def"
  };
  return How.lookup(Name);
}

bool mayWait(const Instruction &I) {
  const SystemCall *Call = systemCallMadeBy(I);
  // The function itself makes calls that never wait.
  return Call && waitKind(Call->Name) != "DIRECT";
}

/// \returns true if the module makes \p I itself for a compound that it parks.
static bool isParked(const Instruction &I) {
  const SystemCall *Call = systemCallMadeBy(I);
  return Call && cosy_call_parks(Call->Number);
}

/// \returns true if \p I is such a call and may wait without a time limit.
static bool waitsParked(const Instruction &I) {
  return isParked(I) && waitKind(systemCallMadeBy(I)->Name) != "CLOSE";
}

/// \returns why \p I depends on the thread that executes it, or null.
static const char *whyThreadDependent(const Instruction &I) {
  if (any_of(I.operands(), [](const Use &U) {
        auto *C = dyn_cast<Constant>(U);
        return C && C->isThreadDependent();
      }))
    return "a variable of the thread";
  if (auto *II = dyn_cast<IntrinsicInst>(&I);
      II && II->getIntrinsicID() == Intrinsic::thread_pointer)
    return "the address of the thread's variables";
  // In a compound errno has another address.
  if (isErrnoAddress(&I))
    return isAccessedDirectly(I) ? nullptr : "the address of errno";
  // The optimizations would move such a call over a parked call.
  auto *CB = dyn_cast<CallBase>(&I);
  if (CB && !isa<IntrinsicInst>(I) && CB->doesNotAccessMemory() &&
      !isUserFunctionCall(I))
    return "a call of a const function, whose result may be of the thread";
  return nullptr;
}

/// \returns why the coroutine itself has to execute \p I, or null.
static const char *whyNative(const Instruction &I) {
  if (const char *Why = whyNotCopyable(I))
    return Why;
  if (const char *Why = whyThreadDependent(I))
    return Why;
  if (mayWait(I) && !isParked(I))
    return "a call that the loop waits for";
  auto *CB = dyn_cast<CallBase>(&I);
  auto *F = CB ? dyn_cast<Function>(CB->getCalledOperand()) : nullptr;
  if (!F)
    return nullptr;
  if (F->hasFnAttribute(AsyncAttribute))
    return "a call of a COSY_ASYNC function";
  // The child has no loop.
  if (F->getName() == "fork" || F->getName() == "_Fork")
    return "a call of fork";
  return nullptr;
}

bool canBeInAsyncPart(const Function &Callee) {
  if (Callee.hasFnAttribute(AsyncAttribute))
    return false;
  return none_of(instructions(Callee), [](const Instruction &I) {
    return mayWait(I) || whyNative(I);
  });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

using BlockSet = SmallSetVector<BasicBlock *, 32>;

static bool hasParked(const BasicBlock &BB) { return any_of(BB, isParked); }

/// Moves the variables of \p Host to its beginning, so that its first block can
/// be split after them.
static void gatherVariables(Function &Host) {
  BasicBlock &Entry = Host.getEntryBlock();
  BasicBlock::iterator At = Entry.getFirstNonPHIOrDbgOrAlloca();
  for (Instruction &I : make_early_inc_range(make_range(At, Entry.end())))
    if (auto *AI = dyn_cast<AllocaInst>(&I); AI && AI->isStaticAlloca())
      AI->moveBefore(Entry, At);
  SplitBlock(&Entry, At);
}

/// Makes each iteration of a loop that waits begin with a choice: if the flag
/// of the task is set, the code leaves all parts for a moment. So a compound
/// ends there, or begins there. \returns the blocks that are in no part.
static SmallVector<BasicBlock *, 4> addChoices(Function &Host) {
  SmallVector<BasicBlock *, 4> Choices;
  DominatorTree DT(Host);
  LoopInfo LI(DT);
  SmallVector<BasicBlock *, 4> Headers;
  for (Loop *L : LI)
    if (!L->getHeader()->isEHPad() && any_of(L->blocks(), [](BasicBlock *BB) {
          return any_of(*BB, waitsParked);
        }))
      Headers.push_back(L->getHeader());
  if (Headers.empty())
    return Choices;
  IRBuilder<> B(Host.getEntryBlock().getTerminator());
  LLVMContext &Ctx = Host.getContext();
  Value *Asks = B.CreateCall(Host.getParent()->getOrInsertFunction(
      AsyncAsksMarker, FunctionType::get(B.getPtrTy(), false)));
  for (BasicBlock *Header : Headers) {
    BasicBlock *Rest = SplitBlock(Header, firstNonPhi(*Header));
    BasicBlock *Outside = BasicBlock::Create(Ctx, "cosy.choose", &Host, Rest);
    B.SetInsertPoint(Outside);
    B.CreateCall(Host.getParent()->getOrInsertFunction(
                     AsyncAskMarker,
                     FunctionType::get(B.getVoidTy(), {B.getPtrTy()}, false)),
                 Asks);
    B.CreateBr(Rest);
    Instruction *Old = Header->getTerminator();
    B.SetInsertPoint(Old);
    // Atomic, so that the load stays in the loop.
    LoadInst *Flag = B.CreateAlignedLoad(B.getInt8Ty(), Asks, Align(1));
    Flag->setAtomic(AtomicOrdering::Monotonic);
    BranchInst *Branch = B.CreateCondBr(B.CreateIsNotNull(Flag), Outside, Rest);
    Branch->setMetadata(LLVMContext::MD_prof,
                        MDBuilder(Ctx).createUnlikelyBranchWeights());
    Old->eraseFromParent();
    Choices.push_back(Outside);
  }
  return Choices;
}

void removeChoices(Function &Host) {
  for (CallInst *Asks : markersOf(Host, AsyncAsksMarker)) {
    for (User *U : make_early_inc_range(Asks->users())) {
      auto *Flag = dyn_cast<LoadInst>(U);
      if (!Flag) {
        cast<CallInst>(U)->eraseFromParent();
        continue;
      }
      auto *IsSet = cast<ICmpInst>(Flag->user_back());
      cast<BranchInst>(IsSet->user_back())
          ->setCondition(ConstantInt::getFalse(Host.getContext()));
      IsSet->eraseFromParent();
      Flag->eraseFromParent();
    }
    Asks->eraseFromParent();
  }
}

/// \returns the blocks of \p E that can be reached after a parked call, or, if
/// \p Backward, those that can reach a parked call.
static BlockSet reach(const Marked &E, bool Backward) {
  BlockSet Reached;
  auto AddNext = [&](BasicBlock *BB) {
    auto Add = [&](BasicBlock *Next) {
      if (E.Blocks.count(Next))
        Reached.insert(Next);
    };
    if (Backward)
      for_each(predecessors(BB), Add);
    else
      for_each(successors(BB), Add);
  };
  for (BasicBlock *BB : E.Blocks)
    if (hasParked(*BB))
      AddNext(BB);
  for (unsigned N = 0; N < Reached.size(); ++N)
    AddNext(Reached[N]);
  return Reached;
}

/// Keeps in \p E the parked calls and the code between two of them.
static void keepBetweenParked(Marked &E) {
  BlockSet After = reach(E, false), Before = reach(E, true);
  SetVector<BasicBlock *> Kept;
  for (BasicBlock *BB : E.Blocks) {
    if (!hasParked(*BB)) {
      if (After.count(BB) && Before.count(BB))
        Kept.insert(BB);
      continue;
    }
    if (!Before.count(BB)) {
      auto Last = find_if(reverse(*BB), isParked);
      SplitBlock(BB, Last->getNextNode());
    }
    if (!After.count(BB))
      BB = SplitBlock(BB, &*find_if(*BB, isParked));
    Kept.insert(BB);
  }
  E.Blocks = std::move(Kept);
}

namespace {

/// The code that a compound would execute from one beginning of the function.
struct Part {
  BlockSet Blocks;
  SmallVector<const Instruction *, 4> Parked;
  bool Repeats = false; ///< a parked call is in a loop

  bool isWorthwhile() const {
    return (Repeats || Parked.size() > 1) &&
           any_of(Parked, [](const Instruction *I) { return waitsParked(*I); });
  }
};

} // namespace

static Part partAt(const Marked &E, const Marked::Beginning &B) {
  auto Follow = [](BlockSet &Reached, auto IsInside) {
    for (unsigned N = 0; N < Reached.size(); ++N)
      for (BasicBlock *S : successors(Reached[N]))
        if (IsInside(S))
          Reached.insert(S);
  };
  Part P;
  P.Blocks.insert(B.Entry);
  Follow(P.Blocks, [&](BasicBlock *BB) { return E.Blocks.count(BB); });
  for (BasicBlock &BB : *E.Host) {
    if (!P.Blocks.count(&BB) || !hasParked(BB))
      continue;
    for (const Instruction &I : BB)
      if (isParked(I))
        P.Parked.push_back(&I);
    if (P.Repeats)
      continue;
    auto IsInside = [&](BasicBlock *BB) { return P.Blocks.count(BB); };
    BlockSet Next;
    for (BasicBlock *S : successors(&BB))
      if (IsInside(S))
        Next.insert(S);
    Follow(Next, IsInside);
    P.Repeats = Next.count(&BB);
  }
  return P;
}

/// \returns the rank of \p P, which begins at \p B: the lowest is chosen first.
static unsigned rankOf(const Part &P, const Marked::Beginning &B,
                       ArrayRef<BasicBlock *> Choices) {
  if (!P.Repeats)
    return 2;
  return any_of(Choices,
                [&](BasicBlock *BB) {
                  return is_contained(predecessors(B.Before), BB);
                })
             ? 0
             : 1;
}

/// Keeps in E.Beginnings the parts that are worth a compound, at most MaxParts.
/// Parts overlap, because each contains all the code that it can reach. Parts
/// with a loop come first, those that begin at a choice before others.
static void chooseParts(Marked &E, ArrayRef<BasicBlock *> Choices) {
  constexpr unsigned MaxParts = 4;
  SmallVector<Part, 8> Parts;
  for (const Marked::Beginning &B : E.Beginnings)
    Parts.push_back(partAt(E, B));
  SmallPtrSet<const Instruction *, 8> Covered;
  SmallPtrSet<const BasicBlock *, 4> Chosen;
  for (unsigned Rank : {0, 1, 2})
    for (auto [B, P] : zip(E.Beginnings, Parts)) {
      if (Chosen.size() == MaxParts || rankOf(P, B, Choices) != Rank ||
          !P.isWorthwhile() ||
          (Rank && all_of(P.Parked, [&](const Instruction *I) {
             return Covered.count(I);
           })))
        continue;
      Covered.insert(P.Parked.begin(), P.Parked.end());
      B.Loc = P.Parked.front()->getDebugLoc();
      Chosen.insert(B.Entry);
    }
  erase_if(E.Beginnings,
           [&](const Marked::Beginning &B) { return !Chosen.count(B.Entry); });
}

/// Removes the lifetime markers of the variables that have a marker in \p E,
/// because a compound does not execute it.
static void extendLifetimes(Marked &E) {
  VariableSet Variables;
  for (BasicBlock *BB : E.Blocks)
    for (const Instruction &I : *BB)
      if (I.isLifetimeStartOrEnd())
        Variables.insert(lifetimeVariable(cast<CallBase>(I)));
  removeLifetimeMarkers(*E.Host, Variables);
}

bool findAsyncParts(Function &Host, Marked &E) {
  if (none_of(instructions(Host), isParked))
    return false;
  E.Host = &Host;
  E.IsAsync = true;
  gatherVariables(Host);
  SmallVector<BasicBlock *, 4> Choices = addChoices(Host);
  for (BasicBlock &BB : drop_begin(Host))
    E.Blocks.insert(&BB);
  separateNatives(E, whyNative);
  for (BasicBlock *BB : Choices)
    E.Blocks.remove(BB);
  keepBetweenParked(E);
  addBeginnings(E, [&](BasicBlock *BB) { return !E.Blocks.count(BB); });
  chooseParts(E, Choices);
  if (E.Beginnings.empty()) {
    removeChoices(Host);
    return false;
  }
  extendLifetimes(E);
  return true;
}

} // namespace cosy
