// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Errno.cpp - errno in a loop that is split --------------------------===//
#include "batch/Errno.h"
#include "body/LibraryCalls.h"
#include "body/Recognise.h"
#include "bpf/Function.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cosy {

constexpr int64_t NotSet = -1;

//===----------------------------------------------------------------------===//
// What the code does
//===----------------------------------------------------------------------===//

/// \returns whether \p U, a use of the address of errno, is an access by name.
/// Sanitizers add checks of the address.
static bool isByName(const Use &U) {
  if (isAccess(U))
    return getLoadStoreType(U.getUser())->isIntegerTy(32);
  return isa<ICmpInst, PtrToIntInst>(U.getUser());
}

/// \returns whether all code of \p M accesses errno by name.
static bool accessesErrnoByName(const Module &M) {
  const Function *Location = M.getFunction("__errno_location");
  return !Location || all_of(Location->uses(), [](const Use &U) {
    auto *CB = dyn_cast<CallBase>(U.getUser());
    return CB && CB->isCallee(&U) && all_of(CB->uses(), isByName);
  });
}

/// \returns whether only functions of the C library, which never set errno to
/// 0, access errno in \p I and in the code of this module that it calls.
static bool leavesErrno(const Instruction &I,
                        SmallPtrSetImpl<const Function *> &Seen) {
  auto *CB = dyn_cast<CallBase>(&I);
  if (!CB || isa<IntrinsicInst>(CB))
    return true;
  const Function *Callee = CB->getCalledFunction();
  if (!Callee || isErrnoAddress(CB))
    return false;
  if (Callee->isDeclaration())
    return Callee->getName().starts_with("__cosy_") ||
           isInstrumentation(*Callee) || makesSystemCall(*CB) ||
           libraryFunction(*CB);
  return !Seen.insert(Callee).second ||
         all_of(instructions(*Callee), [&](const Instruction &Other) {
           return leavesErrno(Other, Seen);
         });
}

/// Calls \p Do with each load from errno and each store to it in \p Blocks.
static void forEachAccess(const BlockSet &Blocks,
                          function_ref<void(Instruction &)> Do) {
  SmallVector<Instruction *, 8> Accesses;
  for (BasicBlock *BB : Blocks)
    for (Instruction &I : *BB)
      if (const Value *P = getLoadStorePointerOperand(&I);
          P && isErrnoAddress(P))
        Accesses.push_back(&I);
  for (Instruction *I : Accesses)
    Do(*I);
}

void BatchErrno::findUses() {
  Calls.MaySet = true;
  if (!L.Promised)
    return;
  bool OnlyByName = accessesErrnoByName(*L.F->getParent());
  auto BeginsWithZero = [&](const BlockSet &Blocks) {
    SmallPtrSet<const Function *, 8> Seen;
    return OnlyByName && all_of(Blocks, [&](const BasicBlock *BB) {
             return all_of(*BB, [&](const Instruction &I) {
               return isErrnoAddress(&I) || leavesErrno(I, Seen);
             });
           });
  };
  Collect.MaySet = any_of(L.Collect, [&](const BasicBlock *BB) {
    return any_of(*BB, [&](const Instruction &I) {
      if (isErrnoAddress(&I) || (isa<StoreInst>(I) && !OnlyByName))
        return true;
      auto *CB = dyn_cast<CallBase>(&I);
      return CB && !isa<IntrinsicInst>(CB) && !CB->onlyReadsMemory() &&
             !(CB->getCalledFunction() &&
               CB->getCalledFunction()->getName().starts_with("__cosy_"));
    });
  });
  Collect.BeginsWithZero = Collect.MaySet && BeginsWithZero(L.Collect);
  Calls.BeginsWithZero = BeginsWithZero(L.Call);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

AllocaInst *BatchErrno::local(Type *Ty, const Twine &Name) {
  IRBuilder<> B(&*L.F->getEntryBlock().getFirstInsertionPt());
  return B.CreateAlloca(Ty, nullptr, "batch." + Name);
}

Value *BatchErrno::address(IRBuilderBase &B) {
  Module &M = *L.F->getParent();
  bool Known = M.getFunction("__errno_location");
  FunctionCallee Callee = M.getOrInsertFunction(
      "__errno_location", FunctionType::get(B.getPtrTy(), false));
  if (auto *Fn = dyn_cast<Function>(Callee.getCallee()); Fn && !Known) {
    Fn->setDoesNotThrow();
    Fn->setDoesNotAccessMemory();
  }
  return B.CreateCall(Callee);
}

Value *BatchErrno::load(IRBuilderBase &B) {
  return B.CreateLoad(B.getInt32Ty(), address(B));
}

Value *BatchErrno::element(IRBuilderBase &B, Value *At) {
  return B.CreateInBoundsGEP(B.getInt64Ty(), Saved, At);
}

/// \returns \p V, a saved value, as errno, or \p Otherwise if it is not set.
Value *BatchErrno::setOr(IRBuilderBase &B, Value *V, Value *Otherwise) {
  return B.CreateSelect(B.CreateICmpNE(V, B.getInt64(NotSet)),
                        B.CreateTrunc(V, B.getInt32Ty()), Otherwise);
}

/// Sets errno to \p V, a saved value, if it is set.
void BatchErrno::set(IRBuilderBase &B, Value *V) {
  Value *Address = address(B);
  B.CreateStore(setOr(B, V, B.CreateLoad(B.getInt32Ty(), Address)), Address);
}

/// \returns whether code has set errno, which is \p Now.
Value *BatchErrno::isSet(IRBuilderBase &B, const Uses &By, Value *Now) {
  Value *Is =
      By.BeginsWithZero
          ? B.CreateIsNotNull(Now)
          : B.CreateICmpNE(Now, B.CreateLoad(B.getInt32Ty(), By.Earlier));
  if (!By.Assigned)
    return Is;
  return B.CreateOr(Is, B.CreateLoad(B.getInt1Ty(), By.Assigned));
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

void BatchErrno::create() {
  if (!L.savesErrno())
    return;
  findUses();
  LLVMContext &Ctx = L.F->getContext();
  Type *I64 = Type::getInt64Ty(Ctx);
  Saved = local(ArrayType::get(I64, L.Size), "errno");
  if (Collect.MaySet || Calls.BeginsWithZero)
    Start = local(Type::getInt32Ty(Ctx), "start.errno");
  if (Collect.MaySet) {
    Uncollected = local(I64, "uncollected.errno");
    createFor(L.Collect, Collect);
  }
  if (Calls.BeginsWithZero) {
    createFor(L.Call, Calls);
    rewrite(L.Call, Calls);
  }
}

void BatchErrno::createFor(const BlockSet &Blocks, Uses &By) {
  bool Reads = !By.BeginsWithZero, Assigns = false;
  forEachAccess(Blocks, [&](Instruction &I) {
    Reads |= isa<LoadInst>(I);
    Assigns |= isa<StoreInst>(I);
  });
  LLVMContext &Ctx = L.F->getContext();
  if (Reads)
    By.Earlier = local(Type::getInt32Ty(Ctx), "earlier.errno");
  if (Assigns)
    By.Assigned = local(Type::getInt1Ty(Ctx), "assigned.errno");
}

/// Notes assignments to errno, and makes loads from it return the right value.
void BatchErrno::rewrite(const BlockSet &Blocks, const Uses &By) {
  forEachAccess(Blocks, [&](Instruction &I) {
    IRBuilder<> B(I.getNextNode());
    B.SetCurrentDebugLocation(I.getDebugLoc());
    if (isa<StoreInst>(I)) {
      B.CreateStore(B.getTrue(), By.Assigned);
    } else if (By.BeginsWithZero) {
      SmallVector<Use *, 4> Uses(make_pointer_range(I.uses()));
      Value *Is = isSet(B, By, &I);
      Value *Right =
          B.CreateSelect(Is, &I, B.CreateLoad(B.getInt32Ty(), By.Earlier));
      for (Use *U : Uses)
        U->set(Right);
    }
  });
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

void BatchErrno::begin(IRBuilderBase &B) {
  if (!Start)
    return;
  Value *Now = load(B);
  B.CreateStore(Now, Start);
  if (Collect.Earlier)
    B.CreateStore(Now, Collect.Earlier);
  if (Collect.Assigned)
    B.CreateStore(B.getFalse(), Collect.Assigned);
  if (Collect.BeginsWithZero)
    B.CreateStore(B.getInt32(0), address(B));
}

/// After the code \p By, which has set errno to \p Now if \p Is.
void BatchErrno::passOn(IRBuilderBase &B, const Uses &By, Value *Is,
                        Value *Now) {
  if (By.Earlier)
    B.CreateStore(
        B.CreateSelect(Is, Now, B.CreateLoad(B.getInt32Ty(), By.Earlier)),
        By.Earlier);
}

/// \returns the value to save, if code has set errno since the last call.
Value *BatchErrno::takeCollected(IRBuilderBase &B) {
  Value *Now = load(B), *Is = isSet(B, Collect, Now);
  passOn(B, Collect, Is, Now);
  if (Collect.Assigned)
    B.CreateStore(B.getFalse(), Collect.Assigned);
  if (Collect.BeginsWithZero)
    B.CreateStore(B.getInt32(0), address(B));
  return B.CreateSelect(Is, B.CreateZExt(Now, B.getInt64Ty()),
                        B.getInt64(NotSet));
}

void BatchErrno::prepareCollect() {
  if (Collect.MaySet)
    rewrite(L.Collect, Collect);
}

void BatchErrno::afterCollect(IRBuilderBase &B, Value *At) {
  if (Collect.MaySet)
    B.CreateStore(takeCollected(B), element(B, At));
}

void BatchErrno::endCollect(IRBuilderBase &B) {
  if (Collect.MaySet) {
    B.CreateStore(takeCollected(B), Uncollected);
    B.CreateStore(B.CreateLoad(B.getInt32Ty(), Start), address(B));
  }
  if (Calls.Earlier)
    B.CreateStore(B.CreateLoad(B.getInt32Ty(), Start), Calls.Earlier);
}

void BatchErrno::beforeCalls(IRBuilderBase &B, Value *At) {
  Value *V = Collect.MaySet ? B.CreateLoad(B.getInt64Ty(), element(B, At))
                            : static_cast<Value *>(B.getInt64(NotSet));
  if (!Calls.BeginsWithZero) {
    if (Collect.MaySet)
      set(B, V);
    return;
  }
  if (Calls.Earlier)
    B.CreateStore(setOr(B, V, B.CreateLoad(B.getInt32Ty(), Calls.Earlier)),
                  Calls.Earlier);
  if (Calls.Assigned)
    B.CreateStore(B.getFalse(), Calls.Assigned);
  B.CreateStore(B.getInt32(0), address(B));
}

void BatchErrno::afterCalls(IRBuilderBase &B, Value *At) {
  if (!Saved)
    return;
  Value *Now = load(B), *V = B.CreateZExt(Now, B.getInt64Ty());
  Value *Element = element(B, At);
  if (Calls.BeginsWithZero) {
    Value *Is = isSet(B, Calls, Now);
    passOn(B, Calls, Is, Now);
    V = B.CreateSelect(Is, V,
                       Collect.MaySet
                           ? B.CreateLoad(B.getInt64Ty(), Element)
                           : static_cast<Value *>(B.getInt64(NotSet)));
  }
  B.CreateStore(V, Element);
}

void BatchErrno::endCalls(IRBuilderBase &B) {
  if (Calls.BeginsWithZero)
    B.CreateStore(B.CreateLoad(B.getInt32Ty(), Start), address(B));
}

void BatchErrno::beforeFinish(IRBuilderBase &B, Value *At) {
  if (!Saved)
    return;
  Value *V = B.CreateLoad(B.getInt64Ty(), element(B, At));
  if (Calls.BeginsWithZero)
    set(B, V);
  else
    B.CreateStore(B.CreateTrunc(V, B.getInt32Ty()), address(B));
}

void BatchErrno::end(IRBuilderBase &B) {
  if (Collect.MaySet)
    set(B, B.CreateLoad(B.getInt64Ty(), Uncollected));
}

} // namespace cosy
