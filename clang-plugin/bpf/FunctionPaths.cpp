// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionPaths.cpp - The usual way around a loop --------------------===//
//
// A loop that looks at bytes mostly finds nothing to do: it goes from its
// beginning over some comparisons back to its beginning. To unroll all of such
// a loop, with all it does when it has found something, is too much for the
// verifier, which tries all ways through all rounds. So only the usual way is
// unrolled. From each of its rounds the other ways lead to the one place that
// there is for them.
//
//===----------------------------------------------------------------------===//
#include "bpf/FunctionPaths.h"

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

/// Ways of more instructions than this are left as they are.
constexpr unsigned MostPath = 60;
/// Several rounds have together at most so many instructions.
constexpr unsigned MostRepeated = 120, MostRounds = 8;

/// From the beginning of a loop to where it goes back there.
using Path = SmallVector<BasicBlock *, 8>;

/// Finds the usual way around a loop, if it leads through none of the loops in
/// it.
class PathFinder {
public:
  PathFinder(const Loop &L, const LoopInfo &LI) : L(L), LI(LI) { measure(); }

  Path find() const;

private:
  void measure();
  bool mayFollow(const BasicBlock *BB) const {
    return BB == L.getHeader() || Left.contains(BB);
  }
  Value *atFirst(Value *V) const;
  BasicBlock *next(BasicBlock *BB) const;

  const Loop &L;
  const LoopInfo &LI;
  DenseMap<const BasicBlock *, unsigned>
      Left; ///< instructions to the end of the round
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
        else if (auto It = Left.find(Next); It != Left.end())
          Best = std::min(Best, It->second);
      if (Best == ~0u)
        continue;
      Best += sizeOf(*BB);
      auto [It, New] = Left.try_emplace(BB, Best);
      Changed |= New || Best < It->second;
      It->second = std::min(It->second, Best);
    }
  }
}

/// What \p V has when the loop begins, if it is carried from round to round.
Value *PathFinder::atFirst(Value *V) const {
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
    // A state is mostly the one it was at first.
    Value *State = Br->getCondition();
    ICmpInst::Predicate Pred;
    Constant *C = nullptr;
    if (match(State, m_ICmp(Pred, m_Value(), m_Value())) &&
        ICmpInst::isEquality(Pred)) {
      match(State, m_ICmp(Pred, m_Value(State), m_Constant(C)));
      // What is compared otherwise is mostly not the same.
      bool Same = C && atFirst(State) == C;
      return Br->getSuccessor(Same != (Pred == ICmpInst::ICMP_EQ));
    }
    if (auto *First = dyn_cast_or_null<ConstantInt>(atFirst(State)))
      return Br->getSuccessor(First->isZero());
  }
  BasicBlock *Best = nullptr;
  auto Length = [&](BasicBlock *Next) {
    return Next == L.getHeader() ? 0 : Left.lookup(Next);
  };
  for (BasicBlock *Next : successors(BB))
    if (mayFollow(Next) && (!Best || Length(Next) < Length(Best)))
      Best = Next;
  return Best;
}

Path PathFinder::find() const {
  Path Way;
  SmallPtrSet<BasicBlock *, 8> Seen;
  if (!Left.contains(L.getHeader()))
    return Way;
  BasicBlock *BB = L.getHeader();
  do {
    if (!Seen.insert(BB).second || BB->hasAddressTaken())
      return Path();
    Way.push_back(BB);
    BB = next(BB);
  } while (BB != L.getHeader());
  return Way;
}

/// Is \p V, for who has come along \p Way, a sum of constants and of \p Phi,
/// which it has at most once? Counts that in \p Times.
static bool isCounted(const Value *V, const PHINode &Phi, const Path &Way,
                      unsigned &Times) {
  if (V == &Phi)
    return ++Times == 1;
  if (isa<ConstantInt>(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return false;
  if (auto *Merge = dyn_cast<PHINode>(I)) {
    auto It = find(Way, Merge->getParent());
    return It != Way.end() && It != Way.begin() &&
           isCounted(Merge->getIncomingValueForBlock(*std::prev(It)), Phi, Way,
                     Times);
  }
  return (I->getOpcode() == Instruction::Add || isa<GetElementPtrInst>(I)) &&
         all_of(I->operands(), [&](const Value *Op) {
           return isCounted(Op, Phi, Way, Times);
         });
}

/// Does a round that goes \p Way find nothing? It writes nothing, and what is
/// carried from round to round is only counted on.
static bool isIdle(const Path &Way) {
  for (const BasicBlock *BB : Way)
    for (const Instruction &I : *BB)
      if (I.mayWriteToMemory())
        return false;
  return all_of(Way.front()->phis(), [&](const PHINode &Phi) {
    unsigned Times = 0;
    return isCounted(Phi.getIncomingValueForBlock(Way.back()), Phi, Way,
                     Times) &&
           Times == 1;
  });
}

/// Lets the way from \p From to \p BB lead to a copy of it.
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
  // What it computes has now two definitions.
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

/// From the block at which others join \p Way on, it gets blocks of its own.
static bool separate(Path &Way) {
  bool Changed = false;
  for (unsigned N = 1; N < Way.size(); ++N)
    if (!Way[N]->getSinglePredecessor()) {
      Way[N] = duplicateFor(Way[N - 1], Way[N]);
      Changed = true;
    }
  return Changed;
}

/// Lets \p Way be gone \p Rounds times before it goes back to its beginning.
/// \returns the new one.
static BasicBlock *repeat(const Path &Way, unsigned Rounds) {
  // Everything else enters the first copy, and the last round is the one that
  // there is.
  BasicBlock *Header = Way.front(), *End = Way.back();
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
  for (; Rounds > 1; --Rounds)
    for (BasicBlock *BB : Way)
      Last = duplicateFor(Last, BB);
  for (auto [Phi, New] : Phis)
    for (unsigned Edges = count(successors(End), Header); Edges; --Edges)
      New->addIncoming(Phi->removeIncomingValue(End, false), End);
  End->getTerminator()->replaceSuccessorWith(Header, Enter);
  return Enter;
}

static unsigned sizeOf(const Path &Way) {
  unsigned Size = 0;
  for (const BasicBlock *BB : Way)
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

/// The verifier tries all ways through them.
unsigned mostBranches(const LoopInfo &LI) {
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

bool hasUsualWay(const Loop &L, const LoopInfo &LI) {
  Path Way = PathFinder(L, LI).find();
  unsigned Usual = sizeOf(Way);
  return Usual && isIdle(Way) && 2 * Usual <= MostRepeated &&
         2 * Usual <= sizeOf(L);
}

PreservedAnalyses SeparatePaths::run(Function &F,
                                     FunctionAnalysisManager &FAM) {
  SmallPtrSet<BasicBlock *, 16> Done;
  bool Changed = false;
  while (Loop *L = nextLoop(FAM.getResult<LoopAnalysis>(F), Done)) {
    const LoopInfo &LI = FAM.getResult<LoopAnalysis>(F);
    Path Way = PathFinder(*L, LI).find();
    if (Way.empty() || sizeOf(Way) > MostPath || !isIdle(Way) || !separate(Way))
      continue;
    Changed = true;
    FAM.invalidate(F, PreservedAnalyses::none());
  }
  if (!Changed)
    return PreservedAnalyses::all();
  // What is known on the usual way is not asked there.
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
    Path Way = PathFinder(*L, LI).find();
    unsigned Size = sizeOf(Way), Rounds = Size ? MostRepeated / Size : 0;
    unsigned All = branchesIn(F, LI), Most = mostBranches(LI);
    unsigned Own =
        count_if(Way, [&](BasicBlock *BB) { return branchesInLoops(*BB, LI); });
    if (Own)
      Rounds = std::min(Rounds, 1 + (All < Most ? (Most - All) / Own : 0));
    if (Rounds < 2 || !isIdle(Way))
      continue;
    separate(Way);
    Done.insert(repeat(Way, std::min(Rounds, MostRounds)));
    Changed = true;
    FAM.invalidate(F, PreservedAnalyses::none());
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace cosy
