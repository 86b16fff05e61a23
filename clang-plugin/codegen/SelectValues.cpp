// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectValues.cpp - Values that need registers ----------------------===//
#include "codegen/Selector.h"
#include "support/LlvmCompat.h"
#include "support/SystemCalls.h"
#include "support/Thresholds.h"

#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cosy {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the register contents of a constant that is not an address.
std::optional<int64_t> Selector::constantOf(const Value *V) const {
  if (auto *CI = dyn_cast<ConstantInt>(V))
    return CI->getBitWidth() <= 64 ? std::optional<int64_t>(CI->getZExtValue())
                                   : std::nullopt;
  if (isa<ConstantPointerNull>(V) || isa<UndefValue>(V) ||
      isa<ConstantAggregateZero>(V))
    return 0;
  if (auto *CF = dyn_cast<ConstantFP>(V))
    return CF->getValueAPF().bitcastToAPInt().getZExtValue();
  if (auto *CV = dyn_cast<ConstantDataVector>(V)) {
    uint64_t Bits = 0;
    StringRef Raw = CV->getRawDataValues();
    memcpy(&Bits, Raw.data(), std::min<size_t>(Raw.size(), 8));
    return Bits;
  }
  return std::nullopt;
}

/// \returns true if \p V is a value plus a constant.
bool Selector::isAlias(const Value *V) const {
  if (auto *GEP = dyn_cast<GEPOperator>(V))
    return GEP->hasAllConstantIndices();
  if (auto *Op = dyn_cast<Operator>(V)) {
    switch (Op->getOpcode()) {
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
      return bitsOf(V->getType()) == 64 &&
             bitsOf(Op->getOperand(0)->getType()) == 64;
    case Instruction::Add:
      return V->getType()->isIntegerTy(64) &&
             isa<ConstantInt>(Op->getOperand(1));
    default:
      return false;
    }
  }
  return false;
}

/// Returns the base and the offset of the alias \p V.
Address Selector::stripOnce(Value *V) const {
  auto *Op = cast<Operator>(V);
  int64_t Offset = 0;
  if (auto *GEP = dyn_cast<GEPOperator>(Op)) {
    APInt Off(64, 0);
    GEP->accumulateConstantOffset(DL, Off);
    Offset = Off.getSExtValue();
  } else if (Op->getOpcode() == Instruction::Add) {
    Offset = cast<ConstantInt>(Op->getOperand(1))->getSExtValue();
  }
  return {Op->getOperand(0), Offset};
}

/// Returns the base and the offset of \p V, through all its aliases. \p
/// AtMaterialised stops at aliases that are in a register.
Address Selector::strip(Value *V, bool AtMaterialised) const {
  Address A{V, 0};
  while (isAlias(A.Base)) {
    if (auto *I = dyn_cast<Instruction>(A.Base))
      if ((AtMaterialised && Demanded.count(I)) || UpCalls.Of.count(I))
        break;
    Address Next = stripOnce(A.Base);
    A = {Next.Base, A.Offset + Next.Offset};
  }
  if (std::optional<int64_t> C = constantOf(A.Base)) {
    A.Offset += *C;
    A.Base = nullptr;
  }
  return A;
}

Reg Selector::define(Value *V) {
  Reg R = Sel.C.newReg();
  Regs[V] = R;
  return R;
}

/// Returns a register with \p Imm. In a loop it is set before the outermost
/// one.
Reg Selector::constant(int64_t Imm) {
  unsigned At = Cur;
  if (Loop *L = LI.getLoopFor(Order[Cur])) {
    L = L->getOutermostLoop();
    BasicBlock *Pre = L->getLoopPreheader();
    if (Pre && Number.count(Pre)) {
      unsigned N = Number.lookup(Pre);
      if (Hoisted[N].size() < MaxHoistedConstants || Constants.count({N, Imm}))
        At = N;
    }
  }
  auto [It, New] = Constants.try_emplace({At, Imm}, NoReg);
  if (!New)
    return It->second;
  Reg R = Sel.C.newReg();
  It->second = R;
  Inst I;
  I.Op = COSY_OP_CONST;
  I.Dst = R;
  I.Imm = Imm;
  I.Loc = Loc;
  if (At == Cur)
    Sel.C.Blocks[Cur].Insts.push_back(std::move(I));
  else
    Hoisted[At].push_back(std::move(I));
  return R;
}

/// Returns the register that contains \p V.
Reg Selector::reg(Value *V) {
  if (std::optional<int64_t> C = constantOf(V))
    return constant(*C);
  auto It = Regs.find(V);
  if (It != Regs.end())
    return It->second;
  // Other constants are addresses. The host computes them, and passes them as
  // inputs.
  assert((isa<Constant>(V) || isa<Argument>(V) ||
          isHostComputed(*cast<Instruction>(V))) &&
         "a value is used before its definition");
  Reg R = define(V);
  Sel.Inputs.push_back(V);
  Sel.C.Inputs.push_back(R);
  return R;
}

Reg Selector::regForAddress(const Address &A) {
  return A.Base ? reg(A.Base) : NoReg;
}

void Selector::emitALU(unsigned Op, unsigned Width, Reg Dst, Reg A, Reg B,
                       int64_t Imm) {
  Inst &I = emit(Op);
  I.Width = Width;
  I.Dst = Dst;
  I.A = A;
  I.B = B;
  I.Imm = Imm;
}

/// Clears the bits of \p R above the low \p Bits.
void Selector::mask(Reg R, unsigned Bits) {
  emitALU(COSY_OP_AND, 8, R, R, NoReg,
          (int64_t)maskTrailingOnes<uint64_t>(Bits));
}

/// Returns \p V sign-extended to \p Width, which is set to its operand width.
Reg Selector::signExtended(Value *V, unsigned &Width) {
  unsigned Bits = bitsOf(V->getType());
  Width = widthFor(Bits);
  Reg R = reg(V);
  if (!isOddWidth(Bits))
    return R;
  Reg T = Sel.C.newReg();
  int64_t Shift = Width * 8 - Bits;
  emitALU(COSY_OP_SHL, Width, T, R, NoReg, Shift);
  Reg T2 = Sel.C.newReg();
  emitALU(COSY_OP_ASHR, Width, T2, T, NoReg, Shift);
  return T2;
}

//===----------------------------------------------------------------------===//
// Demanded values
//===----------------------------------------------------------------------===//

void Selector::demand(Value *V) {
  if (Demanded.insert(V).second && isa<Instruction>(V))
    Work.push_back(V);
}

void Selector::demandAddress(Value *V) {
  Address A = strip(V, false);
  if (A.Base)
    demand(A.Base);
}

/// Notes that a user needs \p V zero-extended.
void Selector::demandClean(Value *V) {
  if (Clean.insert(V).second)
    CleanWork.push_back(V);
}

/// Splits a condition into the comparisons and other values that it consists
/// of. If \p And, all must hold, otherwise one. The condition of an up-call is
/// not split.
void Selector::flattenCondition(Value *Cond, bool &And,
                                SmallVectorImpl<Value *> &Leaves) {
  Value *A, *B;
  auto Matches = [&](Value *V, bool IsAnd) {
    auto *I = dyn_cast<Instruction>(V);
    return I && I->hasOneUse() && !UpCalls.Of.count(I) &&
           (IsAnd ? match(I, m_LogicalAnd(m_Value(A), m_Value(B)))
                  : match(I, m_LogicalOr(m_Value(A), m_Value(B))));
  };
  And = Matches(Cond, true);
  SmallVector<Value *, 8> Stack{Cond};
  while (!Stack.empty()) {
    Value *V = Stack.pop_back_val();
    if (Leaves.size() + Stack.size() < 16 && Matches(V, And)) {
      Stack.push_back(B);
      Stack.push_back(A);
    } else {
      Leaves.push_back(V);
    }
  }
}

void Selector::demandCondition(Value *Cond) {
  auto *Cmp = dyn_cast<ICmpInst>(Cond);
  if (!Cmp || UpCalls.Of.count(Cmp)) {
    demand(Cond);
    return;
  }
  demand(Cmp->getOperand(0));
  demand(Cmp->getOperand(1));
}

void Selector::demandOperands(Instruction &I) {
  if (auto It = UpCalls.Of.find(&I); It != UpCalls.Of.end()) {
    for (Value *V : UpCalls.Calls[It->second].Uses)
      demand(V);
    return;
  }
  if (isIgnored(I) || isHostComputed(I))
    return;
  if (isAlias(&I)) {
    demandAddress(stripOnce(&I).Base);
    return;
  }
  switch (opcodeOf(I)) {
  case Instruction::Load:
    demandAddress(I.getOperand(0));
    return;
  case Instruction::Store:
    demand(I.getOperand(0));
    demandAddress(I.getOperand(1));
    return;
  case BranchOpcode:
    if (cast<BranchInst>(I).isConditional()) {
      bool And;
      SmallVector<Value *, 8> Leaves;
      flattenCondition(cast<BranchInst>(I).getCondition(), And, Leaves);
      for (Value *V : Leaves)
        demandCondition(V);
    }
    return;
  case Instruction::Call: {
    if (const SystemCall *Call = systemCallOf(I)) {
      for (auto [N, V] : enumerate(cast<CallBase>(I).args())) {
        demandAddress(V);
        if (Call->Args[N] != 'd')
          demandClean(V);
      }
      return;
    }
    for (Value *V : cast<CallBase>(I).args())
      if (!isa<ConstantInt>(V))
        demand(V);
    return;
  }
  case Instruction::ZExt:
  case Instruction::IntToPtr:
    demandClean(I.getOperand(0));
    break;
  default:
    break;
  }
  for (Value *V : I.operands())
    if (!isa<BasicBlock>(V) && !constantOf(V))
      demand(V);
}

void Selector::findDemand() {
  for (BasicBlock *BB : Order)
    for (Instruction &I : *BB)
      if (I.isTerminator() || I.mayHaveSideEffects() || UpCalls.Of.count(&I))
        demandOperands(I);
  while (!Work.empty())
    demandOperands(*cast<Instruction>(Work.pop_back_val()));
}

/// Propagates the demand for clean values to operands of phis, selects and
/// casts.
void Selector::findClean() {
  while (!CleanWork.empty()) {
    auto *I = dyn_cast<Instruction>(CleanWork.back());
    CleanWork.pop_back();
    if (!I || UpCalls.Of.count(I))
      continue;
    if (isa<PHINode>(I) || isa<FreezeInst>(I) || isa<BitCastInst>(I)) {
      for (Value *V : I->operands())
        demandClean(V);
    } else if (isa<SelectInst>(I)) {
      demandClean(I->getOperand(1));
      demandClean(I->getOperand(2));
    }
  }
}

//===----------------------------------------------------------------------===//

} // namespace cosy
