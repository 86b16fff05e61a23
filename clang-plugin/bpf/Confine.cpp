// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Confine.cpp - Keep a program in its segment ------------------------===//
//
// The last step before code generation. An access to the segment is an access
// to the low 32 bits of its address, relative to the kernel's mapping of the
// segment. The verifier turns an addrspacecast into the base register. The
// upper 32 bits are compared if they are not known, so that no access reaches
// other memory than the native one:
//
//  - Constants and locals are in the segment. An address close to a checked one
//    is in the segment, too, because the first and last 64 KiB of a segment are
//    never mapped.
//  - So one comparison serves neighbouring accesses, and an unrolled loop.
//
//===----------------------------------------------------------------------===//
#include "bpf/Confine.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

extern "C" {
#include <cosy/function.h>
}

using namespace llvm;

namespace cosy {

/// An address at most this far from a checked one needs no check of its own. It
/// is the maximum offset of an instruction, and less than the unmapped ends.
constexpr int64_t Near = 32767;

/// The alignment of the stack's ends, as cosy/function.h says.
constexpr Align StackAlign = Align::Constant<16>();

Use *pointerUse(Instruction &I) {
  if (auto *L = dyn_cast<LoadInst>(&I))
    return &L->getOperandUse(LoadInst::getPointerOperandIndex());
  if (auto *S = dyn_cast<StoreInst>(&I))
    return &S->getOperandUse(StoreInst::getPointerOperandIndex());
  if (auto *R = dyn_cast<AtomicRMWInst>(&I))
    return &R->getOperandUse(AtomicRMWInst::getPointerOperandIndex());
  if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
    return &X->getOperandUse(AtomicCmpXchgInst::getPointerOperandIndex());
  return nullptr;
}

/// Atomic loads and stores of x86-64 are plain ones, except sequentially
/// consistent stores. Those are exchanges, or are followed by a fence if BPF
/// has no exchange of their type. Other atomic operations of register size may
/// have any alignment.
void Confine::lowerAtomics() {
  for (Instruction &I : make_early_inc_range(instructions(P))) {
    if (auto *L = dyn_cast<LoadInst>(&I)) {
      if (L->isAtomic()) {
        L->setAtomic(AtomicOrdering::NotAtomic);
        L->setVolatile(true);
      }
      L->setAlignment(DL.getABITypeAlign(L->getType()));
    } else if (auto *S = dyn_cast<StoreInst>(&I)) {
      Type *Ty = S->getValueOperand()->getType();
      bool IsOrdered =
          S->getOrdering() == AtomicOrdering::SequentiallyConsistent &&
          S->getSyncScopeID() == SyncScope::System;
      if (IsOrdered && (Ty->isIntegerTy(32) || Ty->isIntegerTy(64))) {
        IRBuilder<> B(S);
        B.CreateAtomicRMW(AtomicRMWInst::Xchg, S->getPointerOperand(),
                          S->getValueOperand(), MaybeAlign(),
                          AtomicOrdering::SequentiallyConsistent);
        S->eraseFromParent();
        continue;
      }
      if (S->isAtomic()) {
        S->setAtomic(AtomicOrdering::NotAtomic);
        S->setVolatile(true);
      }
      S->setAlignment(DL.getABITypeAlign(Ty));
      if (IsOrdered)
        IRBuilder<>(S->getNextNode())
            .CreateFence(AtomicOrdering::SequentiallyConsistent);
    } else if (auto *F = dyn_cast<FenceInst>(&I)) {
      // The processor keeps the order of volatile accesses, except that of a
      // store and a later load.
      if (F->getOrdering() != AtomicOrdering::SequentiallyConsistent ||
          F->getSyncScopeID() != SyncScope::System)
        I.eraseFromParent();
    }
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void Confine::findAccesses() {
  DominatorTree DT(P);
  LoopInfo LI(DT);
  AssumptionCache AC(P);
  TargetLibraryInfoImpl TLII{Triple(M.getTargetTriple())};
  TLII.disableAllFunctions();
  TargetLibraryInfo TLI(TLII);
  ScalarEvolution SE(P, TLI, AC, DT, LI);

  // Visit blocks in dominance order, so that earlier checks are known.
  SmallVector<BasicBlock *, 32> Order;
  for (auto *Node : depth_first(DT.getRootNode()))
    Order.push_back(Node->getBlock());
  SmallVector<Instruction *, 32> Checked, Written;
  auto InRange = [&](const SCEV *Distance, uint64_t Size) {
    if (isa<SCEVCouldNotCompute>(Distance))
      return false;
    ConstantRange R = SE.getSignedRange(Distance);
    return R.getSignedMin().sge(-Near) &&
           R.getSignedMax().sle(static_cast<int64_t>(Near + Size));
  };
  for (BasicBlock *BB : Order)
    for (Instruction &I : *BB) {
      Use *U = pointerUse(I);
      if (!U || getUnderlyingObject(U->get(), 0) == Context)
        continue;
      Access A = {&I, U, false, true};
      Value *Root = getUnderlyingObject(U->get(), 0);
      const SCEV *Address = SE.getSCEV(U->get());
      if (isa<GlobalVariable>(Root) || isa<AllocaInst>(Root)) {
        uint64_t Size = isa<GlobalVariable>(Root)
                            ? DL.getTypeAllocSize(
                                  cast<GlobalVariable>(Root)->getValueType())
                            : cast<AllocaInst>(Root)
                                  ->getAllocationSize(DL)
                                  ->getFixedValue();
        A.Unknown = !InRange(SE.getMinusSCEV(Address, SE.getSCEV(Root)), Size);
      }
      for (Instruction *Before : Checked) {
        if (!A.Unknown)
          break;
        if (DT.dominates(Before, &I))
          A.Unknown = !InRange(
              SE.getMinusSCEV(Address, SE.getSCEV(pointerUse(*Before)->get())),
              0);
      }
      if (A.Unknown)
        Checked.push_back(&I);
      A.Write =
          !isa<LoadInst>(I) && !isa<AllocaInst>(Root) &&
          none_of(Written, [&](Instruction *W) { return DT.dominates(W, &I); });
      if (A.Write)
        Written.push_back(&I);
      Accesses.push_back(A);
    }
}

void Confine::loadContext() {
  IRBuilder<> B(Entry);
  if (any_of(Accesses, [](const Access &A) { return A.Unknown; }))
    UpperHalf = B.CreateLShr(load(B, offsetof(cosy_function_ctx, base), "base"),
                             32, "upper");
  // The value is 0, but neither the compiler nor the verifier knows it.
  LoadInst *L =
      B.CreateLoad(B.getInt64Ty(),
                   field(B, offsetof(cosy_function_ctx, result)), true, "zero");
  Own.insert(L);
  Zero = L;
}

void Confine::guard() {
  for (Access &A : Accesses) {
    IRBuilder<> B(A.I);
    if (A.Unknown) {
      Value *Address = B.CreatePtrToInt(A.Pointer->get(), B.getInt64Ty());
      trapIf(B.CreateICmpNE(B.CreateLShr(Address, 32), UpperHalf), A.I,
             COSY_FUNCTION_FAULT, Address);
    }
    if (A.Write) {
      IRBuilder<> W(A.I);
      Own.insert(W.CreateStore(W.getInt32(1),
                               field(W, offsetof(cosy_function_ctx, wrote))));
    }
  }
}

void Confine::placeLocals() {
  SmallVector<AllocaInst *, 8> Locals;
  for (Instruction &I : instructions(P))
    if (auto *AI = dyn_cast<AllocaInst>(&I))
      Locals.push_back(AI);
  if (Locals.empty())
    return;
  uint64_t Size = 0;
  Align Largest = StackAlign;
  SmallVector<uint64_t, 8> At;
  for (AllocaInst *AI : Locals) {
    Largest = std::max(Largest, AI->getAlign());
    Size = alignTo(Size, AI->getAlign());
    At.push_back(Size);
    Size += AI->getAllocationSize(DL)->getFixedValue();
  }
  Size = alignTo(Size, StackAlign);
  Out.Stack = Size + Largest.value() - StackAlign.value();
  IRBuilder<> B(Entry);
  Value *Low = load(B, offsetof(cosy_function_ctx, stack), "stack");
  Value *High = load(B, offsetof(cosy_function_ctx, stack_end), "stack.end");
  trapIf(B.CreateICmpULT(B.CreateSub(High, Low), B.getInt64(Out.Stack)), Entry,
         COSY_FUNCTION_STACK, nullptr);
  B.SetInsertPoint(Entry);
  Value *First = B.CreateSub(High, B.getInt64(Size));
  if (Largest > StackAlign)
    First = B.CreateAnd(First, -Largest.value());
  Value *Base = B.CreateIntToPtr(First, B.getPtrTy());
  for (auto [AI, Offset] : zip(Locals, At)) {
    AI->replaceAllUsesWith(B.CreateConstGEP1_64(B.getInt8Ty(), Base, Offset));
    AI->eraseFromParent();
  }
}

/// BPF has no fence. An atomic exchange is one on x86-64, here of a variable on
/// the kernel's stack.
void Confine::lowerFences() {
  AllocaInst *Variable = nullptr;
  for (Instruction &I : make_early_inc_range(instructions(P))) {
    if (!isa<FenceInst>(I))
      continue;
    if (!Variable) {
      IRBuilder<> B(&*P.getEntryBlock().getFirstInsertionPt());
      Variable = B.CreateAlloca(B.getInt64Ty());
      B.CreateStore(B.getInt64(0), Variable);
    }
    IRBuilder<> B(&I);
    B.CreateAtomicRMW(AtomicRMWInst::Xchg, Variable, B.getInt64(0),
                      MaybeAlign(), AtomicOrdering::SequentiallyConsistent);
    I.eraseFromParent();
  }
}

/// Returns \p Base, an address of the process, relative to the segment. It is
/// computed once, directly after \p Base, so that it dominates all users.
Value *Confine::translated(Value *Base) {
  Value *&Known = Translated[Base];
  if (Known)
    return Known;
  IRBuilder<> B(isa<Instruction>(Base)
                    ? &**cast<Instruction>(Base)->getInsertionPointAfterDef()
                    : Entry);
  auto *GEP = dyn_cast<GetElementPtrInst>(Base);
  Value *T;
  if (GEP && !Compared.contains(Base)) {
    // The base is often invariant, and the sum is not needed elsewhere.
    SmallVector<Value *, 2> Indices(GEP->indices());
    Value *From = translated(GEP->getPointerOperand());
    T = B.CreateGEP(GEP->getSourceElementType(), From, Indices);
  } else {
    Value *Arena = B.CreateIntToPtr(B.CreatePtrToInt(Base, B.getInt64Ty()),
                                    PointerType::get(Ctx, 1));
    T = B.CreateAddrSpaceCast(Arena, B.getPtrTy(),
                              Base->getName() + ".segment");
  }
  return Translated[Base] = T;
}

/// Replaces addresses of the process by addresses relative to the segment.
void Confine::translate() {
  struct Place {
    Value *Base;
    int64_t Offset;
  };
  SmallVector<Place, 32> Places;
  for (Access &A : Accesses) {
    APInt Offset(64, 0);
    Value *Ptr = A.Pointer->get();
    Value *Base = Ptr->stripAndAccumulateConstantOffsets(DL, Offset, true);
    if (Offset.abs().sgt(Near - 8)) {
      Base = Ptr;
      Offset = 0;
    }
    if (A.Unknown)
      Compared.insert(Base);
    Places.push_back({Base, Offset.getSExtValue()});
  }
  for (auto [A, Place] : zip(Accesses, Places)) {
    Value *T = translated(Place.Base);
    IRBuilder<> B(A.I);
    A.Pointer->set(Place.Offset
                       ? B.CreateConstGEP1_64(B.getInt8Ty(), T, Place.Offset)
                       : T);
  }
}

/// Makes all traps end in one block.
void Confine::lowerTraps() {
  SmallVector<CallInst *, 16> Traps;
  SmallVector<Instruction *, 4> Ends;
  for (Instruction &I : instructions(P)) {
    auto *CI = dyn_cast<CallInst>(&I);
    if (CI && CI->getCalledFunction() &&
        CI->getCalledFunction()->getName() == TrapName)
      Traps.push_back(CI);
    if (isa<UnreachableInst>(I))
      Ends.push_back(&I);
  }
  PHINode *Status, *Address, *Line;
  for (CallInst *CI : Traps) {
    if (!Fail) {
      Fail = BasicBlock::Create(Ctx, "fail", &P);
      IRBuilder<> B(Fail);
      Status = B.CreatePHI(B.getInt32Ty(), Traps.size());
      Line = B.CreatePHI(B.getInt32Ty(), Traps.size());
      Address = B.CreatePHI(B.getInt64Ty(), Traps.size());
      if (P.getSubprogram())
        B.SetCurrentDebugLocation(DILocation::get(
            Ctx, P.getSubprogram()->getLine(), 0, P.getSubprogram()));
      B.CreateStore(Status, field(B, offsetof(cosy_function_ctx, status)));
      B.CreateStore(Line, field(B, offsetof(cosy_function_ctx, line)));
      B.CreateStore(Address, field(B, offsetof(cosy_function_ctx, address)));
      B.CreateRet(B.getInt32(0));
    }
    BasicBlock *BB = CI->getParent();
    Status->addIncoming(CI->getArgOperand(0), BB);
    Address->addIncoming(CI->getArgOperand(1), BB);
    Line->addIncoming(
        ConstantInt::get(Type::getInt32Ty(Ctx),
                         CI->getDebugLoc() ? CI->getDebugLoc().getLine() : 0),
        BB);
    while (&BB->back() != CI)
      BB->back().eraseFromParent();
    IRBuilder<> B(CI);
    B.CreateBr(Fail);
    CI->eraseFromParent();
  }
  // Loops whose code is undefined natively must also end.
  for (Instruction &I : make_early_inc_range(instructions(P)))
    if (isa<UnreachableInst>(I)) {
      IRBuilder<> B(&I);
      B.CreateRet(B.getInt32(0));
      I.eraseFromParent();
    }
}

/// Returns true for a sum with a constant, which costs the same to recompute as
/// to keep.
static bool isOffset(const Value *V) {
  auto *I = dyn_cast<Instruction>(V);
  return I &&
         (I->getOpcode() == Instruction::Add || isa<GetElementPtrInst>(I)) &&
         I->getNumOperands() == 2 && isa<Constant>(I->getOperand(1));
}

/// Splits critical edges in loops, which the target does not do. So copies for
/// a block with several predecessors are on the edge, and not before the
/// branch. Simple values are also computed there, and not on the usual path.
/// Exit edges of loops are not split, because the verifier would follow more
/// paths.
void Confine::splitEdges() {
  DominatorTree DT(P);
  LoopInfo LI(DT);
  SmallVector<std::pair<Instruction *, unsigned>, 32> Edges;
  for (BasicBlock &BB : P) {
    Instruction *End = BB.getTerminator();
    if (!isa<BranchInst, SwitchInst>(End))
      continue;
    for (auto [N, To] : enumerate(successors(&BB)))
      if (isa<PHINode>(To->front()) && To->hasNPredecessorsOrMore(3) &&
          LI.getLoopFor(&BB) == LI.getLoopFor(To) &&
          isCriticalEdge(End, N, true))
        Edges.push_back({End, N});
  }
  for (auto [End, N] : Edges) {
    BasicBlock *To = End->getSuccessor(N);
    BasicBlock *Edge = SplitCriticalEdge(
        End, N, CriticalEdgeSplittingOptions().setMergeIdenticalEdges());
    if (!Edge)
      continue;
    for (PHINode &Phi : To->phis()) {
      Value *V = Phi.getIncomingValueForBlock(Edge);
      if (!isOffset(V))
        continue;
      Instruction *New = cast<Instruction>(V)->clone();
      New->insertBefore(Edge->getTerminator()->getIterator());
      Phi.setIncomingValueForBlock(Edge, New);
    }
  }
}

void confine(Function &Program, FunctionProgram &Out) {
  Confine(Program, Out).run();
}

} // namespace cosy
