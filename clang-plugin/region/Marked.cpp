// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Marked.cpp - The blocks between the markers ------------------------===//
#include "region/Marked.h"
#include "body/Recognise.h"
#include "support/Copyable.h"
#include "support/Diagnostics.h"
#include "support/LlvmCompat.h"
#include "support/Markers.h"
#include "support/Names.h"
#include "support/StartOptions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace cosy {

//===----------------------------------------------------------------------===//
// Computed goto
//===----------------------------------------------------------------------===//

void expandComputedGotos(Function &F) {
  SmallVector<IndirectBrInst *, 2> Gotos;
  for (BasicBlock &BB : F)
    if (auto *IBr = dyn_cast<IndirectBrInst>(BB.getTerminator()))
      Gotos.push_back(IBr);
  if (Gotos.empty())
    return;
  Type *I64 = Type::getInt64Ty(F.getContext());
  DenseMap<BasicBlock *, ConstantInt *> Numbers;
  for (BasicBlock &BB : F) {
    if (!BB.hasAddressTaken())
      continue;
    // No label may equal a null pointer.
    auto *N = cast<ConstantInt>(ConstantInt::get(I64, Numbers.size() + 1));
    Numbers[&BB] = N;
    BlockAddress *BA = BlockAddress::get(&F, &BB);
    BA->replaceAllUsesWith(ConstantExpr::getIntToPtr(N, BA->getType()));
    BA->destroyConstant();
  }
  BasicBlock *Never = BasicBlock::Create(F.getContext(), "", &F);
  new UnreachableInst(F.getContext(), Never);
  for (IndirectBrInst *IBr : Gotos) {
    IRBuilder<> B(IBr);
    BasicBlock *BB = IBr->getParent();
    SmallSetVector<BasicBlock *, 8> Targets;
    for (BasicBlock *T : successors(BB))
      if (!Targets.insert(T))
        T->removePredecessor(BB, /*KeepOneInputPHIs=*/true);
    SwitchInst *S = B.CreateSwitch(B.CreatePtrToInt(IBr->getAddress(), I64),
                                   Never, Targets.size());
    for (BasicBlock *T : Targets) {
      if (ConstantInt *N = Numbers.lookup(T))
        S->addCase(N, T);
      else
        T->removePredecessor(BB, /*KeepOneInputPHIs=*/true);
    }
    IBr->eraseFromParent();
  }
}

//===----------------------------------------------------------------------===//
// The blocks
//===----------------------------------------------------------------------===//

namespace {

/// The blocks that COSY_START reaches without passing a marker.
struct Reach {
  SetVector<BasicBlock *> Blocks;
  /// The blocks that end before a COSY_END.
  SmallVector<BasicBlock *, 2> Last;
};

} // namespace

/// Returns the blocks that \p Entry reaches. After a jump into another region,
/// its COSY_END may be reached first, and ends this region.
static Reach reachForward(BasicBlock *Entry) {
  Reach R;
  SmallVector<BasicBlock *, 32> Work{Entry};
  SmallPtrSet<BasicBlock *, 32> Seen{Entry};
  while (!Work.empty()) {
    BasicBlock *BB = Work.pop_back_val();
    Instruction *Marker = firstMarker(*BB);
    if (Marker && asMarker(*Marker, StartMarker))
      continue;
    if (Marker) {
      // If the marker begins its block, no instruction before it is inside.
      if (Marker == firstNonPhi(*BB) && BB != Entry)
        continue;
      SplitBlock(BB, Marker);
      R.Last.push_back(BB);
    }
    R.Blocks.insert(BB);
    if (!Marker)
      for (BasicBlock *S : successors(BB))
        if (Seen.insert(S).second)
          Work.push_back(S);
  }
  return R;
}

/// Returns the blocks of \p R that can reach COSY_END.
static SetVector<BasicBlock *> reachBackward(const Reach &R,
                                             BasicBlock *Entry) {
  SetVector<BasicBlock *> Blocks;
  for (BasicBlock *BB : R.Blocks)
    for (BasicBlock *S : successors(BB))
      if (Instruction *First = firstNonPhi(*S);
          !R.Blocks.count(S) && First && asMarker(*First, EndMarker))
        Blocks.insert(BB);
  for (unsigned N = 0; N < Blocks.size(); ++N) {
    if (Blocks[N] == Entry)
      continue;
    for (BasicBlock *P : predecessors(Blocks[N]))
      if (R.Blocks.count(P))
        Blocks.insert(P);
  }
  return Blocks;
}

/// Returns the blocks of a region whose COSY_END is never reached: its endless
/// loops and the paths to them. If there are no such loops, returns all blocks
/// without their returns.
static SetVector<BasicBlock *> endlessBlocks(const Reach &R) {
  DenseMap<BasicBlock *, unsigned> NumInside;
  SmallVector<BasicBlock *, 32> Dead;
  SmallPtrSet<BasicBlock *, 32> Leads;
  for (BasicBlock *BB : R.Blocks) {
    unsigned N = count_if(successors(BB),
                          [&](BasicBlock *S) { return R.Blocks.count(S); });
    NumInside[BB] = N;
    if (!N)
      Dead.push_back(BB);
    else
      Leads.insert(BB);
  }
  while (!Dead.empty())
    for (BasicBlock *P : predecessors(Dead.pop_back_val()))
      if (R.Blocks.count(P) && --NumInside[P] == 0) {
        Leads.erase(P);
        Dead.push_back(P);
      }
  SetVector<BasicBlock *> Blocks;
  for (BasicBlock *BB : R.Blocks)
    if (Leads.count(BB))
      Blocks.insert(BB);
  if (!Blocks.empty())
    return Blocks;
  for (BasicBlock *BB : R.Blocks) {
    Blocks.insert(BB);
    if (isa<ReturnInst>(BB->getTerminator()))
      SplitBlock(BB, BB->getTerminator());
  }
  return Blocks;
}

//===----------------------------------------------------------------------===//
// Native pieces
//===----------------------------------------------------------------------===//

/// \returns true if \p I is vfork(), whose child would run the code after it.
static bool isVfork(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  const Function *F = CB ? CB->getCalledFunction() : nullptr;
  return F && CB->hasFnAttr(Attribute::ReturnsTwice) &&
         F->getName().contains("fork");
}

/// Returns the last instruction of the native piece that begins with \p First.
/// Other instructions for which \p Why has a reason belong to it if they follow
/// closely.
static Instruction *
endOfPiece(Instruction *First,
           function_ref<const char *(const Instruction &)> Why) {
  constexpr unsigned MaxGap = 12;
  Instruction *Last = First;
  unsigned Gap = 0;
  for (Instruction *I = First->getNextNode(); I && Gap <= MaxGap;
       I = I->getNextNode()) {
    if (Why(*I)) {
      Last = I;
      Gap = 0;
    } else if (makesSystemCall(*I)) {
      break;
    } else {
      ++Gap;
    }
  }
  return Last;
}

SmallPtrSet<BasicBlock *, 8>
separateNatives(Marked &E,
                function_ref<const char *(const Instruction &)> Why) {
  SmallPtrSet<BasicBlock *, 8> Native;
  for (unsigned N = 0; N < E.Blocks.size(); ++N) {
    BasicBlock *BB = E.Blocks[N];
    auto First = find_if(*BB, [&](Instruction &I) { return Why(I); });
    if (First == BB->end())
      continue;
    E.Natives.push_back(&*First);
    Instruction *Last = endOfPiece(&*First, Why);
    if (!Last->isTerminator())
      E.Blocks.insert(SplitBlock(BB, Last->getNextNode()));
    Native.insert(First->isEHPad() ? BB : SplitBlock(BB, &*First));
  }
  E.Blocks.remove_if([&](BasicBlock *BB) { return Native.count(BB); });
  return Native;
}

static const DILocation *firstLocation(const BasicBlock &BB) {
  for (const Instruction &I : BB)
    if (const DILocation *L = I.getDebugLoc())
      return L;
  return nullptr;
}

SetVector<BasicBlock *> inLayoutOrder(const SetVector<BasicBlock *> &Blocks) {
  SetVector<BasicBlock *> Ordered;
  if (Blocks.empty())
    return Ordered;
  // Walks away from the first one in both directions, because the blocks of a
  // region are close together in a function that may be large.
  BasicBlock *First = Blocks.front();
  SmallVector<BasicBlock *, 32> After{First}, Before;
  Function::iterator Next = std::next(First->getIterator());
  Function::iterator Prev = First->getIterator();
  Function &F = *First->getParent();
  while (After.size() + Before.size() < Blocks.size()) {
    if (Next != F.end()) {
      if (Blocks.count(&*Next))
        After.push_back(&*Next);
      ++Next;
    }
    if (Prev != F.begin()) {
      --Prev;
      if (Blocks.count(&*Prev))
        Before.push_back(&*Prev);
    }
  }
  Ordered.insert(Before.rbegin(), Before.rend());
  Ordered.insert(After.begin(), After.end());
  return Ordered;
}

void addBeginnings(Marked &E, function_ref<bool(BasicBlock *)> IsBefore) {
  for (BasicBlock *BB : inLayoutOrder(E.Blocks)) {
    SmallSetVector<BasicBlock *, 4> Preds;
    for (BasicBlock *P : predecessors(BB))
      if (IsBefore(P))
        Preds.insert(P);
    if (Preds.empty())
      continue;
    BasicBlock *Before =
        SplitBlockPredecessors(BB, Preds.getArrayRef(), ".cosy.again");
    BasicBlock *Entry = SplitBlock(Before, Before->getTerminator());
    E.Blocks.insert(Entry);
    const DILocation *Loc = firstLocation(*BB);
    E.Beginnings.push_back({Before, Entry, Loc ? Loc : E.Loc});
  }
}

void splitAfterStarts(Function &F) {
  SmallVector<CallInst *, 4> Starts = markersOf(F, StartMarker);
  // The last one first, so that no instruction is moved several times.
  for (CallInst *Start : reverse(Starts))
    if (Start->getCalledFunction()->getName() != StartNativeMarker)
      SplitBlock(Start->getParent(), Start->getNextNode());
}

MarkedBlocks findMarkedBlocks(const CallInst &Start) {
  BasicBlock *Entry =
      const_cast<BasicBlock *>(Start.getParent()->getSingleSuccessor());
  Reach R = reachForward(Entry);
  SetVector<BasicBlock *> Blocks = reachBackward(R, Entry);
  if (!Blocks.empty())
    return {std::move(Blocks), true};
  return {endlessBlocks(R), false};
}

bool findMarked(CallInst *Start, Marked &E) {
  E.Host = Start->getFunction();
  E.Loc = Start->getDebugLoc();
  E.Options = optionsOf(*Start);
  // The marker is removed later, because other regions end at it.
  BasicBlock *Before = Start->getParent();
  BasicBlock *Entry = Before->getSingleSuccessor();
  MarkedBlocks Found = findMarkedBlocks(*Start);
  E.Blocks = std::move(Found.Blocks);
  if (!Found.HasEnd) {
    reportWarning(Warning::EndNotReached, *E.Host, E.Loc,
                  "the end of this region is never reached; only a return, a "
                  "jump or a signal leaves it; put COSY_END where every "
                  "path through the region passes");
    if (!E.Blocks.count(Entry))
      return false;
  }
  E.Beginnings.push_back({Before, Entry, E.Loc});
  SmallPtrSet<BasicBlock *, 8> Native = separateNatives(E, whyNotCopyable);
  // Not after vfork(): the code runs in the child, on the parent's stack.
  if (none_of(E.Natives, [](Instruction *I) { return isVfork(*I); }))
    // A compound can begin after each native piece.
    addBeginnings(E, [&](BasicBlock *BB) { return Native.count(BB); });
  constexpr unsigned MaxBeginnings = 16; // compounds may overlap
  if (E.Beginnings.size() > MaxBeginnings)
    E.Beginnings.truncate(MaxBeginnings);
  return true;
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

void addVariables(const Instruction &I, VariableSet &Variables) {
  for (const Use &U : I.operands())
    if (U->getType()->isPointerTy())
      Variables.insert(getUnderlyingObject(U));
}

void removeLifetimeMarkers(Function &F, const VariableSet &Variables) {
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (I.isLifetimeStartOrEnd() &&
        Variables.count(lifetimeVariable(cast<CallBase>(I))))
      I.eraseFromParent();
}

} // namespace cosy
