// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Region.cpp - A marked region in its function -----------------------===//
#include "Region.h"
#include "Diagnostics.h"
#include "Select.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace cosy {

CallInst *asMarker(Instruction &I, StringRef Name) {
  auto *CI = dyn_cast<CallInst>(&I);
  Function *F = CI ? CI->getCalledFunction() : nullptr;
  if (!F || !F->isDeclaration())
    return nullptr;
  StringRef Is = F->getName();
  bool Same = Is == Name || (Name == StartMarker &&
                             (Is == StartWithMarker || Is == StartNativeMarker));
  return Same ? CI : nullptr;
}

void prepareHost(Function &Host, FunctionAnalysisManager &FAM) {
  Host.removeFnAttr(Attribute::OptimizeNone);
  for (BasicBlock &BB : Host)
    for (Instruction &I : make_early_inc_range(BB))
      if (I.isLifetimeStartOrEnd())
        I.eraseFromParent();
  removeUnreachableBlocks(Host);
  insertStops(Host);
  FAM.invalidate(Host, PreservedAnalyses::none());
  PreservedAnalyses PA = SROAPass(SROAOptions::PreserveCFG).run(Host, FAM);
  FAM.invalidate(Host, PA);
}

const char *whyNotMovable(const Instruction &I) {
  if (auto *AI = dyn_cast<AllocaInst>(&I))
    return AI->isStaticAlloca() ? nullptr
                                : "a variable-length array or alloca";
  if (isa<IndirectBrInst>(I))
    return "a computed goto";
  if (isa<CallBrInst>(I))
    return "an asm goto";
  if (I.isEHPad() || isa<InvokeInst>(I) || isa<ResumeInst>(I))
    return "a cleanup or an exception handler";
  if (isa<VAArgInst>(I))
    return "va_arg";
  auto *CB = dyn_cast<CallBase>(&I);
  if (!CB)
    return nullptr;
  if (CB->hasFnAttr(Attribute::ReturnsTwice))
    return "a call that returns twice, such as setjmp or vfork";
  if (CB->isMustTailCall())
    return "a call marked musttail";
  switch (CB->getIntrinsicID()) {
  case Intrinsic::vastart:
    return "va_start";
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
    return "a variable-length array or alloca";
  case Intrinsic::frameaddress:
  case Intrinsic::returnaddress:
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::sponentry:
  case Intrinsic::get_dynamic_area_offset:
    return "the address of the function's own stack frame";
  case Intrinsic::localescape:
  case Intrinsic::eh_typeid_for:
    return "an exception handler";
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Finding the blocks
//===----------------------------------------------------------------------===//

/// The blocks reached from \p Entry without passing \p End; sets \p End to the
/// first end marker met.
static bool reachForward(Region &R, SetVector<BasicBlock *> &Reached,
                         CallInst *&End) {
  Reached.insert(R.Entry);
  for (unsigned N = 0; N < Reached.size(); ++N) {
    bool Ends = false;
    for (Instruction &I : *Reached[N]) {
      if (CallInst *E = asMarker(I, EndMarker)) {
        if (End && End != E) {
          reportError(*R.Host, E->getDebugLoc(),
                      "region ends in two places; let both paths meet before "
                      "one COSY_END");
          return false;
        }
        End = E;
        Ends = true;
        break;
      }
      if (CallInst *S = asMarker(I, StartMarker)) {
        reportError(*R.Host, S->getDebugLoc(),
                    "COSY_START inside a region; end the first one before it");
        return false;
      }
    }
    if (!Ends)
      for (BasicBlock *S : successors(Reached[N]))
        Reached.insert(S);
  }
  return true;
}

static bool checkBlocks(Region &R) {
  for (BasicBlock *BB : R.Blocks) {
    if (BB->hasAddressTaken()) {
      reportError(*R.Host, R.Loc,
                  "region contains a label whose address is taken; computed "
                  "goto is not supported in a region, use a switch");
      return false;
    }
    for (BasicBlock *P : predecessors(BB))
      if (BB != R.Entry && !R.Blocks.count(P)) {
        const DebugLoc &L = P->getTerminator()->getDebugLoc();
        reportError(*R.Host, L ? L.get() : R.Loc,
                    "jump into a region; enter it through COSY_START");
        return false;
      }
    for (Instruction &I : *BB)
      if (const char *Why = whyNotMovable(I)) {
        const DebugLoc &L = I.getDebugLoc();
        reportError(*R.Host, L ? L.get() : R.Loc,
                    Twine("region contains ") + Why +
                        ", which is not supported in a region; move it out of "
                        "the region or into a function the region calls");
        return false;
      }
  }
  return true;
}

/// Takes in blocks behind the region that do nothing but jump on, so that all
/// the gotos to a label are one exit.
static void absorbJumps(Region &R) {
  for (unsigned N = 0; N < R.Blocks.size(); ++N)
    for (BasicBlock *S : successors(R.Blocks[N])) {
      auto *Br = dyn_cast<BranchInst>(&*S->getFirstNonPHIOrDbg());
      if (Br && Br->isUnconditional() &&
          all_of(predecessors(S), [&](BasicBlock *P) { return R.Blocks.count(P); }))
        R.Blocks.insert(S);
    }
}

/// Gives every way out of the region blocks of its own.
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

/// Values that fit no register and cross the border go through memory.
static void demoteWideValues(Region &R) {
  const DataLayout &DL = R.Host->getDataLayout();
  SmallSetVector<Instruction *, 8> Wide;
  SmallSetVector<Argument *, 8> WideArgs;
  for (BasicBlock &BB : *R.Host)
    for (Instruction &I : BB) {
      bool Inside = R.Blocks.count(&BB);
      if (I.getType()->isVoidTy() || isRegisterType(I.getType(), DL) ||
          I.getType()->isTokenTy())
        continue;
      for (Use &U : I.uses()) {
        auto *User = cast<Instruction>(U.getUser());
        BasicBlock *At = isa<PHINode>(User)
                             ? cast<PHINode>(User)->getIncomingBlock(U)
                             : User->getParent();
        if (R.Blocks.count(At) != Inside)
          Wide.insert(&I);
      }
    }
  for (Argument &A : R.Host->args())
    if (!isRegisterType(A.getType(), DL))
      for (User *U : A.users())
        if (R.Blocks.count(cast<Instruction>(U)->getParent()))
          WideArgs.insert(&A);
  for (Instruction *I : Wide) {
    if (auto *P = dyn_cast<PHINode>(I))
      DemotePHIToStack(P);
    else
      DemoteRegToStack(*I);
  }
  for (Argument *A : WideArgs) {
    IRBuilder<> B(&*R.Host->getEntryBlock().getFirstInsertionPt());
    Value *Copy = B.CreateAlloca(A->getType());
    B.CreateStore(A, Copy);
    for (Use &U : make_early_inc_range(A->uses())) {
      auto *User = cast<Instruction>(U.getUser());
      if (!R.Blocks.count(User->getParent()))
        continue;
      Instruction *At = isa<PHINode>(User)
                            ? cast<PHINode>(User)->getIncomingBlock(U)->getTerminator()
                            : User;
      U.set(IRBuilder<>(At).CreateLoad(A->getType(), Copy));
    }
  }
}

static void findOutputs(Region &R) {
  for (BasicBlock *BB : R.Blocks)
    for (Instruction &I : *BB)
      for (Use &U : I.uses()) {
        auto *User = cast<Instruction>(U.getUser());
        BasicBlock *At = isa<PHINode>(User)
                             ? cast<PHINode>(User)->getIncomingBlock(U)
                             : User->getParent();
        if (!R.Blocks.count(At)) {
          R.Outputs.push_back(&I);
          break;
        }
      }
}

bool findRegion(CallInst *Start, Region &R) {
  R.Host = Start->getFunction();
  R.Loc = Start->getDebugLoc();
  R.Options = optionsOf(*Start);
  R.Before = Start->getParent();
  R.Entry = SplitBlock(R.Before, Start);
  Start->eraseFromParent();

  SetVector<BasicBlock *> Reached;
  CallInst *End = nullptr;
  if (!reachForward(R, Reached, End))
    return false;
  if (!End) {
    reportWarning(Warning::EndNotReached, *R.Host, R.Loc,
                  "the end of this region is never reached; it stays native. Put "
                  "COSY_END where every way through the region comes by");
    return false;
  }
  BasicBlock *Last = End->getParent();
  SplitBlock(Last, End->getNextNode());
  End->eraseFromParent();

  R.Blocks.insert(Last);
  for (unsigned N = 0; N < R.Blocks.size(); ++N) {
    if (R.Blocks[N] == R.Entry)
      continue;
    for (BasicBlock *P : predecessors(R.Blocks[N]))
      if (Reached.count(P))
        R.Blocks.insert(P);
  }
  absorbJumps(R);
  // In the order of the function, which is that of the source.
  SetVector<BasicBlock *> Ordered;
  for (BasicBlock &BB : *R.Host)
    if (R.Blocks.count(&BB))
      Ordered.insert(&BB);
  R.Blocks = std::move(Ordered);
  if (!checkBlocks(R))
    return false;
  demoteWideValues(R);
  splitExits(R);
  findOutputs(R);
  return true;
}

//===----------------------------------------------------------------------===//
// Cloning
//===----------------------------------------------------------------------===//

/// The attributes of the host that are about how code is generated.
static AttrBuilder sourceAttributes(const Function &Host) {
  AttrBuilder B(Host.getContext(), Host.getAttributes().getFnAttrs());
  for (Attribute::AttrKind Kind :
       {Attribute::OptimizeNone, Attribute::NoInline, Attribute::AlwaysInline,
        Attribute::InlineHint, Attribute::NoReturn, Attribute::ReturnsTwice,
        Attribute::Memory, Attribute::WillReturn, Attribute::StackProtect,
        Attribute::StackProtectStrong, Attribute::StackProtectReq,
        Attribute::SanitizeAddress, Attribute::SanitizeThread,
        Attribute::SanitizeMemory, Attribute::NoDuplicate, Attribute::Convergent,
        Attribute::AllocSize, Attribute::AllocKind, Attribute::NoRecurse,
        Attribute::Speculatable})
    B.removeAttribute(Kind);
  return B;
}

void cloneSource(Region &R) {
  Function &Host = *R.Host;
  Module &M = *Host.getParent();
  LLVMContext &Ctx = M.getContext();

  SetVector<Value *> Inputs;
  for (BasicBlock *BB : R.Blocks)
    for (Instruction &I : *BB)
      for (Value *V : I.operands()) {
        if (isa<Argument>(V))
          Inputs.insert(V);
        else if (auto *Op = dyn_cast<Instruction>(V))
          if (!R.Blocks.count(Op->getParent()))
            Inputs.insert(V);
      }
  R.Inputs.assign(Inputs.begin(), Inputs.end());
  SmallVector<Type *, 8> Types;
  for (Value *V : R.Inputs)
    Types.push_back(V->getType());
  R.Source = Function::Create(
      FunctionType::get(Type::getVoidTy(Ctx), Types, false),
      GlobalValue::InternalLinkage, Host.getName() + ".cosy." + Twine(R.Index), M);
  R.Source->addFnAttrs(sourceAttributes(Host));

  BasicBlock *Entry = BasicBlock::Create(Ctx, "entry", R.Source);
  ValueToValueMapTy Map;
  for (auto [V, A] : zip(R.Inputs, R.Source->args())) {
    A.setName(V->getName());
    Map[V] = &A;
  }
  SmallVector<BasicBlock *, 32> Copies;
  for (BasicBlock *BB : R.Blocks) {
    BasicBlock *Copy = CloneBasicBlock(BB, Map, "", R.Source);
    Map[BB] = Copy;
    Copies.push_back(Copy);
  }
  for (auto [N, E] : enumerate(R.Exits))
    Map[E.To] = BasicBlock::Create(Ctx, "exit", R.Source);
  remapInstructionsInBlocks(Copies, Map);
  BranchInst::Create(cast<BasicBlock>(Map[R.Entry]), Entry);

  FunctionCallee Exit = M.getOrInsertFunction(
      ExitMarker,
      FunctionType::get(Type::getVoidTy(Ctx), {Type::getInt32Ty(Ctx)}, true));
  DominatorTree DT(Host);
  for (auto [N, E] : enumerate(R.Exits)) {
    IRBuilder<> B(cast<BasicBlock>(Map[E.To]));
    SmallVector<Value *, 8> Args{B.getInt32(N)};
    for (Instruction *O : R.Outputs)
      Args.push_back(DT.dominates(O, E.From->getTerminator())
                         ? static_cast<Value *>(Map[O])
                         : PoisonValue::get(O->getType()));
    CallInst *CI = B.CreateCall(Exit, Args);
    CI->addFnAttr(Attribute::NoMerge);
    CI->setDebugLoc(E.From->getTerminator()->getDebugLoc());
    B.CreateRetVoid();
  }
}

} // namespace cosy
