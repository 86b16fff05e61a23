// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Coroutine.cpp - COSY_ASYNC functions become coroutines -------------===//
#include "async/Coroutine.h"
#include "async/Parts.h"
#include "async/Replies.h"
#include "batch/Batch.h"
#include "body/Fortify.h"
#include "body/LibraryCalls.h"
#include "body/Recognise.h"
#include "body/ThinCalls.h"
#include "host/Host.h"
#include "host/Unreached.h"
#include "region/Marked.h"
#include "region/Region.h"
#include "region/ScopeEnds.h"
#include "support/Annotations.h"
#include "support/Copyable.h"
#include "support/Diagnostics.h"
#include "support/LlvmCompat.h"
#include "support/Markers.h"
#include "support/Names.h"
#include "support/SystemCalls.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <cosy/format.h>
#include <cosy/task.h>

#include <cstddef>

using namespace llvm;

namespace cosy {

/// Marks a function that has become a coroutine: bitcode may have gone through
/// the plugin before.
static constexpr StringLiteral SeenAttribute = "cosy-async-seen";

/// An attribute of calls that COSY_SPAWN starts.
static constexpr StringLiteral SpawnedAttribute = "cosy-spawned";

/// The function of clang that ends the program.
static constexpr StringLiteral TerminateHelper = "__clang_call_terminate";

/// \returns the function that \p I calls by its name, or null. A declaration of
/// C may not tell its arguments.
static Function *calleeOf(const Instruction &I) {
  auto *CI = dyn_cast<CallInst>(&I);
  return CI ? dyn_cast<Function>(CI->getCalledOperand()) : nullptr;
}

static bool calls(const Instruction &I, StringRef Name) {
  const Function *F = calleeOf(I);
  return F && F->getName() == Name;
}

namespace {

/// A COSY_ASYNC function and its coroutine.
struct AsyncFunction {
  Function *Source = nullptr;
  Function *Coroutine = nullptr; ///< returns its handle, does not run yet
  bool IsUnsigned = false;
  unsigned ResultBits = 0; ///< of the result, if that is a _BitInt, else 0
  bool Terminates = false; ///< the program ends if an exception leaves it
  bool IsLegal = false;    ///< defined here, without errors
};

class Lowering {
public:
  Lowering(Module &M, ModuleAnalysisManager &MAM, OptimizationLevel Level,
           function_ref<void(Function &)> Compile)
      : M(M), MAM(MAM), Level(Level), Compile(Compile), Ctx(M.getContext()),
        Ptr(PointerType::get(Ctx, 0)), I64(Type::getInt64Ty(Ctx)) {}

  bool run();

private:
  FunctionAnalysisManager &analyses() {
    return MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  }
  FunctionCallee runtime(StringRef Name, Type *Result, ArrayRef<Type *> Args) {
    AttributeList NoThrow =
        AttributeList().addFnAttribute(Ctx, Attribute::NoUnwind);
    return M.getOrInsertFunction(Name, FunctionType::get(Result, Args, false),
                                 NoThrow);
  }

  void find();
  void removeInvokes();
  void findSpawned(CallInst &Start, const DominatorTree &DT);
  void findSpawns();
  void declare(AsyncFunction &A);
  void prepare(AsyncFunction &A);
  bool check(const Function &F);
  void lowerBody(AsyncFunction &A);
  void copyArguments(IRBuilder<> &B, Function &C, CallInst &Id);
  void lowerReturns(IRBuilder<> &B, const AsyncFunction &A,
                    ArrayRef<ReturnInst *> Returns);
  void lowerSystemCalls(Function &C);
  void lowerParts(Function &C);
  void runPart(CallInst &Run);
  void lowerSpawns();
  void lowerCalls(AsyncFunction &A);
  CallInst *callCoroutine(CallInst &CI, AsyncFunction &A, Value *Task);
  Value *suspend(Instruction *At, Function &F, Type *Result);
  void makeCall(Instruction *At, const CallShape &Shape);
  Value *systemCall(Instruction *At, const CallShape &Shape, CallInst &CI);
  Value *reply(Instruction *At, const CallShape &Send, const Reply &R);
  Value *receiveAfterReply(Instruction *At, const CallShape &Shape,
                           CallInst &CI);
  Value *result(Instruction *At, Type *Ty);
  GlobalVariable *foreignFlag(Function &F);
  void finishTable();
  void split();

  Module &M;
  ModuleAnalysisManager &MAM;
  OptimizationLevel Level;
  function_ref<void(Function &)> Compile;
  LLVMContext &Ctx;
  PointerType *Ptr;
  Type *I64;
  MapVector<Function *, AsyncFunction> Functions;
  /// The calls that are spawned, and those of SpawnFunction that start them.
  MapVector<CallInst *, CallInst *> Spawns;
  /// The exits of a coroutine: where it is suspended, and where it would be
  /// destroyed, which libcosy does not do.
  struct Exits {
    BasicBlock *Suspended, *Destroyed;
  };
  DenseMap<Function *, Exits> ExitsOf;
  MapVector<Function *, GlobalVariable *> Foreign; ///< of the C library
};

} // namespace

//===----------------------------------------------------------------------===//
// Checks and declarations
//===----------------------------------------------------------------------===//

void Lowering::find() {
  SmallPtrSet<Function *, 4> Unsigned, Terminate;
  SmallDenseMap<Function *, unsigned, 4> Bits;
  forEachAnnotation(M, [&](Function &F, StringRef Text) {
    if (F.hasFnAttribute(SeenAttribute))
      return;
    if (Text == AsyncAnnotation)
      Functions[&F].Source = &F;
    else if (Text == AsyncUnsignedAnnotation)
      Unsigned.insert(&F);
    else if (Text == AsyncTerminateAnnotation)
      Terminate.insert(&F);
    else if (Text.consume_front(AsyncBitsAnnotation))
      Text.getAsInteger(10, Bits[&F]);
  });
  for (auto &[F, A] : Functions) {
    A.IsUnsigned = Unsigned.count(F);
    A.Terminates = Terminate.count(F);
    A.ResultBits = Bits.lookup(F);
  }
}

/// Calls coroutines and the functions of COSY_SPAWN, which do not throw,
/// without regard to exceptions.
void Lowering::removeInvokes() {
  SmallVector<InvokeInst *, 8> Invokes;
  auto Add = [&](Function &F) {
    for (User *U : F.users())
      if (auto *II = dyn_cast<InvokeInst>(U);
          II && II->getCalledOperand() == &F)
        Invokes.push_back(II);
  };
  for (auto &[F, A] : Functions)
    Add(*F);
  if (Function *F = M.getFunction(SpawnFunction))
    Add(*F);
  for (InvokeInst *II : Invokes)
    changeToCall(II);
}

/// Finds the call that \p Start starts: the nearest one that is executed before
/// it in any case. The destructors of its arguments may be between them.
void Lowering::findSpawned(CallInst &Start, const DominatorTree &DT) {
  const DomTreeNode *Node = DT.getNode(Start.getParent());
  for (Instruction *I = &Start; Node;) {
    for (; I; I = I->getPrevNode()) {
      Function *F = calleeOf(*I);
      // It has been lowered before.
      if (F && F->hasFnAttribute(SeenAttribute))
        return;
      if (F && Functions.count(F)) {
        auto *CI = cast<CallInst>(I);
        CI->addFnAttr(Attribute::get(Ctx, SpawnedAttribute));
        Spawns.insert({CI, &Start});
        return;
      }
    }
    Node = Node->getIDom();
    I = Node ? Node->getBlock()->getTerminator() : nullptr;
  }
}

void Lowering::findSpawns() {
  SmallSetVector<Function *, 8> Spawners;
  for (CallInst *Start : callsOf(M, SpawnFunction))
    Spawners.insert(Start->getFunction());
  for (Function *F : Spawners) {
    removeUnreachableBlocks(*F);
    DominatorTree DT(*F);
    for (Instruction &I : instructions(*F))
      if (calls(I, SpawnFunction))
        findSpawned(cast<CallInst>(I), DT);
  }
}

/// The attributes of \p Args are moved by one, because the task is the first
/// argument.
static AttributeList shiftedAttributes(LLVMContext &Ctx, AttributeList From,
                                       AttributeSet Fn, unsigned NumArgs) {
  SmallVector<AttributeSet, 8> Args{AttributeSet()};
  for (unsigned N = 0; N < NumArgs; ++N)
    Args.push_back(
        From.getParamAttrs(N).removeAttribute(Ctx, Attribute::Returned));
  return AttributeList::get(Ctx, Fn, AttributeSet(), Args);
}

/// Declares the coroutine of \p A.
void Lowering::declare(AsyncFunction &A) {
  Function &F = *A.Source;
  SmallVector<Type *, 8> Types{Ptr};
  append_range(Types, F.getFunctionType()->params());
  A.Coroutine = Function::Create(FunctionType::get(Ptr, Types, F.isVarArg()),
                                 F.getLinkage(), F.getAddressSpace(),
                                 F.getName() + ".cosy", &M);
  A.Coroutine->copyAttributesFrom(&F);
  // Attributes of the function in the source do not apply to its coroutine.
  AttributeSet Fn = F.getAttributes().getFnAttrs();
  for (Attribute::AttrKind Kind :
       {Attribute::AlwaysInline, Attribute::NoReturn, Attribute::WillReturn,
        Attribute::MustProgress, Attribute::Memory, Attribute::NoRecurse,
        Attribute::NoSync, Attribute::NoFree, Attribute::Speculatable,
        Attribute::AllocSize})
    Fn = Fn.removeAttribute(Ctx, Kind);
  Fn = Fn.addAttribute(Ctx, SeenAttribute);
  A.Coroutine->setAttributes(
      shiftedAttributes(Ctx, F.getAttributes(), Fn, F.arg_size()));
  if (const Comdat *C = F.getComdat()) {
    Comdat *Own = M.getOrInsertComdat(A.Coroutine->getName());
    Own->setSelectionKind(C->getSelectionKind());
    A.Coroutine->setComdat(Own);
  }
}

/// Marks the calls in the regions of \p F, and ends a block after each marker
/// that begins a region.
static void markRegions(Function &F) {
  // The last one first, so that no instruction is moved several times.
  for (CallInst *Start : reverse(markersOf(F, StartMarker)))
    SplitBlock(Start->getParent(), Start->getNextNode());
  for (CallInst *Start : markersOf(F, StartMarker))
    for (BasicBlock *BB : findMarkedBlocks(*Start).Blocks)
      for (Instruction &I : *BB)
        if (auto *CB = dyn_cast<CallBase>(&I); CB && !isa<IntrinsicInst>(CB))
          CB->addFnAttr(Attribute::get(F.getContext(), InRegionAttribute));
}

/// \returns true if an exception that arrives at \p Pad leaves the function, at
/// most after destructors, or ends the program.
static bool catchesNothing(const LandingPadInst &Pad) {
  if (!Pad.getNumClauses())
    return true;
  return any_of(*Pad.getParent(),
                [](const Instruction &I) { return calls(I, TerminateHelper); });
}

/// Removes from \p F, which no exception can leave, what only such an exception
/// would execute.
static void removeCleanups(Function &F) {
  for (BasicBlock &BB : F)
    if (auto *II = dyn_cast<InvokeInst>(BB.getTerminator());
        II && II->getLandingPadInst() &&
        catchesNothing(*II->getLandingPadInst()))
      changeToCall(II);
}

/// Brings the code of \p A into the form that the lowering expects. Moves no
/// instruction over a call.
void Lowering::prepare(AsyncFunction &A) {
  Function &F = *A.Source;
  FunctionAnalysisManager &FAM = analyses();
  F.removeFnAttr(Attribute::AlwaysInline);
  expandComputedGotos(F);
  removeUnreachableBlocks(F);
  inlineAlways(F);
  if (A.Terminates) {
    removeCleanups(F);
    removeUnreachableBlocks(F);
  }
  removeBatchMarkers(F);
  // Whether a path leaves a region must not depend on the optimization.
  if (!markersOf(F, StartMarker).empty())
    threadScopeEnds(F, [](const Value *) { return false; });
  prepareHost(F, FAM);
  expandChecks(F);
  expandThinCalls(F);
  markRegions(F);
  FAM.invalidate(F, PreservedAnalyses::none());
}

/// \returns why a coroutine cannot contain \p I, or null.
static const char *whyNotSuspendable(const Instruction &I) {
  // It need not be copyable, because split() leaves one copy of the code.
  if (const char *Why = whyNotMovable(I))
    return Why;
  const Function *F = calleeOf(I);
  StringRef Name = F ? F->getName() : "";
  Name.consume_front("_");
  if (Name == "longjmp" || Name == "siglongjmp" || Name == "_longjmp_chk")
    return "a call of longjmp";
  return nullptr;
}

/// \returns true if \p I awaits a COSY_ASYNC function.
static bool awaits(const Instruction &I) {
  const Function *F = calleeOf(I);
  return F && F->hasFnAttribute(AsyncAttribute);
}

/// \returns a call with which \p F waits while it initializes a static variable
/// of C++, or null. The thread could begin the initialization again, for
/// another task.
static const Instruction *waitInInitialization(const Function &F) {
  auto Waits = [](const Instruction &I) { return mayWait(I) || awaits(I); };
  for (const Instruction &Release : instructions(F)) {
    if (!calls(Release, "__cxa_guard_release"))
      continue;
    SmallSetVector<const Instruction *, 16> Ends;
    Ends.insert(&Release);
    for (unsigned N = 0; N < Ends.size(); ++N) {
      const Instruction *I = Ends[N];
      while (I && !calls(*I, "__cxa_guard_acquire")) {
        if (Waits(*I))
          return I;
        I = I->getPrevNode();
      }
      if (!I)
        for (const BasicBlock *Before : predecessors(Ends[N]->getParent()))
          Ends.insert(Before->getTerminator());
    }
  }
  return nullptr;
}

/// Reports the calls of COSY_ASYNC functions in the regions of \p F. \returns
/// false if there are any.
static bool checkRegions(const Function &F) {
  bool Good = true;
  for (const Instruction &I : instructions(F)) {
    if (!awaits(I) || !cast<CallBase>(I).hasFnAttr(InRegionAttribute))
      continue;
    reportError(F, I.getDebugLoc(),
                "a region cannot await '" + calleeOf(I)->getName() +
                    "', because it is executed without a pause; call the "
                    "COSY_ASYNC function outside of the region, or start it "
                    "by COSY_SPAWN");
    Good = false;
  }
  return Good;
}

bool Lowering::check(const Function &F) {
  // A variable-length array consists of several instructions on one line.
  StringSet<> Reported;
  for (const Instruction &I : instructions(F)) {
    const char *Why = whyNotSuspendable(I);
    if (!Why || !Reported.insert(Why).second)
      continue;
    reportError(F, I.getDebugLoc(),
                Twine("a COSY_ASYNC function cannot contain ") + Why +
                    "; move it to a function that this one calls");
  }
  const Instruction *Wait = waitInInitialization(F);
  if (Wait)
    reportError(F, Wait->getDebugLoc(),
                "a COSY_ASYNC function cannot wait while it initializes a "
                "static variable; initialize it elsewhere");
  return checkRegions(F) && Reported.empty() && !Wait;
}

//===----------------------------------------------------------------------===//
// The coroutine
//===----------------------------------------------------------------------===//

/// Moves the body of \p F to the coroutine \p C.
static void moveBody(Function &F, Function &C) {
  C.splice(C.begin(), &F);
  for (auto [From, To] : zip(F.args(), drop_begin(C.args()))) {
    From.replaceAllUsesWith(&To);
    To.takeName(&From);
  }
  C.setSubprogram(F.getSubprogram());
  F.setSubprogram(nullptr);
  C.setPresplitCoroutine();
}

/// Copies arguments that are passed by value on the stack to the frame of the
/// coroutine \p C. LLVM aligns variables in a frame, but not such arguments.
void Lowering::copyArguments(IRBuilder<> &B, Function &C, CallInst &Id) {
  const DataLayout &DL = M.getDataLayout();
  for (Argument &Arg : C.args()) {
    Type *Ty = Arg.getParamByValType();
    if (!Ty)
      continue;
    Align Alignment = Arg.getParamAlign().value_or(DL.getABITypeAlign(Ty));
    auto *Copy = new AllocaInst(Ty, DL.getAllocaAddrSpace(), nullptr, Alignment,
                                Arg.getName(), Id.getIterator());
    Arg.replaceAllUsesWith(Copy);
    B.CreateMemCpy(Copy, Alignment, &Arg, Arg.getParamAlign(),
                   DL.getTypeAllocSize(Ty));
  }
}

/// Gives the results of \p Returns to the task, and suspends the coroutine for
/// the last time.
void Lowering::lowerReturns(IRBuilder<> &B, const AsyncFunction &A,
                            ArrayRef<ReturnInst *> Returns) {
  Function &C = *A.Coroutine;
  FunctionCallee Return =
      runtime("cosy_task_return", B.getVoidTy(), {Ptr, I64});
  for (ReturnInst *RI : Returns) {
    B.SetInsertPoint(RI);
    Value *V = RI->getReturnValue();
    // The other bits of a _BitInt are unspecified.
    if (A.ResultBits && A.ResultBits < V->getType()->getIntegerBitWidth())
      V = B.CreateTrunc(V, B.getIntNTy(A.ResultBits));
    if (!V)
      V = B.getInt64(0);
    else if (V->getType()->isPointerTy())
      V = B.CreatePtrToInt(V, I64);
    else
      V = A.IsUnsigned ? B.CreateZExt(V, I64) : B.CreateSExt(V, I64);
    B.CreateCall(Return, {C.getArg(0), V});
    B.CreateBr(ExitsOf[&C].Suspended);
    RI->eraseFromParent();
  }
}

/// Moves the body of A.Source to A.Coroutine, and gives it a frame.
void Lowering::lowerBody(AsyncFunction &A) {
  Function &C = *A.Coroutine;
  moveBody(*A.Source, C);
  SmallVector<ReturnInst *, 4> Returns;
  for (BasicBlock &BB : C)
    if (auto *RI = dyn_cast<ReturnInst>(BB.getTerminator()))
      Returns.push_back(RI);

  BasicBlock *Body = &C.getEntryBlock();
  BasicBlock *Entry = BasicBlock::Create(Ctx, "", &C, Body);
  BasicBlock *Begin = BasicBlock::Create(Ctx, "", &C, Body);
  BasicBlock *NoMemory = BasicBlock::Create(Ctx, "", &C);
  BasicBlock *Suspended = BasicBlock::Create(Ctx, "", &C);
  BasicBlock *Destroyed = BasicBlock::Create(Ctx, "", &C);
  ExitsOf[&C] = {Suspended, Destroyed};
  for (Instruction &I : make_early_inc_range(*Body))
    if (auto *AI = dyn_cast<AllocaInst>(&I))
      AI->moveBefore(*Entry, Entry->end());

  DebugLoc Loc;
  if (DISubprogram *SP = C.getSubprogram())
    Loc = DILocation::get(Ctx, SP->getLine(), 0, SP);
  IRBuilder<> B(Entry);
  B.SetCurrentDebugLocation(Loc);
  Constant *Null = ConstantPointerNull::get(Ptr);
  // LLVM needs a promise to describe C++ frames to debuggers.
  Value *Promise = B.CreateAlloca(StructType::get(Ctx));
  CallInst *Id =
      callIntrinsic(B, Intrinsic::coro_id, {B.getInt32(0), Promise, &C, Null});
  Id->addFnAttr(Attribute::NoDuplicate);
  Value *Size = B.CreateIntrinsic(Intrinsic::coro_size, {I64}, {});
  Value *Alignment = B.CreateIntrinsic(Intrinsic::coro_align, {I64}, {});
  Value *Memory = B.CreateCall(runtime("cosy_task_enter", Ptr, {Ptr, I64, I64}),
                               {C.getArg(0), Size, Alignment});
  B.CreateCondBr(B.CreateICmpEQ(Memory, Null), NoMemory, Begin);
  B.SetInsertPoint(NoMemory);
  B.CreateRet(Null);

  B.SetInsertPoint(Begin);
  CallInst *Handle = callIntrinsic(B, Intrinsic::coro_begin, {Id, Memory});
  Handle->addRetAttr(Attribute::NoAlias);
  Handle->addFnAttr(Attribute::NoDuplicate);
  copyArguments(B, C, *Id);
  Instruction *Jump = B.CreateBr(Body);
  B.SetInsertPoint(Suspended);
  callIntrinsic(B, Intrinsic::coro_end,
                {Handle, B.getFalse(), ConstantTokenNone::get(Ctx)})
      ->addFnAttr(Attribute::NoDuplicate);
  B.CreateRet(Handle);
  // An empty function would have the address of the next one, and lld would
  // find its unwind information in place of the next one's.
  B.SetInsertPoint(Destroyed);
  callIntrinsic(B, Intrinsic::trap, {});
  B.CreateUnreachable();
  suspend(Jump, C, Type::getVoidTy(Ctx));
  lowerReturns(B, A, Returns);
}

/// Suspends the coroutine \p C before \p At. \returns the value that it is
/// resumed with, of the type \p Result, or null if that is void.
Value *Lowering::suspend(Instruction *At, Function &C, Type *Result) {
  BasicBlock *BB = At->getParent();
  BasicBlock *Resumed = SplitBlock(BB, At);
  BB->getTerminator()->eraseFromParent();
  IRBuilder<> B(BB);
  B.SetCurrentDebugLocation(At->getDebugLoc());
  CallInst *State = callIntrinsic(B, Intrinsic::coro_suspend,
                                  {ConstantTokenNone::get(Ctx), B.getFalse()});
  State->addFnAttr(Attribute::NoDuplicate);
  SwitchInst *Switch = B.CreateSwitch(State, ExitsOf[&C].Suspended, 2);
  Switch->addCase(B.getInt8(0), Resumed);
  Switch->addCase(B.getInt8(1), ExitsOf[&C].Destroyed);
  return Result->isVoidTy() ? nullptr : result(At, Result);
}

/// \returns what the coroutine was resumed with, as a value of the type \p Ty.
Value *Lowering::result(Instruction *At, Type *Ty) {
  IRBuilder<> B(At);
  Value *V = B.CreateLoad(I64, At->getFunction()->getArg(0));
  return Ty->isPointerTy() ? B.CreateIntToPtr(V, Ty) : B.CreateTrunc(V, Ty);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The flag of struct cosy_task_function: \p F is not a function of the C
/// library.
GlobalVariable *Lowering::foreignFlag(Function &F) {
  GlobalVariable *&Flag = Foreign[&F];
  if (!Flag)
    Flag = new GlobalVariable(M, I64, false, GlobalValue::ExternalLinkage,
                              nullptr, "cosy.foreign");
  return Flag;
}

/// Emits the table of functions, and the code that registers it with libcosy.
void Lowering::finishTable() {
  if (Foreign.empty())
    return;
  auto *EntryTy = StructType::get(Ctx, {I64, Ptr, I64});
  SmallVector<Constant *, 16> Entries;
  for (auto &[F, Flag] : Foreign) {
    StringRef Name = F->getName();
    Name.consume_front("\1");
    Entries.push_back(ConstantStruct::get(
        EntryTy, {ConstantExpr::getPtrToInt(F, I64), stringConstant(M, Name),
                  ConstantInt::get(I64, 0)}));
  }
  auto *Ty = ArrayType::get(EntryTy, Entries.size());
  auto *Table =
      new GlobalVariable(M, Ty, false, GlobalValue::InternalLinkage,
                         ConstantArray::get(Ty, Entries), "cosy.functions");
  for (auto [N, Pair] : enumerate(Foreign)) {
    Type *I32 = Type::getInt32Ty(Ctx);
    Constant *Index[] = {ConstantInt::get(I64, 0), ConstantInt::get(I64, N),
                         ConstantInt::get(I32, 2)};
    Pair.second->replaceAllUsesWith(
        ConstantExpr::getInBoundsGetElementPtr(Ty, Table, Index));
    Pair.second->eraseFromParent();
  }
  appendToGlobalCtors(M,
                      createTableCaller(M, "cosy.add.functions",
                                        "cosy_task_functions", Table,
                                        Entries.size()),
                      65535);
}

/// \p V as a word of a system call.
static Value *asWord(IRBuilder<> &B, Value *V) {
  return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, B.getInt64Ty())
                                     : B.CreateSExt(V, B.getInt64Ty());
}

/// Tells libcosy, before \p At, that the system call \p Shape is to be made.
void Lowering::makeCall(Instruction *At, const CallShape &Shape) {
  IRBuilder<> B(At);
  SmallVector<Value *, 8> Args{At->getFunction()->getArg(0),
                               B.getInt64(Shape.Call->Number)};
  for (Value *V : Shape.Args)
    Args.push_back(asWord(B, V));
  Args.resize(2 + COSY_MAX_ARGS, B.getInt64(0));
  SmallVector<Type *, 8> Types{Ptr};
  Types.append(1 + COSY_MAX_ARGS, I64);
  B.CreateCall(runtime("cosy_task_call", B.getVoidTy(), Types), Args);
}

/// Makes, before \p At, the system call \p Shape in place of \p CI.
Value *Lowering::systemCall(Instruction *At, const CallShape &Shape,
                            CallInst &CI) {
  makeCall(At, Shape);
  return suspend(At, *At->getFunction(), CI.getType());
}

/// Makes, before \p At, the reply \p R; its send() is \p Send.
Value *Lowering::reply(Instruction *At, const CallShape &Send, const Reply &R) {
  Function &C = *At->getFunction();
  IRBuilder<> B(At);
  SmallVector<Value *, 8> Args{C.getArg(0)};
  for (Value *V : ArrayRef(Send.Args).take_front(4))
    Args.push_back(asWord(B, V));
  Args.push_back(asWord(B, R.Buffer));
  // Without a size, libcosy makes only the send().
  Value *IsForeign = B.CreateICmpNE(
      B.CreateLoad(I64, foreignFlag(*R.Receive->getCalledFunction())),
      B.getInt64(0));
  Args.push_back(B.CreateSelect(IsForeign, B.getInt64(0), asWord(B, R.Size)));
  SmallVector<Type *, 8> Types{Ptr};
  Types.append(6, I64);
  B.CreateCall(runtime("cosy_task_reply", B.getVoidTy(), Types), Args);
  return suspend(At, C, R.Send->getType());
}

/// The same for a recv() that a reply may have made.
Value *Lowering::receiveAfterReply(Instruction *At, const CallShape &Shape,
                                   CallInst &CI) {
  Function &C = *At->getFunction();
  IRBuilder<> B(At);
  auto *Received = B.CreateCall(
      runtime("cosy_task_received", B.getInt1Ty(), {Ptr}), {C.getArg(0)});
  Received->addRetAttr(Attribute::ZExt);
  Instruction *Call = SplitBlockAndInsertIfThen(B.CreateNot(Received), At,
                                                /*Unreachable=*/false);
  makeCall(Call, Shape);
  suspend(Call, C, Type::getVoidTy(Ctx));
  return result(At, CI.getType());
}

/// Replaces the system calls of \p C that may wait by operations of the loop.
void Lowering::lowerSystemCalls(Function &C) {
  std::vector<Reply> Replies = findReplies(C);
  SmallVector<CallInst *, 8> Calls;
  for (Instruction &I : instructions(C))
    if (isa<CallInst>(I) && mayWait(I))
      Calls.push_back(cast<CallInst>(&I));
  for (CallInst *CI : Calls) {
    CallShape Shape = systemCallShape(*CI);
    IRBuilder<> B(CI);
    Value *IsForeign =
        B.CreateICmpNE(B.CreateLoad(I64, foreignFlag(*CI->getCalledFunction())),
                       B.getInt64(0));
    guard(*CI, IsForeign, [&](Instruction *At) {
      for (const Reply &R : Replies)
        if (R.Send == CI)
          return reply(At, Shape, R);
      if (any_of(Replies, [&](const Reply &R) { return R.Receive == CI; }))
        return receiveAfterReply(At, Shape, *CI);
      return systemCall(At, Shape, *CI);
    });
  }
}

//===----------------------------------------------------------------------===//
// Compounds
//===----------------------------------------------------------------------===//

/// Suspends the coroutine at \p Run, while a part of it runs as a compound.
void Lowering::runPart(CallInst &Run) {
  Function &C = *Run.getFunction();
  IRBuilder<> B(&Run);
  Value *Runs =
      B.CreateCall(runtime("cosy_task_region", B.getInt1Ty(), {Ptr, Ptr, Ptr}),
                   {C.getArg(0), Run.getArgOperand(0), Run.getArgOperand(1)});
  cast<CallInst>(Runs)->addRetAttr(Attribute::ZExt);
  BasicBlock *Before = Run.getParent();
  Instruction *Wait =
      SplitBlockAndInsertIfThen(Runs, &Run, /*Unreachable=*/false);
  Value *Exit = suspend(Wait, C, I64);
  PHINode *Phi =
      PHINode::Create(I64, 2, Run.getName(), Run.getParent()->begin());
  Phi->addIncoming(ConstantInt::getSigned(I64, -1), Before);
  Phi->addIncoming(Exit, Wait->getParent());
  Run.replaceAllUsesWith(Phi);
  Run.eraseFromParent();
}

/// Replaces the markers in \p C that a part needs from its task.
void Lowering::lowerParts(Function &C) {
  SmallVector<CallInst *, 8> Calls;
  for (Instruction &I : instructions(C))
    if (auto *CI = dyn_cast<CallInst>(&I); CI && CI->getCalledFunction())
      Calls.push_back(CI);
  for (CallInst *CI : Calls) {
    StringRef Name = CI->getCalledFunction()->getName();
    if (Name == AsyncRunMarker)
      runPart(*CI);
    if (Name == AsyncAskMarker) {
      IRBuilder<> B(CI);
      B.CreateAlignedStore(B.getInt8(0), CI->getArgOperand(0), Align(1))
          ->setAtomic(AtomicOrdering::Monotonic);
      CI->eraseFromParent();
      continue;
    }
    if (Name != AsyncErrnoMarker && Name != AsyncAsksMarker)
      continue;
    IRBuilder<> B(CI);
    StringRef Address =
        Name == AsyncErrnoMarker ? "cosy_task_errno" : "cosy_task_asks";
    CI->replaceAllUsesWith(
        B.CreateCall(runtime(Address, Ptr, {Ptr}), {C.getArg(0)}));
    CI->eraseFromParent();
  }
}

/// Calls, in place of \p CI, the coroutine of \p A for the task \p Task.
CallInst *Lowering::callCoroutine(CallInst &CI, AsyncFunction &A, Value *Task) {
  SmallVector<Value *, 8> Args{Task};
  append_range(Args, CI.args());
  SmallVector<Type *, 8> Types{Ptr};
  append_range(Types, CI.getFunctionType()->params());
  auto *Ty = FunctionType::get(Ptr, Types, CI.getFunctionType()->isVarArg());
  IRBuilder<> B(&CI);
  CallInst *New = B.CreateCall(Ty, A.Coroutine, Args);
  New->setCallingConv(CI.getCallingConv());
  New->setAttributes(shiftedAttributes(Ctx, CI.getAttributes(), AttributeSet(),
                                       CI.arg_size()));
  // It only allocates the frame.
  New->setDoesNotThrow();
  return New;
}

/// Lowers the calls that are spawned. A task is created when the arguments have
/// been evaluated, because that may throw.
void Lowering::lowerSpawns() {
  for (auto [CI, Start] : Spawns) {
    AsyncFunction &A = Functions.find(calleeOf(*CI))->second;
    Value *Spawn = Start->getArgOperand(0);
    IRBuilder<> B(CI);
    auto Field = [&](unsigned Offset) {
      return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Spawn, Offset);
    };
    B.CreateCall(runtime("cosy_task_create", B.getVoidTy(), {Ptr}), Spawn);
    Value *HasColour = B.CreateIsNotNull(
        B.CreateLoad(I64, Field(offsetof(cosy_spawn, colour))));
    IRBuilder<>(SplitBlockAndInsertIfThen(HasColour, CI, /*Unreachable=*/false))
        .CreateCall(runtime("cosy_task_colour", B.getVoidTy(), {Ptr}), Spawn);
    B.SetInsertPoint(CI);
    callCoroutine(*CI, A, B.CreateLoad(Ptr, Field(offsetof(cosy_spawn, task))));
    CI->replaceAllUsesWith(PoisonValue::get(CI->getType()));
    CI->eraseFromParent();
  }
}

/// \returns true if the compiler has made \p GV, for other purposes than code.
static bool isOfCompiler(const GlobalVariable &GV) {
  return GV.getName().starts_with("llvm.") ||
         GV.getName().starts_with("__profd_");
}

/// Reports the uses of \p F, a COSY_ASYNC function, that are no calls.
static void reportOtherUses(Function &F) {
  F.removeDeadConstantUsers();
  SmallSetVector<const User *, 8> Uses(F.user_begin(), F.user_end());
  for (unsigned N = 0; N < Uses.size(); ++N) {
    const User *U = Uses[N];
    auto *I = dyn_cast<Instruction>(U);
    auto *GV = dyn_cast<GlobalVariable>(U);
    if (isa<GlobalAlias, GlobalIFunc>(U))
      reportError(F, nullptr, "a COSY_ASYNC function has no other names");
    else if (I || (GV && !isOfCompiler(*GV)))
      reportError(I ? *I->getFunction() : F, I ? I->getDebugLoc() : DebugLoc(),
                  "a COSY_ASYNC function has no address");
    else if (!GV && !isa<BlockAddress>(U))
      Uses.insert(U->user_begin(), U->user_end());
  }
}

/// Lowers the other calls of A.Source, which are awaited.
void Lowering::lowerCalls(AsyncFunction &A) {
  for (CallInst *CI : callsOf(*A.Source)) {
    Function &Caller = *CI->getFunction();
    if (ExitsOf.count(&Caller)) {
      callCoroutine(*CI, A, Caller.getArg(0));
      if (Value *V = suspend(CI, Caller, CI->getType()))
        CI->replaceAllUsesWith(V);
    } else {
      // A COSY_ASYNC function here has other errors.
      if (!Functions.count(&Caller))
        reportError(Caller, CI->getDebugLoc(),
                    "only COSY_SPAWN and COSY_ASYNC functions can call a "
                    "COSY_ASYNC function");
      CI->replaceAllUsesWith(PoisonValue::get(CI->getType()));
    }
    CI->eraseFromParent();
  }
  reportOtherUses(*A.Source);
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// Makes ordinary functions of the COSY_ASYNC functions of \p M. Those that are
/// spawned may run at any time after that.
static void makeOrdinary(Module &M) {
  forEachAnnotation(M, [&](Function &F, StringRef Text) {
    if (Text != AsyncAnnotation)
      return;
    for (CallInst *CI : callsOf(F)) {
      if (!CI->hasFnAttr(SpawnedAttribute))
        continue;
      CI->setCalledOperand(Function::Create(
          F.getFunctionType(), GlobalValue::ExternalLinkage, "", &M));
      if (F.hasLocalLinkage())
        F.setLinkage(GlobalValue::ExternalLinkage);
    }
  });
  // Otherwise the address of these functions is taken.
  M.getNamedGlobal("llvm.global.annotations")->eraseFromParent();
}

/// Replaces the code of \p F by a trap.
static void trapIn(Function &F) {
  GlobalValue::LinkageTypes Linkage = F.getLinkage();
  F.deleteBody();
  F.setLinkage(Linkage);
  IRBuilder<> B(BasicBlock::Create(F.getContext(), "", &F));
  callIntrinsic(B, Intrinsic::trap, {});
  B.CreateUnreachable();
}

/// Splits the coroutines of this file. clang splits those of C++.
void Lowering::split() {
  SmallVector<Function *, 4> Others;
  bool Optimize = true;
  for (Function &F : M) {
    if (!F.isPresplitCoroutine())
      continue;
    if (ExitsOf.count(&F)) {
      Optimize &= !F.hasFnAttribute(Attribute::OptimizeNone);
      continue;
    }
    F.removeFnAttr(Attribute::PresplitCoroutine);
    Others.push_back(&F);
  }
  MAM.invalidate(M, PreservedAnalyses::none());
  ModulePassManager MPM;
  MPM.addPass(createModuleToPostOrderCGSCCPassAdaptor(CoroSplitPass(Optimize)));
  MAM.invalidate(M, MPM.run(M, MAM));
  for (Function *F : Others)
    F->setPresplitCoroutine();
  // Without optimisation the function that allocates the frame, and those that
  // destroy it, contain copies of the whole code. libcosy destroys no
  // coroutine.
  for (auto &[C, E] : ExitsOf) {
    for (BasicBlock &BB : *C) {
      FoldSingleEntryPHINodes(&BB);
      ConstantFoldTerminator(&BB);
    }
    removeUnreachableBlocks(*C);
    for (StringRef Suffix : {".destroy", ".cleanup"})
      if (Function *F = M.getFunction((C->getName() + Suffix).str()))
        trapIn(*F);
  }
  // No frame is ever a part of the caller's frame, so only these intrinsics
  // remain.
  for (auto &[C, E] : ExitsOf)
    for (Instruction &I : make_early_inc_range(instructions(*C))) {
      auto *II = dyn_cast<IntrinsicInst>(&I);
      if (II && II->getIntrinsicID() == Intrinsic::coro_begin) {
        auto *Id = cast<Instruction>(II->getArgOperand(0));
        II->replaceAllUsesWith(II->getArgOperand(1));
        II->eraseFromParent();
        Id->eraseFromParent();
      }
    }
}

/// Ends the program if a function throws that \p F calls.
static void terminateOnThrow(Function &F) {
  SmallVector<CallInst *, 16> Calls;
  for (Instruction &I : instructions(F))
    if (auto *CI = dyn_cast<CallInst>(&I);
        CI && !isa<IntrinsicInst>(CI) && !CI->doesNotThrow())
      Calls.push_back(CI);
  if (Calls.empty())
    return;
  Module &M = *F.getParent();
  IRBuilder<> B(BasicBlock::Create(F.getContext(), "", &F));
  PointerType *Ptr = B.getPtrTy();
  if (!F.hasPersonalityFn()) {
    auto *Ty = FunctionType::get(B.getInt32Ty(), /*isVarArg=*/true);
    F.setPersonalityFn(cast<Constant>(
        M.getOrInsertFunction("__gxx_personality_v0", Ty).getCallee()));
  }
  LandingPadInst *Pad =
      B.CreateLandingPad(StructType::get(Ptr, B.getInt32Ty()), 1);
  Pad->addClause(ConstantPointerNull::get(Ptr));
  B.CreateCall(M.getOrInsertFunction("__cxa_begin_catch", Ptr, Ptr),
               B.CreateExtractValue(Pad, 0))
      ->setDoesNotThrow();
  B.CreateCall(M.getOrInsertFunction("_ZSt9terminatev", B.getVoidTy()))
      ->setDoesNotThrow();
  B.CreateUnreachable();
  for (CallInst *CI : Calls)
    changeToInvokeAndSplitBasicBlock(CI, Pad->getParent());
}

bool Lowering::run() {
  find();
  if (Functions.empty())
    return false;
  removeInvokes();
  findSpawns();
  weakenUnreached(M, analyses(), Level, makeOrdinary);
  for (auto &[F, A] : Functions) {
    if (A.Terminates)
      F->addFnAttr(TerminateAttribute);
    declare(A);
    F->addFnAttr(AsyncAttribute);
  }
  lowerSpawns();
  for (auto &[F, A] : Functions)
    if (!F->isDeclaration()) {
      prepare(A);
      A.IsLegal = check(*F);
    }
  for (auto &[F, A] : Functions)
    if (A.IsLegal)
      Compile(*F);
  for (auto &[F, A] : Functions) {
    if (!A.IsLegal)
      continue;
    lowerBody(A);
    lowerSystemCalls(*A.Coroutine);
    lowerParts(*A.Coroutine);
  }
  for (StringRef Name :
       {AsyncRunMarker, AsyncErrnoMarker, AsyncAsksMarker, AsyncAskMarker})
    if (Function *Marker = M.getFunction(Name))
      Marker->eraseFromParent();
  for (auto &[F, A] : Functions)
    lowerCalls(A);
  for (auto &[F, A] : Functions) {
    if (!F->isDeclaration())
      F->deleteBody(); // after an error
    F->replaceAllUsesWith(A.Coroutine);
    F->eraseFromParent();
  }
  finishTable();
  split();
  for (Function &F : M)
    if (F.hasFnAttribute(TerminateAttribute)) {
      F.removeFnAttr(TerminateAttribute);
      terminateOnThrow(F);
    }
  return true;
}

bool lowerCoroutines(Module &M, ModuleAnalysisManager &MAM,
                     OptimizationLevel Level,
                     function_ref<void(Function &)> Compile) {
  return Lowering(M, MAM, Level, Compile).run();
}

void rejectCoroutines(Module &M) {
  forEachAnnotation(M, [](Function &F, StringRef Text) {
    if (Text == AsyncAnnotation)
      reportError(F, nullptr,
                  "COSY_ASYNC is for x86-64 with 64-bit pointers only");
  });
}

} // namespace cosy
