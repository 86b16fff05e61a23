// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Conditions.cpp - Conditions of a program as numbers ----------------===//
#include "bpf/Confine.h"
#include "support/Recompute.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cosy {

/// Returns 1 if \p C holds, otherwise 0, computed without a branch. Returns
/// null if that is not simple.
Value *Confine::bitOf(IRBuilderBase &B, Value *C) {
  Type *I64 = B.getInt64Ty();
  if (isa<Constant>(C))
    return B.CreateZExt(C, I64);
  auto *I = dyn_cast<Instruction>(C);
  if (!I)
    return nullptr;
  switch (I->getOpcode()) {
  case Instruction::Freeze:
    return bitOf(B, I->getOperand(0));
  case Instruction::Trunc:
    return B.CreateAnd(B.CreateZExtOrTrunc(I->getOperand(0), I64), 1);
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor: {
    Value *X = bitOf(B, I->getOperand(0));
    Value *Y = X ? bitOf(B, I->getOperand(1)) : nullptr;
    return Y ? B.CreateBinOp(cast<BinaryOperator>(I)->getOpcode(), X, Y)
             : nullptr;
  }
  case Instruction::Select: {
    Value *If = bitOf(B, I->getOperand(0));
    Value *X = If ? bitOf(B, I->getOperand(1)) : nullptr;
    Value *Y = X ? bitOf(B, I->getOperand(2)) : nullptr;
    if (!Y)
      return nullptr;
    // The value that is not chosen may be undefined.
    X = B.CreateFreeze(X);
    Y = B.CreateFreeze(Y);
    return B.CreateXor(Y, B.CreateAnd(If, B.CreateXor(X, Y)));
  }
  }
  auto *Cmp = dyn_cast<ICmpInst>(I);
  if (!Cmp)
    return nullptr;
  CmpInst::Predicate Pred = Cmp->getPredicate();
  Value *X = Cmp->getOperand(0), *Y = Cmp->getOperand(1);
  if (X->getType()->isPointerTy()) {
    X = B.CreatePtrToInt(X, I64);
    Y = B.CreatePtrToInt(Y, I64);
  }
  if (Pred == CmpInst::ICMP_NE && Bits.contains(X))
    return X;
  bool Signed = CmpInst::isSigned(Pred);
  bool Narrow = X->getType()->getScalarSizeInBits() < 64;
  X = B.CreateIntCast(X, I64, Signed);
  Y = B.CreateIntCast(Y, I64, Signed);
  Value *Bit;
  if (Cmp->isEquality()) {
    Value *D = B.CreateXor(X, Y);
    if (Narrow || isKnownNonNegative(D, DL))
      Bit = B.CreateLShr(B.CreateSub(D, B.getInt64(1)), 63);
    else
      Bit = B.CreateXor(B.CreateLShr(B.CreateOr(D, B.CreateNeg(D)), 63), 1);
    return Pred == CmpInst::ICMP_EQ ? Bit : B.CreateXor(Bit, 1);
  }
  // X < Y, possibly with exchanged operands and a negated result.
  bool Greater = Pred == CmpInst::ICMP_UGT || Pred == CmpInst::ICMP_SGT ||
                 Pred == CmpInst::ICMP_ULE || Pred == CmpInst::ICMP_SLE;
  if (Greater)
    std::swap(X, Y);
  Value *D = B.CreateSub(X, Y);
  if (!Narrow) {
    Value *NotX = B.CreateNot(X), *Less, *Same;
    if (Signed) {
      Less = B.CreateAnd(X, B.CreateNot(Y));
      Same = B.CreateNot(B.CreateXor(X, Y));
    } else {
      Less = B.CreateAnd(NotX, Y);
      Same = B.CreateOr(NotX, Y);
    }
    D = B.CreateOr(Less, B.CreateAnd(Same, D));
  }
  Bit = B.CreateLShr(D, 63);
  bool Negated = Pred == CmpInst::ICMP_ULE || Pred == CmpInst::ICMP_SLE ||
                 Pred == CmpInst::ICMP_UGE || Pred == CmpInst::ICMP_SGE;
  return Negated ? B.CreateXor(Bit, 1) : Bit;
}

/// Keeps conditions as numbers, if they come from several predecessors, or if
/// they are computed from others and used in another block.
void Confine::keepBits() {
  SmallVector<PHINode *, 8> Phis;
  SmallVector<Instruction *, 8> Others;
  auto IsElsewhere = [](const Use &U, const Instruction &I) {
    auto *User = cast<Instruction>(U.getUser());
    return User->getParent() != I.getParent() && !isa<PHINode>(User);
  };
  for (Instruction &I : instructions(P)) {
    if (!I.getType()->isIntegerTy(1))
      continue;
    if (auto *Phi = dyn_cast<PHINode>(&I))
      Phis.push_back(Phi);
    else if (!isa<ICmpInst>(I) &&
             any_of(I.uses(), [&](const Use &U) { return IsElsewhere(U, I); }))
      Others.push_back(&I);
  }
  IRBuilder<> B(Ctx);
  auto Condition = [&](Value *Bit) {
    Bits.insert(Bit);
    return B.CreateICmpNE(Bit, B.getInt64(0));
  };
  SmallVector<PHINode *, 8> New;
  for (PHINode *Phi : Phis) {
    B.SetInsertPoint(Phi);
    New.push_back(B.CreatePHI(B.getInt64Ty(), Phi->getNumIncomingValues()));
    B.SetInsertPoint(Phi->getParent(), Phi->getParent()->getFirstInsertionPt());
    Phi->replaceAllUsesWith(Condition(New.back()));
  }
  for (auto [Phi, Bit] : zip(Phis, New)) {
    for (auto [V, From] : zip(Phi->incoming_values(), Phi->blocks())) {
      int Known = Bit->getBasicBlockIndex(From);
      B.SetInsertPoint(From->getTerminator());
      Value *In = Known >= 0 ? Bit->getIncomingValue(Known) : bitOf(B, V);
      Bit->addIncoming(In ? In : B.CreateZExt(V, B.getInt64Ty()), From);
    }
    Phi->eraseFromParent();
  }
  for (Instruction *I : Others) {
    B.SetInsertPoint(I->getNextNode());
    if (Value *Bit = bitOf(B, I)) {
      Value *C = Condition(Bit);
      I->replaceUsesWithIf(C, [&](Use &U) { return IsElsewhere(U, *I); });
    }
  }
}

/// Computes conditions as numbers without branches. The target would use a
/// branch, and the verifier would follow all combinations of such numbers in a
/// loop.
void Confine::flattenConditions() {
  for (Instruction &I : make_early_inc_range(instructions(P)))
    if (auto *MM = dyn_cast<MinMaxIntrinsic>(&I)) {
      IRBuilder<> B(MM);
      MM->replaceAllUsesWith(B.CreateSelect(
          B.CreateICmp(MM->getPredicate(), MM->getLHS(), MM->getRHS()),
          MM->getLHS(), MM->getRHS()));
      MM->eraseFromParent();
    }
  keepBits();
  // A condition must not be live across other code either.
  for (Instruction &I : instructions(P))
    if (isa<ICmpInst>(I))
      recomputeWhereUsed(I);
  for (Instruction &I : make_early_inc_range(instructions(P))) {
    if (!I.getType()->isIntegerTy() || I.getType()->isIntegerTy(1))
      continue;
    IRBuilder<> B(&I);
    Type *Ty = I.getType();
    Value *New = nullptr;
    if ((isa<ZExtInst>(I) || isa<SExtInst>(I)) &&
        I.getOperand(0)->getType()->isIntegerTy(1)) {
      if (Value *Bit = bitOf(B, I.getOperand(0)))
        New = B.CreateTrunc(isa<SExtInst>(I) ? B.CreateNeg(Bit) : Bit, Ty);
    } else if (auto *S = dyn_cast<SelectInst>(&I)) {
      Value *X = S->getTrueValue(), *Y = S->getFalseValue();
      if (!isa<ConstantInt>(X) && !isa<ConstantInt>(Y))
        continue;
      if (Value *Bit = bitOf(B, S->getCondition()))
        New = B.CreateXor(Y, B.CreateAnd(B.CreateXor(X, Y),
                                         B.CreateTrunc(B.CreateNeg(Bit), Ty)));
    }
    if (!New)
      continue;
    I.replaceAllUsesWith(New);
    I.eraseFromParent();
  }
}

} // namespace cosy
