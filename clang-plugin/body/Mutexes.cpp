// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Mutexes.cpp - Free mutexes as operations ---------------------------===//
#include "body/Mutexes.h"
#include "body/Atomics.h"
#include "body/LibraryCalls.h"
#include "body/Operations.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cerrno>

#define DEBUG_TYPE "cosy-mutexes"

using namespace llvm;

STATISTIC(NumMutexes, "Calls for mutexes that became operations");

namespace cosy {

static constexpr StringLiteral ThreadNumber = "cosy_thread_id";

bool isThreadNumber(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  const Function *F = CB ? CB->getCalledFunction() : nullptr;
  return F && F->getName() == ThreadNumber;
}

namespace {

/// The members of a pthread_mutex_t of x86-64, as offsets in bytes.
enum Member {
  /// 0: free, 1: locked, 2: locked, and threads may wait.
  Lock = 0,
  /// The thread that has locked it, or 0, and above that the number of threads
  /// that use it. Only the thread that has locked it changes them.
  OwnerAndUsers = 8,
  /// 0, or NoElision: ordinary.
  Kind = 16
};

/// A mutex that pthread_mutexattr_settype() has made an ordinary one has this
/// bit. It is not locked by a memory transaction.
constexpr uint32_t NoElision = 512;

constexpr uint64_t OneUser = uint64_t(1) << 32;

/// The code that replaces a call, inserted before it. The call itself stays in
/// a block of its own, for all that operations do not do.
class Expansion {
public:
  explicit Expansion(CallInst &CI)
      : B(&CI), CI(CI), Mutex(CI.getArgOperand(0)) {
    Slow = SplitBlock(CI.getParent(), &CI);
    BasicBlock *After = SplitBlock(Slow, CI.getNextNode());
    Result = PHINode::Create(CI.getType(), 2, "", After->begin());
    CI.replaceAllUsesWith(Result);
    Result->addIncoming(&CI, Slow);
    // The code before the call replaces the jump to it.
    Instruction *Jump = Slow->getSinglePredecessor()->getTerminator();
    B.SetInsertPoint(Jump->getParent());
    B.SetCurrentDebugLocation(CI.getDebugLoc());
    Jump->eraseFromParent();
    Value *Other = B.CreateAnd(load(B.getInt32Ty(), Kind), ~NoElision);
    unless(B.CreateIsNotNull(Other), Slow);
  }

  void lock() {
    unless(B.CreateIsNotNull(exchange(0, 1)), Slow);
    take();
    finish(0);
  }

  void tryLock() {
    BasicBlock *Busy = newBlock();
    unless(B.CreateIsNotNull(exchange(0, 1)), Busy);
    take();
    finish(0);
    B.SetInsertPoint(Busy);
    finish(EBUSY);
  }

  /// As in glibc, the mutex has no owner any more when it is unlocked. If
  /// another thread waits, the owner is restored, and the function unlocks it.
  void unlock() {
    Value *Before = load(B.getInt64Ty(), OwnerAndUsers);
    store(B.CreateAnd(B.CreateSub(Before, B.getInt64(OneUser)), -OneUser),
          OwnerAndUsers);
    BasicBlock *Restore = newBlock();
    unless(B.CreateICmpNE(exchange(1, 0), B.getInt32(1)), Restore);
    finish(0);
    B.SetInsertPoint(Restore);
    store(Before, OwnerAndUsers);
    B.CreateBr(Slow);
  }

private:
  Value *member(Member M) {
    return B.CreateConstGEP1_64(B.getInt8Ty(), Mutex, M);
  }

  /// Other threads access some members at the same time.
  Value *load(Type *Ty, Member M) {
    LoadInst *L =
        B.CreateAlignedLoad(Ty, member(M), Align(Ty->getIntegerBitWidth() / 8));
    L->setAtomic(AtomicOrdering::Monotonic);
    return L;
  }
  void store(Value *V, Member M) {
    Align A(V->getType()->getIntegerBitWidth() / 8);
    B.CreateAlignedStore(V, member(M), A)->setAtomic(AtomicOrdering::Monotonic);
  }
  Value *exchange(uint32_t Old, uint32_t New) {
    return createCompareExchange(B, member(Lock), B.getInt32(Old),
                                 B.getInt32(New));
  }

  /// Makes this thread the owner of the locked mutex.
  void take() {
    FunctionCallee F = CI.getModule()->getOrInsertFunction(
        ThreadNumber, FunctionType::get(B.getInt32Ty(), false));
    Value *Thread = B.CreateZExt(B.CreateCall(F), B.getInt64Ty());
    Value *Users = B.CreateAnd(load(B.getInt64Ty(), OwnerAndUsers), -OneUser);
    Users = B.CreateAdd(Users, B.getInt64(OneUser));
    store(B.CreateAdd(Users, Thread), OwnerAndUsers);
  }

  BasicBlock *newBlock() {
    return BasicBlock::Create(CI.getContext(), "", Slow->getParent(), Slow);
  }

  /// Continues at \p Other if \p Condition holds, which is unlikely, else in a
  /// new block.
  void unless(Value *Condition, BasicBlock *Other) {
    BasicBlock *Next = newBlock();
    B.CreateCondBr(Condition, Other, Next,
                   MDBuilder(CI.getContext()).createUnlikelyBranchWeights());
    B.SetInsertPoint(Next);
  }

  void finish(int Value) {
    Result->addIncoming(B.getInt32(Value), B.GetInsertBlock());
    B.CreateBr(Result->getParent());
  }

  IRBuilder<> B;
  CallInst &CI;
  Value *Mutex;
  BasicBlock *Slow; ///< makes the call
  PHINode *Result;
};

} // namespace

using Expand = void (Expansion::*)();

static Expand findExpansion(const CallInst &CI) {
  static constexpr std::pair<StringLiteral, Expand> Functions[] = {
      {"pthread_mutex_lock", &Expansion::lock},
      {"pthread_mutex_trylock", &Expansion::tryLock},
      {"pthread_mutex_unlock", &Expansion::unlock},
  };
  LibraryFunction F = libraryFunction(CI);
  for (auto [Name, Function] : Functions)
    if (F == Name)
      return Function;
  return nullptr;
}

PreservedAnalyses MutexesPass::runOnBody(Function &Body,
                                         FunctionAnalysisManager &) {
  if (!Triple(Body.getParent()->getTargetTriple()).isGNUEnvironment() ||
      Body.hasFnAttribute(ThreadSanitized))
    return PreservedAnalyses::all();
  SmallVector<std::pair<CallInst *, Expand>, 8> Calls;
  for (BasicBlock &BB : Body)
    for (Instruction &I : BB)
      if (auto *CI = dyn_cast<CallInst>(&I))
        if (Expand Function = findExpansion(*CI))
          Calls.push_back({CI, Function});
  for (auto [CI, Function] : Calls)
    (Expansion(*CI).*Function)();
  NumMutexes += Calls.size();
  return Calls.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace cosy
