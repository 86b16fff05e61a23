// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Select.cpp - Select the operations of a body -----------------------===//
//
// Orders the blocks and selects the operations of each. Selector.h explains
// which values are in registers.
//
//===----------------------------------------------------------------------===//
#include "codegen/Selector.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/ProfDataUtils.h"

using namespace llvm;

namespace cosy {

/// \returns the successor of \p BB that a profile or __builtin_expect() says is
/// seldom executed, or null.
static const BasicBlock *unlikelySuccessor(const BasicBlock &BB) {
  constexpr uint64_t Seldom = 8;
  auto *Br = dyn_cast<BranchInst>(BB.getTerminator());
  uint64_t True, False;
  if (!Br || !Br->isConditional() || !extractBranchWeights(*Br, True, False))
    return nullptr;
  if (True < False / Seldom)
    return Br->getSuccessor(0);
  return False < True / Seldom ? Br->getSuccessor(1) : nullptr;
}

/// Orders the blocks so that loops are contiguous and few jumps are needed. A
/// block is followed by a successor in the same loop, otherwise by the waiting
/// block with the deepest loop.
void Selector::orderBlocks() {
  DenseSet<const BasicBlock *> Placed;
  std::vector<std::vector<BasicBlock *>> Waiting(1);
  auto Defer = [&](BasicBlock *BB) {
    unsigned D = LI.getLoopDepth(BB);
    if (Waiting.size() <= D)
      Waiting.resize(D + 1);
    Waiting[D].push_back(BB);
  };
  auto Next = [&]() -> BasicBlock * {
    for (auto &List : reverse(Waiting))
      while (!List.empty()) {
        BasicBlock *BB = List.back();
        List.pop_back();
        if (!Placed.count(BB))
          return BB;
      }
    return nullptr;
  };
  for (BasicBlock *BB = &F.getEntryBlock(); BB; BB = Next()) {
    while (BB) {
      Placed.insert(BB);
      Number[BB] = Order.size();
      Order.push_back(BB);
      Loop *L = LI.getLoopFor(BB);
      BasicBlock *Best = nullptr;
      const BasicBlock *Unlikely = unlikelySuccessor(*BB);
      for (BasicBlock *S : successors(BB)) {
        if (Placed.count(S))
          continue;
        Defer(S);
        // The last successor is the false one, which is the fall-through.
        if ((!L || L->contains(S)) &&
            (!Best || Best == Unlikely ||
             (S != Unlikely && LI.getLoopDepth(S) >= LI.getLoopDepth(Best))))
          Best = S;
      }
      BB = Best;
    }
  }
}

/// Appends the copies for the phis of \p Succ on the edge from the current
/// block.
void Selector::copiesFor(BasicBlock &Succ) {
  Inst Copies;
  Copies.Op = OpCopies;
  Copies.Loc = Loc;
  for (PHINode &P : Succ.phis()) {
    if (!Demanded.count(&P))
      continue;
    Value *V = P.getIncomingValueForBlock(Order[Cur]);
    if (isa<UndefValue>(V))
      continue;
    Operand O;
    if (std::optional<int64_t> C = constantOf(V))
      O.Imm = *C;
    else
      O.R = reg(V);
    Copies.Defs.push_back(PhiRegs[&P]);
    Copies.Ops.push_back(O);
  }
  if (!Copies.Defs.empty())
    Sel.C.Blocks[Cur].Insts.push_back(std::move(Copies));
}

void Selector::lowerBlock(BasicBlock &BB) {
  Cur = Number.lookup(&BB);
  Sel.C.Blocks[Cur].Depth = LI.getLoopDepth(&BB);
  Sel.C.Blocks[Cur].Source = &BB;
  Inst Copies;
  Copies.Op = OpCopies;
  for (PHINode &P : BB.phis()) {
    if (!Demanded.count(&P))
      continue;
    Copies.Defs.push_back(Regs[&P]);
    Copies.Ops.push_back({PhiRegs[&P], 0});
  }
  if (!Copies.Defs.empty())
    Sel.C.Blocks[Cur].Insts.push_back(std::move(Copies));

  for (Instruction &I : BB) {
    if (isa<PHINode>(I))
      continue;
    if (const DebugLoc &DLoc = I.getDebugLoc())
      Loc = DLoc.get();
    if (auto It = UpCalls.Of.find(&I); It != UpCalls.Of.end()) {
      if (UpCalls.Calls[It->second].Insts.front() == &I)
        lowerUpCall(It->second);
      continue;
    }
    if (isIgnored(I) || isHostComputed(I))
      continue;
    if (!I.isTerminator() && !I.mayHaveSideEffects() && !Demanded.count(&I))
      continue;
    if (I.isTerminator())
      TerminatorAt[Cur] = Sel.C.Blocks[Cur].Insts.size();
    lower(I);
    if (isExit(I))
      break; // later instructions are only for LLVM
  }
}

/// Inserts hoisted constants at the end of the loops' preheaders.
void Selector::placeHoisted() {
  for (unsigned B = 0; B < Order.size(); ++B) {
    auto &Insts = Sel.C.Blocks[B].Insts;
    Insts.insert(Insts.begin() + TerminatorAt[B],
                 std::make_move_iterator(Hoisted[B].begin()),
                 std::make_move_iterator(Hoisted[B].end()));
  }
}

Selection Selector::run(unsigned NumOutputs) {
  Code &C = Sel.C;
  orderBlocks();
  C.Blocks.resize(Order.size());
  Hoisted.resize(Order.size());
  TerminatorAt.resize(Order.size());
  C.NumUpCalls = UpCalls.Calls.size();
  for (unsigned I = 0; I < NumOutputs; ++I)
    C.Outputs.push_back(C.newReg());

  for (BasicBlock *BB : Order)
    if (Sel.C.Stop == NoReg && any_of(*BB, isStopTest)) {
      Sel.C.Stop = C.newReg();
      C.Inputs.push_back(Sel.C.Stop);
      Sel.Inputs.push_back(
          ConstantInt::get(Type::getInt64Ty(F.getContext()), 0));
    }
  findDemand();
  findClean();
  for (BasicBlock *BB : Order)
    for (PHINode &P : BB->phis())
      if (Demanded.count(&P)) {
        define(&P);
        PhiRegs[&P] = C.newReg();
      }
  // Definitions must be visited before uses. Reverse post-order guarantees
  // that.
  ReversePostOrderTraversal<Function *> RPO(&F);
  for (BasicBlock *BB : RPO)
    lowerBlock(*BB);
  placeHoisted();
  C.computePreds();
  return std::move(Sel);
}

Selection select(Function &Body, LoopInfo &LI, const UpCallList &UpCalls,
                 unsigned NumOutputs) {
  return Selector(Body, LI, UpCalls).run(NumOutputs);
}

} // namespace cosy
