// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UpCalls.cpp - Code that runs natively in a compound ----------------===//
#include "body/UpCalls.h"
#include "body/IndirectCalls.h"
#include "body/Operations.h"
#include "body/Outline.h"
#include "body/Recognise.h"
#include "support/UserFunctions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/Debug.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "cosy-group-upcalls"

using namespace llvm;

STATISTIC(NumUpCalls, "Up-calls, those of user functions included");

namespace cosy {

/// \returns true if \p A explains an up-call better than \p B.
static bool explainsBetter(const Instruction &A, const Instruction &B) {
  auto Rank = [](const Instruction &I) {
    return isa<CallBase>(I) ? outlinedPieceOf(I) ? 1 : 2 : 0;
  };
  return Rank(A) > Rank(B);
}

std::optional<unsigned> upCallOf(const Instruction &I) {
  const MDNode *N = I.getMetadata(UpCallName);
  if (!N)
    return std::nullopt;
  return mdconst::extract<ConstantInt>(N->getOperand(0))->getZExtValue();
}

/// Numbers the up-calls of \p Body and marks the instructions of each.
static void numberUpCalls(Function &Body) {
  const DataLayout &DL = Body.getDataLayout();
  LLVMContext &Ctx = Body.getContext();
  Type *I32 = Type::getInt32Ty(Ctx);
  unsigned Kind = Ctx.getMDKindID(UpCallName);
  for (Instruction &I : instructions(Body))
    I.setMetadata(Kind, nullptr);
  unsigned Number = 0;
  for (BasicBlock &BB : Body) {
    MDNode *Cur = nullptr;
    SmallVector<Instruction *, 16> Gap; // operations after it
    auto Begin = [&] {
      Cur = MDNode::get(
          Ctx, ConstantAsMetadata::get(ConstantInt::get(I32, Number++)));
    };
    auto Finish = [&] {
      Cur = nullptr;
      Gap.clear();
    };
    for (Instruction &I : BB) {
      if (isa<PHINode>(I))
        continue;
      if (isUserFunctionCall(I)) {
        Begin();
        I.setMetadata(Kind, Cur);
        Finish();
        continue;
      }
      if (!isOperation(I, DL)) {
        if (!Cur)
          Begin();
        for (Instruction *Before : Gap)
          Before->setMetadata(Kind, Cur);
        Gap.clear();
        I.setMetadata(Kind, Cur);
        continue;
      }
      if (!Cur || isHostComputed(I))
        continue;
      if (I.isTerminator() || isSystemCall(I) || isStopTest(I) || isExit(I))
        Finish();
      else
        Gap.push_back(&I);
    }
  }
}

UpCallList readUpCalls(Function &Body) {
  const DataLayout &DL = Body.getDataLayout();
  UpCallList List;
  for (Instruction &I : instructions(Body)) {
    std::optional<unsigned> N = upCallOf(I);
    if (!N)
      continue;
    if (*N >= List.Calls.size())
      List.Calls.resize(*N + 1);
    UpCall &Call = List.Calls[*N];
    Call.Insts.push_back(&I);
    List.Of[&I] = *N;
    if (isUserFunctionCall(I)) {
      Call.Culprit = &I;
    } else if (!isOperation(I, DL)) {
      const Instruction &Why = culpritOf(I);
      if (!Call.Culprit || explainsBetter(Why, *Call.Culprit))
        Call.Culprit = const_cast<Instruction *>(&Why);
    }
  }
  for (auto [N, Call] : enumerate(List.Calls)) {
    SmallPtrSet<Value *, 8> Seen;
    auto Inside = [&, N = N](const Value *V) {
      auto *I = dyn_cast<Instruction>(V);
      auto It = I ? List.Of.find(I) : List.Of.end();
      return It != List.Of.end() && It->second == N;
    };
    for (Instruction *I : Call.Insts) {
      for (Value *V : I->operands())
        if ((isa<Instruction>(V) || isa<Argument>(V)) && !Inside(V) &&
            Seen.insert(V).second)
          Call.Uses.push_back(V);
      if (any_of(I->users(), [&](User *U) { return !Inside(U); }))
        Call.Defs.push_back(I);
    }
  }
  return List;
}

PreservedAnalyses GroupUpCallsPass::runOnBody(Function &Body,
                                              FunctionAnalysisManager &) {
  const DataLayout &DL = Body.getDataLayout();
  while (true) {
    numberUpCalls(Body);
    UpCallList List = readUpCalls(Body);
    // Values that are too wide for a register are passed through memory. The
    // loads and stores then belong to the groups.
    SmallSetVector<Instruction *, 8> Wide;
    for (const UpCall &Call : List.Calls) {
      for (Value *V : Call.Uses)
        if (!isRegisterType(V->getType(), DL))
          Wide.insert(cast<Instruction>(V));
      for (Instruction *I : Call.Defs)
        if (!isRegisterType(I->getType(), DL))
          Wide.insert(I);
    }
    for (BasicBlock &BB : Body)
      for (PHINode &P : BB.phis())
        if (!isRegisterType(P.getType(), DL))
          Wide.insert(&P);
    if (Wide.empty()) {
      NumUpCalls += List.Calls.size();
      LLVM_DEBUG(for (const UpCall &Call : List.Calls) dbgs()
                 << "up-call of " << Call.Insts.size() << " instructions for "
                 << describe(*Call.Culprit) << "\n");
      return PreservedAnalyses::none();
    }
    for (Instruction *I : Wide) {
      if (auto *P = dyn_cast<PHINode>(I))
        DemotePHIToStack(P);
      else
        DemoteRegToStack(*I);
    }
  }
}

std::string describe(const Instruction &I) {
  if (outlinedPieceOf(I))
    return "code that takes longer as operations";
  if (auto *CB = dyn_cast<CallBase>(&I)) {
    if (CB->isInlineAsm())
      return "inline assembly";
    if (const Function *F = CB->getCalledFunction())
      return ("call of " + F->getName()).str();
    std::string Others;
    for (const Function *F : comparedWith(*CB))
      Others += (Others.empty() ? " other than " : ", ") + F->getName().str();
    return "call through a pointer" + Others;
  }
  if (isa<AtomicRMWInst>(I) || isa<AtomicCmpXchgInst>(I) || isa<FenceInst>(I) ||
      I.isAtomic())
    return "atomic operation";
  for (Type *Ty : {I.getType(), I.getOperand(0)->getType()}) {
    if (Ty->isVectorTy())
      return "vector operation";
    if (Ty->isFloatingPointTy())
      return "floating point";
    if (Ty->isIntegerTy())
      return "integer wider than 64 bits";
  }
  return std::string("operation ") + I.getOpcodeName();
}

} // namespace cosy
