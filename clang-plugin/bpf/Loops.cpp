// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Loops.cpp - Loops that the verifier accepts ------------------------===//
//
// Every loop decrements the budget once per iteration. It also executes
// may_goto, so that the verifier knows that the loop ends. may_goto leaves the
// loop after some millions of iterations per call of a BPF function. So the
// program is a function that calls another function in a loop. A loop that must
// be left saves the values that it needs to the context, and resumes with them
// in the next call. The module suspends and resumes it in the same way.
//
//===----------------------------------------------------------------------===//
#include "bpf/Function.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

extern "C" {
#include <cosy/function.h>
}

using namespace llvm;

namespace cosy {

namespace {

using Edge = std::pair<BasicBlock *, BasicBlock *>;

/// The header of a loop.
struct Header {
  BasicBlock *Enter = nullptr;         ///< the preheader, not part of the loop
  BasicBlock *Resume = nullptr;        ///< where it resumes; null if it cannot
  SmallVector<Instruction *, 16> Live; ///< phis, then other values it needs
  SmallVector<Value *, 16> Loaded;     ///< the same values, loaded in Resume
};

class BoundLoops {
public:
  BoundLoops(Function &P, Instruction *Entry, Value *Zero)
      : P(P), M(*P.getParent()), Ctx(P.getContext()), B(Ctx),
        Context(P.getArg(0)), Entry(Entry), Zero(Zero) {}

  void run();

private:
  void findEdges();
  void hideConstants();
  void findCompared();
  void separateEntries();
  void findLive();
  void createResumes();
  Value *hidden(PHINode &Phi, Value *V, Value *&None);
  void checkEdge(BasicBlock *From, BasicBlock *To);
  void leave(BasicBlock *From, BasicBlock *To);
  void dispatch();
  void repair();
  void defineAll();
  void callInLoop();

  /// Returns the number of \p Header in the context.
  unsigned number(BasicBlock *Header) const {
    return std::distance(Headers.begin(), Headers.find(Header)) + 1;
  }
  Value *field(size_t Offset) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Context, Offset);
  }
  Value *saved(size_t N) {
    return field(offsetof(cosy_function_ctx, saved) + N * sizeof(cosy_u64));
  }
  /// Emits may_goto: it jumps to \p To some millions of times, then to \p Else.
  void mayGoto(BasicBlock *To, BasicBlock *Else) {
    InlineAsm *MayGoto = InlineAsm::get(FunctionType::get(B.getVoidTy(), false),
                                        "may_goto ${0:l}", "!i", true);
    B.CreateCallBr(MayGoto, To, {Else}, {});
  }

  Function &P;
  Module &M;
  LLVMContext &Ctx;
  IRBuilder<> B;
  Argument *Context;
  Instruction *Entry; ///< the code after it can be repeated
  Value *Zero;        ///< a 0 that neither compiler nor verifier knows
  SetVector<Edge> Edges;
  SmallPtrSet<const PHINode *, 16> Compared; ///< several times, in loops
  MapVector<BasicBlock *, Header> Headers;
  BasicBlock *Stop = nullptr;    ///< returns
  BasicBlock *Expired = nullptr; ///< returns if the code cannot be repeated
};

} // namespace

void BoundLoops::findEdges() {
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 16> All;
  FindFunctionBackedges(P, All);
  for (auto [From, To] : All) {
    auto *T = const_cast<BasicBlock *>(To);
    Edges.insert({const_cast<BasicBlock *>(From), T});
    Headers.insert({T, Header()});
  }
}

/// Hides constants from the verifier. Otherwise it would follow each iteration
/// of a loop that begins with a known number, and all combinations of values
/// that are constant on a path through a loop.
void BoundLoops::hideConstants() {
  B.SetInsertPoint(Entry);
  DenseMap<Constant *, Value *> Opaque;
  for (BasicBlock &BB : P)
    for (PHINode &Phi : BB.phis())
      for (unsigned N = 0; N < Phi.getNumIncomingValues(); ++N) {
        Value *V = Phi.getIncomingValue(N);
        BasicBlock *From = Phi.getIncomingBlock(N);
        if (auto *C = dyn_cast<ConstantInt>(V)) {
          Value *&O = Opaque[C];
          if (!O)
            O = B.CreateAdd(B.CreateTrunc(Zero, C->getType()), C);
          Phi.setIncomingValue(N, O);
        } else if (Phi.getType()->isIntegerTy() && Headers.contains(&BB) &&
                   !isa<UndefValue>(V) && !Edges.contains({From, &BB}) &&
                   Phi.getBasicBlockIndex(From) == static_cast<int>(N)) {
          // The phi may have several edges from this block.
          IRBuilder<> At(From->getTerminator());
          Phi.setIncomingValueForBlock(
              From, At.CreateAdd(At.CreateTrunc(Zero, V->getType()), V));
        }
      }
}

/// Finds loop-carried values that are compared several times. The verifier
/// learns from each comparison with a constant. After several comparisons it
/// may know the exact value, and would then follow each value separately. So
/// the value is hidden in each iteration.
void BoundLoops::findCompared() {
  EquivalenceClasses<const Value *> Related;
  auto IsComputed = [](const Value *V) {
    return isa<Instruction>(V) && !V->getType()->isIntegerTy(1);
  };
  for (BasicBlock &BB : P)
    for (Instruction &I : BB)
      if (isa<PHINode>(I) || isa<SelectInst>(I) || isa<CastInst>(I) ||
          isa<GetElementPtrInst>(I) ||
          (isa<BinaryOperator>(I) && isa<Constant>(I.getOperand(1))))
        for (Value *Op : I.operands())
          if (IsComputed(Op))
            Related.unionSets(&I, Op);
  DenseMap<const Value *, unsigned> Comparisons;
  for (BasicBlock &BB : P)
    for (Instruction &I : BB)
      if (auto *Cmp = dyn_cast<ICmpInst>(&I);
          Cmp && isa<Constant>(Cmp->getOperand(1)) &&
          IsComputed(Cmp->getOperand(0)))
        ++Comparisons[Related.getOrInsertLeaderValue(Cmp->getOperand(0))];
  for (auto &[BB, H] : Headers)
    for (PHINode &Phi : BB->phis())
      if (Comparisons.lookup(Related.getOrInsertLeaderValue(&Phi)) >= 2)
        Compared.insert(&Phi);
}

/// Gives each loop a preheader, in which the values of a resumed loop are
/// loaded and translated.
void BoundLoops::separateEntries() {
  for (auto &[BB, H] : Headers) {
    SmallVector<BasicBlock *, 4> Outside;
    for (BasicBlock *Pred : predecessors(BB))
      if (!Edges.contains({Pred, BB}) && !is_contained(Outside, Pred))
        Outside.push_back(Pred);
    H.Enter = SplitBlockPredecessors(BB, Outside, ".enter");
  }
}

/// Finds the values computed before each loop that the loop needs.
void BoundLoops::findLive() {
  // Values that are computed at the beginning of the program are recomputed in
  // each call.
  SmallPtrSet<const BasicBlock *, 4> Own;
  for (BasicBlock &BB : P) {
    Own.insert(&BB);
    if (&BB == Entry->getParent())
      break;
  }
  auto IsLocal = [&](const Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    return I && !Own.contains(I->getParent());
  };
  DenseMap<BasicBlock *, SetVector<Instruction *>> In;
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (BasicBlock &BB : reverse(P)) {
      SetVector<Instruction *> Now;
      for (BasicBlock *Next : successors(&BB)) {
        Now.insert(In[Next].begin(), In[Next].end());
        for (PHINode &Phi : Next->phis())
          if (Value *V = Phi.getIncomingValueForBlock(&BB); IsLocal(V))
            Now.insert(cast<Instruction>(V));
      }
      for (Instruction &I : reverse(BB)) {
        Now.remove(&I);
        if (isa<PHINode>(I))
          continue;
        for (Value *Op : I.operands())
          if (IsLocal(Op))
            Now.insert(cast<Instruction>(Op));
      }
      // Look up the entry here, because other insertions may have moved it.
      SetVector<Instruction *> &Live = In[&BB];
      Changed |= Now.size() != Live.size();
      Live = std::move(Now);
    }
  }
  for (auto &[BB, H] : Headers) {
    for (PHINode &Phi : BB->phis())
      H.Live.push_back(&Phi);
    H.Live.append(In[BB].begin(), In[BB].end());
  }
}

void BoundLoops::createResumes() {
  for (auto &[BB, H] : Headers) {
    if (H.Live.size() > COSY_FUNCTION_SAVED ||
        any_of(H.Live, [](Instruction *I) {
          return !I->getType()->isIntegerTy() && !I->getType()->isPointerTy();
        }))
      continue;
    H.Resume = BasicBlock::Create(Ctx, "resume", &P, H.Enter);
    B.SetInsertPoint(H.Resume);
    B.SetCurrentDebugLocation(BB->getTerminator()->getDebugLoc());
    for (auto [N, I] : enumerate(H.Live)) {
      Value *V = B.CreateLoad(B.getInt64Ty(), saved(N));
      H.Loaded.push_back(I->getType()->isPointerTy()
                             ? B.CreateIntToPtr(V, I->getType())
                             : B.CreateTrunc(V, I->getType()));
    }
    B.CreateBr(H.Enter);
    for (PHINode &Phi : H.Enter->phis())
      Phi.addIncoming(PoisonValue::get(Phi.getType()), H.Resume);
  }
}

/// Returns \p V as the value of \p Phi in the next iteration, hiding from the
/// verifier what it knows about the value.
Value *BoundLoops::hidden(PHINode &Phi, Value *V, Value *&None) {
  if (!Compared.contains(&Phi) || isa<UndefValue>(V))
    return V;
  if (!None)
    None =
        B.CreateLoad(B.getInt64Ty(), field(offsetof(cosy_function_ctx, result)),
                     /*isVolatile=*/true);
  return V->getType()->isPointerTy()
             ? B.CreateGEP(B.getInt8Ty(), V, None)
             : B.CreateAdd(B.CreateTrunc(None, V->getType()), V);
}

/// Decrements the budget on the edge from \p From to \p To, the header of a
/// loop.
void BoundLoops::checkEdge(BasicBlock *From, BasicBlock *To) {
  FunctionCallee Yield(
      FunctionType::get(B.getInt32Ty(), false),
      B.CreateIntToPtr(B.getInt64(COSY_FUNCTION_YIELD), B.getPtrTy()));
  DebugLoc Loc = From->getTerminator()->getDebugLoc();
  // Merge all edges between the two blocks into one.
  BasicBlock *Check = BasicBlock::Create(Ctx, "check", &P, To);
  for (Use &U : From->getTerminator()->operands())
    if (U.get() == To)
      U.set(Check);
  BasicBlock *Slow = BasicBlock::Create(Ctx, "slow", &P);
  BasicBlock *Go = BasicBlock::Create(Ctx, "go", &P, To);
  BasicBlock *Leave = Stop, *Else = Expired;
  if (Headers[To].Resume)
    Leave = Else = BasicBlock::Create(Ctx, "leave", &P);
  B.SetInsertPoint(Check);
  B.SetCurrentDebugLocation(Loc);
  Value *Budget = field(offsetof(cosy_function_ctx, budget));
  Value *Left =
      B.CreateSub(B.CreateLoad(B.getInt64Ty(), Budget), B.getInt64(1));
  B.CreateStore(Left, Budget);
  B.CreateCondBr(B.CreateICmpSLT(Left, B.getInt64(0)), Slow, Go,
                 MDBuilder(Ctx).createUnlikelyBranchWeights());
  B.SetInsertPoint(Slow);
  B.CreateStore(B.getInt32(Headers[To].Resume ? number(To) : 0),
                field(offsetof(cosy_function_ctx, resume)));
  CallInst *CI = B.CreateCall(Yield);
  B.CreateCondBr(B.CreateIsNull(CI), Go, Leave);
  B.SetInsertPoint(Go);
  Value *None = nullptr;
  SmallVector<Value *, 8> Next;
  for (PHINode &Phi : To->phis())
    Next.push_back(hidden(Phi, Phi.getIncomingValueForBlock(From), None));
  mayGoto(To, Else);
  if (Headers[To].Resume) {
    B.SetInsertPoint(Leave);
    leave(From, To);
  }
  for (auto [Phi, V] : zip(To->phis(), Next)) {
    while (Phi.getBasicBlockIndex(From) >= 0)
      Phi.removeIncomingValue(From, false);
    Phi.addIncoming(V, Go);
  }
}

/// Saves the values that \p To needs on the edge from \p From, and returns.
void BoundLoops::leave(BasicBlock *From, BasicBlock *To) {
  const Header &H = Headers[To];
  for (auto [N, I] : enumerate(H.Live)) {
    auto *Phi = dyn_cast<PHINode>(I);
    Value *V =
        Phi && Phi->getParent() == To ? Phi->getIncomingValueForBlock(From) : I;
    V = V->getType()->isPointerTy() ? B.CreatePtrToInt(V, B.getInt64Ty())
                                    : B.CreateZExt(V, B.getInt64Ty());
    B.CreateStore(V, saved(N));
  }
  B.CreateStore(B.getInt32(number(To)),
                field(offsetof(cosy_function_ctx, resume)));
  B.CreateRet(B.getInt32(1));
}

/// Tests at the beginning whether there is a state to resume.
void BoundLoops::dispatch() {
  BasicBlock *First = Entry->getSuccessor(0);
  BasicBlock *Again = BasicBlock::Create(Ctx, "again", &P, First);
  B.SetInsertPoint(Entry);
  Value *Resume =
      B.CreateLoad(B.getInt32Ty(), field(offsetof(cosy_function_ctx, resume)));
  Instruction *Old = Entry;
  Entry = B.CreateCondBr(B.CreateIsNull(Resume), First, Again,
                         MDBuilder(Ctx).createLikelyBranchWeights());
  Old->eraseFromParent();
  B.SetInsertPoint(Again);
  SwitchInst *Switch = B.CreateSwitch(Resume, Stop, Headers.size());
  for (auto [N, Item] : enumerate(Headers))
    if (BasicBlock *To = Item.second.Resume)
      Switch->addCase(B.getInt32(N + 1), To);
}

/// Creates phis for values that now have two definitions: where they are
/// computed, and where they are loaded.
void BoundLoops::repair() {
  MapVector<Instruction *, SmallVector<std::pair<BasicBlock *, Value *>, 4>>
      Again;
  for (auto &[BB, H] : Headers) {
    if (!H.Resume)
      continue;
    for (auto [I, V] : zip(H.Live, H.Loaded)) {
      auto *Phi = dyn_cast<PHINode>(I);
      if (!Phi || Phi->getParent() != BB) {
        Again[I].push_back({H.Resume, V});
        continue;
      }
      Value *First = Phi->getIncomingValueForBlock(H.Enter);
      auto *Merged = dyn_cast<PHINode>(First);
      if (!Merged || Merged->getParent() != H.Enter) {
        Merged = PHINode::Create(Phi->getType(), 2, Phi->getName() + ".enter");
        Merged->insertBefore(H.Enter->begin());
        for (BasicBlock *Pred : predecessors(H.Enter))
          Merged->addIncoming(First, Pred);
        Phi->setIncomingValueForBlock(H.Enter, Merged);
      }
      Merged->setIncomingValueForBlock(H.Resume, V);
    }
  }
  for (auto &[I, Where] : Again) {
    SSAUpdater Updater;
    Updater.Initialize(I->getType(), I->getName());
    Updater.AddAvailableValue(I->getParent(), I);
    for (auto [BB, V] : Where)
      Updater.AddAvailableValue(BB, V);
    for (Use &U : make_early_inc_range(I->uses())) {
      auto *User = cast<Instruction>(U.getUser());
      auto *Phi = dyn_cast<PHINode>(User);
      if ((Phi ? Phi->getIncomingBlock(U) : User->getParent()) !=
          I->getParent())
        Updater.RewriteUse(U);
    }
  }
}

/// Gives undefined incoming values of phis a value, because the verifier
/// rejects copies of undefined registers even if they are not used.
void BoundLoops::defineAll() {
  B.SetInsertPoint(Entry);
  DenseMap<Type *, Value *> Nothing;
  for (BasicBlock &BB : P)
    for (PHINode &Phi : BB.phis())
      for (Use &U : Phi.incoming_values()) {
        if (!isa<UndefValue>(U))
          continue;
        Value *&V = Nothing[Phi.getType()];
        if (!V)
          V = Phi.getType()->isPointerTy()
                  ? B.CreateIntToPtr(Zero, Phi.getType())
                  : B.CreateTrunc(Zero, Phi.getType());
        U.set(V);
      }
}

/// Moves the program to a function that is called until it has ended.
void BoundLoops::callInLoop() {
  DISubprogram *Sub = P.getSubprogram();
  P.setName(COSY_FUNCTION_PROGRAM "_part");
  P.setLinkage(GlobalValue::InternalLinkage);
  P.setSection("");
  P.addFnAttr(Attribute::NoInline);

  Function *Main =
      Function::Create(P.getFunctionType(), GlobalValue::ExternalLinkage,
                       COSY_FUNCTION_PROGRAM, M);
  Main->setSection(COSY_FUNCTION_SECTION);
  Main->setDoesNotThrow();
  B.SetCurrentDebugLocation(DebugLoc());
  if (Sub) {
    Main->setSubprogram(Sub);
    DIBuilder DIB(M, false, Sub->getUnit());
    DISubprogram *Part = DIB.createFunction(
        Sub->getFile(), P.getName(), P.getName(), Sub->getFile(),
        Sub->getLine(), Sub->getType(), Sub->getLine(), DINode::FlagPrototyped,
        DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized |
            DISubprogram::SPFlagLocalToUnit);
    DIB.finalize();
    ValueToValueMapTy Map;
    Map.MD()[Sub].reset(Part);
    RemapFunction(P, Map,
                  RF_IgnoreMissingLocals | RF_ReuseAndMutateDistinctMDs);
    B.SetCurrentDebugLocation(DILocation::get(Ctx, Sub->getLine(), 0, Sub));
  }
  BasicBlock *First = BasicBlock::Create(Ctx, "", Main);
  BasicBlock *Call = BasicBlock::Create(Ctx, "call", Main);
  BasicBlock *Again = BasicBlock::Create(Ctx, "again", Main);
  BasicBlock *Repeat = BasicBlock::Create(Ctx, "repeat", Main);
  BasicBlock *Left = BasicBlock::Create(Ctx, "left", Main);
  BasicBlock *Done = BasicBlock::Create(Ctx, "done", Main);
  Context = Main->getArg(0);
  B.SetInsertPoint(First);
  B.CreateBr(Call);
  B.SetInsertPoint(Call);
  B.CreateCondBr(B.CreateIsNull(B.CreateCall(&P, {Context})), Done, Again);
  // Test whether the module or only may_goto has stopped the loop.
  B.SetInsertPoint(Again);
  Value *Budget =
      B.CreateLoad(B.getInt64Ty(), field(offsetof(cosy_function_ctx, budget)));
  B.CreateCondBr(B.CreateICmpSLT(Budget, B.getInt64(0)), Left, Repeat);
  B.SetInsertPoint(Repeat);
  mayGoto(Call, Left);
  B.SetInsertPoint(Left);
  B.CreateStore(B.getInt32(COSY_FUNCTION_LEFT),
                field(offsetof(cosy_function_ctx, status)));
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
  B.CreateRet(B.getInt32(0));
}

void BoundLoops::run() {
  findEdges();
  if (Edges.empty())
    return;
  hideConstants();
  findCompared();
  separateEntries();
  findLive();

  Stop = BasicBlock::Create(Ctx, "stop", &P);
  ReturnInst::Create(Ctx, B.getInt32(0), Stop);
  Expired = BasicBlock::Create(Ctx, "expired", &P);
  B.SetInsertPoint(Expired);
  B.CreateStore(B.getInt32(COSY_FUNCTION_LOOP),
                field(offsetof(cosy_function_ctx, status)));
  B.CreateBr(Stop);

  createResumes();
  for (auto [From, To] : Edges)
    checkEdge(From, To);
  dispatch();
  repair();
  defineAll();
  if (pred_empty(Expired))
    Expired->eraseFromParent();
  callInLoop();
}

void boundLoops(Function &Program, Instruction *Entry, Value *Zero) {
  BoundLoops(Program, Entry, Zero).run();
}

} // namespace cosy
