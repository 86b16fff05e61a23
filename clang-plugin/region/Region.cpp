// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Region.cpp - The code of one compound ------------------------------===//
#include "region/Region.h"
#include "body/Body.h"
#include "body/Fortify.h"
#include "body/Operations.h"
#include "body/State.h"
#include "region/Stops.h"
#include "support/LlvmCompat.h"
#include "support/Markers.h"
#include "support/Names.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;

namespace cosy {

/// \returns the variables that are named after a start marker of \p Host and
/// before an end marker. Compounds have no lifetimes. Others keep their
/// markers, so that they share the stack.
static VariableSet variablesOfRegions(Function &Host) {
  VariableSet Variables;
  SmallPtrSet<BasicBlock *, 16> Seen;
  SmallVector<Instruction *, 8> Work;
  for (CallInst *Start : markersOf(Host, StartMarker))
    Work.push_back(Start->getNextNode());
  while (!Work.empty()) {
    Instruction *I = Work.pop_back_val();
    BasicBlock *BB = I->getParent();
    for (; I && !asMarker(*I, EndMarker); I = I->getNextNode())
      addVariables(*I, Variables);
    if (I)
      continue;
    for (BasicBlock *S : successors(BB))
      if (Seen.insert(S).second)
        Work.push_back(&S->front());
  }
  return Variables;
}

void prepareHost(Function &Host, FunctionAnalysisManager &FAM) {
  removeLifetimeMarkers(Host, variablesOfRegions(Host));
  removeUnreachableBlocks(Host);
  insertStops(Host);
  inlineAlways(Host);
  if (Host.hasFnAttribute(Attribute::OptimizeNone))
    answerConstantTests(Host);
  FAM.invalidate(Host, PreservedAnalyses::none());
  // longjmp() must not change the values of local variables.
  if (!Host.callsFunctionThatReturnsTwice() &&
      !Host.hasFnAttribute(Attribute::OptimizeNone)) {
    PreservedAnalyses PA = SROAPass(SROAOptions::PreserveCFG).run(Host, FAM);
    FAM.invalidate(Host, PA);
  }
  evaluateObjectSizes(Host, FAM);
}

//===----------------------------------------------------------------------===//
// Finding the blocks
//===----------------------------------------------------------------------===//

/// Sets R.Reentered.
static void findReentered(Region &R) {
  SmallVector<BasicBlock *, 16> Work;
  for (BasicBlock *BB : R.Blocks)
    if (BB != R.Entry && any_of(predecessors(BB), [&](BasicBlock *P) {
          return !R.Blocks.count(P);
        }))
      Work.push_back(BB);
  while (!Work.empty()) {
    BasicBlock *BB = Work.pop_back_val();
    if (!R.Blocks.count(BB) || !R.Reentered.insert(BB).second)
      continue;
    Work.append(succ_begin(BB), succ_end(BB));
  }
}

bool isUseOutside(const Region &R, const Use &U) {
  auto *User = cast<Instruction>(U.getUser());
  auto *Phi = dyn_cast<PHINode>(User);
  BasicBlock *At = Phi ? Phi->getIncomingBlock(U) : User->getParent();
  if (!R.Blocks.count(At))
    return true;
  return cast<Instruction>(U.get())->getParent() != At && R.Reentered.count(At);
}

/// Adds blocks after the region that only jump, so that all gotos to a label
/// are one exit.
static void absorbJumps(Region &R) {
  for (unsigned N = 0; N < R.Blocks.size(); ++N)
    for (BasicBlock *S : successors(R.Blocks[N])) {
      // A block is added only after all its predecessors. It is visited again
      // for each of them.
      if (R.Blocks.count(S))
        continue;
      auto *Br = dyn_cast<BranchInst>(firstNonPhi(*S));
      if (Br && Br->isUnconditional() &&
          all_of(predecessors(S),
                 [&](BasicBlock *P) { return R.Blocks.count(P); }))
        R.Blocks.insert(S);
    }
}

/// Creates blocks for every exit edge of the region.
static void splitExits(Region &R) {
  SetVector<BasicBlock *> Targets;
  for (BasicBlock *BB : R.Blocks)
    for (BasicBlock *S : successors(BB))
      if (!R.Blocks.count(S))
        Targets.insert(S);
  for (BasicBlock *T : Targets) {
    SmallSetVector<BasicBlock *, 4> Inside;
    for (BasicBlock *P : predecessors(T))
      if (R.Blocks.count(P))
        Inside.insert(P);
    BasicBlock *From =
        SplitBlockPredecessors(T, Inside.getArrayRef(), ".cosy.exit");
    BasicBlock *To = SplitBlock(From, From->getTerminator());
    R.Blocks.insert(From);
    R.Exits.push_back({From, To});
  }
}

/// Returns values defined inside that may be used, inside or after an exit,
/// before the region defines them again.
static SmallVector<Instruction *, 0> findLiveIn(const Region &R) {
  SmallVector<Instruction *, 0> List;
  if (R.Reentered.empty())
    return List;
  DominatorTree DT(*R.Host);
  for (BasicBlock *BB : R.Blocks) {
    if (!DT.dominates(BB, R.Before))
      continue;
    for (Instruction &I : *BB)
      if (any_of(I.uses(), [&](const Use &U) {
            auto *User = cast<Instruction>(U.getUser());
            auto *P = dyn_cast<PHINode>(User);
            BasicBlock *At = P ? P->getIncomingBlock(U) : User->getParent();
            return At != BB;
          }))
        List.push_back(&I);
  }
  return List;
}

/// Demotes values to memory that cross the border of the region and do not fit
/// into a register.
static void demoteWideValues(Region &R) {
  const DataLayout &DL = R.Host->getDataLayout();
  SmallSetVector<Instruction *, 8> Wide;
  SmallSetVector<Argument *, 8> WideArgs;
  auto IsWide = [&](const Value *V) {
    Type *Ty = V->getType();
    return !Ty->isVoidTy() && !Ty->isTokenTy() && !isRegisterType(Ty, DL);
  };
  // Values from outside that are used at the end of a block inside, or in it.
  auto AddOperands = [&](const Instruction &I) {
    auto *P = dyn_cast<PHINode>(&I);
    for (const Use &U : I.operands()) {
      auto *Op = dyn_cast<Instruction>(U);
      if (Op && !R.Blocks.count(Op->getParent()) && IsWide(Op) &&
          (!P || R.Blocks.count(P->getIncomingBlock(U))))
        Wide.insert(Op);
    }
  };
  for (BasicBlock *BB : R.Blocks) {
    for (Instruction &I : *BB) {
      AddOperands(I);
      if (IsWide(&I) &&
          any_of(I.uses(), [&](const Use &U) { return isUseOutside(R, U); }))
        Wide.insert(&I);
    }
    for (BasicBlock *S : successors(BB)) {
      if (R.Blocks.count(S))
        continue;
      // splitExits() would give it a phi inside, whose value leaves the region.
      for (PHINode &P : S->phis())
        if (IsWide(&P)) {
          AddOperands(P);
          Wide.insert(&P);
        }
    }
  }
  for (Instruction *I : findLiveIn(R))
    if (!isRegisterType(I->getType(), DL))
      Wide.insert(I);
  for (Instruction *I : Wide) {
    auto *P = dyn_cast<PHINode>(I);
    if (!P) {
      DemoteRegToStack(*I);
      continue;
    }
    // The loads that replace the phi cross the border as the phi did.
    AllocaInst *Slot = DemotePHIToStack(P);
    for (User *U : SmallVector<User *, 8>(Slot->users()))
      if (auto *Load = dyn_cast<LoadInst>(U))
        DemoteRegToStack(*Load);
  }
  // The stores in place of a phi use them, too.
  for (Argument &A : R.Host->args())
    if (!isRegisterType(A.getType(), DL))
      for (User *U : A.users())
        if (R.Blocks.count(cast<Instruction>(U)->getParent()))
          WideArgs.insert(&A);
  for (Argument *A : WideArgs) {
    IRBuilder<> B(&*R.Host->getEntryBlock().getFirstInsertionPt());
    Value *Copy = B.CreateAlloca(A->getType());
    B.CreateStore(A, Copy);
    for (Use &U : make_early_inc_range(A->uses())) {
      auto *User = cast<Instruction>(U.getUser());
      if (!R.Blocks.count(User->getParent()))
        continue;
      Instruction *At =
          isa<PHINode>(User)
              ? cast<PHINode>(User)->getIncomingBlock(U)->getTerminator()
              : User;
      U.set(IRBuilder<>(At).CreateLoad(A->getType(), Copy));
    }
  }
}

static void findOutputs(Region &R) {
  for (BasicBlock *BB : R.Blocks)
    for (Instruction &I : *BB)
      if (any_of(I.uses(), [&](Use &U) { return isUseOutside(R, U); }))
        R.Outputs.push_back(&I);
}

void findRegion(const Marked &E, const Marked::Beginning &B, Region &R) {
  R.Host = E.Host;
  R.Name = E.Host->getName();
  R.Loc = B.Loc;
  R.Options = E.Options;
  R.IsAsync = E.IsAsync;
  R.Before = B.Before;
  R.Entry = B.Entry;
  R.Blocks.insert(R.Entry);
  for (unsigned N = 0; N < R.Blocks.size(); ++N)
    for (BasicBlock *S : successors(R.Blocks[N]))
      if (E.Blocks.count(S))
        R.Blocks.insert(S);
  absorbJumps(R);
  R.Blocks = inLayoutOrder(R.Blocks);
  findReentered(R);
  demoteWideValues(R);
  splitExits(R);
  for (Instruction *I : findLiveIn(R))
    R.LiveIn.push_back(
        {I, CastInst::Create(Instruction::BitCast, I, I->getType(), "",
                             R.Before->getTerminator())});
  findOutputs(R);
}

//===----------------------------------------------------------------------===//
// Cloning
//===----------------------------------------------------------------------===//

/// Returns the attributes of the host that affect code generation.
static AttrBuilder bodyAttributes(const Function &Host) {
  AttrBuilder B(Host.getContext(), Host.getAttributes().getFnAttrs());
  for (Attribute::AttrKind Kind :
       {Attribute::OptimizeNone,    Attribute::NoInline,
        Attribute::AlwaysInline,    Attribute::InlineHint,
        Attribute::NoReturn,        Attribute::ReturnsTwice,
        Attribute::Memory,          Attribute::WillReturn,
        Attribute::StackProtect,    Attribute::StackProtectStrong,
        Attribute::StackProtectReq, Attribute::SanitizeAddress,
        Attribute::SanitizeThread,  Attribute::SanitizeMemory,
        Attribute::NoDuplicate,     Attribute::Convergent,
        Attribute::AllocSize,       Attribute::AllocKind,
        Attribute::NoRecurse,       Attribute::Speculatable})
    B.removeAttribute(Kind);
  if (Host.hasFnAttribute(Attribute::SanitizeThread))
    B.addAttribute(ThreadSanitized);
  return B;
}

/// Makes uses of \p I see \p First until \p I has been executed.
static void mergeDefinitions(Instruction *I, BasicBlock *Entry, Value *First) {
  SSAUpdater SSA;
  SSA.Initialize(I->getType(), I->getName());
  SSA.AddAvailableValue(Entry, First);
  SSA.AddAvailableValue(I->getParent(), I);
  for (Use &U : make_early_inc_range(I->uses())) {
    auto *User = cast<Instruction>(U.getUser());
    if (isa<PHINode>(User) || User->getParent() != I->getParent())
      SSA.RewriteUse(U);
  }
}

/// Sets R.Inputs: the values from outside that the code of \p R uses.
static void findInputs(Region &R) {
  // Values of phis on edges from outside the region do not belong to the
  // compound.
  auto IsElsewhere = [&](const Use &U) {
    auto *P = dyn_cast<PHINode>(U.getUser());
    return P && !R.Blocks.count(P->getIncomingBlock(U));
  };
  SetVector<Value *> Inputs;
  for (BasicBlock *BB : R.Blocks)
    for (Instruction &I : *BB)
      for (const Use &U : I.operands()) {
        if (IsElsewhere(U))
          continue;
        if (isa<Argument>(U))
          Inputs.insert(U);
        else if (auto *Op = dyn_cast<Instruction>(U))
          if (!R.Blocks.count(Op->getParent()))
            Inputs.insert(U);
      }
  for (auto [I, Copy] : R.LiveIn)
    Inputs.insert(Copy);
  R.Inputs.assign(Inputs.begin(), Inputs.end());
}

/// Copies the blocks of \p R to R.Body, and creates a block for each exit that
/// only returns. \p Map gets the copies.
static void copyBlocks(const Region &R, ValueToValueMapTy &Map) {
  SmallVector<BasicBlock *, 32> Copies;
  for (BasicBlock *BB : R.Blocks) {
    BasicBlock *Copy = CloneBasicBlock(BB, Map, "", R.Body);
    Map[BB] = Copy;
    Copies.push_back(Copy);
    for (PHINode &P : Copy->phis())
      P.removeIncomingValueIf(
          [&](unsigned I) { return !R.Blocks.count(P.getIncomingBlock(I)); },
          /*DeletePHIIfEmpty=*/false);
  }
  for (const Region::Exit &E : R.Exits) {
    BasicBlock *To = BasicBlock::Create(R.Body->getContext(), "exit", R.Body);
    ReturnInst::Create(To->getContext(), To);
    Map[E.To] = To;
  }
  remapInstructionsInBlocks(Copies, Map);
}

/// Calls cosy.exit in each exit block of R.Body, with the outputs that are
/// known there.
static void emitExits(const Region &R, ValueToValueMapTy &Map) {
  LLVMContext &Ctx = R.Body->getContext();
  FunctionCallee Exit = R.Body->getParent()->getOrInsertFunction(
      ExitMarker,
      FunctionType::get(Type::getVoidTy(Ctx), {Type::getInt32Ty(Ctx)}, true));
  // Code that is reached only through Entry has the same dominators in both.
  // The host may have many regions, so that its tree takes much longer.
  bool InBody = R.Reentered.empty();
  DominatorTree DT(InBody ? *R.Body : *R.Host);
  auto Dominates = [&](Instruction *I, BasicBlock *BB) {
    if (InBody) {
      I = cast<Instruction>(Map[I]);
      BB = cast<BasicBlock>(Map[BB]);
    }
    return DT.dominates(I, BB->getTerminator());
  };
  for (auto [N, E] : enumerate(R.Exits)) {
    IRBuilder<> B(cast<BasicBlock>(Map[E.To])->getTerminator());
    SmallVector<Value *, 8> Args{B.getInt32(N)};
    for (Instruction *O : R.Outputs)
      Args.push_back(Dominates(O, E.From) ? static_cast<Value *>(Map[O])
                                          : PoisonValue::get(O->getType()));
    CallInst *CI = B.CreateCall(Exit, Args);
    CI->addFnAttr(Attribute::NoMerge);
    CI->setDebugLoc(E.From->getTerminator()->getDebugLoc());
  }
}

/// Makes the tests of limits in \p R false: native code does not count, so it
/// never reaches one.
static void removeStopTests(const Region &R) {
  for (BasicBlock *BB : R.Blocks)
    for (Instruction &I : make_early_inc_range(*BB))
      if (asMarker(I, StoppedMarker)) {
        I.replaceAllUsesWith(ConstantInt::getFalse(I.getContext()));
        I.eraseFromParent();
      }
}

void cloneBody(Region &R) {
  Function &Host = *R.Host;
  LLVMContext &Ctx = Host.getContext();
  findInputs(R);
  SmallVector<Type *, 8> Types;
  for (Value *V : R.Inputs)
    Types.push_back(V->getType());
  R.Body = Function::Create(
      FunctionType::get(Type::getVoidTy(Ctx), Types, false),
      GlobalValue::InternalLinkage, Host.getName() + ".cosy." + Twine(R.Index),
      Host.getParent());
  R.Body->addFnAttrs(bodyAttributes(Host));
  setState(*R.Body, BodyState::Body);

  BasicBlock *Entry = BasicBlock::Create(Ctx, "entry", R.Body);
  ValueToValueMapTy Map;
  for (auto [V, A] : zip(R.Inputs, R.Body->args())) {
    A.setName(V->getName());
    Map[V] = &A;
  }
  copyBlocks(R, Map);
  BranchInst::Create(cast<BasicBlock>(Map[R.Entry]), Entry);
  emitExits(R, Map);
  removeStopTests(R);
  for (auto [I, Copy] : R.LiveIn)
    mergeDefinitions(cast<Instruction>(Map[I]), Entry, Map[Copy]);
}

} // namespace cosy
