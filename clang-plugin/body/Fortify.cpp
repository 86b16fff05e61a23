// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fortify.cpp - Calls that _FORTIFY_SOURCE checks --------------------===//
#include "body/Fortify.h"
#include "body/LibraryCalls.h"
#include "support/Copyable.h"
#include "support/Markers.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <fcntl.h>
#include <poll.h>

#define DEBUG_TYPE "cosy-fortify"

using namespace llvm;

STATISTIC(NumChecks, "Checks of _FORTIFY_SOURCE that became operations");

namespace cosy {

//===----------------------------------------------------------------------===//
// In the host
//===----------------------------------------------------------------------===//

static bool inlinesAlways(const CallBase &CB) {
  Function *F = CB.getCalledFunction();
  if (!isa<CallInst>(CB) || !F || F->isDeclaration() || F->isVarArg() ||
      F == CB.getFunction() || !F->hasFnAttribute(Attribute::AlwaysInline))
    return false;
  // The compiler inlines functions with regions when these have been made.
  return none_of(*F, [](BasicBlock &BB) {
    return BB.hasAddressTaken() || firstMarker(BB) ||
           any_of(BB, [](const Instruction &I) { return whyNotCopyable(I); });
  });
}

void inlineAlways(Function &Host) {
  SmallVector<CallBase *, 16> Work;
  for (BasicBlock &BB : Host)
    for (Instruction &I : BB)
      if (auto *CB = dyn_cast<CallBase>(&I))
        Work.push_back(CB);
  SmallVector<AllocaInst *, 16> Variables;
  for (unsigned N = 0; N < Work.size(); ++N) {
    if (!inlinesAlways(*Work[N]))
      continue;
    InlineFunctionInfo IFI;
    if (!InlineFunction(*Work[N], IFI, false, nullptr, false).isSuccess())
      continue;
    Variables.append(IFI.StaticAllocas);
    Work.append(IFI.InlinedCallSites);
  }
  llvm::erase_if(Variables,
                 [](AllocaInst *AI) { return !isAllocaPromotable(AI); });
  if (Variables.empty())
    return;
  DominatorTree DT(Host);
  PromoteMemToReg(Variables, DT);
}

void evaluateObjectSizes(Function &Host, FunctionAnalysisManager &FAM) {
  auto &TLI = FAM.getResult<TargetLibraryAnalysis>(Host);
  for (BasicBlock &BB : Host)
    for (Instruction &I : make_early_inc_range(BB)) {
      auto *II = dyn_cast<IntrinsicInst>(&I);
      if (!II || II->getIntrinsicID() != Intrinsic::objectsize)
        continue;
      if (Value *Size = lowerObjectSizeCall(II, Host.getDataLayout(), &TLI,
                                            /*MustSucceed=*/false)) {
        II->replaceAllUsesWith(Size);
        II->eraseFromParent();
      }
    }
}

//===----------------------------------------------------------------------===//
// In the body
//===----------------------------------------------------------------------===//

namespace {

/// A checking function of glibc. It aborts if argument Length, times Unit, is
/// more than argument Size. Otherwise it does the same as Plain, which has no
/// argument Size.
struct Checked {
  StringLiteral Name;
  StringLiteral Plain; ///< or an intrinsic that copies or fills
  unsigned NumArgs;
  unsigned Length;
  unsigned Size;
  uint64_t Unit;
};

} // namespace

constexpr Checked CheckedFunctions[] = {
    {"__memcpy_chk", "memcpy", 4, 2, 3, 1},
    {"__mempcpy_chk", "mempcpy", 4, 2, 3, 1},
    {"__memmove_chk", "memmove", 4, 2, 3, 1},
    {"__memset_chk", "memset", 4, 2, 3, 1},
    {"__read_chk", "read", 4, 2, 3, 1},
    {"__pread_chk", "pread", 5, 2, 4, 1},
    {"__pread64_chk", "pread64", 5, 2, 4, 1},
    {"__recv_chk", "recv", 5, 2, 3, 1},
    {"__recvfrom_chk", "recvfrom", 7, 2, 3, 1},
    {"__readlink_chk", "readlink", 4, 2, 3, 1},
    {"__readlinkat_chk", "readlinkat", 5, 3, 4, 1},
    {"__poll_chk", "poll", 4, 1, 3, sizeof(pollfd)},
    {"__ppoll_chk", "ppoll", 5, 1, 4, sizeof(pollfd)},
};

static const Checked *findChecked(const CallInst &CI) {
  StringRef Name = libraryFunction(CI).Name;
  const auto *C =
      find_if(CheckedFunctions, [&](auto &C) { return C.Name == Name; });
  return C != std::end(CheckedFunctions) ? C : nullptr;
}

/// Creates the call that \p C makes if its check holds.
static Value *plainCall(Instruction *At, const Checked &C, CallInst &CI) {
  IRBuilder<> B(At);
  auto Arg = [&](unsigned N) { return CI.getArgOperand(N); };
  if (C.Plain == "memcpy" || C.Plain == "mempcpy")
    B.CreateMemCpy(Arg(0), Align(1), Arg(1), Align(1), Arg(2));
  else if (C.Plain == "memmove")
    B.CreateMemMove(Arg(0), Align(1), Arg(1), Align(1), Arg(2));
  else if (C.Plain == "memset")
    B.CreateMemSet(Arg(0), B.CreateTrunc(Arg(1), B.getInt8Ty()), Arg(2),
                   Align(1));
  else {
    SmallVector<Value *, 6> Args;
    SmallVector<Type *, 6> Types;
    for (unsigned N = 0; N < C.NumArgs; ++N)
      if (N != C.Size) {
        Args.push_back(Arg(N));
        Types.push_back(Arg(N)->getType());
      }
    // The prefix is needed because the program may define the name as an inline
    // function.
    FunctionCallee F = CI.getModule()->getOrInsertFunction(
        ("\1" + C.Plain).str(), FunctionType::get(CI.getType(), Types, false));
    return B.CreateCall(F, Args);
  }
  return C.Plain == "mempcpy" ? B.CreateGEP(B.getInt8Ty(), Arg(0), Arg(2))
                              : Arg(0);
}

void guard(CallInst &CI, Value *Fails,
           function_ref<Value *(Instruction *)> Plain) {
  auto *Always = dyn_cast<ConstantInt>(Fails);
  if (Always && Always->isOne())
    return;
  if (Always) {
    Value *V = Plain(&CI);
    if (!CI.use_empty())
      CI.replaceAllUsesWith(V);
    CI.eraseFromParent();
    return;
  }
  Instruction *Then, *Else;
  SplitBlockAndInsertIfThenElse(
      Fails, &CI, &Then, &Else,
      MDBuilder(CI.getContext()).createUnlikelyBranchWeights());
  BasicBlock *Tail = CI.getParent();
  Else->setDebugLoc(CI.getDebugLoc());
  Value *V = Plain(Else);
  if (!CI.getType()->isVoidTy()) {
    PHINode *Phi = PHINode::Create(CI.getType(), 2, "", Tail->begin());
    CI.replaceAllUsesWith(Phi);
    Phi->addIncoming(&CI, Then->getParent());
    Phi->addIncoming(V, Else->getParent());
  }
  CI.moveBefore(*Then->getParent(), Then->getIterator());
}

/// __open_2() and similar functions abort if the flags can create a file,
/// because then a mode is required.
static StringRef plainOpen(const CallInst &CI) {
  return StringSwitch<StringRef>(libraryFunction(CI).Name)
      .Case("__open_2", "open")
      .Case("__open64_2", "open64")
      .Case("__openat_2", "openat")
      .Case("__openat64_2", "openat64")
      .Default("");
}

static void expandOpen(CallInst &CI, StringRef Name) {
  IRBuilder<> B(&CI);
  SmallVector<Value *, 3> Args(CI.args());
  Value *Flags = Args.back();
  constexpr unsigned Unnamed = O_TMPFILE;
  Value *Fails = B.CreateOr(
      B.CreateICmpNE(B.CreateAnd(Flags, O_CREAT), B.getInt32(0)),
      B.CreateICmpEQ(B.CreateAnd(Flags, Unnamed), B.getInt32(Unnamed)));
  SmallVector<Type *, 3> Types;
  for (Value *V : Args)
    Types.push_back(V->getType());
  FunctionCallee F = CI.getModule()->getOrInsertFunction(
      ("\1" + Name).str(), FunctionType::get(CI.getType(), Types, true));
  guard(CI, Fails,
        [&](Instruction *At) { return IRBuilder<>(At).CreateCall(F, Args); });
}

bool expandChecks(Function &F) {
  SmallVector<CallInst *, 8> Calls;
  for (BasicBlock &BB : F)
    for (Instruction &I : BB)
      if (auto *CI = dyn_cast<CallInst>(&I);
          CI && (findChecked(*CI) || !plainOpen(*CI).empty()))
        Calls.push_back(CI);
  for (CallInst *CI : Calls) {
    if (StringRef Name = plainOpen(*CI); !Name.empty()) {
      expandOpen(*CI, Name);
      continue;
    }
    const Checked &C = *findChecked(*CI);
    IRBuilder<> B(CI);
    Value *Limit = CI->getArgOperand(C.Size);
    if (C.Unit != 1)
      Limit = B.CreateUDiv(Limit, B.getInt64(C.Unit));
    Value *Fails = B.CreateICmpUGT(CI->getArgOperand(C.Length), Limit);
    guard(*CI, Fails, [&](Instruction *At) { return plainCall(At, C, *CI); });
  }
  NumChecks += Calls.size();
  return !Calls.empty();
}

PreservedAnalyses FortifyPass::runOnBody(Function &Body,
                                         FunctionAnalysisManager &) {
  return expandChecks(Body) ? PreservedAnalyses::none()
                            : PreservedAnalyses::all();
}

} // namespace cosy
