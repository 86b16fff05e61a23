// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Host.cpp - The code that runs a compound ---------------------------===//
#include "host/Host.h"
#include "body/Body.h"
#include "body/LibraryCalls.h"
#include "body/Operations.h"
#include "host/LinkStep.h"
#include "support/Names.h"
#include "support/StartOptions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#include <numeric>

extern "C" {
#include <cosy/region.h>
}

using namespace llvm;

namespace cosy {

/// \returns int64_t cosy_region_run(region, frame) of libcosy.
static FunctionCallee regionRun(Module &M) {
  LLVMContext &Ctx = M.getContext();
  Type *Ptr = PointerType::get(Ctx, 0);
  return M.getOrInsertFunction(
      "cosy_region_run",
      FunctionType::get(Type::getInt64Ty(Ctx), {Ptr, Ptr}, false));
}

//===----------------------------------------------------------------------===//
// CompoundPath
//===----------------------------------------------------------------------===//

/// Loads a value of type \p Ty from the frame.
static std::pair<Value *, LoadInst *> loadOutput(IRBuilder<> &B, Type *Ty,
                                                 Value *Slot) {
  const DataLayout &DL = B.GetInsertBlock()->getDataLayout();
  if (Ty->isIntegerTy() &&
      DL.getTypeSizeInBits(Ty) != DL.getTypeStoreSizeInBits(Ty)) {
    LoadInst *L = B.CreateLoad(B.getInt64Ty(), Slot);
    return {B.CreateTrunc(L, Ty), L};
  }
  LoadInst *L = B.CreateAlignedLoad(Ty, Slot, Align(8));
  return {L, L};
}

/// Loads the mode of the region \p Descriptor.
static LoadInst *loadMode(IRBuilderBase &B, Value *Descriptor) {
  LoadInst *Mode = B.CreateAlignedLoad(
      B.getInt32Ty(),
      B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Descriptor,
                                   offsetof(cosy_region, mode)),
      Align(4), "cosy.mode");
  Mode->setAtomic(AtomicOrdering::Monotonic);
  return Mode;
}

/// \returns whether the mode of the region \p Descriptor is not 0.
static Value *hasMode(IRBuilderBase &B, Value *Descriptor) {
  return B.CreateIsNotNull(loadMode(B, Descriptor));
}

void CompoundPath::setGate(CallInst &Gate) {
  IRBuilder<> B(&Gate);
  Gate.replaceAllUsesWith(hasMode(B, Placeholder));
  Gate.eraseFromParent();
}

CompoundPath::CompoundPath(Region &R) : R(R) {
  Function &Host = *R.Host;
  Module &M = *Host.getParent();
  LLVMContext &Ctx = M.getContext();
  Type *I32 = Type::getInt32Ty(Ctx), *I64 = Type::getInt64Ty(Ctx);
  Type *Ptr = PointerType::get(Ctx, 0);

  Placeholder = new GlobalVariable(
      M, ArrayType::get(Type::getInt8Ty(Ctx), sizeof(cosy_region)), false,
      GlobalValue::ExternalLinkage, nullptr, "cosy.region");
  Frame =
      new AllocaInst(I64, 0, ConstantInt::get(I32, 1), Align(8), "cosy.frame",
                     &*Host.getEntryBlock().getFirstInsertionPt());

  // if (region.mode != 0) ...
  DebugLoc Loc(R.Loc);
  Instruction *Old = R.Before->getTerminator();
  IRBuilder<> B(Old);
  B.SetCurrentDebugLocation(Loc);
  Value *Runs = hasMode(B, Placeholder);
  Run = BasicBlock::Create(Ctx, "cosy.run", &Host, R.Entry);
  BranchInst *Br = B.CreateCondBr(Runs, Run, R.Entry);
  Br->setMetadata(LLVMContext::MD_prof,
                  MDBuilder(Ctx).createUnlikelyBranchWeights());
  Old->eraseFromParent();

  // exit = cosy_region_run(&region, frame); if (exit >= 0) ...
  B.SetInsertPoint(Run);
  FunctionCallee RunFn =
      R.IsAsync ? M.getOrInsertFunction(
                      AsyncRunMarker, FunctionType::get(I64, {Ptr, Ptr}, false))
                : regionRun(M);
  RunCall = B.CreateCall(RunFn, {Placeholder, Frame}, "cosy.exit");
  BasicBlock *Dispatch = BasicBlock::Create(Ctx, "cosy.done", &Host, R.Entry);
  B.CreateCondBr(B.CreateICmpSGE(RunCall, ConstantInt::get(I64, 0)), Dispatch,
                 R.Entry);

  // ... goto exit
  B.SetInsertPoint(Dispatch);
  SwitchInst *Switch = nullptr;
  for (auto [N, E] : enumerate(R.Exits)) {
    BasicBlock *Leave = BasicBlock::Create(Ctx, "cosy.leave", &Host, R.Entry);
    B.SetInsertPoint(Leave);
    Instruction *To = B.CreateBr(E.To);
    To->setDebugLoc(Loc);
    Leaves.push_back(Leave);
    B.SetInsertPoint(Dispatch);
    if (!Switch)
      Switch = B.CreateSwitch(RunCall, Leave, R.Exits.size() - 1);
    else
      Switch->addCase(ConstantInt::get(cast<IntegerType>(I64), N), Leave);
  }
  if (!Switch)
    B.CreateUnreachable(); // an endless loop
  rewriteUses();
}

/// Makes uses of the region's values after it use those of the compound, on the
/// path through it.
void CompoundPath::rewriteUses() {
  Type *I64 = Type::getInt64Ty(R.Host->getContext());
  CallInst *const None = nullptr;
  SmallVector<CallInst *, 8> Markers(R.Exits.size(), None);
  for (BasicBlock &BB : *R.Body)
    for (Instruction &I : BB)
      if (auto *CI = dyn_cast<CallInst>(&I))
        if (CI->getCalledFunction() &&
            CI->getCalledFunction()->getName() == ExitMarker)
          Markers[cast<ConstantInt>(CI->getArgOperand(0))->getZExtValue()] = CI;

  struct Loaded {
    Value *V;
    OutputLoad L;
  };
  SmallVector<Loaded, 16> All;
  for (auto [N, O] : enumerate(R.Outputs)) {
    SSAUpdater SSA;
    SSA.Initialize(O->getType(), O->getName());
    SSA.AddAvailableValue(O->getParent(), O);
    for (unsigned X = 0; X < R.Exits.size(); ++X) {
      if (isa<PoisonValue>(Markers[X]->getArgOperand(N + 1)))
        continue;
      BasicBlock *Leave = Leaves[X];
      IRBuilder<> B(Leave->getTerminator());
      auto *Slot = cast<GetElementPtrInst>(B.Insert(
          GetElementPtrInst::CreateInBounds(I64, Frame, {B.getInt64(0)})));
      auto [V, L] = loadOutput(B, O->getType(), Slot);
      SSA.AddAvailableValue(Leave, V);
      All.push_back({V, {L, Slot, (unsigned)N, (unsigned)X}});
    }
    for (Use &U : make_early_inc_range(O->uses()))
      if (isUseOutside(R, U))
        SSA.RewriteUse(U);
  }
  for (Loaded &X : All) {
    if (!X.V->use_empty()) {
      Loads.push_back(X.L);
      continue;
    }
    // This exit does not need the value.
    CallInst *Marker = Markers[X.L.Exit];
    Type *Ty = Marker->getArgOperand(X.L.Output + 1)->getType();
    Marker->setArgOperand(X.L.Output + 1, PoisonValue::get(Ty));
    if (X.V != X.L.Load)
      cast<Instruction>(X.V)->eraseFromParent();
    X.L.Load->eraseFromParent();
    X.L.Slot->eraseFromParent();
  }
}

/// Returns the address of the register \p R in \p Frame.
static Value *slot(IRBuilderBase &B, Value *Frame, Reg R) {
  return B.CreateConstInBoundsGEP1_64(B.getInt64Ty(), Frame, R);
}

/// Stores the input \p In to the register \p R.
static void storeInput(IRBuilderBase &B, Value *In, Value *Frame, Reg R) {
  Type *Ty = In->getType();
  if (!Ty->isPointerTy()) {
    if (!Ty->isIntegerTy())
      In = B.CreateBitCast(
          In, B.getIntNTy(Ty->getPrimitiveSizeInBits().getFixedValue()));
    In = B.CreateZExt(In, B.getInt64Ty());
  }
  B.CreateAlignedStore(In, slot(B, Frame, R), Align(8));
}

/// Clones a variable without its debug information.
static AllocaInst *cloneVariable(const AllocaInst &AI) {
  auto *Copy = cast<AllocaInst>(AI.clone());
  Copy->setMetadata(LLVMContext::MD_DIAssignID, nullptr);
  Copy->setDebugLoc(DebugLoc()); // may be of another function
  return Copy;
}

/// Creates a copy of a variable for the compound, which is copied back
/// afterwards.
Value *CompoundPath::copyOf(IRBuilderBase &B, const PrivateLocal &L) {
  AllocaInst *Copy = cloneVariable(*L.Variable);
  Copy->insertAfter(L.Variable);
  B.CreateMemCpy(Copy, Copy->getAlign(), L.Variable, L.Variable->getAlign(),
                 L.Size);
  if (L.Changes)
    for (BasicBlock *Leave : Leaves)
      IRBuilder<>(Leave->getTerminator())
          .CreateMemCpy(L.Variable, L.Variable->getAlign(), Copy,
                        Copy->getAlign(), L.Size);
  return Copy;
}

/// Returns the host's value of the input \p V, which is not an argument of the
/// body.
static Value *valueInHost(IRBuilderBase &B, Value *V) {
  if (auto *AI = dyn_cast<AllocaInst>(V)) {
    AllocaInst *Copy = cloneVariable(*AI);
    Function &Host = *B.GetInsertBlock()->getParent();
    Copy->insertBefore(
        Host.getEntryBlock().getFirstInsertionPt()->getIterator());
    return Copy;
  }
  if (auto *CI = dyn_cast<CallInst>(V)) {
    Instruction *Copy = B.Insert(CI->clone());
    Copy->setDebugLoc(B.getCurrentDebugLocation());
    return Copy;
  }
  if (auto *GV = dyn_cast<GlobalVariable>(V); GV && GV->isThreadLocal())
    return B.CreateThreadLocalAddress(GV);
  return V;
}

/// Returns the host's value of the input \p V.
Value *CompoundPath::inputValue(IRBuilderBase &B, Value *V,
                                ArrayRef<PrivateLocal> Locals) {
  if (auto *A = dyn_cast<Argument>(V)) {
    for (const PrivateLocal &L : Locals)
      if (L.Argument == A->getArgNo())
        return L.ByValue ? B.CreateLoad(B.getIntNTy(L.Size * 8), L.Variable)
                         : copyOf(B, L);
    return R.Inputs[A->getArgNo()];
  }
  if (auto *CI = dyn_cast<CallInst>(V); CI && R.IsAsync) {
    assert(isErrnoAddress(CI) && "a native piece");
    return B.CreateCall(R.Host->getParent()->getOrInsertFunction(
        AsyncErrnoMarker, CI->getType()));
  }
  return valueInHost(B, V);
}

/// Calls cosy_region_left() at each exit of the native code, if libcosy
/// measures that.
void CompoundPath::addNativeEnds(Constant *Descriptor) {
  if (R.IsAsync)
    return; // it does not choose
  Module &M = *R.Host->getParent();
  LLVMContext &Ctx = M.getContext();
  FunctionCallee Left = M.getOrInsertFunction(
      RegionLeft, FunctionType::get(Type::getVoidTy(Ctx),
                                    {PointerType::get(Ctx, 0)}, false));
  cast<Function>(Left.getCallee())->setDoesNotThrow();
  for (const Region::Exit &E : R.Exits) {
    IRBuilder<> B(E.From->getTerminator());
    B.SetCurrentDebugLocation(DebugLoc(R.Loc));
    Value *IsMeasured = B.CreateICmpEQ(loadMode(B, Descriptor),
                                       B.getInt32(COSY_REGION_MEASURED));
    Instruction *Then = SplitBlockAndInsertIfThen(
        IsMeasured, E.From->getTerminator(), /*Unreachable=*/false,
        MDBuilder(Ctx).createUnlikelyBranchWeights());
    B.SetInsertPoint(Then);
    B.SetCurrentDebugLocation(DebugLoc(R.Loc));
    B.CreateCall(Left, {Descriptor});
  }
}

void CompoundPath::complete(Constant *Descriptor, const Code &C,
                            ArrayRef<Value *> Inputs,
                            ArrayRef<PrivateLocal> Locals) {
  Placeholder->replaceAllUsesWith(Descriptor);
  Placeholder->eraseFromParent();
  LLVMContext &Ctx = R.Host->getContext();
  // libcosy uses the word after the registers.
  Frame->setOperand(0, ConstantInt::get(Type::getInt32Ty(Ctx), C.NumRegs + 1));
  Type *I64 = Type::getInt64Ty(Ctx);
  // A value that is undefined at every exit has no register.
  auto HasRegister = [&](unsigned Output) {
    return C.Outputs[Output] != NoReg;
  };
  for (OutputLoad &L : Loads) {
    if (HasRegister(L.Output)) {
      L.Slot->setOperand(1, ConstantInt::get(I64, C.Outputs[L.Output]));
      continue;
    }
    L.Load->replaceAllUsesWith(Constant::getNullValue(L.Load->getType()));
    L.Load->eraseFromParent();
    L.Slot->eraseFromParent();
  }

  IRBuilder<> B(RunCall);
  B.SetCurrentDebugLocation(DebugLoc(R.Loc));
  for (auto [V, Slot] : zip(Inputs, C.Inputs))
    storeInput(B, inputValue(B, V, Locals), Frame, Slot);
  copyValuesOut(Locals, C.Outputs);
  removeUnusedExits();
  addNativeEnds(Descriptor);
}

/// Removes the branches to exits that the simplified body does not have. The
/// native code does not reach them either, and what they call may have the
/// attribute error: clang rejects such a call unless it is removed.
void CompoundPath::removeUnusedExits() {
  SmallVector<bool, 8> Used(Leaves.size(), false);
  for (const Instruction &I : instructions(*R.Body))
    if (isExit(I))
      Used[cast<ConstantInt>(cast<CallInst>(I).getArgOperand(0))
               ->getZExtValue()] = true;
  for (auto [Leave, IsUsed] : zip(Leaves, Used))
    if (!IsUsed)
      changeToUnreachable(Leave->getTerminator());
}

/// Stores the values of variables that the compound has changed. \p Registers
/// are those of its outputs.
void CompoundPath::copyValuesOut(ArrayRef<PrivateLocal> Locals,
                                 ArrayRef<Reg> Registers) {
  for (const PrivateLocal &L : Locals) {
    if (!L.ByValue || !L.Changes || Registers[L.Output] == NoReg)
      continue;
    for (BasicBlock *Leave : Leaves) {
      IRBuilder<> B(Leave->getTerminator());
      B.CreateStore(B.CreateAlignedLoad(B.getIntNTy(L.Size * 8),
                                        slot(B, Frame, Registers[L.Output]),
                                        Align(8)),
                    L.Variable);
    }
  }
}

void CompoundPath::defer(unsigned NumOutputs, ArrayRef<PrivateLocal> Locals) {
  Module &M = *R.Host->getParent();
  Type *I32 = Type::getInt32Ty(M.getContext());
  Type *Ptr = PointerType::get(M.getContext(), 0);
  Type *Ty = Placeholder->getValueType();
  // Loads of its mode are not folded, because DeferredRun may write to it.
  auto *Descriptor = new GlobalVariable(
      M, Ty, false, GlobalValue::InternalLinkage, Constant::getNullValue(Ty),
      "cosy.region." + R.Host->getName());
  Descriptor->setAlignment(Align(8));
  Placeholder->replaceAllUsesWith(Descriptor);
  Placeholder->eraseFromParent();
  keepForLinkStep(*R.Body, *Descriptor);

  // The frame contains only the outputs.
  Frame->setOperand(0, ConstantInt::get(I32, std::max(NumOutputs, 1u)));
  for (OutputLoad &L : Loads)
    L.Slot->setOperand(
        1, ConstantInt::get(L.Slot->getOperand(1)->getType(), L.Output));
  SmallVector<Reg, 8> Registers(NumOutputs);
  std::iota(Registers.begin(), Registers.end(), Reg(0));
  copyValuesOut(Locals, Registers);

  IRBuilder<> B(RunCall);
  B.SetCurrentDebugLocation(DebugLoc(R.Loc));
  SmallVector<Value *, 8> Args{Descriptor, R.Body, Frame};
  for (Argument &A : R.Body->args())
    Args.push_back(inputValue(B, &A, Locals));
  FunctionCallee Run = M.getOrInsertFunction(
      DeferredRun,
      FunctionType::get(RunCall->getType(), {Ptr, Ptr, Ptr}, true));
  CallInst *New = B.CreateCall(Run, Args, "cosy.exit");
  // The body and the descriptor must remain constant operands.
  New->addFnAttr(Attribute::NoMerge);
  RunCall->replaceAllUsesWith(New);
  RunCall->eraseFromParent();
  RunCall = New;
  addNativeEnds(Descriptor);
  // The linker must load the library before link-time optimisation. Later it
  // cannot define further symbols.
  for (FunctionCallee F : {regionRun(M), tableFunction(M, AddRegions),
                           tableFunction(M, RemoveRegions)})
    appendToCompilerUsed(M, {cast<Function>(F.getCallee())});
}

void completeDeferred(CallBase &Run, const Code &C, ArrayRef<Value *> Inputs) {
  constexpr unsigned FirstInput = 3;
  Function &Host = *Run.getFunction();
  IRBuilder<> B(&*Host.getEntryBlock().getFirstInsertionPt());
  B.SetCurrentDebugLocation(DebugLoc());
  // libcosy uses the word after the registers.
  Value *Frame =
      B.CreateAlloca(B.getInt64Ty(), B.getInt32(C.NumRegs + 1), "cosy.frame");
  B.SetInsertPoint(&Run);
  for (auto [V, R] : zip(Inputs, C.Inputs)) {
    auto *A = dyn_cast<Argument>(V);
    storeInput(B,
               A ? Run.getArgOperand(FirstInput + A->getArgNo())
                 : valueInHost(B, V),
               Frame, R);
  }
  FunctionCallee RunFn = regionRun(*Host.getParent());
  Value *Args[] = {Run.getArgOperand(0), Frame};
  Value *Outputs = Run.getArgOperand(2);
  Value *Exit;
  // It is an invoke if the function was inlined into code that catches
  // exceptions of up-calls.
  if (auto *Invoke = dyn_cast<InvokeInst>(&Run)) {
    BasicBlock *Next = SplitEdge(Invoke->getParent(), Invoke->getNormalDest());
    Exit = B.CreateInvoke(RunFn, Next, Invoke->getUnwindDest(), Args);
    B.SetInsertPoint(&*Next->getFirstInsertionPt());
  } else {
    Exit = B.CreateCall(RunFn, Args);
  }
  for (auto [N, R] : enumerate(C.Outputs)) {
    Value *Out = B.getInt64(0);
    if (R != NoReg)
      Out = B.CreateAlignedLoad(B.getInt64Ty(), slot(B, Frame, R), Align(8));
    B.CreateAlignedStore(Out, slot(B, Outputs, N), Align(8));
  }
  Run.replaceAllUsesWith(Exit);
  Run.eraseFromParent();
}

void CompoundPath::abandon() {
  Function &Host = *R.Host;
  RunCall->replaceAllUsesWith(Constant::getAllOnesValue(RunCall->getType()));
  RunCall->eraseFromParent();
  // Remove the branch to Run, and the branch to the exits.
  auto *Branch = cast<BranchInst>(R.Before->getTerminator());
  auto *IsLoaded = cast<Instruction>(Branch->getCondition());
  auto *Mode = cast<Instruction>(IsLoaded->getOperand(0));
  Branch->setCondition(ConstantInt::getFalse(Host.getContext()));
  IsLoaded->eraseFromParent();
  Mode->eraseFromParent();
  ConstantFoldTerminator(R.Before);
  ConstantFoldTerminator(Run);
  removeUnreachableBlocks(Host);
  Placeholder->eraseFromParent();
  Frame->eraseFromParent();
  Frame = nullptr;
}

//===----------------------------------------------------------------------===//
// RegionTable
//===----------------------------------------------------------------------===//

StructType *RegionTable::descriptorType() {
  LLVMContext &Ctx = M.getContext();
  Type *I32 = Type::getInt32Ty(Ctx), *I64 = Type::getInt64Ty(Ctx);
  Type *Ptr = PointerType::get(Ctx, 0);
  // struct cosy_region
  return StructType::get(Ctx, {I32, I32, Ptr, I32, I32, Ptr, I32, I32, Ptr, Ptr,
                               Ptr, I32, I32, Ptr, I64, Ptr});
}

/// struct cosy_region::flags of the region with this \p Number in its line
static uint32_t flagsOf(const Region &R, unsigned Number) {
  uint32_t Flags = std::min<unsigned>(Number, COSY_REGION_MAX_NUMBER)
                   << COSY_REGION_NUMBER_SHIFT;
  if (!R.IsAsync)
    return Flags | COSY_REGION_SINGLE_CALLS;
  return Flags | COSY_REGION_ASYNC | (R.Loses ? COSY_REGION_LOSES : 0);
}

/// Returns the struct cosy_limits of \p R, or null.
Constant *RegionTable::limits(const Region &R, const Code &C) {
  LLVMContext &Ctx = M.getContext();
  auto Int = [&](uint64_t V, unsigned Bits) {
    return ConstantInt::get(IntegerType::get(Ctx, Bits), V);
  };
  const StartOptions &O = R.Options;
  if (!O.MaxMs && (!O.MaxOperations || O.AtLimit == COSY_RESUME))
    return ConstantPointerNull::get(PointerType::get(Ctx, 0));
  Constant *Limits = ConstantStruct::getAnon(
      {Int(O.MaxOperations, 64), Int(O.MaxMs, 32), Int(O.AtLimit, 32),
       Int(C.Stop == NoReg ? COSY_NO_STOP : C.Stop, 32)});
  return new GlobalVariable(M, Limits->getType(), true,
                            GlobalValue::PrivateLinkage, Limits, "cosy.limits");
}

/// \returns the address of the definition of \p F in this module, also if
/// another object replaces it.
static Constant *ownAddress(Function &F) {
  Module &M = *F.getParent();
  std::string Name = ("cosy.own." + F.getName()).str();
  if (GlobalAlias *Known = M.getNamedAlias(Name))
    return Known;
  return GlobalAlias::create(F.getValueType(), F.getAddressSpace(),
                             GlobalValue::PrivateLinkage, Name, &F, &M);
}

/// Returns the struct cosy_library of the functions \p Library and \p
/// Replaceable, or null.
Constant *RegionTable::functionList(ArrayRef<Function *> Library,
                                    ArrayRef<Function *> Replaceable) {
  LLVMContext &Ctx = M.getContext();
  Constant *Null = ConstantPointerNull::get(PointerType::get(Ctx, 0));
  SmallVector<Constant *, 16> List;
  auto Add = [&](Function *F, Constant *Own) {
    StringRef Name = F->getName();
    Name.consume_front("\1");
    append_values(List, F, stringConstant(M, Name), Own);
  };
  for (Function *F : Library)
    Add(F, Null);
  for (Function *F : Replaceable)
    // The link step may have found that nothing replaces it.
    if (!F->isDSOLocal())
      Add(F, ownAddress(*F));
  if (List.empty())
    return Null;
  Constant *All = ConstantStruct::getAnon(
      {ConstantInt::get(Type::getInt64Ty(Ctx), List.size() / 3),
       ConstantArray::get(ArrayType::get(Null->getType(), List.size()), List)});
  // The list is not constant. Otherwise, for a reference from read-only memory,
  // the linker would give a function of another object an address in this one.
  return new GlobalVariable(M, All->getType(), false,
                            GlobalValue::PrivateLinkage, All, "cosy.library");
}

Constant *RegionTable::add(const Region &R, const Image &I, const Code &C,
                           ArrayRef<Function *> Thunks, Constant *Functions,
                           ArrayRef<Function *> Library) {
  LLVMContext &Ctx = M.getContext();
  auto Int = [&](uint64_t V, unsigned Bits) {
    return ConstantInt::get(IntegerType::get(Ctx, Bits), V);
  };
  Constant *Null = ConstantPointerNull::get(PointerType::get(Ctx, 0));

  Constant *Bytes = ConstantDataArray::get(
      Ctx, ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(I.Bytes.data()),
                             I.Bytes.size()));
  auto *ImageVar =
      new GlobalVariable(M, Bytes->getType(), true, GlobalValue::PrivateLinkage,
                         Bytes, "cosy.image." + R.Name);
  ImageVar->setSection(".cosy.compounds");
  ImageVar->setAlignment(Align(8));

  Constant *ThunkVar = Null;
  if (!Thunks.empty()) {
    SmallVector<Constant *, 8> List(Thunks.begin(), Thunks.end());
    auto *Ty = ArrayType::get(Null->getType(), List.size());
    ThunkVar = new GlobalVariable(M, Ty, true, GlobalValue::PrivateLinkage,
                                  ConstantArray::get(Ty, List),
                                  "cosy.thunks." + R.Name);
  }
  StringRef File = R.Loc ? R.Loc->getFilename() : M.getSourceFileName();
  unsigned Line = R.Loc ? R.Loc->getLine() : 0;
  unsigned Number = Numbers[{File.str(), Line}]++;
  return Table.add(
      ConstantStruct::get(
          descriptorType(),
          {Int(COSY_REGION_ABI, 32),
           Int(R.Options.countsRuns() ? COSY_REGION_DECIDE : 0, 32), ImageVar,
           Int(I.Bytes.size(), 32), Int(C.NumRegs, 32), ThunkVar,
           Int(Thunks.size(), 32), Int(Line, 32), stringConstant(M, File),
           stringConstant(M, R.Name), Functions, Int(C.Functions.size(), 32),
           Int(flagsOf(R, Number), 32), limits(R, C), Int(0, 64),
           functionList(Library, replaceableFunctions(*R.Body))}),
      "cosy.descriptor");
}

void RegionTable::finish() { Table.finish(AddRegions, RemoveRegions); }

} // namespace cosy
