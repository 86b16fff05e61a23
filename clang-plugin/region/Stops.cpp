// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Stops.cpp - Regions that end at errors and limits ------------------===//
#include "region/Stops.h"
#include "body/LibraryCalls.h"
#include "support/DescriptorTable.h"
#include "support/Diagnostics.h"
#include "support/LlvmCompat.h"
#include "support/Markers.h"
#include "support/Names.h"
#include "support/StartOptions.h"
#include "support/SystemCalls.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

extern "C" {
#include <cosy/region.h>
}

using namespace llvm;

namespace cosy {

namespace {

/// A region before its blocks are split off: the blocks on paths from the start
/// marker to the end marker.
struct Extent {
  SetVector<BasicBlock *> Blocks;
  BasicBlock *After = nullptr; ///< the block after the region
};

} // namespace

/// Splits the blocks at both markers. After is null if the end is never
/// reached, or if there are several.
static Extent extentOf(CallInst *Start) {
  Extent E;
  BasicBlock *Entry = SplitBlock(Start->getParent(), Start->getNextNode());
  SetVector<BasicBlock *> Reached;
  Reached.insert(Entry);
  CallInst *End = nullptr;
  for (unsigned N = 0; N < Reached.size(); ++N) {
    if (CallInst *C = firstMarker(*Reached[N])) {
      if (asMarker(*C, StartMarker))
        continue;
      if (End && End != C)
        return E;
      End = C;
      continue;
    }
    for (BasicBlock *S : successors(Reached[N]))
      Reached.insert(S);
  }
  if (!End)
    return E;
  E.After = SplitBlock(End->getParent(), End->getNextNode());
  E.Blocks.insert(End->getParent());
  for (unsigned N = 0; N < E.Blocks.size(); ++N)
    if (E.Blocks[N] != Entry)
      for (BasicBlock *P : predecessors(E.Blocks[N]))
        if (Reached.count(P))
          E.Blocks.insert(P);
  return E;
}

/// \returns the name in the source if \p F is an inline function of glibc's
/// headers that has the name of a library function, and clang mangles the name:
/// with _FORTIFY_SOURCE, open() of glibc 2.41 is an overloaded function that
/// gets the size of an object.
static StringRef overloadedName(const Function &F) {
  StringRef Name = F.getName();
  unsigned Length;
  if (!F.hasAvailableExternallyLinkage() || !Name.contains("object_size") ||
      !Name.consume_front("_Z") || Name.consumeInteger(10, Length))
    return {};
  return Name.take_front(Length);
}

/// \returns the name of the function that \p Call calls, if it is the C
/// library's, or an empty one.
static StringRef libraryName(const CallBase &Call) {
  if (LibraryFunction F = libraryFunction(Call))
    return F.Name;
  const Function *F = Call.getCalledFunction();
  return F && !Call.isNoBuiltin() ? overloadedName(*F) : StringRef();
}

/// \returns true if \p Call fails with -1 and errno.
static bool failsWithErrno(const CallBase &Call) {
  return failsAsSystemCall(libraryName(Call));
}

/// Returns the instruction before which the result of \p Call is tested.
/// Instructions that only assign the result come before, because they are
/// executed also if the call fails.
static Instruction *afterAssignment(CallBase &Call) {
  Instruction *First = Call.getNextNode();
  if (auto *II = dyn_cast<InvokeInst>(&Call)) {
    BasicBlock *Normal = II->getNormalDest();
    if (!Normal->getSinglePredecessor())
      Normal = SplitEdge(II->getParent(), Normal);
    First = &*Normal->getFirstInsertionPt();
  }
  Instruction *After = First;
  SmallPtrSet<Value *, 4> Result;
  Result.insert(&Call);
  for (Instruction *I = First; I; I = I->getNextNode()) {
    auto *St = dyn_cast<StoreInst>(I);
    if (St && Result.count(St->getValueOperand()))
      After = St->getNextNode();
    else if (isa<CastInst>(I) && Result.count(I->getOperand(0)))
      Result.insert(I);
    else if (!isa<CastInst>(I) && !isa<GetElementPtrInst>(I) &&
             !(isa<LoadInst>(I) && !cast<LoadInst>(I)->isVolatile()))
      break;
  }
  return After;
}

/// Returns the struct cosy_place of \p Call.
static Constant *placeOf(const CallBase &Call) {
  Module &M = *const_cast<Module *>(Call.getModule());
  const DILocation *Loc = Call.getDebugLoc();
  return ConstantStruct::getAnon(
      {stringConstant(M, Loc ? Loc->getFilename()
                             : StringRef(M.getSourceFileName())),
       stringConstant(M, Call.getFunction()->getName()),
       stringConstant(M, libraryName(Call)),
       ConstantInt::get(Type::getInt32Ty(M.getContext()),
                        Loc ? Loc->getLine() : 0)});
}

/// Adds an exit after each call that can fail. One block after the region tells
/// libcosy which call failed, so there is only one further exit and one further
/// output.
static void stopOnErrors(const Extent &E) {
  SmallVector<CallBase *, 8> Calls;
  for (BasicBlock *BB : E.Blocks)
    for (Instruction &I : *BB)
      if (auto *CB = dyn_cast<CallBase>(&I); CB && failsWithErrno(*CB))
        Calls.push_back(CB);
  if (Calls.empty())
    return;
  Function &Host = *E.After->getParent();
  Module &M = *Host.getParent();
  LLVMContext &Ctx = M.getContext();
  SmallVector<Constant *, 8> Places;
  for (CallBase *CB : Calls)
    Places.push_back(placeOf(*CB));
  auto *Ty = ArrayType::get(Places[0]->getType(), Places.size());
  auto *Table =
      new GlobalVariable(M, Ty, true, GlobalValue::PrivateLinkage,
                         ConstantArray::get(Ty, Places), "cosy.places");

  BasicBlock *Stop = BasicBlock::Create(Ctx, "cosy.stop", &Host, E.After);
  IRBuilder<> B(Stop);
  B.SetCurrentDebugLocation(Calls[0]->getDebugLoc());
  PHINode *Which = B.CreatePHI(B.getInt32Ty(), Calls.size());
  FunctionCallee Fn = M.getOrInsertFunction(
      "cosy_stop_failed",
      FunctionType::get(B.getVoidTy(), {B.getPtrTy()}, false));
  Value *Index = B.CreateZExt(Which, B.getInt64Ty());
  B.CreateCall(Fn, B.CreateInBoundsGEP(Ty, Table, {B.getInt64(0), Index}));
  B.CreateBr(E.After);

  for (auto [N, CI] : enumerate(Calls)) {
    Instruction *Test = afterAssignment(*CI);
    BasicBlock *BB = Test->getParent();
    BasicBlock *Cont = SplitBlock(BB, Test);
    Instruction *Old = BB->getTerminator();
    IRBuilder<> At(Old);
    At.SetCurrentDebugLocation(CI->getDebugLoc());
    Value *Result = CI;
    if (CI->getType()->isPointerTy())
      Result = At.CreatePtrToInt(CI, At.getInt64Ty());
    Value *Failed =
        At.CreateICmpEQ(Result, Constant::getAllOnesValue(Result->getType()));
    BranchInst *Br = At.CreateCondBr(Failed, Stop, Cont);
    Br->setMetadata(LLVMContext::MD_prof,
                    MDBuilder(Ctx).createUnlikelyBranchWeights());
    Old->eraseFromParent();
    Which->addIncoming(At.getInt32(N), BB);
  }
}

/// Adds an exit before each iteration of a loop, for when the region has
/// reached its limit.
static void stopAtLimit(const Extent &E) {
  Function &Host = *E.After->getParent();
  Module &M = *Host.getParent();
  LLVMContext &Ctx = M.getContext();
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 8> BackEdges;
  FindFunctionBackedges(Host, BackEdges);
  SetVector<BasicBlock *> Headers;
  for (auto [From, To] : BackEdges)
    if (E.Blocks.count(const_cast<BasicBlock *>(From)) &&
        E.Blocks.count(const_cast<BasicBlock *>(To)))
      Headers.insert(const_cast<BasicBlock *>(To));
  if (Headers.empty())
    return;

  BasicBlock *Stop = BasicBlock::Create(Ctx, "cosy.stop", &Host, E.After);
  IRBuilder<> B(Stop);
  B.SetCurrentDebugLocation(E.Blocks[0]->getTerminator()->getDebugLoc());
  B.CreateCall(M.getOrInsertFunction("cosy_stop_limited",
                                     FunctionType::get(B.getVoidTy(), false)));
  B.CreateBr(E.After);
  FunctionCallee Stopped = M.getOrInsertFunction(
      StoppedMarker, FunctionType::get(B.getInt1Ty(), false));
  for (BasicBlock *Header : Headers) {
    BasicBlock *Cont = SplitBlock(Header, Header->getFirstInsertionPt());
    Instruction *Old = Header->getTerminator();
    IRBuilder<> At(Old);
    At.SetCurrentDebugLocation(firstNonPhi(*Cont)->getDebugLoc());
    CallInst *Test = At.CreateCall(Stopped);
    // Every iteration must execute one of these tests.
    Test->addFnAttr(Attribute::NoDuplicate);
    Test->addFnAttr(Attribute::NoMerge);
    Test->setDoesNotThrow();
    At.CreateCondBr(Test, Stop, Cont);
    Old->eraseFromParent();
  }
}

void insertStops(Function &Host) {
  SmallVector<CallInst *, 4> Starts;
  for (BasicBlock &BB : Host)
    for (Instruction &I : BB)
      if (CallInst *C = asMarker(I, StartMarker))
        Starts.push_back(C);
  for (CallInst *Start : Starts) {
    StartOptions Options = optionsOf(*Start);
    if (!Options.StopOnError && !Options.stopsAtLimit())
      continue;
    IRBuilder<> B(Start);
    B.CreateCall(Host.getParent()->getOrInsertFunction(
        "cosy_stop_reset", FunctionType::get(B.getVoidTy(), false)));
    Extent E = extentOf(Start);
    if (!E.After) {
      reportError(
          Host, Start->getDebugLoc(),
          "the end of this region is never reached, or in two places, so "
          "that its options cannot be obeyed; give an endless loop a "
          "condition, such as while (!cosy_last_error())");
      continue;
    }
    if (Options.StopOnError)
      stopOnErrors(E);
    if (Options.stopsAtLimit())
      stopAtLimit(E);
  }
}

} // namespace cosy
