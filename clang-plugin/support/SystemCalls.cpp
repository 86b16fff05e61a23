// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SystemCalls.cpp - System calls by their libc names -----------------===//
#include "support/SystemCalls.h"
#include "support/Names.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/WithCache.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"

#include <cosy/format.h>

#include <map>

using namespace llvm;

namespace cosy {

enum { NESTED = 1, LEAVE = 0 };

static const SystemCall Table[] = {
#define COSY_SYSCALL(nr, name, args, nested)                                   \
  {nr, #name, args, nested == NESTED},
#include "syscalls.def"
};

const SystemCall *findSystemCall(uint64_t Number) {
  // No DenseMap: the number may be any constant of the program, also those that
  // a DenseMap reserves.
  static const std::map<uint64_t, const SystemCall *> Index = [] {
    std::map<uint64_t, const SystemCall *> M;
    for (const SystemCall &C : Table)
      M[C.Number] = &C;
    return M;
  }();
  auto It = Index.find(Number);
  return It == Index.end() ? nullptr : It->second;
}

LibcFunction findLibcFunction(StringRef Name) {
  static const StringMap<LibcFunction> Index = [] {
    StringMap<const SystemCall *> Calls;
    for (const SystemCall &C : Table)
      Calls[C.Name] = &C;
    StringMap<LibcFunction> M;
#define COSY_LIBC(function, name, map)                                         \
  M[#function] = {Calls.lookup(#name), map};
#define COSY_LIBC_IF(function, name, map, arg, cond, value)                    \
  M[#function] = {Calls.lookup(#name), map, arg, COSY_COND_##cond, value};
#include "syscalls.def"
    return M;
  }();
  return Index.lookup(Name);
}

bool isQuery(const SystemCall &Call, ArrayRef<Value *> Args) {
  struct Condition {
    int Flags;
    uint64_t Bits;
  };
  static const StringMap<Condition> Queries = {
#define COSY_QUERY(name, flags, bits) {#name, {flags, bits}},
#include "syscalls.def"
  };
  auto It = Queries.find(Call.Name);
  if (It == Queries.end())
    return false;
  auto [Number, Bits] = It->second;
  if (Number < 0)
    return true;
  auto *Flags = dyn_cast<ConstantInt>(Args[Number]);
  return Flags && !(Flags->getZExtValue() & Bits);
}

bool failsAsSystemCall(StringRef Name) {
  static const StringSet<> More = {
      "syscall",
#define COSY_LIBC_MORE(function) #function,
#include "syscalls.def"
  };
  return More.contains(Name) || findLibcFunction(Name).Call;
}

static CmpInst::Predicate predicateOf(unsigned Cond) {
  static const CmpInst::Predicate Of[COSY_NR_CONDS] = {
      CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,  CmpInst::ICMP_ULT,
      CmpInst::ICMP_ULE, CmpInst::ICMP_UGT, CmpInst::ICMP_UGE,
      CmpInst::ICMP_SLT, CmpInst::ICMP_SLE, CmpInst::ICMP_SGT,
      CmpInst::ICMP_SGE};
  return Of[Cond];
}

bool canCompareThin(const LibcFunction &F, const CallBase &Call) {
  if (F.IfArg < 0 || Call.arg_size() <= static_cast<unsigned>(F.IfArg))
    return false;
  Type *Ty = Call.getArgOperand(F.IfArg)->getType();
  if (Ty->isPointerTy())
    return F.IfCond == COSY_COND_NE && F.IfValue == 0;
  return Ty->isIntegerTy();
}

Value *createIsNotThin(IRBuilderBase &B, const LibcFunction &F,
                       const CallBase &Call) {
  assert(canCompareThin(F, Call) && "no comparison tells it");
  Value *Arg = Call.getArgOperand(F.IfArg);
  if (Arg->getType()->isPointerTy())
    return B.CreateIsNull(Arg);
  APInt Bound(64, F.IfValue, /*isSigned=*/true);
  return B.CreateICmp(
      CmpInst::getInversePredicate(predicateOf(F.IfCond)), Arg,
      B.getInt(Bound.sextOrTrunc(Arg->getType()->getIntegerBitWidth())));
}

bool isThin(const LibcFunction &F, const CallBase &Call) {
  if (F.IfArg < 0)
    return true;
  if (!canCompareThin(F, Call))
    return false;
  if (Attribute A = Call.getFnAttr(ThinAttribute); A.isValid())
    return A.getValueAsString() == "yes";
  const Value *Arg = Call.getArgOperand(F.IfArg);
  SimplifyQuery Query(Call.getDataLayout(), &Call);
  if (Arg->getType()->isPointerTy())
    return isKnownNonZero(Arg, Query);
  CmpInst::Predicate Pred = predicateOf(F.IfCond);
  ConstantRange Range = computeConstantRangeIncludingKnownBits(
      Arg, CmpInst::isSigned(Pred), Query);
  APInt Bound(64, F.IfValue, /*isSigned=*/true);
  return Range.icmp(Pred, Bound.sextOrTrunc(Range.getBitWidth()));
}

} // namespace cosy
