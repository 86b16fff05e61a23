// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Expand.cpp - Expand code without BPF instructions ------------------===//
#include "bpf/Function.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

extern "C" {
#include <cosy/function.h>
}

using namespace llvm;

namespace cosy {

/// The maximum size of a copy that is expanded in line.
constexpr uint64_t MaxInline = 64;

static FunctionCallee trap(Module &M) {
  LLVMContext &Ctx = M.getContext();
  FunctionCallee Fn = M.getOrInsertFunction(
      TrapName,
      FunctionType::get(Type::getVoidTy(Ctx),
                        {Type::getInt32Ty(Ctx), Type::getInt64Ty(Ctx)}, false));
  auto *F = cast<Function>(Fn.getCallee());
  F->setDoesNotReturn();
  F->setDoesNotThrow();
  F->addFnAttr(Attribute::Cold);
  return Fn;
}

void trapIf(Value *Condition, Instruction *Before, unsigned Status,
            Value *Address) {
  Instruction *End = SplitBlockAndInsertIfThen(
      Condition, Before, true,
      MDBuilder(Before->getContext()).createUnlikelyBranchWeights());
  IRBuilder<> B(End);
  B.SetCurrentDebugLocation(Before->getDebugLoc());
  B.CreateCall(trap(*Before->getModule()),
               {B.getInt32(Status), Address ? Address : B.getInt64(0)})
      ->setDoesNotReturn();
}

void lowerOverflows(Module &M) {
  Function *Fail = M.getFunction("__chk_fail");
  if (!Fail)
    return;
  for (User *U : make_early_inc_range(Fail->users())) {
    auto *CB = cast<CallBase>(U);
    IRBuilder<> B(CB);
    B.CreateCall(trap(M),
                 {B.getInt32(COSY_FUNCTION_FAULT),
                  B.CreatePtrToInt(CB->getArgOperand(0), B.getInt64Ty())})
        ->setDoesNotReturn();
    CB->eraseFromParent();
  }
  Fail->eraseFromParent();
}

void guardDivisions(Function &F) {
  SmallVector<BinaryOperator *, 8> List;
  for (Instruction &I : instructions(F))
    if (auto *BO = dyn_cast<BinaryOperator>(&I); BO && BO->isIntDivRem())
      List.push_back(BO);
  for (BinaryOperator *BO : List) {
    Value *Divisor = BO->getOperand(1);
    unsigned Bits = BO->getType()->getScalarSizeInBits();
    bool Signed = BO->getOpcode() == Instruction::SDiv ||
                  BO->getOpcode() == Instruction::SRem;
    auto *C = dyn_cast<ConstantInt>(Divisor);
    if (C && !C->isZero() && !(Signed && C->isMinusOne()))
      continue;
    IRBuilder<> B(BO);
    Value *Bad = B.CreateIsNull(Divisor);
    // C promotes narrower operands, so their quotient cannot overflow.
    if (Signed && Bits >= 32)
      Bad = B.CreateOr(
          Bad, B.CreateAnd(
                   B.CreateICmpEQ(Divisor,
                                  ConstantInt::getAllOnesValue(BO->getType())),
                   B.CreateICmpEQ(BO->getOperand(0),
                                  B.getInt(APInt::getSignedMinValue(Bits)))));
    trapIf(Bad, BO, COSY_FUNCTION_DIVIDE, nullptr);
  }
}

/// Returns the high half of a 64-bit product.
static Value *multiplyHigh(IRBuilderBase &B, Value *X, Value *Y) {
  Value *Mask = B.getInt64(0xffffffff);
  Value *XL = B.CreateAnd(X, Mask), *XH = B.CreateLShr(X, 32);
  Value *YL = B.CreateAnd(Y, Mask), *YH = B.CreateLShr(Y, 32);
  Value *LH = B.CreateMul(XL, YH), *HL = B.CreateMul(XH, YL);
  Value *Mid =
      B.CreateAdd(B.CreateLShr(B.CreateMul(XL, YL), 32),
                  B.CreateAdd(B.CreateAnd(LH, Mask), B.CreateAnd(HL, Mask)));
  return B.CreateAdd(B.CreateAdd(B.CreateMul(XH, YH), B.CreateLShr(Mid, 32)),
                     B.CreateAdd(B.CreateLShr(LH, 32), B.CreateLShr(HL, 32)));
}

static Value *expandMultiply(IntrinsicInst &II) {
  IRBuilder<> B(&II);
  Value *X = II.getArgOperand(0), *Y = II.getArgOperand(1);
  Value *High = multiplyHigh(B, X, Y), *Low = B.CreateMul(X, Y), *Over;
  if (II.getIntrinsicID() == Intrinsic::umul_with_overflow) {
    Over = B.CreateIsNotNull(High);
  } else {
    High = B.CreateSub(High, B.CreateAnd(B.CreateAShr(X, 63), Y));
    High = B.CreateSub(High, B.CreateAnd(B.CreateAShr(Y, 63), X));
    Over = B.CreateICmpNE(High, B.CreateAShr(Low, 63));
  }
  Value *Pair = B.CreateInsertValue(PoisonValue::get(II.getType()), Low, 0);
  return B.CreateInsertValue(Pair, Over, 1);
}

/// Expands a copy or a fill in line, or calls the function of the library.
static void expandMemory(MemIntrinsic &MI) {
  IRBuilder<> B(&MI);
  Module &M = *MI.getModule();
  Type *I64 = B.getInt64Ty(), *Ptr = B.getPtrTy();
  auto *Set = dyn_cast<MemSetInst>(&MI);
  auto *Size = dyn_cast<ConstantInt>(MI.getLength());
  if (!Size || Size->getZExtValue() > MaxInline) {
    Value *Second = Set ? B.CreateZExt(Set->getValue(), B.getInt32Ty())
                        : cast<MemTransferInst>(MI).getSource();
    StringRef Name = Set                    ? "memset"
                     : isa<MemMoveInst>(MI) ? "memmove"
                                            : "memcpy";
    B.CreateCall(
        M.getOrInsertFunction(
            Name, FunctionType::get(Ptr, {Ptr, Second->getType(), I64}, false)),
        {MI.getDest(), Second, B.CreateZExtOrTrunc(MI.getLength(), I64)});
    return;
  }
  struct Piece {
    uint64_t At;
    Value *V;
  };
  SmallVector<Piece, 16> Pieces;
  uint64_t Left = Size->getZExtValue();
  for (uint64_t At = 0, Width = 8; Left; At += Width, Left -= Width) {
    while (Width > Left)
      Width /= 2;
    Type *Ty = B.getIntNTy(Width * 8);
    Value *V;
    if (Set) {
      V = B.CreateMul(
          B.CreateZExt(Set->getValue(), Ty),
          ConstantInt::get(Ty, APInt::getSplat(Width * 8, APInt(8, 1))));
    } else {
      V = B.CreateAlignedLoad(
          Ty,
          B.CreateConstGEP1_64(B.getInt8Ty(),
                               cast<MemTransferInst>(MI).getSource(), At),
          Align(1));
    }
    Pieces.push_back({At, V});
  }
  for (Piece &P : Pieces)
    B.CreateAlignedStore(
        P.V, B.CreateConstGEP1_64(B.getInt8Ty(), MI.getDest(), P.At), Align(1));
}

/// Makes an exchange or a compare and exchange of pointers one of integers, as
/// clang emits it before version 23.
static void castAtomicPointers(Instruction &I) {
  IRBuilder<> B(&I);
  auto IsPointer = [](const Value *V) { return V->getType()->isPointerTy(); };
  if (auto *RMW = dyn_cast<AtomicRMWInst>(&I);
      RMW && IsPointer(RMW->getValOperand())) {
    Value *New = B.CreatePtrToInt(RMW->getValOperand(), B.getInt64Ty());
    AtomicRMWInst *Old = B.CreateAtomicRMW(
        RMW->getOperation(), RMW->getPointerOperand(), New, RMW->getAlign(),
        RMW->getOrdering(), RMW->getSyncScopeID());
    Old->setVolatile(RMW->isVolatile());
    RMW->replaceAllUsesWith(B.CreateIntToPtr(Old, RMW->getType()));
    RMW->eraseFromParent();
  } else if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I);
             X && IsPointer(X->getCompareOperand())) {
    AtomicCmpXchgInst *Pair = B.CreateAtomicCmpXchg(
        X->getPointerOperand(),
        B.CreatePtrToInt(X->getCompareOperand(), B.getInt64Ty()),
        B.CreatePtrToInt(X->getNewValOperand(), B.getInt64Ty()), X->getAlign(),
        X->getSuccessOrdering(), X->getFailureOrdering(), X->getSyncScopeID());
    Pair->setVolatile(X->isVolatile());
    Pair->setWeak(X->isWeak());
    Value *Old = B.CreateIntToPtr(B.CreateExtractValue(Pair, 0),
                                  X->getCompareOperand()->getType());
    Value *Equal = B.CreateExtractValue(Pair, 1);
    for (User *U : make_early_inc_range(X->users()))
      if (auto *EV = dyn_cast<ExtractValueInst>(U)) {
        EV->replaceAllUsesWith(EV->getIndices()[0] == 0 ? Old : Equal);
        EV->eraseFromParent();
      }
    if (!X->use_empty()) {
      Value *Both = B.CreateInsertValue(PoisonValue::get(X->getType()), Old, 0);
      X->replaceAllUsesWith(B.CreateInsertValue(Both, Equal, 1));
    }
    X->eraseFromParent();
  }
}

void expandForBpf(Function &F) {
  // Not in the loop below, whose next instruction may be one that is erased.
  SmallVector<Instruction *, 8> Atomics;
  for (Instruction &I : instructions(F))
    if (I.isAtomic())
      Atomics.push_back(&I);
  for_each(Atomics, [](Instruction *I) { castAtomicPointers(*I); });
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    // See LegalizePass: launder and strip become their operands.
    I.setMetadata(LLVMContext::MD_invariant_group, nullptr);
    auto *CI = dyn_cast<CallInst>(&I);
    if (!CI || !CI->getCalledFunction())
      continue;
    if (isInstrumentation(*CI->getCalledFunction())) {
      // A call that would abort ends the program. The native function then
      // aborts.
      if (isa<UnreachableInst>(CI->getNextNode())) {
        IRBuilder<> B(CI);
        B.CreateCall(trap(*F.getParent()),
                     {B.getInt32(COSY_FUNCTION_FAULT), B.getInt64(0)})
            ->setDoesNotReturn();
      }
      CI->eraseFromParent();
      continue;
    }
    auto *II = dyn_cast<IntrinsicInst>(CI);
    if (!II)
      continue;
    IRBuilder<> B(II);
    Value *New = nullptr;
    switch (II->getIntrinsicID()) {
    case Intrinsic::memcpy:
    case Intrinsic::memcpy_inline:
    case Intrinsic::memmove:
    case Intrinsic::memset:
    case Intrinsic::memset_inline:
      expandMemory(cast<MemIntrinsic>(*II));
      break;
    case Intrinsic::smul_with_overflow:
    case Intrinsic::umul_with_overflow:
      if (II->getArgOperand(0)->getType()->getScalarSizeInBits() != 64)
        continue;
      New = expandMultiply(*II);
      break;
    case Intrinsic::cttz: {
      // The target's expansion reads a table outside the segment.
      Value *X = II->getArgOperand(0);
      New = B.CreateUnaryIntrinsic(
          Intrinsic::ctpop,
          B.CreateAnd(B.CreateNot(X),
                      B.CreateSub(X, ConstantInt::get(X->getType(), 1))));
      break;
    }
    case Intrinsic::assume:
    case Intrinsic::prefetch:
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::invariant_end:
    case Intrinsic::donothing:
    case Intrinsic::sideeffect:
    case Intrinsic::var_annotation:
    case Intrinsic::experimental_noalias_scope_decl:
      break;
    case Intrinsic::annotation:
    case Intrinsic::ptr_annotation:
    case Intrinsic::launder_invariant_group:
    case Intrinsic::strip_invariant_group:
      New = II->getArgOperand(0);
      break;
    default:
      continue;
    }
    if (New)
      II->replaceAllUsesWith(New);
    II->eraseFromParent();
  }
}

} // namespace cosy
