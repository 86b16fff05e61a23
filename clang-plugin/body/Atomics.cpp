// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Atomics.cpp - Atomic operations as compare and exchange ------------===//
#include "body/Atomics.h"
#include "body/Operations.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

#define DEBUG_TYPE "cosy-atomics"

using namespace llvm;

STATISTIC(NumAtomics, "Atomic operations that became compare and exchange");

namespace cosy {

bool isCompareExchange(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  const Function *F = CB ? CB->getCalledFunction() : nullptr;
  return F && F->hasFnAttribute(CompareExchangeAttribute);
}

/// \returns cosy.cmpxchg.iN for integers of the type \p Ty.
static Function *compareExchange(Module &M, Type *Ty) {
  std::string Name =
      "cosy.cmpxchg.i" + std::to_string(Ty->getIntegerBitWidth());
  if (Function *F = M.getFunction(Name))
    return F;
  LLVMContext &Ctx = M.getContext();
  Type *Ptr = PointerType::getUnqual(Ctx);
  auto *F = Function::Create(FunctionType::get(Ty, {Ptr, Ty, Ty}, false),
                             GlobalValue::InternalLinkage, Name, M);
  F->addFnAttr(CompareExchangeAttribute);
  F->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> B(BasicBlock::Create(Ctx, "", F));
  constexpr auto Order = AtomicOrdering::SequentiallyConsistent;
  Value *Pair =
      B.CreateAtomicCmpXchg(F->getArg(0), F->getArg(1), F->getArg(2),
                            Align(Ty->getIntegerBitWidth() / 8), Order, Order);
  B.CreateRet(B.CreateExtractValue(Pair, 0));
  return F;
}

CallInst *createCompareExchange(IRBuilder<> &B, Value *Address, Value *Old,
                                Value *New) {
  ++NumAtomics;
  Module &M = *B.GetInsertBlock()->getModule();
  return B.CreateCall(compareExchange(M, Old->getType()), {Address, Old, New});
}

//===----------------------------------------------------------------------===//
// The stage
//===----------------------------------------------------------------------===//

/// \returns true if CMPXCHG can access a value of the type \p Ty at \p Address.
static bool isSupported(const Value *Address, const Type *Ty, Align A) {
  unsigned Bits = isScalar(Ty) ? bitsOf(Ty) : 0;
  return Bits && !isOddWidth(Bits) && A.value() >= Bits / 8 &&
         !Address->getType()->getPointerAddressSpace();
}

static Value *exchange(IRBuilder<> &B, Value *Address, Value *Old, Value *New) {
  Type *Ty = Old->getType(), *Int = B.getIntNTy(bitsOf(Ty));
  Value *Was =
      createCompareExchange(B, Address, B.CreateBitOrPointerCast(Old, Int),
                            B.CreateBitOrPointerCast(New, Int));
  return B.CreateBitOrPointerCast(Was, Ty);
}

/// Notes that \p Equal, the success of a compare and exchange, is likely: LLVM
/// expects the loops that repeat it to iterate often.
static void expectSuccess(Value &Equal) {
  MDBuilder MD(Equal.getContext());
  for (User *U : Equal.users())
    if (auto *Br = dyn_cast<BranchInst>(U);
        Br && !Br->hasMetadata(LLVMContext::MD_prof))
      Br->setMetadata(LLVMContext::MD_prof, MD.createLikelyBranchWeights());
}

static void expand(AtomicCmpXchgInst &I) {
  IRBuilder<> B(&I);
  Value *Old = I.getCompareOperand();
  Value *Was = exchange(B, I.getPointerOperand(), Old, I.getNewValOperand());
  Value *Equal = B.CreateICmpEQ(Was, Old);
  for (User *U : make_early_inc_range(I.users()))
    if (auto *EV = dyn_cast<ExtractValueInst>(U)) {
      EV->replaceAllUsesWith(EV->getIndices()[0] == 0 ? Was : Equal);
      EV->eraseFromParent();
    }
  expectSuccess(*Equal);
  if (!I.use_empty()) {
    Value *Both = B.CreateInsertValue(PoisonValue::get(I.getType()), Was, 0);
    I.replaceAllUsesWith(B.CreateInsertValue(Both, Equal, 1));
  }
  I.eraseFromParent();
}

/// Replaces \p I by a loop that ends when no other thread has changed the
/// memory in between, which is nearly always the first time. \p NewValue
/// computes the new value. \returns the old one.
static Value *
expandToLoop(Instruction &I, Value *Address, Type *Ty,
             function_ref<Value *(IRBuilder<> &, Value *)> NewValue) {
  IRBuilder<> B(&I);
  LoadInst *First = B.CreateAlignedLoad(Ty, Address, Align(bitsOf(Ty) / 8));
  First->setAtomic(AtomicOrdering::Monotonic);
  BasicBlock *Before = I.getParent();
  BasicBlock *Loop = SplitBlock(Before, &I);
  BasicBlock *After = SplitBlock(Loop, &I);
  Instruction *Jump = Loop->getTerminator();
  B.SetInsertPoint(Jump);
  B.SetCurrentDebugLocation(I.getDebugLoc());
  PHINode *Old = B.CreatePHI(Ty, 2);
  Value *Was = exchange(B, Address, Old, NewValue(B, Old));
  Old->addIncoming(First, Before);
  Old->addIncoming(Was, Loop);
  B.CreateCondBr(B.CreateICmpEQ(Was, Old), After, Loop,
                 MDBuilder(I.getContext()).createLikelyBranchWeights());
  Jump->eraseFromParent();
  return Was;
}

static void expand(AtomicRMWInst &I) {
  Value *Was = expandToLoop(
      I, I.getPointerOperand(), I.getType(), [&](IRBuilder<> &B, Value *Old) {
        return buildAtomicRMWValue(I.getOperation(), B, Old, I.getValOperand());
      });
  I.replaceAllUsesWith(Was);
  I.eraseFromParent();
}

static void expand(StoreInst &I) {
  Value *New = I.getValueOperand();
  expandToLoop(I, I.getPointerOperand(), New->getType(),
               [&](IRBuilder<> &, Value *) { return New; });
  I.eraseFromParent();
}

/// Makes \p Fences, which are in \p Body, exchanges of a byte: every exchange
/// is a fence.
static void expand(Function &Body, ArrayRef<FenceInst *> Fences) {
  BasicBlock &Entry = Body.getEntryBlock();
  IRBuilder<> B(&Entry, Entry.begin());
  AllocaInst *Byte = B.CreateAlloca(B.getInt8Ty(), nullptr, "fence");
  for (FenceInst *Fence : Fences) {
    B.SetInsertPoint(Fence);
    createCompareExchange(B, Byte, B.getInt8(0), B.getInt8(0));
    Fence->eraseFromParent();
  }
}

static bool expandIfSupported(Instruction &I) {
  auto Expand = [](auto &Atomic, Type *Ty) {
    if (!isSupported(Atomic.getPointerOperand(), Ty, Atomic.getAlign()))
      return false;
    expand(Atomic);
    return true;
  };
  if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
    return Expand(*X, X->getCompareOperand()->getType());
  if (auto *RMW = dyn_cast<AtomicRMWInst>(&I))
    return Expand(*RMW, RMW->getType());
  auto *SI = dyn_cast<StoreInst>(&I);
  return SI && SI->getOrdering() == AtomicOrdering::SequentiallyConsistent &&
         Expand(*SI, SI->getValueOperand()->getType());
}

PreservedAnalyses AtomicsPass::runOnBody(Function &Body,
                                         FunctionAnalysisManager &) {
  if (Body.hasFnAttribute(ThreadSanitized))
    return PreservedAnalyses::all();
  SmallVector<Instruction *, 8> Atomics;
  SmallVector<FenceInst *, 8> Fences;
  for (Instruction &I : instructions(Body)) {
    if (auto *FI = dyn_cast<FenceInst>(&I); FI && !isIgnored(I))
      Fences.push_back(FI);
    else if (I.isAtomic())
      Atomics.push_back(&I);
  }
  bool Changed = !Fences.empty();
  if (Changed)
    expand(Body, Fences);
  for (Instruction *I : Atomics)
    Changed |= expandIfSupported(*I);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace cosy
