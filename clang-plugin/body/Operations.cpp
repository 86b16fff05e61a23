// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Operations.cpp - Instructions that operations implement ------------===//
#include "body/Operations.h"
#include "body/Atomics.h"
#include "body/LibraryCalls.h"
#include "body/Mutexes.h"
#include "body/Recognise.h"
#include "support/LlvmCompat.h"
#include "support/Names.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cosy {

bool isRegisterType(const Type *Ty, const DataLayout &DL) {
  if (auto *IT = dyn_cast<IntegerType>(Ty))
    return IT->getBitWidth() <= 64;
  if (Ty->isPointerTy())
    return Ty->getPointerAddressSpace() == 0;
  if (Ty->isHalfTy() || Ty->isBFloatTy() || Ty->isFloatTy() || Ty->isDoubleTy())
    return true;
  if (auto *VT = dyn_cast<FixedVectorType>(Ty)) {
    uint64_t Bits = DL.getTypeSizeInBits(const_cast<FixedVectorType *>(VT));
    Type *Elt = VT->getElementType();
    return (Bits == 8 || Bits == 16 || Bits == 32 || Bits == 64) &&
           DL.getTypeSizeInBits(Elt) % 8 == 0;
  }
  return false;
}

bool isScalarInt(const Type *Ty) {
  return Ty->isIntegerTy() && Ty->getIntegerBitWidth() <= 64;
}

bool isScalar(const Type *Ty) {
  return isScalarInt(Ty) ||
         (Ty->isPointerTy() && Ty->getPointerAddressSpace() == 0);
}

unsigned bitsOf(const Type *Ty) {
  return Ty->isIntegerTy()   ? Ty->getIntegerBitWidth()
         : Ty->isPointerTy() ? 64
                             : Ty->getPrimitiveSizeInBits().getFixedValue();
}

/// Returns true if only the sign of \p Result matters. The value of memcmp
/// depends on libc: on some CPUs it is the difference of two bytes, on others 1
/// or -1.
static bool onlySignMatters(const Value &Result) {
  SmallSetVector<const Value *, 4>
      Values; // the result, or 0, or something else
  Values.insert(&Result);
  auto IsTest = [](const User *U, const Value *V) {
    MatchedPredicate P;
    if (match(U, m_ICmp(P, m_Specific(V), m_Zero())) ||
        match(U, m_Shr(m_Specific(V), m_SpecificInt(bitsOf(V->getType()) - 1))))
      return true;
    return (match(U, m_ICmp(P, m_Specific(V), m_AllOnes())) &&
            P == ICmpInst::ICMP_SGT) ||
           (match(U, m_ICmp(P, m_Specific(V), m_One())) &&
            P == ICmpInst::ICMP_SLT);
  };
  for (unsigned N = 0; N < Values.size(); ++N)
    for (const User *U : Values[N]->users()) {
      if (isa<PHINode, SelectInst, FreezeInst>(U))
        Values.insert(U);
      else if (!IsTest(U, Values[N]))
        return false;
    }
  return true;
}

MemoryCall classifyMemoryCall(const CallBase &CB) {
  if (auto *MI = dyn_cast<MemIntrinsic>(&CB)) {
    if (MI->getDestAddressSpace() || !isScalarInt(MI->getLength()->getType()))
      return MemoryCall::None;
    if (auto *MT = dyn_cast<MemTransferInst>(MI))
      return MT->getSourceAddressSpace() ? MemoryCall::None : MemoryCall::Copy;
    return MemoryCall::Fill;
  }
  MemoryCall Kind = StringSwitch<MemoryCall>(libraryFunction(CB).Name)
                        .Case("memcmp", MemoryCall::Compare)
                        .Case("bcmp", MemoryCall::Compare)
                        .Case("memchr", MemoryCall::Find)
                        .Case("strlen", MemoryCall::Length)
                        .Case("strcmp", MemoryCall::StrCmp)
                        .Case("strncmp", MemoryCall::StrNCmp)
                        .Case("strnlen", MemoryCall::StrNLen)
                        .Case("strchr", MemoryCall::StrChr)
                        .Case("index", MemoryCall::StrChr)
                        .Case("strrchr", MemoryCall::StrRChr)
                        .Case("rindex", MemoryCall::StrRChr)
                        .Case("stpcpy", MemoryCall::StpCpy)
                        .Case("strcpy", MemoryCall::StrCpy)
                        .Case("strcat", MemoryCall::StrCat)
                        .Default(MemoryCall::None);
  if (Kind == MemoryCall::Compare && !onlySignMatters(CB))
    return MemoryCall::None;
  return Kind;
}

bool isHostComputed(const Instruction &I) {
  if (auto *AI = dyn_cast<AllocaInst>(&I))
    return AI->isStaticAlloca();
  auto *CI = dyn_cast<CallInst>(&I);
  if (!CI || !CI->getParent()->isEntryBlock())
    return false;
  if (CI->getIntrinsicID() == Intrinsic::threadlocal_address)
    return true;
  return isErrnoAddress(CI);
}

bool isExit(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  return CB && CB->getCalledFunction() &&
         CB->getCalledFunction()->getName() == ExitMarker;
}

bool isStopTest(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  return CB && CB->getCalledFunction() &&
         CB->getCalledFunction()->getName() == StoppedMarker;
}

bool isIgnored(const Instruction &I) {
  if (auto *FI = dyn_cast<FenceInst>(&I))
    return FI->getOrdering() != AtomicOrdering::SequentiallyConsistent ||
           FI->getSyncScopeID() == SyncScope::SingleThread;
  auto *II = dyn_cast<IntrinsicInst>(&I);
  if (!II)
    return false;
  switch (II->getIntrinsicID()) {
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::invariant_start:
  case Intrinsic::invariant_end:
  case Intrinsic::assume:
  case Intrinsic::donothing:
  case Intrinsic::sideeffect:
  case Intrinsic::pseudoprobe:
  case Intrinsic::var_annotation:
  case Intrinsic::experimental_noalias_scope_decl:
    return II->use_empty();
  default:
    return isa<DbgInfoIntrinsic>(II);
  }
}

bool isOperation(const Instruction &I, const DataLayout &DL) {
  if (isIgnored(I) || isHostComputed(I))
    return true;
  if (I.isAtomic() && I.getFunction()->hasFnAttribute(ThreadSanitized))
    return false;
  switch (opcodeOf(I)) {
  case Instruction::PHI:
  case Instruction::Freeze:
    return isRegisterType(I.getType(), DL);
  case Instruction::Select:
    return isRegisterType(I.getType(), DL) &&
           I.getOperand(0)->getType()->isIntegerTy(1);
  case Instruction::ICmp:
    return isScalar(I.getOperand(0)->getType());
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
    return isScalarInt(I.getType()) && isScalarInt(I.getOperand(0)->getType());
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
    return isScalar(I.getType()) && isScalar(I.getOperand(0)->getType());
  case Instruction::BitCast:
    return isRegisterType(I.getType(), DL) &&
           isRegisterType(I.getOperand(0)->getType(), DL);
  case Instruction::GetElementPtr:
    return isScalar(I.getType());
  case Instruction::Load: {
    auto &LI = cast<LoadInst>(I);
    return isRegisterType(LI.getType(), DL) && !LI.getPointerAddressSpace() &&
           !isOddWidth(DL.getTypeSizeInBits(LI.getType()));
  }
  case Instruction::Store: {
    auto &SI = cast<StoreInst>(I);
    Type *Ty = SI.getValueOperand()->getType();
    return isRegisterType(Ty, DL) && !SI.getPointerAddressSpace() &&
           !isOddWidth(DL.getTypeSizeInBits(Ty)) &&
           SI.getOrdering() != AtomicOrdering::SequentiallyConsistent;
  }
  case Instruction::Switch:
    return isScalarInt(I.getOperand(0)->getType());
  case BranchOpcode:
  case Instruction::Ret:
  case Instruction::Unreachable:
    return true;
  case Instruction::Call: {
    auto &CB = cast<CallBase>(I);
    return isExit(I) || isStopTest(I) ||
           classifyMemoryCall(CB) != MemoryCall::None || isSystemCall(I) ||
           isCompareExchange(I) || isThreadNumber(I);
  }
  default:
    return isa<BinaryOperator>(I) && isScalarInt(I.getType());
  }
}

void eraseOperationFunctions(Module &M) {
  for (Function &F : make_early_inc_range(M))
    if ((F.hasFnAttribute(SystemCallAttribute) ||
         F.hasFnAttribute(CompareExchangeAttribute)) &&
        F.use_empty())
      F.eraseFromParent();
}

} // namespace cosy
