// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectInstructions.cpp - The operations of each instruction --------===//
#include "body/Atomics.h"
#include "body/FastPaths.h"
#include "body/Mutexes.h"
#include "codegen/Selector.h"
#include "support/LlvmCompat.h"
#include "support/SystemCalls.h"
#include "support/UserFunctions.h"

#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cosy {

static unsigned condOf(CmpInst::Predicate P) {
  switch (P) {
  case CmpInst::ICMP_EQ:
    return COSY_COND_EQ;
  case CmpInst::ICMP_NE:
    return COSY_COND_NE;
  case CmpInst::ICMP_ULT:
    return COSY_COND_ULT;
  case CmpInst::ICMP_ULE:
    return COSY_COND_ULE;
  case CmpInst::ICMP_UGT:
    return COSY_COND_UGT;
  case CmpInst::ICMP_UGE:
    return COSY_COND_UGE;
  case CmpInst::ICMP_SLT:
    return COSY_COND_SLT;
  case CmpInst::ICMP_SLE:
    return COSY_COND_SLE;
  case CmpInst::ICMP_SGT:
    return COSY_COND_SGT;
  case CmpInst::ICMP_SGE:
    return COSY_COND_SGE;
  default:
    llvm_unreachable("not an integer comparison");
  }
}

/// Computes an alias that is needed in a register.
void Selector::lowerAlias(Instruction &I) {
  Address A = stripOnce(&I);
  Address Rest = strip(A.Base, true);
  A = {Rest.Base, A.Offset + Rest.Offset};
  Reg Base = regForAddress(A);
  if (Base == NoReg)
    Regs[&I] = constant(A.Offset);
  else if (A.Offset == 0)
    Regs[&I] = Base;
  else
    emitALU(COSY_OP_ADD, 8, define(&I), Base, NoReg, A.Offset);
}

namespace {

/// The operation of an integer instruction.
struct Arithmetic {
  unsigned Op;
  bool IsSigned;  ///< it interprets its operands as signed
  bool Overflows; ///< the bits above an odd width may be wrong in its result
};

} // namespace

static Arithmetic arithmeticOf(unsigned Opcode) {
  switch (Opcode) {
  case Instruction::Add:
    return {COSY_OP_ADD, false, true};
  case Instruction::Sub:
    return {COSY_OP_SUB, false, true};
  case Instruction::Mul:
    return {COSY_OP_MUL, false, true};
  case Instruction::UDiv:
    return {COSY_OP_UDIV, false, false};
  case Instruction::SDiv:
    return {COSY_OP_SDIV, true, true};
  case Instruction::URem:
    return {COSY_OP_UREM, false, false};
  case Instruction::SRem:
    return {COSY_OP_SREM, true, true};
  case Instruction::And:
    return {COSY_OP_AND, false, false};
  case Instruction::Or:
    return {COSY_OP_OR, false, false};
  case Instruction::Xor:
    return {COSY_OP_XOR, false, false};
  case Instruction::Shl:
    return {COSY_OP_SHL, false, true};
  case Instruction::LShr:
    return {COSY_OP_LSHR, false, false};
  case Instruction::AShr:
    return {COSY_OP_ASHR, true, true};
  default:
    llvm_unreachable("not an integer operation");
  }
}

void Selector::lowerBinary(BinaryOperator &I) {
  unsigned Bits = bitsOf(I.getType());
  unsigned Width = widthFor(Bits);
  Value *L = I.getOperand(0), *R = I.getOperand(1);
  if (I.isCommutative() && isa<ConstantInt>(L))
    std::swap(L, R);

  auto [Op, IsSigned, Overflows] = arithmeticOf(I.getOpcode());
  bool Odd = isOddWidth(Bits);
  Reg A = NoReg, B = NoReg;
  int64_t Imm = 0;
  if (Odd && IsSigned) {
    // The amount of a shift is small, so it needs no sign extension.
    A = signExtended(L, Width);
    B = I.getOpcode() == Instruction::AShr ? reg(R) : signExtended(R, Width);
  } else if (I.getOpcode() == Instruction::Sub && match(L, m_Zero())) {
    Op = COSY_OP_MUL;
    A = reg(R);
    Imm = -1;
  } else {
    A = reg(L);
    if (auto *CI = dyn_cast<ConstantInt>(R))
      Imm = Odd ? (int64_t)CI->getZExtValue() : CI->getSExtValue();
    else
      B = reg(R);
  }
  Reg D = define(&I);
  emitALU(Op, Width, D, A, B, Imm);
  if (Odd && Overflows)
    mask(D, Bits);
}

/// \returns true if \p V is a loop counter: a phi of its header plus a
/// constant.
static bool isLoopCounter(const Value *V, const LoopInfo &LI) {
  auto *Add = dyn_cast<AddOperator>(V);
  auto *P = Add ? dyn_cast<PHINode>(Add->getOperand(0)) : nullptr;
  return P && isa<ConstantInt>(Add->getOperand(1)) &&
         LI.isLoopHeader(P->getParent()) && is_contained(P->operands(), V);
}

/// Returns true if the upper bits of the register of \p V are zero without a
/// further operation.
bool Selector::isCleanAnyway(const Value *V) const {
  if (isOddWidth(bitsOf(V->getType())))
    return true;
  auto *Load = dyn_cast<LoadInst>(V);
  return Load && !UpCalls.Of.count(Load) && !isHostComputed(*Load);
}

/// Makes \p I, a SET or BR, the comparison \p Cmp with the predicate \p P.
void Selector::setComparison(Inst &I, const ICmpInst &Cmp,
                             CmpInst::Predicate P) {
  Value *L = Cmp.getOperand(0), *R = Cmp.getOperand(1);
  if (constantOf(L) && !constantOf(R)) {
    std::swap(L, R);
    P = CmpInst::getSwappedPredicate(P);
  }
  unsigned Bits = bitsOf(L->getType());
  I.Width = widthFor(Bits);
  I.Cond = condOf(P);
  if (isOddWidth(Bits) && CmpInst::isSigned(P)) {
    I.A = signExtended(L, I.Width);
    I.B = signExtended(R, I.Width);
    return;
  }
  I.A = reg(L);
  // LOOP cannot have a second constant, and has the width of the counter.
  bool EndsLoop = I.Op == COSY_OP_BR && isLoopCounter(L, LI);
  // Comparing the whole register takes less work than comparing 8 or 16 bits.
  bool Whole = I.Width < 4 && !CmpInst::isSigned(P) && !EndsLoop &&
               isCleanAnyway(L) && (isa<ConstantInt>(R) || isCleanAnyway(R));
  if (EndsLoop || !constantOf(R))
    I.B = reg(R);
  else if (auto *CI = dyn_cast<ConstantInt>(R))
    I.Imm = isOddWidth(Bits) || Whole ? (int64_t)CI->getZExtValue()
                                      : CI->getSExtValue();
  if (Whole)
    I.Width = 8;
}

void Selector::lowerCompare(ICmpInst &I) {
  Inst S;
  S.Op = COSY_OP_SET;
  S.Loc = Loc;
  setComparison(S, I, I.getPredicate());
  S.Dst = define(&I);
  Sel.C.Blocks[Cur].Insts.push_back(std::move(S));
}

Inst Selector::makeBranch(Value *Cond, bool Negate, BasicBlock *Target) {
  auto *Cmp = dyn_cast<ICmpInst>(Cond);
  Inst Br;
  Br.Op = COSY_OP_BR;
  Br.Loc = Loc;
  Br.Target = Number.lookup(Target);
  if (!Cmp || UpCalls.Of.count(Cmp)) {
    Br.A = reg(Cond);
    Br.Width = 8;
    Br.Cond = Negate ? COSY_COND_EQ : COSY_COND_NE;
  } else {
    setComparison(Br, *Cmp,
                  Negate ? Cmp->getInversePredicate() : Cmp->getPredicate());
  }
  return Br;
}

void Selector::lowerCast(CastInst &I) {
  Value *V = I.getOperand(0);
  unsigned From = bitsOf(V->getType()), To = bitsOf(I.getType());
  if (!isa<SExtInst>(I)) {
    // A number that gets narrower may have other bits above its width.
    bool IsCleared =
        From > To && (!isa<TruncInst>(I) || isOddWidth(To) || Clean.count(&I));
    if (!IsCleared) {
      Regs[&I] = reg(V);
    } else if (isOddWidth(To)) {
      emitALU(COSY_OP_AND, 8, define(&I), reg(V), NoReg,
              (int64_t)maskTrailingOnes<uint64_t>(To));
    } else {
      Reg R = reg(V), D = define(&I);
      Inst &Z = emit(COSY_OP_ZEXT);
      Z.Width = To / 8;
      Z.A = R;
      Z.Dst = D;
    }
    return;
  }
  Reg R = reg(V);
  if (From == 1) {
    Reg D = define(&I);
    emitALU(COSY_OP_MUL, widthFor(To), D, R, NoReg, -1);
    if (isOddWidth(To))
      mask(D, To);
  } else if (isOddWidth(From)) {
    Reg T = Sel.C.newReg(), D = define(&I);
    emitALU(COSY_OP_SHL, 8, T, R, NoReg, 64 - From);
    emitALU(COSY_OP_ASHR, 8, D, T, NoReg, 64 - From);
    if (To < 64)
      mask(D, To);
  } else {
    Reg D = define(&I);
    Inst &S = emit(COSY_OP_SEXT);
    S.Width = From / 8;
    S.A = R;
    S.Dst = D;
    S.Imm = widthFor(To);
    if (isOddWidth(To))
      mask(D, To);
  }
}

void Selector::lowerSelect(SelectInst &I) {
  Value *C = I.getCondition(), *T = I.getTrueValue(), *E = I.getFalseValue();
  if (I.getType()->isIntegerTy(1)) {
    // Registers contain no poison, so plain operations are correct.
    bool And = match(E, m_Zero());
    if (And || match(T, m_One())) {
      Reg A = reg(C), B = reg(And ? T : E);
      emitALU(And ? COSY_OP_AND : COSY_OP_OR, 1, define(&I), A, B, 0);
      return;
    }
  }
  Reg A = reg(C), B = reg(T), D = reg(E);
  Inst &S = emit(COSY_OP_SELECT);
  S.A = A;
  S.B = B;
  S.C = D;
  S.Dst = define(&I);
}

void Selector::lowerMemoryCall(CallBase &CB, MemoryCall Kind) {
  static const unsigned Ops[] = {0,
                                 COSY_OP_COPY,
                                 COSY_OP_FILL,
                                 COSY_OP_COMPARE,
                                 COSY_OP_FIND,
                                 COSY_OP_STRLEN,
                                 COSY_OP_STRCMP,
                                 COSY_OP_STRCMP,
                                 COSY_OP_STRNLEN,
                                 COSY_OP_STRCHR,
                                 COSY_OP_STRRCHR,
                                 COSY_OP_STPCPY,
                                 COSY_OP_STPCPY,
                                 COSY_OP_STPCPY};
  bool HasResult = Kind != MemoryCall::Copy && Kind != MemoryCall::Fill;
  Reg R[3] = {NoReg, NoReg, NoReg};
  unsigned N = std::min(CB.arg_size(), 3u);
  for (unsigned I = 0; I < N; ++I)
    R[I] = reg(CB.getArgOperand(I));
  if (Kind == MemoryCall::StrCmp)
    R[2] = constant(-1);
  Reg Dest = R[0], Result = NoReg;
  if (Kind == MemoryCall::StrCat) {
    Reg Length = Sel.C.newReg();
    Inst &L = emit(COSY_OP_STRLEN);
    L.A = Dest;
    L.Dst = Length;
    R[0] = Sel.C.newReg();
    emitALU(COSY_OP_ADD, 8, R[0], Dest, Length, 0);
  }
  if (Kind == MemoryCall::StrCpy || Kind == MemoryCall::StrCat)
    Result = Sel.C.newReg();
  else if (HasResult)
    Result = define(&CB);
  Inst &S = emit(Ops[static_cast<unsigned>(Kind)]);
  S.A = R[0];
  S.B = R[1];
  S.C = R[2];
  S.Dst = Result;
  // These functions return the destination.
  if (Kind == MemoryCall::StrCpy || Kind == MemoryCall::StrCat) {
    Inst &M = emit(COSY_OP_MOV);
    M.A = Dest;
    M.Dst = define(&CB);
  }
}

void Selector::lowerSystemCall(CallBase &CB, const SystemCall &Call) {
  SmallVector<Operand, 6> Args;
  for (Value *V : CB.args()) {
    Address A = strip(V, true);
    Args.push_back({regForAddress(A), A.Offset});
  }
  Reg D = define(&CB);
  Inst &S = emit(COSY_OP_LIBC);
  S.Imm = Call.Number;
  S.Hints = hintsOf(CB);
  S.Width = Args.size();
  S.Dst = D;
  S.Ops.append(Args.begin(), Args.end());
  ++Sel.NumSystemCalls;
  unsigned Bits = CB.getType()->isVoidTy() ? 64 : bitsOf(CB.getType());
  if (Bits < 64 && (Clean.count(&CB) || isOddWidth(Bits))) {
    Inst &Z = emit(COSY_OP_ZEXT);
    Z.Width = widthFor(Bits);
    Z.A = D;
    Z.Dst = define(&CB);
  }
}

void Selector::lowerCompareExchange(CallBase &CB) {
  Reg A = reg(CB.getArgOperand(0)), B = reg(CB.getArgOperand(1)),
      C = reg(CB.getArgOperand(2));
  Inst &X = emit(COSY_OP_CMPXCHG);
  X.Width = bitsOf(CB.getType()) / 8;
  X.A = A;
  X.B = B;
  X.C = C;
  X.Dst = define(&CB);
}

void Selector::lowerExit(CallBase &CB) {
  Inst Copies;
  Copies.Op = OpCopies;
  Copies.Loc = Loc;
  Inst Exit;
  Exit.Op = COSY_OP_EXIT;
  Exit.Loc = Loc;
  Exit.Imm = cast<ConstantInt>(CB.getArgOperand(0))->getZExtValue();
  Exit.A = Sel.C.Stop; // keeps the register live everywhere
  for (unsigned I = 1; I < CB.arg_size(); ++I) {
    Value *V = CB.getArgOperand(I);
    Exit.Ops.push_back({isa<PoisonValue>(V) ? NoReg : Sel.C.Outputs[I - 1], 0});
    if (isa<UndefValue>(V))
      continue;
    Operand O;
    if (std::optional<int64_t> C = constantOf(V))
      O.Imm = *C;
    else
      O.R = reg(V);
    Copies.Defs.push_back(Sel.C.Outputs[I - 1]);
    Copies.Ops.push_back(O);
  }
  auto &Insts = Sel.C.Blocks[Cur].Insts;
  TerminatorAt[Cur] = Insts.size();
  if (!Copies.Defs.empty())
    Insts.push_back(std::move(Copies));
  Insts.push_back(std::move(Exit));
}

/// Selects a call of a user function: CALL, with the up-call \p UpCall as
/// fallback.
void Selector::lowerUserCall(CallBase &CB, unsigned UpCall) {
  const Function *F = CB.getCalledFunction();
  auto &Functions = Sel.C.Functions;
  auto *It = find(Functions, F);
  unsigned Number = It - Functions.begin();
  if (It == Functions.end())
    Functions.push_back(F);
  Inst I;
  I.Op = COSY_OP_CALL;
  I.Imm = Number;
  I.UpCall = UpCall;
  I.Width = CB.arg_size();
  if (const DebugLoc &DLoc = CB.getDebugLoc())
    Loc = DLoc.get();
  I.Loc = Loc;
  for (Value *V : CB.args()) {
    if (std::optional<int64_t> C = constantOf(V))
      I.Ops.push_back({NoReg, *C});
    else
      I.Ops.push_back({reg(V), 0});
  }
  I.Dst = CB.getType()->isVoidTy() ? Sel.C.newReg() : define(&CB);
  Sel.C.Blocks[Cur].Insts.push_back(std::move(I));
}

void Selector::lowerUpCall(unsigned N) {
  const UpCall &U = UpCalls.Calls[N];
  if (isUserFunctionCall(*U.Culprit))
    return lowerUserCall(cast<CallBase>(*U.Culprit), N);
  Inst I;
  I.Op = COSY_OP_UPCALL;
  I.Imm = N;
  if (const DebugLoc &DLoc = U.Culprit->getDebugLoc())
    Loc = DLoc.get();
  I.Loc = Loc;
  for (Value *V : U.Uses)
    I.Ops.push_back({reg(V), 0});
  for (Instruction *D : U.Defs)
    I.Defs.push_back(define(D));
  Sel.C.Blocks[Cur].Insts.push_back(std::move(I));
}

void Selector::lowerBranch(BranchInst &I) {
  if (I.isUnconditional()) {
    copiesFor(*I.getSuccessor(0));
    emitJump(I.getSuccessor(0));
    return;
  }
  BasicBlock *True = I.getSuccessor(0), *False = I.getSuccessor(1);
  bool And;
  SmallVector<Value *, 8> Leaves;
  flattenCondition(I.getCondition(), And, Leaves);
  // Compute all operands first, so that no operation is between the branches.
  SmallVector<Inst, 8> Branches;
  for (Value *V : ArrayRef(Leaves).drop_back())
    Branches.push_back(makeBranch(V, And, And ? False : True));
  Branches.push_back(makeBranch(Leaves.back(), false, True));
  for (Inst &Br : Branches)
    Sel.C.Blocks[Cur].Insts.push_back(std::move(Br));
  emitJump(False);
}

void Selector::lowerSwitch(SwitchInst &I) {
  constexpr unsigned FewCases = 3;
  unsigned Bits = bitsOf(I.getCondition()->getType());
  unsigned Width = widthFor(Bits);
  Reg A = reg(I.getCondition());
  SmallVector<std::pair<uint64_t, BasicBlock *>, 16> Cases;
  for (auto &C : I.cases())
    if (C.getCaseSuccessor() != I.getDefaultDest())
      Cases.push_back({C.getCaseValue()->getZExtValue(), C.getCaseSuccessor()});
  llvm::sort(Cases, llvm::less_first());
  if (Cases.size() <= FewCases) {
    for (auto [V, BB] : Cases) {
      Inst &Br = emit(COSY_OP_BR);
      Br.Cond = COSY_COND_EQ;
      Br.Width = Width;
      Br.A = A;
      Br.Imm = isOddWidth(Bits) ? (int64_t)V : SignExtend64(V, Bits);
      Br.Target = Number.lookup(BB);
    }
    emitJump(I.getDefaultDest());
    return;
  }
  Inst &S = emit(COSY_OP_SWITCH);
  S.A = A;
  S.Width = Width;
  S.Target = Number.lookup(I.getDefaultDest());
  for (auto [V, BB] : Cases) {
    S.Ops.push_back({NoReg, (int64_t)V});
    S.Defs.push_back(Number.lookup(BB));
  }
}

/// \returns true if no code after \p I is executed.
static bool isNeverPassed(const Instruction *I) {
  auto *CB = dyn_cast_or_null<CallBase>(I);
  return CB && (isExit(*CB) || CB->doesNotReturn());
}

/// Undefined behaviour crashes, and does not repeat the block for ever.
void Selector::lowerUnreachable(Instruction &I) {
  if (!isNeverPassed(I.getPrevNode())) {
    Inst &Fault = emit(COSY_OP_LOAD); // from the address 0
    Fault.Width = 8;
    Fault.A = NoReg;
    Fault.Dst = Sel.C.newReg();
  }
  emit(COSY_OP_JMP).Target = Cur;
}

void Selector::lower(Instruction &I) {
  if (isAlias(&I))
    return lowerAlias(I);
  if (auto *GEP = dyn_cast<GetElementPtrInst>(&I)) {
    // Legalisation has left one index, in bytes.
    Reg A = reg(GEP->getPointerOperand()), B = reg(GEP->getOperand(1));
    emitALU(COSY_OP_ADD, 8, define(GEP), A, B, 0);
    return;
  }
  if (auto *BO = dyn_cast<BinaryOperator>(&I))
    return lowerBinary(*BO);
  switch (opcodeOf(I)) {
  case Instruction::ICmp:
    return lowerCompare(cast<ICmpInst>(I));
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::IntToPtr:
  case Instruction::PtrToInt:
  case Instruction::BitCast:
    return lowerCast(cast<CastInst>(I));
  case Instruction::Freeze:
    Regs[&I] = reg(I.getOperand(0));
    return;
  case Instruction::Select:
    return lowerSelect(cast<SelectInst>(I));
  case Instruction::Load: {
    Address A = strip(I.getOperand(0), true);
    Reg Base = regForAddress(A);
    Inst &L = emit(COSY_OP_LOAD);
    L.Width = DL.getTypeStoreSize(I.getType());
    L.A = Base;
    L.Imm = A.Offset;
    L.Dst = define(&I);
    return;
  }
  case Instruction::Store: {
    Reg V = reg(I.getOperand(0));
    Address A = strip(I.getOperand(1), true);
    Reg Base = regForAddress(A);
    Inst &S = emit(COSY_OP_STORE);
    S.Width = DL.getTypeStoreSize(I.getOperand(0)->getType());
    S.A = Base;
    S.Imm = A.Offset;
    S.B = V;
    return;
  }
  case BranchOpcode:
    return lowerBranch(cast<BranchInst>(I));
  case Instruction::Switch:
    return lowerSwitch(cast<SwitchInst>(I));
  case Instruction::Ret: // after an exit, or after undefined behaviour
  case Instruction::Unreachable:
    return lowerUnreachable(I);
  case Instruction::Call: {
    auto &CB = cast<CallBase>(I);
    if (isExit(I))
      return lowerExit(CB);
    if (isStopTest(I)) {
      Regs[&I] = Sel.C.Stop;
      return;
    }
    if (const SystemCall *Call = systemCallOf(I))
      return lowerSystemCall(CB, *Call);
    if (isCompareExchange(I))
      return lowerCompareExchange(CB);
    if (isThreadNumber(I)) {
      emit(COSY_OP_TID).Dst = define(&I);
      return;
    }
    return lowerMemoryCall(CB, classifyMemoryCall(CB));
  }
  default:
    llvm_unreachable("legalisation left an instruction without operation");
  }
}

} // namespace cosy
