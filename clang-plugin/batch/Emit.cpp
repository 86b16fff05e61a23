// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emit.cpp - The code of a loop that is split ------------------------===//
//
// The original blocks collect iterations. Copies of the region's blocks are in
// a loop of their own, which the region now contains, and copies of the blocks
// after the region are in another:
//
//   enter:    number of collected iterations = 0
//   ...       the loop as it was; where it reached the region:
//   collect:  save the variables of this iteration, number += 1;
//             if number < N go to the step of the loop
//   flush:    COSY_START; for all collected: the calls; COSY_END
//             for all collected: the code after the region
//   done:     number = 0; go to the step, or to the exit of the loop
//
// If the collecting code leaves the loop, it flushes first. If the calls or the
// code after them leave it, the later collected iterations are dropped.
//
// A loop without COSY_BATCH also remains as it was. It runs so unless its
// region runs as a compound (SplitGate).
//
//===----------------------------------------------------------------------===//
#include "auto/Pass.h"
#include "batch/Errno.h"
#include "batch/Loop.h"
#include "batch/Runtime.h"
#include "support/Diagnostics.h"
#include "support/Names.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#include <cosy/batch-check.h>

using namespace llvm;

namespace cosy {

/// The maximum size of the copies of variables on the stack.
constexpr uint64_t MaxStack = 256 * 1024;
/// The maximum, and the size of a batch, if the compiler chooses.
constexpr uint64_t DefaultStack = 64 * 1024;
constexpr uint64_t DefaultSize = 64;
/// The same for a loop without COSY_BATCH, whose function may run on a small
/// stack. Smaller batches would gain little.
constexpr uint64_t ProvenStack = 4096;
constexpr uint64_t MinProvenSize = 8;

namespace {

class Emitter {
public:
  Emitter(BatchLoop &L, ArrayRef<BatchVariable> Variables)
      : L(L), Errno(L), F(*L.F), Ctx(F.getContext()),
        I64(Type::getInt64Ty(Ctx)), I32(Type::getInt32Ty(Ctx)),
        DL(F.getDataLayout()) {
    for (const BatchVariable &V : Variables)
      Copies.push_back({&V, nullptr, nullptr, nullptr,
                        alignTo(V.Size, V.Alignment.value())});
  }
  bool chooseSize();
  void emit();

private:
  /// A variable with its memory.
  struct Copy {
    const BatchVariable *V;
    AllocaInst *Array;     ///< values by iteration
    AllocaInst *Collected; ///< the value to collect on with, during a flush
    AllocaInst *IsNewer;   ///< Collected was written after the others
    uint64_t Stride;
  };

  BasicBlock *block(const Twine &Name) {
    return BasicBlock::Create(Ctx, "batch." + Name, &F);
  }
  AllocaInst *local(Type *Ty, const Twine &Name) {
    IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
    return B.CreateAlloca(Ty, nullptr, "batch." + Name);
  }
  AllocaInst *bytes(uint64_t Size, Align A, const Twine &Name) {
    AllocaInst *AI = local(ArrayType::get(Type::getInt8Ty(Ctx), Size), Name);
    AI->setAlignment(A);
    return AI;
  }
  Value *element(IRBuilderBase &B, AllocaInst *Array, Value *Index,
                 uint64_t Stride) {
    return B.CreateInBoundsGEP(B.getInt8Ty(), Array,
                               B.CreateMul(Index, B.getInt64(Stride)));
  }
  void copy(IRBuilderBase &B, Value *To, Value *From, const BatchVariable &V);
  void save(IRBuilderBase &B, Value *Index, bool BatchVariable::*Which);
  void restore(IRBuilderBase &B, Value *Index, bool BatchVariable::*Which);
  SmallVector<BasicBlock *, 16> clone(const BlockSet &Blocks,
                                      ValueToValueMapTy &Map);
  unsigned resumeAt(BasicBlock *To);
  void redirect(BasicBlock *From, BasicBlock *To, BasicBlock *NewTo);
  void setNewer(IRBuilderBase &B, bool Is);
  BasicBlock *enterAt(const Twine &Name);
  void keepOriginal();
  void enter();
  void collect();
  void calls();
  void finish();
  void done();
  void useArrays();
  void setCurrent(IRBuilderBase &B, Value *Index, cosy_batch_phase Phase);
  void checkExits();
  void explain();

  BatchLoop &L;
  BatchErrno Errno;
  Function &F;
  LLVMContext &Ctx;
  Type *I64, *I32;
  const DataLayout &DL;
  SmallVector<Copy, 16> Copies;
  AllocaInst *Number;  ///< of collected iterations
  AllocaInst *Current; ///< the iteration whose copies of variables are used
  AllocaInst *Index;   ///< of the loops over collected iterations
  AllocaInst *Called;  ///< iterations whose calls have been made
  AllocaInst *Leave;   ///< 0, or the exit where the flush leaves the loop
  AllocaInst *Resume;  ///< by iteration, where it is finished
  BasicBlock *Flush, *Calls, *FinishLoop, *Done;
  /// Where iterations continue after their calls, by number; 0 is the region's
  /// end.
  SmallVector<BasicBlock *, 4> Resumes;
  /// Where the collect phase leaves the loop, by number minus one.
  SmallVector<BasicBlock *, 4> Leaves;
  uint64_t Stack = 0;
};

} // namespace

bool Emitter::chooseSize() {
  uint64_t One = sizeof(int) + BatchErrno::sizeFor(L);
  for (const Copy &C : Copies)
    if (C.V->IsArray || C.V->isSaved())
      One += C.Stride;
  if (!L.Size) {
    L.Size = DefaultSize;
    while (L.Size > 1 &&
           One * L.Size > (L.Promised ? DefaultStack : ProvenStack))
      L.Size /= 2;
  }
  Stack = One * L.Size;
  if (!L.Promised)
    return L.Size >= MinProvenSize ||
           L.fail(DebugLoc(), "the variables of an iteration take " +
                                  Twine(One) +
                                  " bytes of stack, too many for a batch "
                                  "without COSY_BATCH");
  if (Stack <= MaxStack)
    return true;
  return L.fail(DebugLoc(),
                "the variables of " + count(L.Size, "iteration") + " take " +
                    Twine(Stack) + " bytes of stack, at most " +
                    Twine(MaxStack) +
                    " are allowed; use a smaller size, or allocate large "
                    "variables with malloc");
}

//===----------------------------------------------------------------------===//
// Values by iteration
//===----------------------------------------------------------------------===//

void Emitter::copy(IRBuilderBase &B, Value *To, Value *From,
                   const BatchVariable &V) {
  if (V.Size <= 8 && isPowerOf2_64(V.Size)) {
    // A pointer stays a pointer. All other values are integers, which are
    // operations.
    auto *AI = dyn_cast<AllocaInst>(V.Base);
    Type *Ty =
        AI && !AI->isArrayAllocation() ? AI->getAllocatedType() : nullptr;
    if (!Ty || !Ty->isPointerTy())
      Ty = B.getIntNTy(V.Size * 8);
    B.CreateAlignedStore(B.CreateAlignedLoad(Ty, From, V.Alignment), To,
                         V.Alignment);
    return;
  }
  B.CreateMemCpy(To, V.Alignment, From, V.Alignment, V.Size);
}

void Emitter::save(IRBuilderBase &B, Value *At, bool BatchVariable::*Which) {
  for (Copy &C : Copies)
    if (C.V->*Which)
      copy(B, element(B, C.Array, At, C.Stride), C.V->Base, *C.V);
}

void Emitter::restore(IRBuilderBase &B, Value *At, bool BatchVariable::*Which) {
  for (Copy &C : Copies)
    if (C.V->*Which)
      copy(B, C.V->Base, element(B, C.Array, At, C.Stride), *C.V);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<BasicBlock *, 16> Emitter::clone(const BlockSet &Blocks,
                                             ValueToValueMapTy &Map) {
  SmallVector<BasicBlock *, 16> List;
  for (BasicBlock *BB : Blocks) {
    BasicBlock *Copy = CloneBasicBlock(BB, Map, ".batch", &F);
    Map[BB] = Copy;
    List.push_back(Copy);
  }
  remapInstructionsInBlocks(List, Map);
  return List;
}

void Emitter::redirect(BasicBlock *From, BasicBlock *To, BasicBlock *NewTo) {
  From->getTerminator()->replaceSuccessorWith(To, NewTo);
}

unsigned Emitter::resumeAt(BasicBlock *To) {
  auto It = find(Resumes, To);
  if (It == Resumes.end()) {
    Resumes.push_back(To);
    return Resumes.size() - 1;
  }
  return It - Resumes.begin();
}

/// Records whether variables have been written since the last iteration was
/// collected, if that decides which of two values is the last one.
void Emitter::setNewer(IRBuilderBase &B, bool Is) {
  for (Copy &C : Copies)
    if (C.IsNewer)
      B.CreateStore(B.getInt1(Is), C.IsNewer);
}

/// \returns a new block to which all paths into the loop lead.
BasicBlock *Emitter::enterAt(const Twine &Name) {
  BasicBlock *To = block(Name);
  SmallSetVector<BasicBlock *, 4> Outside;
  for (BasicBlock *P : predecessors(L.Header))
    if (!L.Blocks.count(P))
      Outside.insert(P);
  for (BasicBlock *P : Outside)
    redirect(P, L.Header, To);
  return To;
}

/// Copies the loop as it is, and enters the copy unless the region runs as a
/// compound.
void Emitter::keepOriginal() {
  ValueToValueMapTy Map;
  clone(L.Blocks, Map);
  // Its system calls are those of a region.
  SmallVector<BasicBlock *, 16> CallBlocks;
  for (BasicBlock *BB : L.Call)
    CallBlocks.push_back(cast<BasicBlock>(Map[BB]));
  markSingleCalls(CallBlocks);
  for (CallInst *Marker : {L.Start, L.End})
    cast<CallInst>(Map[Marker])->eraseFromParent();

  BasicBlock *Gate = enterAt("gate");
  IRBuilder<> B(Gate);
  B.SetCurrentDebugLocation(L.Start->getDebugLoc());
  CallInst *Runs = B.CreateCall(F.getParent()->getOrInsertFunction(
      SplitGate, FunctionType::get(B.getInt1Ty(), false)));
  MDNode *Node = MDNode::getDistinct(Ctx, {});
  Runs->setMetadata(SplitGateKind, Node);
  L.Start->setMetadata(SplitGateKind, Node);
  B.CreateCondBr(Runs, L.Header, cast<BasicBlock>(Map[L.Header]),
                 MDBuilder(Ctx).createUnlikelyBranchWeights());
}

void Emitter::enter() {
  BasicBlock *Enter = enterAt("enter");
  IRBuilder<> B(Enter);
  B.SetCurrentDebugLocation(L.Marker->getDebugLoc());
  B.CreateStore(B.getInt64(0), Number);
  if (L.Check)
    callBatchRuntime(B, "cosy_batch_enter",
                     {batchSite(F, L.Marker->getDebugLoc())});
  setCurrent(B, B.getInt64(0), COSY_BATCH_COLLECT);
  setNewer(B, false);
  Errno.begin(B);
  B.CreateBr(L.Header);
}

/// Redirects the edges that leave the collecting blocks.
void Emitter::collect() {
  Errno.prepareCollect();
  BasicBlock *Collect = block("collect");
  BasicBlock *Full = block("full");
  IRBuilder<> B(Collect);
  B.SetCurrentDebugLocation(L.Start->getDebugLoc());
  Value *N = B.CreateLoad(I64, Number);
  save(B, N, &BatchVariable::SaveCollected);
  Errno.afterCollect(B, N);
  Value *Next = B.CreateAdd(N, B.getInt64(1));
  B.CreateStore(Next, Number);
  setCurrent(B, Next, COSY_BATCH_COLLECT);
  setNewer(B, false);
  B.CreateCondBr(B.CreateICmpEQ(Next, B.getInt64(L.Size)), Full, L.Step);
  B.SetInsertPoint(Full);
  B.CreateStore(B.getInt32(0), Leave);
  B.CreateBr(Flush);

  for (Copy &C : Copies)
    for (Instruction *I : C.V->CollectWrites)
      IRBuilder<>(I->getNextNode()).CreateStore(B.getInt1(true), C.IsNewer);

  MapVector<BasicBlock *, BasicBlock *> Exits;
  for (BasicBlock *BB : L.Collect) {
    SmallSetVector<BasicBlock *, 4> Targets(succ_begin(BB), succ_end(BB));
    for (BasicBlock *To : Targets) {
      if (To == L.RegionEntry) {
        redirect(BB, To, Collect);
        continue;
      }
      if (L.Blocks.count(To))
        continue;
      BasicBlock *&Exit = Exits[To];
      if (!Exit) {
        Leaves.push_back(To);
        Exit = block("leave");
        B.SetInsertPoint(Exit);
        B.SetCurrentDebugLocation(BB->getTerminator()->getDebugLoc());
        B.CreateStore(B.getInt32(Leaves.size()), Leave);
        B.CreateBr(Flush);
      }
      redirect(BB, To, Exit);
    }
  }

  BasicBlock *Keep = block("flush");
  B.SetInsertPoint(Flush);
  B.SetCurrentDebugLocation(L.Start->getDebugLoc());
  Errno.endCollect(B);
  N = B.CreateLoad(I64, Number);
  B.CreateCondBr(B.CreateICmpEQ(N, B.getInt64(0)), Done, Keep);
  B.SetInsertPoint(Keep);
  for (Copy &C : Copies)
    if (C.V->RestoreCollect)
      copy(B, C.Collected, C.V->Base, *C.V);
  B.CreateBr(Calls);
}

/// Makes the following code use the variables of iteration \p I.
void Emitter::setCurrent(IRBuilderBase &B, Value *I, cosy_batch_phase Phase) {
  B.CreateStore(I, Current);
  if (L.Check)
    callBatchRuntime(B, "cosy_batch_at", {B.getInt32(Phase), I});
}

/// Reports each exit of the loop to libcosy.
void Emitter::checkExits() {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  const Loop *Split = LI.getLoopFor(L.Header);
  if (!Split)
    return;
  SmallVector<Loop::Edge, 8> Edges;
  Split->getExitEdges(Edges);
  SmallSetVector<Loop::Edge, 8> Once(Edges.begin(), Edges.end());
  for (auto [From, To] : Once) {
    BasicBlock *Exit = block("exit");
    IRBuilder<> B(Exit);
    B.SetCurrentDebugLocation(From->getTerminator()->getDebugLoc());
    callBatchRuntime(B, "cosy_batch_leave", {});
    B.CreateBr(To);
    redirect(From, To, Exit);
  }
}

/// Emits the loop over the calls, which is the region.
void Emitter::calls() {
  ValueToValueMapTy Map;
  SmallVector<BasicBlock *, 16> Blocks = clone(L.Call, Map);
  auto *Start = cast<CallInst>(Map[L.Start]);
  auto *End = cast<CallInst>(Map[L.End]);
  DebugLoc StartLoc = L.Start->getDebugLoc(), EndLoc = L.End->getDebugLoc();

  BasicBlock *Body = block("calls"), *Again = block("again");
  BasicBlock *After = block("called");
  IRBuilder<> B(Calls);
  B.SetCurrentDebugLocation(StartLoc);
  Value *N = B.CreateLoad(I64, Number);
  B.CreateStore(N, Called);
  Start->moveBefore(*Calls, Calls->end());
  B.SetInsertPoint(Calls);
  B.CreateStore(B.getInt64(0), Index);
  B.CreateBr(Body);

  B.SetInsertPoint(Body);
  Value *I = B.CreateLoad(I64, Index);
  setCurrent(B, I, COSY_BATCH_CALL);
  restore(B, I, &BatchVariable::RestoreCalls);
  Errno.beforeCalls(B, I);
  B.CreateBr(cast<BasicBlock>(Map[L.RegionEntry]));

  // After the calls of an iteration.
  auto Finish = [&](BasicBlock *BB, BasicBlock *Exit) {
    B.SetInsertPoint(BB);
    Value *I = B.CreateLoad(I64, Index);
    save(B, I, &BatchVariable::SaveCalled);
    Errno.afterCalls(B, I);
    if (Resume)
      B.CreateStore(B.getInt32(resumeAt(Exit)), element(B, Resume, I, 4));
    return B.CreateAdd(I, B.getInt64(1));
  };
  Resumes.push_back(L.RegionExit);
  bool HasOneResume = all_of(L.Call, [&](BasicBlock *BB) {
    return all_of(successors(BB), [&](BasicBlock *S) {
      return L.Call.count(S) || S == L.RegionExit;
    });
  });
  Resume = HasOneResume ? nullptr : bytes(4 * L.Size, Align(4), "resume");
  B.SetCurrentDebugLocation(EndLoc);
  MapVector<BasicBlock *, BasicBlock *> Stubs;
  for (BasicBlock *BB : Blocks) {
    SmallSetVector<BasicBlock *, 4> Targets(succ_begin(BB), succ_end(BB));
    for (BasicBlock *To : Targets) {
      if (is_contained(Blocks, To))
        continue;
      BasicBlock *&Stub = Stubs[To];
      if (!Stub) {
        Stub = block("resume");
        Value *Done = Finish(Stub, L.endsIteration(To) ? nullptr : To);
        if (L.Blocks.count(To)) {
          B.CreateStore(Done, Index);
          B.CreateBr(Again);
        } else {
          // The loop is left: no more calls.
          B.CreateStore(Done, Called);
          B.CreateBr(After);
        }
      }
      redirect(BB, To, Stub);
    }
  }
  B.SetInsertPoint(Again);
  B.CreateCondBr(B.CreateICmpULT(B.CreateLoad(I64, Index), N), Body, After);
  End->moveBefore(*After, After->end());
  B.SetInsertPoint(After);
  Errno.endCalls(B);
  B.CreateStore(B.getInt64(0), Index);
  B.CreateBr(FinishLoop);
}

void Emitter::finish() {
  ValueToValueMapTy Map;
  SmallVector<BasicBlock *, 16> Blocks = clone(L.Finish, Map);
  BasicBlock *Body = block("finish"), *Next = block("finished");
  BasicBlock *End = block("end");
  IRBuilder<> B(FinishLoop);
  B.SetCurrentDebugLocation(L.End->getDebugLoc());
  Value *I = B.CreateLoad(I64, Index);
  B.CreateCondBr(B.CreateICmpULT(I, B.CreateLoad(I64, Called)), Body, End);

  B.SetInsertPoint(Body);
  setCurrent(B, I, COSY_BATCH_FINISH);
  restore(B, I, &BatchVariable::RestoreFinish);
  Errno.beforeFinish(B, I);
  auto *First = cast<BasicBlock>(Map[L.RegionExit]);
  if (Resume) {
    Value *Where = B.CreateLoad(I32, element(B, Resume, I, 4));
    SwitchInst *S = B.CreateSwitch(Where, First, Resumes.size());
    for (unsigned N = 1; N < Resumes.size(); ++N) {
      BasicBlock *To = Resumes[N];
      if (!To)
        To = Next;
      else if (L.Finish.count(To))
        To = cast<BasicBlock>(Map[To]);
      S->addCase(B.getInt32(N), To);
    }
  } else {
    B.CreateBr(First);
  }
  for (BasicBlock *BB : Blocks) {
    SmallSetVector<BasicBlock *, 4> Targets(succ_begin(BB), succ_end(BB));
    for (BasicBlock *To : Targets)
      if (L.endsIteration(To))
        redirect(BB, To, Next);
  }
  B.SetInsertPoint(Next);
  B.CreateStore(B.CreateAdd(I, B.getInt64(1)), Index);
  B.CreateBr(FinishLoop);

  B.SetInsertPoint(End);
  for (Copy &C : Copies) {
    if (!C.V->RestoreCollect)
      continue;
    if (!C.IsNewer) {
      copy(B, C.V->Base, C.Collected, *C.V);
      continue;
    }
    BasicBlock *Newer = block("newer"), *Join = block("end");
    B.CreateCondBr(B.CreateLoad(B.getInt1Ty(), C.IsNewer), Newer, Join);
    B.SetInsertPoint(Newer);
    copy(B, C.V->Base, C.Collected, *C.V);
    B.CreateBr(Join);
    B.SetInsertPoint(Join);
  }
  setCurrent(B, B.CreateLoad(I64, Number), COSY_BATCH_COLLECT);
  B.CreateBr(Done);
}

/// Emits the code after a batch.
void Emitter::done() {
  BasicBlock *Restart = block("restart");
  IRBuilder<> B(Done);
  B.SetCurrentDebugLocation(L.End->getDebugLoc());
  Errno.end(B);
  B.CreateStore(B.getInt64(0), Number);
  SwitchInst *S =
      B.CreateSwitch(B.CreateLoad(I32, Leave), Restart, Leaves.size());
  for (auto [N, To] : enumerate(Leaves))
    S->addCase(B.getInt32(N + 1), To);
  B.SetInsertPoint(Restart);
  if (L.Check)
    callBatchRuntime(B, "cosy_batch_next", {});
  setCurrent(B, B.getInt64(0), COSY_BATCH_COLLECT);
  Errno.begin(B);
  B.CreateBr(L.Step);
}

/// Redirects every use of a variable that is an array to its current element.
void Emitter::useArrays() {
  for (Copy &C : Copies) {
    if (!C.V->IsArray)
      continue;
    for (Use &U : make_early_inc_range(C.V->Base->uses())) {
      auto *User = cast<Instruction>(U.getUser());
      auto *P = dyn_cast<PHINode>(User);
      Instruction *At = P ? P->getIncomingBlock(U)->getTerminator() : User;
      IRBuilder<> B(At);
      B.SetCurrentDebugLocation(User->getDebugLoc());
      U.set(element(B, C.Array, B.CreateLoad(I64, Current), C.Stride));
    }
    cast<AllocaInst>(C.V->Base)->eraseFromParent();
  }
}

void Emitter::explain() {
  OptimizationRemark R("cosy", "Batch", L.Marker->getDebugLoc(), L.Header);
  R << "loop is split into batches of up to "
    << ore::NV("Size", count(L.Size, "iteration")) << ", whose regions run in "
    << "one compound; " << ore::NV("Stack", Stack)
    << " bytes of stack for values by iteration";
  if (!L.Promised)
    R << "; its iterations are independent";
  OptimizationRemarkEmitter(&F).emit(R);
}

void Emitter::emit() {
  // LLVM may compute frequencies for a remark, which needs complete blocks.
  explain();
  Number = local(I64, "number");
  Current = local(I64, "current");
  Index = local(I64, "index");
  Called = local(I64, "called");
  Leave = local(I32, "leave");
  Errno.create();
  for (Copy &C : Copies) {
    if (C.V->IsArray || C.V->isSaved())
      C.Array = bytes(C.Stride * L.Size, C.V->Alignment, "values");
    if (C.V->RestoreCollect) {
      auto *AI = dyn_cast<AllocaInst>(C.V->Base);
      C.Collected = AI && !AI->isArrayAllocation()
                        ? local(AI->getAllocatedType(), "collected")
                        : bytes(C.V->Size, C.V->Alignment, "collected");
      C.Collected->setAlignment(C.V->Alignment);
      if (!C.V->CollectWrites.empty())
        C.IsNewer = local(Type::getInt1Ty(Ctx), "newer");
    }
  }
  // Paths that do not come from the body also use variables of the body.
  IRBuilder<>(Current->getNextNode())
      .CreateStore(ConstantInt::get(I64, 0), Current);
  Flush = block("flush");
  Calls = block("start");
  FinishLoop = block("finishing");
  Done = block("done");
  if (!L.Promised)
    keepOriginal();
  enter();
  calls();
  finish();
  collect();
  done();
  removeUnreachableBlocks(F);
  useArrays();
  if (L.Check)
    checkExits();
}

bool emitBatch(BatchLoop &L, ArrayRef<BatchVariable> Variables) {
  Emitter E(L, Variables);
  if (!E.chooseSize())
    return false;
  E.emit();
  return true;
}

} // namespace cosy
