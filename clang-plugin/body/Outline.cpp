// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Outline.cpp - Code that is cheaper native --------------------------===//
//
// A piece is a set of blocks with a single entry and a single exit: it begins
// with a block that dominates all of them, and ends before a block that
// postdominates it. Its cost as operations is estimated from the frequencies of
// its blocks: known trip counts, a profile, __builtin_expect(), or LLVM's
// estimates of loops. If some path makes no up-call, none counts, because
// up-calls on error paths are seldom executed. Of overlapping pieces the one
// with the largest saving is taken.
//
//===----------------------------------------------------------------------===//
#include "body/Outline.h"
#include "body/Operations.h"
#include "body/Recognise.h"
#include "support/Costs.h"
#include "support/LlvmCompat.h"
#include "support/Thresholds.h"
#include "support/UserFunctions.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/Format.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <numeric>

#define DEBUG_TYPE "cosy-outline"

using namespace llvm;

STATISTIC(NumPieces, "Pieces that are left to the machine");

namespace cosy {

constexpr StringLiteral PieceAttribute = "cosy-outlined";

/// The minimum gain of a piece at each execution.
constexpr double MinGain = UpCallCost / 4;

const Function *outlinedPieceOf(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  const Function *F = CB ? CB->getCalledFunction() : nullptr;
  return F && F->hasFnAttribute(PieceAttribute) ? F : nullptr;
}

const Instruction &culpritOf(const Instruction &I) {
  const Function *Piece = outlinedPieceOf(I);
  if (!Piece)
    return I;
  const Instruction *Other = nullptr;
  for (const Instruction &Inside : instructions(*Piece)) {
    if (isOperation(Inside, Piece->getDataLayout()) ||
        isa<ExtractValueInst, InsertValueInst, ReturnInst>(Inside))
      continue;
    if (isa<CallBase>(Inside))
      return Inside;
    Other = Other ? Other : &Inside;
  }
  return Other ? *Other : I;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// \returns true if \p I must stay in the compound.
static bool belongsToCompound(const Instruction &I) {
  return isSystemCall(I) || isUserFunctionCall(I) || isStopTest(I) ||
         isExit(I) || isHostComputed(I) ||
         isa<AllocaInst, ReturnInst, InvokeInst>(I) ||
         (I.isTerminator() && !isa<BranchInst, SwitchInst, UnreachableInst>(I));
}

/// Returns the approximate cost of \p I as an operation.
static unsigned operationCost(const Instruction &I) {
  switch (opcodeOf(I)) {
  case Instruction::Load:
  case Instruction::Store:
    return MemoryCost;
  case Instruction::PHI:
  case Instruction::Trunc:
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
  case Instruction::BitCast:
  case Instruction::Freeze:
    return 0;
  case Instruction::ICmp:
    return I.hasOneUse() && isa<BranchInst>(I.user_back()) ? 0 : OperationCost;
  case Instruction::GetElementPtr:
    return cast<GetElementPtrInst>(I).hasAllConstantIndices() ? 0
                                                              : OperationCost;
  case BranchOpcode:
    return cast<BranchInst>(I).isConditional() ? OperationCost : 0;
  default:
    return I.isDebugOrPseudoInst() ? 0 : OperationCost;
  }
}

namespace {

struct Piece {
  BasicBlock *Entry;
  BasicBlock *Exit; ///< not a part of it
  SmallVector<BasicBlock *, 8> Blocks;
  double Gain; ///< in instructions, for each execution of the region
};

class Finder {
public:
  Finder(Function &Body, FunctionAnalysisManager &FAM)
      : Body(Body), DL(Body.getDataLayout()),
        DT(FAM.getResult<DominatorTreeAnalysis>(Body)),
        PDT(FAM.getResult<PostDominatorTreeAnalysis>(Body)),
        LI(FAM.getResult<LoopAnalysis>(Body)),
        BFI(FAM.getResult<BlockFrequencyAnalysis>(Body)),
        BPI(FAM.getResult<BranchProbabilityAnalysis>(Body)),
        SE(FAM.getResult<ScalarEvolutionAnalysis>(Body)) {}

  std::vector<Piece> find();

private:
  /// Returns the number of executions of \p BB per execution of the region, if
  /// \p L is the innermost loop that contains it.
  double frequency(const BasicBlock *BB, const Loop *L) const {
    return BFI.getBlockFreq(BB).getFrequency() * Scale.lookup(L) /
           BFI.getEntryFreq().getFrequency();
  }
  double frequency(const BasicBlock *BB) const {
    return frequency(BB, LI.getLoopFor(BB));
  }
  double edgeFrequency(const BasicBlock *From, const BasicBlock *To) const;
  void scaleLoops();
  void costOf(BasicBlock &BB);
  bool avoidsUpCalls(BasicBlock *Entry, BasicBlock *To);
  void findFrom(BasicBlock *Entry, std::vector<Piece> &List);

  Function &Body;
  const DataLayout &DL;
  DominatorTree &DT;
  PostDominatorTree &PDT;
  LoopInfo &LI;
  BlockFrequencyInfo &BFI;
  BranchProbabilityInfo &BPI;
  ScalarEvolution &SE;
  DenseMap<const Loop *, double>
      Scale; ///< of frequencies, for known trip counts
  /// The cost of one execution of a block. It is not native if it is empty.
  struct BlockCost {
    unsigned Operations;
    bool LeavesKernel;
  };
  DenseMap<BasicBlock *, BlockCost> Cost;
  unsigned Work = 0;
};

} // namespace

/// \returns true if a constant may bound the iterations of \p L.
static bool comparesWithConstant(const Loop &L) {
  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  return any_of(Exiting, [](const BasicBlock *BB) {
    auto *Br = dyn_cast<BranchInst>(BB->getTerminator());
    auto *Cmp = Br && Br->isConditional()
                    ? dyn_cast<ICmpInst>(Br->getCondition())
                    : nullptr;
    return Cmp && any_of(Cmp->operands(), IsaPred<ConstantInt>);
  });
}

/// Scales frequencies, because LLVM assumes the same trip count for all loops
/// without a profile. Known trip counts are computed only for a limited number
/// of loops, because the time for that grows with the code before a loop.
void Finder::scaleLoops() {
  Scale[nullptr] = 1;
  unsigned LookUps = 0;
  for (Loop *L : LI.getLoopsInPreorder()) {
    double S = Scale.lookup(L->getParentLoop());
    BasicBlock *Before = L->getLoopPreheader();
    if (Before && BFI.getBlockFreq(Before).getFrequency()) {
      double Expected =
          double(BFI.getBlockFreq(L->getHeader()).getFrequency()) /
          BFI.getBlockFreq(Before).getFrequency();
      double Known = Expected;
      if (comparesWithConstant(*L) && LookUps++ < MaxTripCounts) {
        if (unsigned Trips = SE.getSmallConstantTripCount(L))
          Known = Trips;
        else if (unsigned Max = SE.getSmallConstantMaxTripCount(L))
          Known = std::min<double>(Max, Expected);
      }
      S *= Known / Expected;
    }
    Scale[L] = S;
  }
}

/// Returns the number of jumps from \p From to \p To per execution of the
/// region. A loop is entered and left once, however often it iterates.
double Finder::edgeFrequency(const BasicBlock *From,
                             const BasicBlock *To) const {
  const Loop *L = LI.getLoopFor(From);
  while (L && !L->contains(To))
    L = L->getParentLoop();
  return frequency(From, L) *
         (double(BPI.getEdgeProbability(From, To).getNumerator()) /
          BranchProbability::getDenominator());
}

void Finder::costOf(BasicBlock &BB) {
  BlockCost C = {};
  for (Instruction &I : BB) {
    if (belongsToCompound(I))
      return;
    if (isOperation(I, DL))
      C.Operations += operationCost(I);
    else
      C.LeavesKernel = true;
  }
  for (BasicBlock *S : successors(&BB))
    if (DT.dominates(S, &BB))
      C.Operations += LoopCost - OperationCost;
  Cost[&BB] = C;
}

/// \returns true if a path from \p Entry to \p To makes no up-call.
bool Finder::avoidsUpCalls(BasicBlock *Entry, BasicBlock *To) {
  SmallPtrSet<BasicBlock *, 16> Seen;
  SmallVector<BasicBlock *, 8> Reach{Entry};
  while (!Reach.empty()) {
    BasicBlock *BB = Reach.pop_back_val();
    if (BB == To)
      return true;
    if (Cost.lookup(BB).LeavesKernel || !Seen.insert(BB).second)
      continue;
    ++Work;
    append_range(Reach, successors(BB));
  }
  return false;
}

/// Appends to \p List the piece that begins at \p Entry and saves most, if any.
void Finder::findFrom(BasicBlock *Entry, std::vector<Piece> &List) {
  SmallPtrSet<BasicBlock *, 16> Inside;
  SmallVector<BasicBlock *, 8> Blocks;
  Piece Best{Entry, nullptr, {}, 0};
  size_t NumBest = 0; // the first of Blocks are the best piece
  double Operations = 0, UpCalls = 0;
  auto Finish = [&] {
    if (!Best.Exit)
      return;
    Best.Blocks.append(Blocks.begin(), Blocks.begin() + NumBest);
    List.push_back(std::move(Best));
  };
  // Only the first block may have predecessors outside the piece. All
  // successors are in the piece, except for the block that postdominates it.
  auto IsClosed = [&] {
    Work += Blocks.size();
    return all_of(Blocks, [&](BasicBlock *BB) {
      return BB == Entry || all_of(predecessors(BB), [&](BasicBlock *Pred) {
               return Inside.count(Pred);
             });
    });
  };
  for (BasicBlock *From = Entry; Work < MaxOutlineWork;) {
    DomTreeNode *Node = PDT.getNode(From);
    DomTreeNode *Up = Node ? Node->getIDom() : nullptr;
    BasicBlock *To = Up ? Up->getBlock() : nullptr;
    if (!To || To == Entry)
      break;
    // The blocks between From and the new end.
    SmallVector<BasicBlock *, 8> Reach{From};
    while (!Reach.empty()) {
      BasicBlock *BB = Reach.pop_back_val();
      if (BB == To || !Inside.insert(BB).second)
        continue;
      ++Work;
      auto It = Cost.find(BB);
      if (It == Cost.end() || !DT.dominates(Entry, BB))
        return Finish();
      Operations += It->second.Operations * frequency(BB);
      UpCalls += It->second.LeavesKernel * frequency(BB);
      Blocks.push_back(BB);
      append_range(Reach, successors(BB));
    }
    double Entries = 0;
    for (BasicBlock *Pred : predecessors(Entry))
      if (!Inside.count(Pred))
        Entries += edgeFrequency(Pred, Entry);
    auto GainWith = [&](double Fewer) {
      return Operations + (Fewer - Entries) * UpCallCost;
    };
    double MinNeeded = std::max(Best.Gain, Entries * MinGain);
    double Gain = GainWith(UpCalls);
    // As one up-call, the piece costs no path more than now if each path makes
    // one already.
    if (Gain > MinNeeded && UpCalls && !Inside.count(To) &&
        avoidsUpCalls(Entry, To))
      Gain = GainWith(0);
    if (Gain > MinNeeded && !Inside.count(To) && IsClosed()) {
      Best.Exit = To;
      Best.Gain = Gain;
      NumBest = Blocks.size();
    }
    From = To;
  }
  Finish();
}

std::vector<Piece> Finder::find() {
  scaleLoops();
  ReversePostOrderTraversal<Function *> Blocks(&Body);
  for (BasicBlock *BB : Blocks) {
    costOf(*BB);
  }
  std::vector<Piece> List;
  for (BasicBlock *BB : Blocks)
    if (BB != &Body.getEntryBlock() && Cost.count(BB))
      findFrom(BB, List);
  std::vector<unsigned> ByGain(List.size());
  std::iota(ByGain.begin(), ByGain.end(), 0);
  llvm::sort(ByGain, [&](unsigned A, unsigned B) {
    return std::pair(-List[A].Gain, A) < std::pair(-List[B].Gain, B);
  });
  SmallPtrSet<BasicBlock *, 32> Taken;
  std::vector<Piece> Chosen;
  for (unsigned N : ByGain) {
    Piece &P = List[N];
    if (any_of(P.Blocks, [&](BasicBlock *BB) { return Taken.count(BB); }))
      continue;
    Taken.insert(P.Blocks.begin(), P.Blocks.end());
    Chosen.push_back(std::move(P));
  }
  return Chosen;
}

//===----------------------------------------------------------------------===//
// Moving the pieces
//===----------------------------------------------------------------------===//

/// Splits blocks so that instructions of the compound have blocks of their own.
/// \returns the later halves.
static SmallVector<BasicBlock *, 16> isolateOperations(Function &Body) {
  SmallVector<Instruction *, 32> At;
  for (BasicBlock &BB : Body) {
    bool Before = true; // the instruction before belongs to the compound
    for (Instruction &I : BB) {
      if (isa<PHINode>(I))
        continue;
      bool Now = belongsToCompound(I);
      if (Now != Before && &I != &*BB.getFirstNonPHIIt() && !I.isTerminator())
        At.push_back(&I);
      Before = Now;
    }
  }
  SmallVector<BasicBlock *, 16> Halves;
  for (Instruction *I : reverse(At))
    Halves.push_back(SplitBlock(I->getParent(), I));
  return Halves;
}

/// Moves the blocks of \p P to a new function. Their only predecessor is \p
/// Before, and only the last of them has a successor outside.
static Function *outlinePiece(const Piece &P, BasicBlock *Before,
                              const Twine &Name) {
  Function &Body = *Before->getParent();
  LLVMContext &Ctx = Body.getContext();
  SmallPtrSet<const BasicBlock *, 16> Inside(P.Blocks.begin(), P.Blocks.end());
  auto IsInside = [&](const Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    return I && Inside.count(I->getParent());
  };
  SmallSetVector<Value *, 8> Inputs;
  SmallVector<Instruction *, 4> Outputs;
  DebugLoc Loc;
  for (BasicBlock *BB : P.Blocks)
    for (Instruction &I : *BB) {
      I.dropDbgRecords();
      I.setMetadata(LLVMContext::MD_DIAssignID, nullptr);
      if (!Loc)
        Loc = I.getDebugLoc();
      for (Value *V : I.operands())
        if (isa<Argument>(V) || (isa<Instruction>(V) && !IsInside(V)))
          Inputs.insert(V);
      if (any_of(I.users(), [&](User *U) { return !IsInside(U); }))
        Outputs.push_back(&I);
    }
  SmallVector<Type *, 8> Parameters, Results;
  for (Value *V : Inputs)
    Parameters.push_back(V->getType());
  for (Instruction *I : Outputs)
    Results.push_back(I->getType());
  Type *Result = Results.empty()       ? Type::getVoidTy(Ctx)
                 : Results.size() == 1 ? Results[0]
                                       : StructType::get(Ctx, Results);
  auto *F =
      Function::Create(FunctionType::get(Result, Parameters, false),
                       GlobalValue::InternalLinkage, Name, Body.getParent());
  F->addFnAttrs(AttrBuilder(Ctx, Body.getAttributes().getFnAttrs()));
  F->removeFnAttr(StateAttribute);
  F->addFnAttr(PieceAttribute);

  BasicBlock *Exit = P.Blocks.back()->getSingleSuccessor();
  auto *Start = BasicBlock::Create(Ctx, "", F);
  P.Entry->replacePhiUsesWith(Before, Start);
  // Not by the uses of the inputs: a value may be one of thousands of pieces.
  DenseMap<const Value *, Argument *> ParameterOf;
  for (auto [V, A] : zip(Inputs, F->args()))
    ParameterOf[V] = &A;
  for (BasicBlock *BB : P.Blocks)
    for (Instruction &I : *BB)
      for (Use &U : I.operands())
        if (Argument *A = ParameterOf.lookup(U))
          U.set(A);

  Before->getTerminator()->eraseFromParent();
  IRBuilder<> B(Before);
  B.SetCurrentDebugLocation(Loc);
  CallInst *Call = B.CreateCall(F, Inputs.getArrayRef());
  IRBuilder<> End(P.Blocks.back()->getTerminator());
  Value *Returned =
      PoisonValue::get(Result->isVoidTy() ? B.getInt1Ty() : Result);
  for (auto [N, I] : enumerate(Outputs)) {
    Value *V = Results.size() == 1 ? static_cast<Value *>(Call)
                                   : B.CreateExtractValue(Call, N);
    I->replaceUsesWithIf(V, [&](Use &U) { return !IsInside(U.getUser()); });
    Returned = Results.size() == 1 ? I : End.CreateInsertValue(Returned, I, N);
  }
  if (Results.empty())
    End.CreateRetVoid();
  else
    End.CreateRet(Returned);
  P.Blocks.back()->getTerminator()->eraseFromParent();
  Exit->replacePhiUsesWith(P.Blocks.back(), Before);
  B.CreateBr(Exit);

  for (BasicBlock *BB : P.Blocks) {
    BB->removeFromParent();
    BB->insertInto(F);
  }
  BranchInst::Create(P.Entry, Start);
  return F;
}

SmallVector<Function *, 0> outlinedPieces(const Function &Body) {
  SmallSetVector<Function *, 8> Pieces;
  for (const Instruction &I : instructions(Body))
    if (const Function *Piece = outlinedPieceOf(I))
      Pieces.insert(const_cast<Function *>(Piece));
  return SmallVector<Function *, 0>(Pieces.begin(), Pieces.end());
}

PreservedAnalyses OutlinePass::runOnBody(Function &Body,
                                         FunctionAnalysisManager &FAM) {
  if (Body.hasFnAttribute(NoOutlineAttribute))
    return PreservedAnalyses::all();
  // A region without system calls cannot gain.
  if (none_of(instructions(Body), [](Instruction &I) {
        return isSystemCall(I) || isUserFunctionCall(I);
      }))
    return PreservedAnalyses::all();
  SmallVector<BasicBlock *, 16> Halves = isolateOperations(Body);
  FAM.invalidate(Body, PreservedAnalyses::none());
  std::vector<Piece> Pieces = Finder(Body, FAM).find();

  // Each piece gets an empty block before it, and an empty last block.
  for (Piece &P : Pieces) {
    SmallVector<BasicBlock *, 4> Last;
    for (BasicBlock *Pred : predecessors(P.Exit))
      if (is_contained(P.Blocks, Pred) && !is_contained(Last, Pred))
        Last.push_back(Pred);
    P.Blocks.push_back(SplitBlockPredecessors(P.Exit, Last, ".native"));
  }
  for (auto [N, P] : enumerate(Pieces)) {
    SmallVector<BasicBlock *, 4> Outside;
    for (BasicBlock *Pred : predecessors(P.Entry))
      if (!is_contained(P.Blocks, Pred) && !is_contained(Outside, Pred))
        Outside.push_back(Pred);
    BasicBlock *Before = SplitBlockPredecessors(P.Entry, Outside, ".before");
    Function *F =
        outlinePiece(P, Before, Body.getName() + ".native." + Twine(N));
    ++NumPieces;
    LLVM_DEBUG(dbgs() << F->getName() << " saves " << format("%.0f", P.Gain)
                      << " instructions\n");
    (void)F;
  }
  // In this order no block is merged twice.
  for (BasicBlock *BB : reverse(Halves))
    if (BB->getParent() == &Body)
      MergeBlockIntoPredecessor(BB);
  return PreservedAnalyses::none();
}

} // namespace cosy
