// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScopeEnds.cpp - Jumps out of scopes --------------------------------===//
#include "region/ScopeEnds.h"
#include "support/LlvmCompat.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace cosy {

using VariableTest = function_ref<bool(const Value *)>;

/// \returns the variable that the switch of \p BB loads, if \p BB does nothing
/// else and the variable's address is not taken.
static Value *dispatchesOn(BasicBlock &BB) {
  auto *Load = dyn_cast<LoadInst>(firstNonPhi(BB));
  auto *S = dyn_cast<SwitchInst>(BB.getTerminator());
  if (!Load || !S || S->getCondition() != Load || !Load->hasOneUse() ||
      !Load->isSimple() || Load->getNextNode() != S ||
      isa<PHINode>(BB.front()) || !isa<AllocaInst>(Load->getPointerOperand()))
    return nullptr;
  Value *Slot = Load->getPointerOperand();
  bool IsPrivate = all_of(Slot->uses(), [](Use &U) {
    auto *St = dyn_cast<StoreInst>(U.getUser());
    return isa<LoadInst>(U.getUser()) || (St && U.getOperandNo() == 1);
  });
  return IsPrivate ? Slot : nullptr;
}

/// The constant that the switch at the end of \p Dispatch finds in \p Slot if
/// it comes from the end of \p BB, or null. A store of another type sets a part
/// of it, or more.
static ConstantInt *lastStore(BasicBlock *BB, Value *Slot,
                              const BasicBlock &Dispatch) {
  auto *S = cast<SwitchInst>(Dispatch.getTerminator());
  const Type *Ty = S->getCondition()->getType();
  constexpr unsigned MaxBlocks = 16;
  for (unsigned N = 0; BB && N < MaxBlocks; ++N) {
    for (Instruction &I : reverse(*BB))
      if (auto *St = dyn_cast<StoreInst>(&I);
          St && St->getPointerOperand() == Slot)
        return St->getValueOperand()->getType() == Ty
                   ? dyn_cast<ConstantInt>(St->getValueOperand())
                   : nullptr;
    BB = BB->getSinglePredecessor();
  }
  return nullptr;
}

/// \returns the block that \p BB leads to, past blocks that do nothing.
static BasicBlock *skipEmpty(BasicBlock *BB) {
  SmallPtrSet<BasicBlock *, 4> Seen;
  while (Seen.insert(BB).second) {
    auto *Br = dyn_cast<BranchInst>(firstNonPhi(*BB));
    if (!Br || Br->isConditional() || isa<PHINode>(BB->front()))
      break;
    BB = Br->getSuccessor(0);
  }
  return BB;
}

/// Returns true if \p BB can be duplicated. Markers must not be.
static bool isCopyable(const BasicBlock &BB) {
  if (isa<PHINode>(BB.front()) || BB.isEHPad() || BB.hasAddressTaken())
    return false;
  return none_of(BB, [&](const Instruction &I) {
    auto *CI = dyn_cast<CallInst>(&I);
    const Function *Callee = CI ? CI->getCalledFunction() : nullptr;
    if (Callee && Callee->getName().starts_with("__cosy_"))
      return true;
    return I.getType()->isTokenTy() || any_of(I.users(), [&](const User *U) {
             return cast<Instruction>(U)->getParent() != &BB;
           });
  });
}

/// Splits off a dispatch that clang emits after destructors.
static void splitDispatch(BasicBlock &BB, VariableTest IsOfProgram) {
  auto *S = dyn_cast<SwitchInst>(BB.getTerminator());
  auto *Load = S ? dyn_cast<LoadInst>(S->getCondition()) : nullptr;
  if (Load && Load->getNextNode() == S &&
      isa<AllocaInst>(Load->getPointerOperand()) &&
      !IsOfProgram(Load->getPointerOperand()) && firstNonPhi(BB) != Load)
    SplitBlock(&BB, Load);
}

/// Duplicates the successor of \p Br for the edge from \p Br, if the
/// code there ends a scope and leads to a block that dispatches on a
/// variable whose value is known at \p Br. \returns whether it did.
static bool copyScopeEnd(BranchInst &Br, VariableTest IsOfProgram) {
  BasicBlock *First = Br.getSuccessor(0);
  if (First->getSinglePredecessor() || !isCopyable(*First))
    return false;
  SmallPtrSet<BasicBlock *, 4> Seen;
  BasicBlock *To = First;
  Value *Slot = nullptr;
  while (!(Slot = dispatchesOn(*To))) {
    auto *Next = dyn_cast<BranchInst>(To->getTerminator());
    if (!Next || Next->isConditional() || !Seen.insert(To).second)
      return false;
    To = Next->getSuccessor(0);
  }
  if (To == First || IsOfProgram(Slot) ||
      !lastStore(Br.getParent(), Slot, *To) ||
      any_of(Slot->users(), [&](User *U) {
        auto *St = dyn_cast<StoreInst>(U);
        return St && Seen.count(St->getParent());
      }))
    return false;
  ValueToValueMapTy Map;
  BasicBlock *Copy = CloneBasicBlock(First, Map, ".end", Br.getFunction());
  SmallVector<BasicBlock *, 1> List{Copy};
  remapInstructionsInBlocks(List, Map);
  for (PHINode &Phi : Copy->getSingleSuccessor()->phis())
    Phi.addIncoming(Phi.getIncomingValueForBlock(First), Copy);
  Br.setSuccessor(0, Copy);
  return true;
}

void threadScopeEnds(Function &F, VariableTest IsOfProgram) {
  constexpr unsigned MaxNested = 32; // scopes left by one jump, twice
  for (BasicBlock &BB : make_early_inc_range(F))
    splitDispatch(BB, IsOfProgram);
  bool Changed = true;
  for (unsigned N = 0; N < MaxNested && Changed; ++N) {
    Changed = false;
    SmallVector<BasicBlock *, 32> Blocks(make_pointer_range(F));
    for (BasicBlock *BB : Blocks) {
      auto *Br = dyn_cast<BranchInst>(BB->getTerminator());
      if (!Br || Br->isConditional())
        continue;
      BasicBlock *To = skipEmpty(Br->getSuccessor(0));
      Value *Slot = dispatchesOn(*To);
      ConstantInt *Dest = Slot ? lastStore(BB, Slot, *To) : nullptr;
      if (!Dest) {
        Changed |= copyScopeEnd(*Br, IsOfProgram);
        continue;
      }
      auto *S = cast<SwitchInst>(To->getTerminator());
      BasicBlock *Target = S->findCaseValue(Dest)->getCaseSuccessor();
      if (isa<PHINode>(Target->front()) || Target == To)
        continue;
      Br->setSuccessor(0, Target);
      Changed = true;
    }
  }
}

} // namespace cosy
