// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Paths.cpp - The usual path of a loop -------------------------------===//
//
// A loop that searches bytes finds nothing in most iterations: it executes some
// comparisons and returns to the header. Unrolling the whole loop, with the
// code for a hit, would be too much for the verifier, which follows all paths
// through all iterations. So only the usual path is unrolled. In each of its
// iterations, the other edges lead to the original blocks.
//
//===----------------------------------------------------------------------===//
#include "bpf/Paths.h"
#include "support/LlvmCompat.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ConstraintElimination.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cosy {

namespace {

/// The maximum number of instructions of a path that is changed.
constexpr unsigned MaxPath = 60;
/// The maximum number of instructions of all repeated iterations, and the
/// maximum number of these iterations.
constexpr unsigned MaxRepeated = 120, MaxIterations = 8;

/// A path from the header of a loop to its latch.
using Path = SmallVector<BasicBlock *, 8>;

/// Finds the usual path of a loop, if it does not go through inner loops.
class PathFinder {
public:
  PathFinder(const Loop &L, const LoopInfo &LI) : L(L), LI(LI) { measure(); }

  Path find() const;

private:
  void measure();
  bool mayFollow(const BasicBlock *BB) const {
    return BB == L.getHeader() || Remaining.contains(BB);
  }
  Value *initialValue(Value *V) const;
  BasicBlock *next(BasicBlock *BB) const;

  const Loop &L;
  const LoopInfo &LI;
  DenseMap<const BasicBlock *, unsigned>
      Remaining; ///< instructions to the end of the iteration
};

} // namespace

static unsigned sizeOf(const BasicBlock &BB) {
  return count_if(BB, [](const Instruction &I) { return !isa<PHINode>(I); });
}

void PathFinder::measure() {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (BasicBlock *BB : reverse(L.blocks())) {
      if (LI.getLoopFor(BB) != &L)
        continue;
      unsigned Best = ~0u;
      for (BasicBlock *Next : successors(BB))
        if (Next == L.getHeader())
          Best = 0;
        else if (auto It = Remaining.find(Next); It != Remaining.end())
          Best = std::min(Best, It->second);
      if (Best == ~0u)
        continue;
      Best += sizeOf(*BB);
      auto [It, New] = Remaining.try_emplace(BB, Best);
      Changed |= New || Best < It->second;
      It->second = std::min(It->second, Best);
    }
  }
}

/// Returns the initial value of \p V if it is a loop-carried value.
Value *PathFinder::initialValue(Value *V) const {
  auto *Phi = dyn_cast<PHINode>(V);
  BasicBlock *Before = L.getLoopPredecessor();
  return Phi && Before && Phi->getParent() == L.getHeader()
             ? Phi->getIncomingValueForBlock(Before)
             : nullptr;
}

/// \returns the successor of \p BB on the path.
BasicBlock *PathFinder::next(BasicBlock *BB) const {
  auto *Br = dyn_cast<BranchInst>(BB->getTerminator());
  if (Br && Br->isConditional() && mayFollow(Br->getSuccessor(0)) &&
      mayFollow(Br->getSuccessor(1))) {
    uint64_t Weight[2];
    if (extractBranchWeights(*Br, Weight[0], Weight[1]) &&
        Weight[0] != Weight[1])
      return Br->getSuccessor(Weight[0] < Weight[1]);
    // A state variable usually has its initial value.
    Value *State = Br->getCondition();
    MatchedPredicate Pred;
    Constant *C = nullptr;
    if (match(State, m_ICmp(Pred, m_Value(), m_Value())) &&
        ICmpInst::isEquality(Pred)) {
      match(State, m_ICmp(Pred, m_Value(State), m_Constant(C)));
      // Other compared values usually differ.
      bool Same = C && initialValue(State) == C;
      return Br->getSuccessor(Same != (Pred == ICmpInst::ICMP_EQ));
    }
    if (auto *First = dyn_cast_or_null<ConstantInt>(initialValue(State)))
      return Br->getSuccessor(First->isZero());
  }
  BasicBlock *Best = nullptr;
  auto Length = [&](BasicBlock *Next) {
    return Next == L.getHeader() ? 0 : Remaining.lookup(Next);
  };
  for (BasicBlock *Next : successors(BB))
    if (mayFollow(Next) && (!Best || Length(Next) < Length(Best)))
      Best = Next;
  return Best;
}

Path PathFinder::find() const {
  Path Usual;
  SmallPtrSet<BasicBlock *, 8> Seen;
  if (!Remaining.contains(L.getHeader()))
    return Usual;
  BasicBlock *BB = L.getHeader();
  do {
    if (!Seen.insert(BB).second || BB->hasAddressTaken())
      return Path();
    Usual.push_back(BB);
    BB = next(BB);
  } while (BB != L.getHeader());
  return Usual;
}

/// Returns true if \p V, on the path \p Usual, is a sum of constants and at
/// most one \p Phi. Counts the latter in \p Times.
static bool isCounted(const Value *V, const PHINode &Phi, const Path &Usual,
                      unsigned &Times) {
  if (V == &Phi)
    return ++Times == 1;
  if (isa<ConstantInt>(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return false;
  if (auto *Merge = dyn_cast<PHINode>(I)) {
    auto It = find(Usual, Merge->getParent());
    return It != Usual.end() && It != Usual.begin() &&
           isCounted(Merge->getIncomingValueForBlock(*std::prev(It)), Phi,
                     Usual, Times);
  }
  return (I->getOpcode() == Instruction::Add || isa<GetElementPtrInst>(I)) &&
         all_of(I->operands(), [&](const Value *Op) {
           return isCounted(Op, Phi, Usual, Times);
         });
}

/// Returns true if an iteration on the path \p Usual finds nothing: it writes
/// nothing, and changes loop-carried values only by constants.
static bool isIdle(const Path &Usual) {
  for (const BasicBlock *BB : Usual)
    for (const Instruction &I : *BB)
      if (I.mayWriteToMemory())
        return false;
  return all_of(Usual.front()->phis(), [&](const PHINode &Phi) {
    unsigned Times = 0;
    return isCounted(Phi.getIncomingValueForBlock(Usual.back()), Phi, Usual,
                     Times) &&
           Times == 1;
  });
}

/// Redirects the edge from \p From to \p BB to a copy of \p BB.
static BasicBlock *duplicateFor(BasicBlock *From, BasicBlock *BB) {
  ValueToValueMapTy Map;
  for (PHINode &Phi : BB->phis())
    Map[&Phi] = Phi.getIncomingValueForBlock(From);
  auto *Copy = BasicBlock::Create(BB->getContext(), BB->getName() + ".again",
                                  BB->getParent(), BB->getNextNode());
  for (Instruction &I : *BB) {
    if (isa<PHINode>(I))
      continue;
    Instruction *New = I.clone();
    New->insertInto(Copy, Copy->end());
    RemapInstruction(New, Map,
                     RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    Map[&I] = New;
  }
  for (BasicBlock *Next : successors(Copy))
    for (PHINode &Phi : Next->phis()) {
      Value *V = Phi.getIncomingValueForBlock(BB);
      Value *Mapped = Map.lookup(V);
      Phi.addIncoming(Mapped ? Mapped : V, Copy);
    }
  for (unsigned Edges = count(successors(From), BB); Edges; --Edges)
    BB->removePredecessor(From, true);
  From->getTerminator()->replaceSuccessorWith(BB, Copy);
  // The values of the block have two definitions now.
  SSAUpdater Updater;
  for (Instruction &I : *BB) {
    SmallVector<Use *, 8> Elsewhere;
    for (Use &U : I.uses()) {
      auto *User = cast<Instruction>(U.getUser());
      auto *Phi = dyn_cast<PHINode>(User);
      if ((Phi ? Phi->getIncomingBlock(U) : User->getParent()) != BB)
        Elsewhere.push_back(&U);
    }
    if (Elsewhere.empty())
      continue;
    Updater.Initialize(I.getType(), I.getName());
    Updater.AddAvailableValue(BB, &I);
    Updater.AddAvailableValue(Copy, Map[&I]);
    for (Use *U : Elsewhere)
      Updater.RewriteUse(*U);
  }
  return Copy;
}

/// Duplicates the blocks of \p Usual from the first one that has other
/// predecessors.
static bool separate(Path &Usual) {
  bool Changed = false;
  for (unsigned N = 1; N < Usual.size(); ++N)
    if (!Usual[N]->getSinglePredecessor()) {
      Usual[N] = duplicateFor(Usual[N - 1], Usual[N]);
      Changed = true;
    }
  return Changed;
}

/// Repeats \p Usual \p Iterations times before it returns to its beginning.
/// \returns the new beginning.
static BasicBlock *repeat(const Path &Usual, unsigned Iterations) {
  // Other predecessors enter the first copy. The last iteration is the
  // original.
  BasicBlock *Header = Usual.front(), *End = Usual.back();
  auto *Enter =
      BasicBlock::Create(Header->getContext(), Header->getName() + ".enter",
                         Header->getParent(), Header);
  BranchInst::Create(Header, Enter)
      ->setDebugLoc(Header->begin()->getDebugLoc());
  SmallVector<BasicBlock *, 4> Others;
  copy_if(predecessors(Header), std::back_inserter(Others),
          [&](BasicBlock *From) { return From != End && From != Enter; });
  SmallVector<std::pair<PHINode *, PHINode *>, 8> Phis;
  for (PHINode &Phi : Header->phis()) {
    auto *New = PHINode::Create(Phi.getType(), Others.size(), Phi.getName(),
                                Enter->getTerminator()->getIterator());
    for (BasicBlock *From : Others)
      New->addIncoming(Phi.removeIncomingValue(From, false), From);
    Phi.addIncoming(New, Enter);
    Phis.push_back({&Phi, New});
  }
  for (BasicBlock *From : Others)
    From->getTerminator()->replaceSuccessorWith(Header, Enter);
  BasicBlock *Last = Enter;
  for (; Iterations > 1; --Iterations)
    for (BasicBlock *BB : Usual)
      Last = duplicateFor(Last, BB);
  for (auto [Phi, New] : Phis)
    for (unsigned Edges = count(successors(End), Header); Edges; --Edges)
      New->addIncoming(Phi->removeIncomingValue(End, false), End);
  End->getTerminator()->replaceSuccessorWith(Header, Enter);
  return Enter;
}

static unsigned sizeOf(const Path &Usual) {
  unsigned Size = 0;
  for (const BasicBlock *BB : Usual)
    Size += sizeOf(*BB);
  return Size;
}

Loop *nextLoop(LoopInfo &LI, SmallPtrSetImpl<BasicBlock *> &Done,
               bool Innermost) {
  for (Loop *L : LI.getLoopsInPreorder())
    if ((!Innermost || L->isInnermost()) && Done.insert(L->getHeader()).second)
      return L;
  return nullptr;
}

unsigned sizeOf(const Loop &L) {
  unsigned Size = 0;
  for (const BasicBlock *BB : L.blocks())
    Size += sizeOf(*BB);
  return Size;
}

/// Limits the branches, because the verifier follows all paths through them.
unsigned maxBranches(const LoopInfo &LI) {
  return LI.getLoopsInPreorder().size() > 2 ? 12 : 32;
}

static bool branchesInLoops(const BasicBlock &BB, const LoopInfo &LI) {
  return !BB.getSingleSuccessor() &&
         all_of(successors(&BB),
                [&](const BasicBlock *Next) { return LI.getLoopFor(Next); });
}

unsigned branchesIn(const Function &F, const LoopInfo &LI, const Loop *L) {
  return count_if(F, [&](const BasicBlock &BB) {
    const Loop *Around = LI.getLoopFor(&BB);
    return Around && (!L || L->contains(Around)) && branchesInLoops(BB, LI);
  });
}

bool hasUsualPath(const Loop &L, const LoopInfo &LI) {
  Path Usual = PathFinder(L, LI).find();
  unsigned Size = sizeOf(Usual);
  return Size && isIdle(Usual) && 2 * Size <= MaxRepeated &&
         2 * Size <= sizeOf(L);
}

PreservedAnalyses SeparatePaths::run(Function &F,
                                     FunctionAnalysisManager &FAM) {
  SmallPtrSet<BasicBlock *, 16> Done;
  bool Changed = false;
  while (Loop *L = nextLoop(FAM.getResult<LoopAnalysis>(F), Done)) {
    const LoopInfo &LI = FAM.getResult<LoopAnalysis>(F);
    Path Usual = PathFinder(*L, LI).find();
    if (Usual.empty() || sizeOf(Usual) > MaxPath || !isIdle(Usual) ||
        !separate(Usual))
      continue;
    Changed = true;
    FAM.invalidate(F, PreservedAnalyses::none());
  }
  if (!Changed)
    return PreservedAnalyses::all();
  // Remove tests of conditions that are known on the usual path.
  FunctionPassManager Simplify;
  Simplify.addPass(ConstraintEliminationPass());
  Simplify.addPass(InstCombinePass());
  Simplify.addPass(JumpThreadingPass());
  Simplify.addPass(CorrelatedValuePropagationPass());
  Simplify.addPass(SimplifyCFGPass());
  Simplify.addPass(GVNPass());
  Simplify.addPass(SimplifyCFGPass());
  Simplify.run(F, FAM);
  return PreservedAnalyses::none();
}

PreservedAnalyses RepeatPaths::run(Function &F, FunctionAnalysisManager &FAM) {
  SmallPtrSet<BasicBlock *, 16> Done;
  bool Changed = false;
  while (Loop *L = nextLoop(FAM.getResult<LoopAnalysis>(F), Done)) {
    const LoopInfo &LI = FAM.getResult<LoopAnalysis>(F);
    Path Usual = PathFinder(*L, LI).find();
    unsigned Size = sizeOf(Usual), Iterations = Size ? MaxRepeated / Size : 0;
    unsigned All = branchesIn(F, LI), Max = maxBranches(LI);
    unsigned Own = count_if(
        Usual, [&](BasicBlock *BB) { return branchesInLoops(*BB, LI); });
    if (Own)
      Iterations =
          std::min(Iterations, 1 + (All < Max ? (Max - All) / Own : 0));
    if (Iterations < 2 || !isIdle(Usual))
      continue;
    separate(Usual);
    Done.insert(repeat(Usual, std::min(Iterations, MaxIterations)));
    Changed = true;
    FAM.invalidate(F, PreservedAnalyses::none());
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace cosy
