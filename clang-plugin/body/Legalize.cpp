// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Legalize.cpp - Rewrite code without operations ---------------------===//
#include "body/Legalize.h"
#include "body/LibraryCalls.h"
#include "support/Thresholds.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/CodeGen/IntrinsicLowering.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#define DEBUG_TYPE "cosy-legalize"

using namespace llvm;

STATISTIC(NumIntrinsics, "Intrinsics that became plain instructions");
STATISTIC(NumAccesses, "Accesses of odd sizes that were divided");
STATISTIC(NumAddresses, "Addresses that became sums");

namespace cosy {

//===----------------------------------------------------------------------===//
// Intrinsics
//===----------------------------------------------------------------------===//

/// Returns {result, overflowed} of \p I.
static std::pair<Value *, Value *> expandOverflow(IRBuilder<> &B,
                                                  WithOverflowInst &I) {
  Value *L = I.getLHS(), *R = I.getRHS();
  Type *Ty = L->getType();
  unsigned Bits = Ty->getIntegerBitWidth();
  Value *Zero = ConstantInt::get(Ty, 0);
  Value *Res = B.CreateBinOp(I.getBinaryOp(), L, R);
  switch (I.getIntrinsicID()) {
  case Intrinsic::uadd_with_overflow:
    return {Res, B.CreateICmpULT(Res, L)};
  case Intrinsic::usub_with_overflow:
    return {Res, B.CreateICmpULT(L, R)};
  case Intrinsic::sadd_with_overflow:
    return {Res,
            B.CreateICmpSLT(
                B.CreateAnd(B.CreateXor(L, Res), B.CreateXor(R, Res)), Zero)};
  case Intrinsic::ssub_with_overflow:
    return {Res,
            B.CreateICmpSLT(B.CreateAnd(B.CreateXor(L, R), B.CreateXor(L, Res)),
                            Zero)};
  default:
    break;
  }
  bool Signed = I.isSigned();
  if (Bits <= 32) {
    Type *W = B.getInt64Ty();
    auto Ext = [&](Value *V) {
      return Signed ? B.CreateSExt(V, W) : B.CreateZExt(V, W);
    };
    Value *P = B.CreateMul(Ext(L), Ext(R));
    Value *T = B.CreateTrunc(P, Ty);
    return {T, B.CreateICmpNE(Ext(T), P)};
  }
  Value *One = ConstantInt::get(Ty, 1);
  Value *IsZero = B.CreateICmpEQ(L, Zero);
  if (!Signed) {
    Value *Q = B.CreateUDiv(Res, B.CreateSelect(IsZero, One, L));
    return {Res, B.CreateSelect(IsZero, B.getFalse(), B.CreateICmpNE(Q, R))};
  }
  Value *IsMinus = B.CreateICmpEQ(L, ConstantInt::getAllOnesValue(Ty));
  Value *D = B.CreateSelect(B.CreateOr(IsZero, IsMinus), One, L);
  Value *Q = B.CreateSDiv(Res, D);
  Value *Ov = B.CreateSelect(IsZero, B.getFalse(), B.CreateICmpNE(Q, R));
  Value *Min = ConstantInt::get(Ty, APInt::getSignedMinValue(Bits));
  return {Res, B.CreateSelect(IsMinus, B.CreateICmpEQ(R, Min), Ov)};
}

/// Replaces the extractvalues of \p I; other users keep it alive.
static bool lowerOverflow(WithOverflowInst &I) {
  for (User *U : I.users()) {
    auto *EV = dyn_cast<ExtractValueInst>(U);
    if (!EV || EV->getNumIndices() != 1)
      return false;
  }
  IRBuilder<> B(&I);
  auto [Res, Ov] = expandOverflow(B, I);
  for (User *U : make_early_inc_range(I.users())) {
    auto *EV = cast<ExtractValueInst>(U);
    EV->replaceAllUsesWith(EV->getIndices()[0] == 0 ? Res : Ov);
    EV->eraseFromParent();
  }
  return true;
}

static Value *expandFunnelShift(IRBuilder<> &B, Value *Hi, Value *Lo,
                                Value *Amount, bool Left) {
  Type *Ty = Hi->getType();
  unsigned Bits = Ty->getIntegerBitWidth();
  Value *Width = ConstantInt::get(Ty, Bits);
  if (auto *C = dyn_cast<ConstantInt>(Amount)) {
    uint64_t N = C->getValue().urem(Bits);
    if (N == 0)
      return Left ? Hi : Lo;
    if (!Left)
      N = Bits - N;
    return B.CreateOr(B.CreateShl(Hi, N), B.CreateLShr(Lo, Bits - N));
  }
  // The other value is shifted in two steps, so that an amount of zero shifts
  // out all bits.
  Value *N = B.CreateURem(Amount, Width);
  Value *Rest = B.CreateSub(ConstantInt::get(Ty, Bits - 1), N);
  if (Left)
    return B.CreateOr(B.CreateShl(Hi, N),
                      B.CreateLShr(B.CreateLShr(Lo, 1), Rest));
  return B.CreateOr(B.CreateShl(B.CreateShl(Hi, 1), Rest), B.CreateLShr(Lo, N));
}

/// Returns a value that plain instructions compute in place of \p I, or null.
static Value *expand(IRBuilder<> &B, IntrinsicInst &I) {
  auto Arg = [&](unsigned N) { return I.getArgOperand(N); };
  auto Choose = [&](CmpInst::Predicate P) {
    return B.CreateSelect(B.CreateICmp(P, Arg(0), Arg(1)), Arg(0), Arg(1));
  };
  switch (I.getIntrinsicID()) {
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::annotation:
  case Intrinsic::ptr_annotation:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ssa_copy:
    return Arg(0);
  default:
    break;
  }
  if (!I.getType()->isIntegerTy() || I.getType()->getIntegerBitWidth() > 64)
    return nullptr;
  Type *Ty = I.getType();
  unsigned Bits = Ty->getIntegerBitWidth();
  Value *Zero = ConstantInt::get(Ty, 0);
  switch (I.getIntrinsicID()) {
  case Intrinsic::smax:
    return Choose(CmpInst::ICMP_SGT);
  case Intrinsic::smin:
    return Choose(CmpInst::ICMP_SLT);
  case Intrinsic::umax:
    return Choose(CmpInst::ICMP_UGT);
  case Intrinsic::umin:
    return Choose(CmpInst::ICMP_ULT);
  case Intrinsic::abs: {
    Value *Sign = B.CreateAShr(Arg(0), Bits - 1);
    return B.CreateSub(B.CreateXor(Arg(0), Sign), Sign);
  }
  case Intrinsic::fshl:
    return expandFunnelShift(B, Arg(0), Arg(1), Arg(2), true);
  case Intrinsic::fshr:
    return expandFunnelShift(B, Arg(0), Arg(1), Arg(2), false);
  case Intrinsic::uadd_sat: {
    Value *S = B.CreateAdd(Arg(0), Arg(1));
    return B.CreateSelect(B.CreateICmpULT(S, Arg(0)),
                          ConstantInt::getAllOnesValue(Ty), S);
  }
  case Intrinsic::usub_sat:
    return B.CreateSelect(B.CreateICmpULT(Arg(0), Arg(1)), Zero,
                          B.CreateSub(Arg(0), Arg(1)));
  case Intrinsic::scmp:
  case Intrinsic::ucmp: {
    bool S = I.getIntrinsicID() == Intrinsic::scmp;
    auto *G =
        B.CreateICmp(S ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT, Arg(0), Arg(1));
    auto *L =
        B.CreateICmp(S ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT, Arg(0), Arg(1));
    return B.CreateSub(B.CreateZExt(G, Ty), B.CreateZExt(L, Ty));
  }
  default:
    return nullptr;
  }
}

static bool lowersInPlace(Intrinsic::ID ID) {
  return ID == Intrinsic::ctpop || ID == Intrinsic::ctlz ||
         ID == Intrinsic::cttz || ID == Intrinsic::bswap ||
         ID == Intrinsic::bitreverse;
}

/// Expands bitreverse, which LLVM's IntrinsicLowering does not support.
static Value *expandBitReverse(IRBuilder<> &B, Value *V) {
  unsigned Bits = V->getType()->getIntegerBitWidth();
  if (!isPowerOf2_32(Bits) || Bits < 8)
    return nullptr;
  for (unsigned N = 1; N < Bits; N *= 2) {
    APInt Low = APInt::getSplat(Bits, APInt::getLowBitsSet(2 * N, N));
    auto *C = ConstantInt::get(V->getType(), Low);
    V = B.CreateOr(B.CreateAnd(B.CreateLShr(V, N), C),
                   B.CreateShl(B.CreateAnd(V, C), N));
  }
  return V;
}

static void lowerIntrinsics(Function &F) {
  SmallVector<IntrinsicInst *, 16> Intrinsics;
  for (BasicBlock &BB : F)
    for (Instruction &I : BB) {
      // When launder and strip are their operands, accesses of different groups
      // have the same address.
      I.setMetadata(LLVMContext::MD_invariant_group, nullptr);
      if (auto *II = dyn_cast<IntrinsicInst>(&I))
        Intrinsics.push_back(II);
    }
  IntrinsicLowering IL(F.getDataLayout());
  for (IntrinsicInst *I : Intrinsics) {
    if (auto *WO = dyn_cast<WithOverflowInst>(I)) {
      if (WO->getLHS()->getType()->isIntegerTy() &&
          WO->getLHS()->getType()->getIntegerBitWidth() <= 64 &&
          lowerOverflow(*WO))
        I->eraseFromParent();
      continue;
    }
    IRBuilder<> B(I);
    Value *New = nullptr;
    if (I->getIntrinsicID() == Intrinsic::bitreverse) {
      if (I->getType()->isIntegerTy() &&
          I->getType()->getIntegerBitWidth() <= 64)
        New = expandBitReverse(B, I->getArgOperand(0));
    } else if (lowersInPlace(I->getIntrinsicID())) {
      unsigned Bits =
          I->getType()->isIntegerTy() ? I->getType()->getIntegerBitWidth() : 0;
      if (Bits == 16 || Bits == 32 || Bits == 64 ||
          (Bits == 8 && I->getIntrinsicID() != Intrinsic::bswap))
        IL.LowerIntrinsicCall(I);
      continue;
    } else {
      New = expand(B, *I);
    }
    if (New) {
      ++NumIntrinsics;
      I->replaceAllUsesWith(New);
      I->eraseFromParent();
    }
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Returns sizes of accesses that together are \p Size bytes, largest first.
static SmallVector<unsigned, 4> pieces(uint64_t Size) {
  SmallVector<unsigned, 4> P;
  for (unsigned W : {8u, 4u, 2u, 1u})
    for (; Size >= W; Size -= W)
      P.push_back(W);
  return P;
}

static Value *offset(IRBuilder<> &B, Value *P, uint64_t N) {
  return N ? B.CreateConstGEP1_64(B.getInt8Ty(), P, N) : P;
}

/// Expands copies and fills of a few bytes to loads and stores.
static bool expandMemIntrinsic(MemIntrinsic &MI) {
  auto *Len = dyn_cast<ConstantInt>(MI.getLength());
  if (!Len || Len->getZExtValue() > MaxExpandedCopy || MI.getDestAddressSpace())
    return false;
  IRBuilder<> B(&MI);
  auto Parts = pieces(Len->getZExtValue());
  if (auto *MT = dyn_cast<MemTransferInst>(&MI)) {
    if (MT->getSourceAddressSpace())
      return false;
    SmallVector<Value *, 4> Values;
    uint64_t At = 0;
    for (unsigned W : Parts) {
      Values.push_back(B.CreateAlignedLoad(B.getIntNTy(W * 8),
                                           offset(B, MT->getSource(), At),
                                           Align(1), MI.isVolatile()));
      At += W;
    }
    At = 0;
    for (auto [V, W] : zip(Values, Parts)) {
      B.CreateAlignedStore(V, offset(B, MT->getDest(), At), Align(1),
                           MI.isVolatile());
      At += W;
    }
    return true;
  }
  auto *Byte = dyn_cast<ConstantInt>(cast<MemSetInst>(MI).getValue());
  if (!Byte)
    return false;
  uint64_t At = 0;
  for (unsigned W : Parts) {
    B.CreateAlignedStore(B.getInt(APInt::getSplat(W * 8, Byte->getValue())),
                         offset(B, MI.getDest(), At), Align(1),
                         MI.isVolatile());
    At += W;
  }
  return true;
}

/// Returns true for integers whose size is not a power of two: bools, bit-field
/// units of 3 bytes.
static bool isOddInteger(Type *Ty) {
  if (!Ty->isIntegerTy())
    return false;
  unsigned Bits = Ty->getIntegerBitWidth();
  return Bits < 64 && (Bits < 8 || !isPowerOf2_32(Bits));
}

static void expandOddLoad(LoadInst &LI) {
  ++NumAccesses;
  IRBuilder<> B(&LI);
  unsigned Bytes = (LI.getType()->getIntegerBitWidth() + 7) / 8;
  Value *All = nullptr;
  uint64_t At = 0;
  for (unsigned W : pieces(Bytes)) {
    Value *V = B.CreateAlignedLoad(B.getIntNTy(W * 8),
                                   offset(B, LI.getPointerOperand(), At),
                                   Align(1), LI.isVolatile());
    V = B.CreateZExt(V, B.getInt64Ty());
    V = At ? B.CreateShl(V, At * 8) : V;
    All = All ? B.CreateOr(All, V) : V;
    At += W;
  }
  LI.replaceAllUsesWith(B.CreateTrunc(All, LI.getType()));
  LI.eraseFromParent();
}

static void expandOddStore(StoreInst &SI) {
  ++NumAccesses;
  IRBuilder<> B(&SI);
  Value *V = SI.getValueOperand();
  unsigned Bytes = (V->getType()->getIntegerBitWidth() + 7) / 8;
  V = B.CreateZExt(V, B.getInt64Ty());
  uint64_t At = 0;
  for (unsigned W : pieces(Bytes)) {
    Value *Part = At ? B.CreateLShr(V, At * 8) : V;
    B.CreateAlignedStore(B.CreateTrunc(Part, B.getIntNTy(W * 8)),
                         offset(B, SI.getPointerOperand(), At), Align(1),
                         SI.isVolatile());
    At += W;
  }
  SI.eraseFromParent();
}

/// Expands address arithmetic to sums. Variable parts come first, each scaled
/// to bytes. The constant part is last, where it folds into its users.
static void expandGEP(GetElementPtrInst &GEP) {
  if (GEP.hasAllConstantIndices() || GEP.getType()->isVectorTy())
    return;
  ++NumAddresses;
  const DataLayout &DL = GEP.getDataLayout();
  IRBuilder<> B(&GEP);
  Type *I64 = B.getInt64Ty(), *I8 = B.getInt8Ty();
  Value *Base = GEP.getPointerOperand();
  int64_t Constant = 0;
  if (auto *Inner = dyn_cast<GetElementPtrInst>(Base);
      Inner && Inner->hasAllConstantIndices()) {
    APInt Off(64, 0);
    Inner->accumulateConstantOffset(DL, Off);
    Constant = Off.getSExtValue();
    Base = Inner->getPointerOperand();
  }
  for (auto GTI = gep_type_begin(GEP), E = gep_type_end(GEP); GTI != E; ++GTI) {
    Value *Idx = GTI.getOperand();
    if (StructType *ST = GTI.getStructTypeOrNull()) {
      unsigned Field = cast<ConstantInt>(Idx)->getZExtValue();
      Constant += DL.getStructLayout(ST)->getElementOffset(Field);
      continue;
    }
    int64_t Scale = GTI.getSequentialElementStride(DL).getFixedValue();
    if (auto *CI = dyn_cast<ConstantInt>(Idx)) {
      Constant += CI->getSExtValue() * Scale;
      continue;
    }
    Idx = B.CreateSExtOrTrunc(Idx, I64);
    // x + c, scaled: the constant is added to the other constants.
    if (auto *Add = dyn_cast<AddOperator>(Idx))
      if (auto *C = dyn_cast<ConstantInt>(Add->getOperand(1))) {
        Constant += C->getSExtValue() * Scale;
        Idx = Add->getOperand(0);
      }
    if (isPowerOf2_64(Scale))
      Idx = Scale == 1 ? Idx : B.CreateShl(Idx, Log2_64(Scale));
    else
      Idx = B.CreateMul(Idx, ConstantInt::get(I64, Scale));
    Base = B.CreateGEP(I8, Base, Idx);
  }
  if (Constant)
    Base = B.CreateGEP(I8, Base, ConstantInt::get(I64, Constant));
  GEP.replaceAllUsesWith(Base);
  GEP.eraseFromParent();
}

static void lowerMemory(Function &F) {
  for (BasicBlock *BB : SmallVector<BasicBlock *, 32>(make_pointer_range(F)))
    for (Instruction &I : make_early_inc_range(*BB)) {
      if (auto *MI = dyn_cast<MemIntrinsic>(&I)) {
        if (expandMemIntrinsic(*MI))
          MI->eraseFromParent();
      } else if (auto *LI = dyn_cast<LoadInst>(&I)) {
        if (isOddInteger(LI->getType()) && !LI->getPointerAddressSpace() &&
            !LI->isAtomic())
          expandOddLoad(*LI);
      } else if (auto *SI = dyn_cast<StoreInst>(&I)) {
        if (isOddInteger(SI->getValueOperand()->getType()) &&
            !SI->getPointerAddressSpace() && !SI->isAtomic())
          expandOddStore(*SI);
      }
    }
  ReversePostOrderTraversal<Function *> RPO(&F);
  for (BasicBlock *BB : RPO)
    for (Instruction &I : make_early_inc_range(*BB))
      if (auto *GEP = dyn_cast<GetElementPtrInst>(&I))
        expandGEP(*GEP);
}

//===----------------------------------------------------------------------===//
// What the host computes
//===----------------------------------------------------------------------===//

void hoistAddresses(Function &Body) {
  BasicBlock &Entry = Body.getEntryBlock();
  MapVector<Value *, SmallVector<Instruction *, 4>> Calls;
  for (BasicBlock &BB : Body)
    for (Instruction &I : BB) {
      auto *CI = dyn_cast<CallInst>(&I);
      Function *Callee = CI ? CI->getCalledFunction() : nullptr;
      if (!Callee)
        continue;
      if (CI->getIntrinsicID() == Intrinsic::threadlocal_address)
        Calls[CI->getArgOperand(0)].push_back(CI);
      else if (isErrnoAddress(CI))
        Calls[Callee].push_back(CI);
    }
  for (auto &[Key, List] : Calls) {
    Instruction *First = List.front();
    First->moveBefore(Entry, Entry.getFirstInsertionPt()->getIterator());
    for (Instruction *I : ArrayRef(List).drop_front()) {
      I->replaceAllUsesWith(First);
      I->eraseFromParent();
    }
  }
}

/// Removes hints, which have no effect in a compound.
static void dropHints(Function &F) {
  for (BasicBlock &BB : F)
    for (Instruction &I : make_early_inc_range(BB)) {
      I.dropDbgRecords();
      auto *II = dyn_cast<IntrinsicInst>(&I);
      if (II && (II->isLifetimeStartOrEnd() || II->isAssumeLikeIntrinsic()) &&
          II->use_empty())
        II->eraseFromParent();
    }
}

PreservedAnalyses LegalizePass::runOnBody(Function &Body,
                                          FunctionAnalysisManager &) {
  dropHints(Body);
  hoistAddresses(Body);
  lowerIntrinsics(Body);
  lowerMemory(Body);
  return PreservedAnalyses::none();
}

} // namespace cosy
