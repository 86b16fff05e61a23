// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Strings.cpp - String functions as several operations ---------------===//
#include "body/Strings.h"
#include "body/Fortify.h"
#include "body/LibraryCalls.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "cosy-strings"

using namespace llvm;

STATISTIC(NumStrings, "String functions that became several operations");

namespace cosy {

namespace {

/// The code that replaces a call, inserted before it. Each function reads and
/// writes in the same order as glibc's function, as far as that order is
/// defined.
class Expansion {
public:
  explicit Expansion(CallInst &CI) : B(&CI), CI(CI) {}

  // These create the replacement of a call.
  Value *memccpy();
  Value *rawmemchr() { return Found; }
  Value *strchrnul() { return findOrEnd(arg(1)); }
  Value *strcspn();
  Value *strncat();
  Value *strncpy();
  Value *stpncpy() { return plus(arg(0), copyPadded()); }
  Value *clear();
  // The same after the check of a __..._chk function.
  Value *checkedCopy();
  Value *checkedStpcpy() { return plus(checkedCopy(), Length); }
  Value *checkedAppend();

  // These return whether the original call must be made: the expansion does not
  // cover the case, or the check fails. Nothing is written before.
  Value *notNear();
  Value *copyFails();
  Value *strcatFails() { return appendFails(nullptr); }
  Value *strncatFails() { return appendFails(arg(2)); }
  Value *boundFails() {
    return B.CreateICmpUGT(arg(CI.arg_size() - 2), arg(CI.arg_size() - 1));
  }

  /// Continues the replacement before \p I.
  void continueAt(Instruction *I) { B.SetInsertPoint(I); }

private:
  Value *arg(unsigned N) { return CI.getArgOperand(N); }
  Value *plus(Value *P, Value *N) { return B.CreateGEP(B.getInt8Ty(), P, N); }
  Value *distance(Value *To, Value *From) {
    return B.CreateSub(B.CreatePtrToInt(To, B.getInt64Ty()),
                       B.CreatePtrToInt(From, B.getInt64Ty()));
  }
  Value *call(StringRef Name, Type *Ty, ArrayRef<Value *> Args);
  Value *strlen(Value *S) { return call("strlen", B.getInt64Ty(), {S}); }
  Value *strnlen(Value *S, Value *N) {
    return call("strnlen", B.getInt64Ty(), {S, N});
  }
  void copy(Value *To, Value *From, Value *N) {
    B.CreateMemCpy(To, Align(1), From, Align(1), N);
  }
  Value *findOrEnd(Value *C);
  Value *copyPadded();
  void append(Value *Left, Value *Right);
  Value *appendFails(Value *Max);

  IRBuilder<> B;
  CallInst &CI;
  Value *Found = nullptr;  ///< of rawmemchr()
  Value *Length = nullptr; ///< of the string that is copied
  Value *Before = nullptr; ///< of the string that it is appended to
};

} // namespace

/// Calls a function that is an operation.
Value *Expansion::call(StringRef Name, Type *Ty, ArrayRef<Value *> Args) {
  SmallVector<Type *, 3> Types;
  for (Value *V : Args)
    Types.push_back(V->getType());
  // The prefix is needed because the program may have a function of that name.
  return B.CreateCall(
      CI.getModule()->getOrInsertFunction(("\1" + Name).str(),
                                          FunctionType::get(Ty, Types, false)),
      Args);
}

Value *Expansion::memccpy() {
  Value *At = call("memchr", B.getPtrTy(), {arg(1), arg(2), arg(3)});
  Value *None = B.CreateIsNull(At);
  Value *N = B.CreateAdd(distance(At, arg(1)), B.getInt64(1));
  N = B.CreateSelect(None, arg(3), N);
  copy(arg(0), arg(1), N);
  return B.CreateSelect(None, ConstantPointerNull::get(B.getPtrTy()),
                        plus(arg(0), N));
}

/// Searches 64 KiB for rawmemchr(), and returns true if the character is not
/// there. A longer search would make the operation leave the kernel.
Value *Expansion::notNear() {
  constexpr uint64_t Near = 65536;
  Found = call("memchr", B.getPtrTy(), {arg(0), arg(1), B.getInt64(Near)});
  return B.CreateIsNull(Found);
}

Value *Expansion::findOrEnd(Value *C) {
  Value *S = arg(0);
  Value *At = call("strchr", B.getPtrTy(), {S, C});
  BasicBlock *Head = CI.getParent();
  Instruction *Then =
      SplitBlockAndInsertIfThen(B.CreateIsNull(At), &CI, /*Unreachable=*/false);
  B.SetInsertPoint(Then);
  Value *End = plus(S, strlen(S));
  PHINode *Phi = PHINode::Create(At->getType(), 2, "", CI.getParent()->begin());
  Phi->addIncoming(At, Head);
  Phi->addIncoming(End, Then->getParent());
  B.SetInsertPoint(&CI);
  return Phi;
}

/// Supports only a set of one character, as in buf[strcspn(buf, "\n")] = 0.
Value *Expansion::strcspn() {
  StringRef Set;
  if (!getConstantStringInfo(arg(1), Set) || Set.size() != 1)
    return nullptr;
  return distance(findOrEnd(B.getInt32(static_cast<unsigned char>(Set[0]))),
                  arg(0));
}

/// Expands strncpy(). \returns the number of copied bytes.
Value *Expansion::copyPadded() {
  Value *N = strnlen(arg(1), arg(2));
  copy(arg(0), arg(1), N);
  B.CreateMemSet(plus(arg(0), N), B.getInt8(0), B.CreateSub(arg(2), N),
                 Align(1));
  return N;
}

Value *Expansion::strncpy() {
  copyPadded();
  return arg(0);
}

/// Appends \p Right bytes of the second string at \p Left in the first one.
void Expansion::append(Value *Left, Value *Right) {
  Value *To = plus(arg(0), Left);
  copy(To, arg(1), Right);
  B.CreateStore(B.getInt8(0), plus(To, Right));
}

Value *Expansion::strncat() {
  Value *Left = strlen(arg(0));
  append(Left, strnlen(arg(1), arg(2)));
  return arg(0);
}

/// Expands explicit_bzero().
Value *Expansion::clear() {
  B.CreateMemSet(arg(0), B.getInt8(0), arg(1), Align(1), /*isVolatile=*/true);
  return arg(0); // unused
}

Value *Expansion::copyFails() {
  Length = strlen(arg(1));
  return B.CreateICmpUGE(Length, arg(2));
}

Value *Expansion::checkedCopy() {
  copy(arg(0), arg(1), B.CreateAdd(Length, B.getInt64(1)));
  return arg(0);
}

/// Reads only memory that the checking function reads before it fails.
Value *Expansion::appendFails(Value *Max) {
  Value *Size = arg(CI.arg_size() - 1);
  Before = strnlen(arg(0), Size);
  Value *Room = B.CreateSub(Size, Before);
  if (Max)
    Max = B.CreateSelect(B.CreateICmpULT(Max, Room), Max, Room);
  Length = strnlen(arg(1), Max ? Max : Room);
  return B.CreateICmpEQ(Length, Room);
}

Value *Expansion::checkedAppend() {
  append(Before, Length);
  return arg(0);
}

namespace {

struct StringFunction {
  StringLiteral Name;
  Value *(Expansion::*Replace)();
  Value *(Expansion::*Unless)();
};

} // namespace

static const StringFunction *findStringFunction(const CallInst &CI) {
  static const StringFunction Functions[] = {
      {"memccpy", &Expansion::memccpy, nullptr},
      {"rawmemchr", &Expansion::rawmemchr, &Expansion::notNear},
      {"strchrnul", &Expansion::strchrnul, nullptr},
      {"strcspn", &Expansion::strcspn, nullptr},
      {"strncat", &Expansion::strncat, nullptr},
      {"strncpy", &Expansion::strncpy, nullptr},
      {"stpncpy", &Expansion::stpncpy, nullptr},
      {"explicit_bzero", &Expansion::clear, nullptr},
      {"__strcpy_chk", &Expansion::checkedCopy, &Expansion::copyFails},
      {"__stpcpy_chk", &Expansion::checkedStpcpy, &Expansion::copyFails},
      {"__strcat_chk", &Expansion::checkedAppend, &Expansion::strcatFails},
      {"__strncat_chk", &Expansion::checkedAppend, &Expansion::strncatFails},
      {"__strncpy_chk", &Expansion::strncpy, &Expansion::boundFails},
      {"__stpncpy_chk", &Expansion::stpncpy, &Expansion::boundFails},
      {"__explicit_bzero_chk", &Expansion::clear, &Expansion::boundFails},
  };
  StringRef Name = libraryFunction(CI).Name;
  const auto *Fn =
      find_if(Functions, [&](auto &Fn) { return Fn.Name == Name; });
  return Fn != std::end(Functions) ? Fn : nullptr;
}

PreservedAnalyses StringsPass::runOnBody(Function &Body,
                                         FunctionAnalysisManager &) {
  SmallVector<std::pair<CallInst *, const StringFunction *>, 8> Calls;
  for (BasicBlock &BB : Body)
    for (Instruction &I : BB)
      if (auto *CI = dyn_cast<CallInst>(&I))
        if (const StringFunction *Fn = findStringFunction(*CI))
          Calls.push_back({CI, Fn});
  for (auto [CI, Fn] : Calls) {
    Expansion E(*CI);
    auto Replace = Fn->Replace;
    if (Fn->Unless) {
      guard(*CI, (E.*Fn->Unless)(), [&](Instruction *At) {
        E.continueAt(At);
        return (E.*Replace)();
      });
    } else if (Value *V = (E.*Replace)()) {
      if (!CI->use_empty())
        CI->replaceAllUsesWith(V);
      CI->eraseFromParent();
    }
  }
  NumStrings += Calls.size();
  return Calls.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace cosy
