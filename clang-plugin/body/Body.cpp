// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Body.cpp - Inline and simplify a compound's body -------------------===//
#include "body/Body.h"
#include "body/Atomics.h"
#include "body/FastPaths.h"
#include "body/Fortify.h"
#include "body/IndirectCalls.h"
#include "body/Legalize.h"
#include "body/LibraryCalls.h"
#include "body/Mutexes.h"
#include "body/OneUpCall.h"
#include "body/Operations.h"
#include "body/Recognise.h"
#include "body/Strings.h"
#include "body/ThinCalls.h"
#include "body/UpCalls.h"
#include "support/Copyable.h"
#include "support/Markers.h"
#include "support/Names.h"
#include "support/Thresholds.h"
#include "support/UserFunctions.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LowerConstantIntrinsics.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/BreakCriticalEdges.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

#define DEBUG_TYPE "cosy-body"

using namespace llvm;

STATISTIC(NumInlined, "Calls that were inlined into bodies");
STATISTIC(NumSpilled, "Values that were put into memory");

namespace cosy {

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

/// \returns true if \p I begins a region whose options differ from those of the
/// region around it.
static bool hasOptions(const Instruction &I) {
  auto *CI = dyn_cast<CallInst>(&I);
  const Function *F = CI ? CI->getCalledFunction() : nullptr;
  return F &&
         (F->getName() == StartWithMarker || F->getName() == StartNativeMarker);
}

/// An attribute of functions whose definitions in other files are the same.
static constexpr StringLiteral SameEverywhereAttribute = "cosy-same-everywhere";

void markSameEverywhere(Module &M) {
  for (Function &F : M)
    if (F.hasLinkOnceODRLinkage() || F.hasWeakODRLinkage() ||
        (F.hasAvailableExternallyLinkage() && F.getName().starts_with("_Z")))
      F.addFnAttr(SameEverywhereAttribute);
}

bool mayBeInterposed(const Function &F) {
  if (F.isInterposable())
    return true;
  if (F.hasFnAttribute(Attribute::AlwaysInline))
    return false;
  // C++ requires that all definitions of an inline function are the same, and
  // ThinLTO copies functions of any kind. Those of C99 are marked.
  bool IsElsewhere = F.hasAvailableExternallyLinkage();
  bool AreAllTheSame =
      F.hasLinkOnceODRLinkage() || F.hasWeakODRLinkage() ||
      (IsElsewhere && !F.hasFnAttribute(NotInlinedAttribute) &&
       (F.isDSOLocal() || F.hasFnAttribute(SameEverywhereAttribute)));
  if (AreAllTheSame && !F.hasFnAttribute(Attribute::NoInline))
    return false;
  return IsElsewhere || !F.isDSOLocal();
}

bool mayBeReplaced(const Function &F) {
  // The linker discards copies of a comdat, so that none has an address of its
  // own.
  return F.hasExternalLinkage() && !F.isDeclaration() && !F.hasComdat() &&
         !F.isDSOLocal();
}

/// The functions of a body that may be replaced, as metadata.
static constexpr StringLiteral ReplaceableKind = "cosy.replaceable";

SmallVector<Function *, 4> replaceableFunctions(const Function &Body) {
  SmallVector<Function *, 4> List;
  if (const MDNode *Node = Body.getMetadata(ReplaceableKind))
    for (const MDOperand &Op : Node->operands())
      if (auto *F = mdconst::dyn_extract_or_null<Function>(Op))
        List.push_back(F);
  return List;
}

/// Adds \p New to the functions of \p Body that may be replaced.
static void addReplaceable(Function &Body, ArrayRef<Function *> New) {
  SmallSetVector<Function *, 4> All;
  for (Function *F : replaceableFunctions(Body))
    All.insert(F);
  All.insert(New.begin(), New.end());
  SmallVector<Metadata *, 4> List;
  for (Function *F : All)
    List.push_back(ConstantAsMetadata::get(F));
  if (!List.empty())
    Body.setMetadata(ReplaceableKind, MDNode::get(Body.getContext(), List));
}

bool instruments(Attribute A) {
  return A.isStringAttribute() &&
         (A.getKindAsString().contains("instrument") ||
          A.getKindAsString().starts_with("xray-") ||
          A.getKindAsString().starts_with("patchable-function") ||
          A.getKindAsString() == "fentry-call");
}

static bool isInstrumented(const Function &F) {
  return any_of(F.getAttributes().getFnAttrs(), instruments);
}

/// \returns true if the compiler makes no calls of builtin functions from code
/// of \p Host that it may not make from code of \p Callee.
static bool keepsNoBuiltins(const Function &Host, const Function &Callee) {
  return Host.hasFnAttribute("no-builtins") ||
         all_of(Callee.getAttributes().getFnAttrs(), [&](Attribute A) {
           return !isNoBuiltin(A) || Host.hasFnAttribute(A.getKindAsString());
         });
}

bool canContain(const Function &Host, const Function &Callee,
                unsigned MaxInstructions) {
  return !Callee.isDeclaration() && !isInstrumented(Callee) &&
         !Callee.isVarArg() && !Callee.hasPersonalityFn() &&
         !Callee.isPresplitCoroutine() &&
         !Callee.hasFnAttribute(Attribute::Naked) &&
         !Callee.hasFnAttribute(Attribute::ReturnsTwice) &&
         Callee.getInstructionCount() <= MaxInstructions &&
         (Callee.hasFnAttribute(Attribute::AlwaysInline) ||
          (Callee.hasFnAttribute(Attribute::OptimizeNone) ==
               Host.hasFnAttribute(Attribute::OptimizeNone) &&
           keepsNoBuiltins(Host, Callee))) &&
         AttributeFuncs::areInlineCompatible(Host, Callee);
}

static bool canInline(const Function &Callee, const Function &Body,
                      const Function &Host, unsigned MaxInstructions) {
  if (!canContain(Host, Callee, MaxInstructions))
    return false;
  // Native pieces of the callee would run with the target features of the host.
  if (Callee.hasFnAttribute("target-features") &&
      Callee.getFnAttribute("target-features") !=
          Body.getFnAttribute("target-features"))
    return false;
  for (const BasicBlock &BB : Callee) {
    if (BB.hasAddressTaken())
      return false;
    for (const Instruction &I : BB)
      if (whyNotCopyable(I) || hasOptions(I))
        return false;
  }
  return true;
}

bool callsItself(const Function &F) {
  SmallSetVector<const Function *, 16> Reached;
  Reached.insert(&F);
  for (unsigned N = 0; N < Reached.size(); ++N)
    for (const Instruction &I : instructions(*Reached[N])) {
      auto *CB = dyn_cast<CallBase>(&I);
      const Function *Callee = CB ? CB->getCalledFunction() : nullptr;
      if (Callee == &F)
        return true;
      if (Callee)
        Reached.insert(Callee);
    }
  return false;
}

bool hasLoop(const Function &F) {
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 4> BackEdges;
  FindFunctionBackedges(F, BackEdges);
  return !BackEdges.empty();
}

/// \returns \p I as a use of __builtin_constant_p() for a value that the
/// compiler does not know yet, or null.
static IntrinsicInst *asConstantTest(Instruction &I) {
  auto *II = dyn_cast<IntrinsicInst>(&I);
  return II && II->getIntrinsicID() == Intrinsic::is_constant &&
                 !isa<Constant>(II->getArgOperand(0))
             ? II
             : nullptr;
}

static bool hasConstantTest(Function &F) {
  return any_of(instructions(F),
                [](Instruction &I) { return asConstantTest(I); });
}

void answerConstantTests(Function &F) {
  for (BasicBlock &BB : F)
    for (Instruction &I : make_early_inc_range(BB))
      if (IntrinsicInst *Test = asConstantTest(I)) {
        Test->replaceAllUsesWith(ConstantInt::getFalse(Test->getType()));
        Test->eraseFromParent();
      }
}

using LocalsMap = DenseMap<const Function *, SmallVector<AllocaInst *, 4>>;

static uint64_t sizeOf(const AllocaInst &AI) {
  return AI.getAllocationSize(AI.getDataLayout())->getFixedValue();
}

/// \returns the number of bytes of local variables that \p Callee adds to its
/// caller.
static uint64_t localsAdded(const Function &Callee, const LocalsMap &Shared) {
  uint64_t Size = 0;
  bool Shares = Shared.count(&Callee);
  for (const Instruction &I : Callee.getEntryBlock())
    if (auto *AI = dyn_cast<AllocaInst>(&I); AI && AI->isStaticAlloca())
      Size += Shares && sizeOf(*AI) >= SharedLocalSize ? 0 : sizeOf(*AI);
  return Size;
}

/// The local variables of a function that is not recursive exist once at a
/// time. So the \p New variables of a call reuse the memory of \p Known ones,
/// which belong to other calls.
static void shareLocals(ArrayRef<AllocaInst *> New,
                        SmallVectorImpl<AllocaInst *> &Known) {
  SmallVector<AllocaInst *, 4> Free(Known.begin(), Known.end());
  for (AllocaInst *AI : New) {
    if (sizeOf(*AI) < SharedLocalSize)
      continue;
    auto It = find_if(Free, [&](AllocaInst *Other) {
      return Other->getAllocatedType() == AI->getAllocatedType() &&
             Other->getAlign() == AI->getAlign() &&
             sizeOf(*Other) == sizeOf(*AI);
    });
    if (It == Free.end()) {
      Known.push_back(AI);
      continue;
    }
    AI->replaceAllUsesWith(*It);
    AI->eraseFromParent();
    Free.erase(It);
  }
}

namespace {

/// inlineCallees()
class Inliner {
public:
  Inliner(Function &Body, const Function &Host, const PristineMap &Pristine,
          InlineLimits Limits, function_ref<bool(const Function &)> MayInline)
      : Body(Body), Host(Host), Pristine(Pristine), Limits(Limits),
        MayInline(MayInline),
        IsOptimized(!Host.hasFnAttribute(Attribute::OptimizeNone)) {}

  void run();

private:
  struct Site {
    CallBase *Call;
    int Parent; ///< in History
  };

  /// \returns true if native code calls \p F, unless the region runs natively.
  bool isKnown(const Function &F) const {
    return !mayBeInterposed(F) || (Limits.Replaceable && mayBeReplaced(F));
  }
  bool mayTake(const Function &F, unsigned MaxInstructions) const {
    return !hasProgram(F) && canInline(F, Body, Host, MaxInstructions) &&
           MayInline(F) && (Limits.NoUpCalls || !isCheaperAsOneUpCall(F));
  }
  /// If the native code does not inline a function, the compiler does not know
  /// its arguments there.
  bool testsArguments(Function &F, bool IsInlinedNatively) const {
    return IsOptimized && !IsInlinedNatively && hasConstantTest(F);
  }
  bool canBeTarget(Function &F, CallBase &Call) const;
  bool isRecursive(const Function &Callee, int Parent) const;
  bool exceedsLocals(uint64_t Bytes);
  bool inlineCall(CallBase &Call, Function &Callee, int Parent);
  void visitCall(CallBase &Call, Function &Callee, int Parent);

  Function &Body;
  const Function &Host;
  const PristineMap &Pristine;
  InlineLimits Limits;
  function_ref<bool(const Function &)> MayInline;
  bool IsOptimized;
  std::vector<std::pair<Function *, int>> History; ///< inlined, with parents
  std::vector<Site> Work;
  unsigned Total = 0;  ///< instructions that were inlined
  uint64_t Locals = 0; ///< bytes of local variables that were added
  std::optional<bool> IsRecursiveHost; ///< if known
  LocalsMap Shared;
  SmallSetVector<Function *, 4> Replaceable; ///< that were inlined
};

} // namespace

/// \returns true if \p Call of a pointer is to be compared with a call of \p F.
bool Inliner::canBeTarget(Function &F, CallBase &Call) const {
  // Code that is not position-independent gives the function an address in the
  // program. Then libcosy does not take it for the C library's, and the region
  // runs natively.
  if (F.isDeclaration())
    return F.getParent()->getPICLevel() != PICLevel::NotPIC && MayInline(F) &&
           asCallOf(F, Call, makesSystemCall);
  return &F != &Host && isKnown(F) &&
         mayTake(F, std::min<unsigned>(Limits.Callee, MaxGuessed)) &&
         !testsArguments(F, false);
}

bool Inliner::isRecursive(const Function &Callee, int Parent) const {
  for (int H = Parent; H >= 0; H = History[H].second)
    if (History[H].first == &Callee)
      return true;
  return false;
}

/// \returns the variable of \p F through which values of the type \p Ty pass.
/// It is the same for all, because each has an address in a register.
static AllocaInst *passingVariable(Function &F, Type *Ty) {
  constexpr StringLiteral Tag = "cosy.passing";
  BasicBlock &Entry = F.getEntryBlock();
  for (Instruction &I : Entry) {
    auto *Variable = dyn_cast<AllocaInst>(&I);
    if (!Variable || !Variable->hasMetadata(Tag))
      break;
    if (Variable->getAllocatedType() == Ty)
      return Variable;
  }
  AllocaInst *Variable =
      IRBuilder<>(&*Entry.getFirstInsertionPt()).CreateAlloca(Ty);
  Variable->setMetadata(Tag, MDNode::get(F.getContext(), {}));
  return Variable;
}

/// Passes the operand \p U through memory, so that simplification does not know
/// it, as native code does not know an argument of a function that is not
/// inlined.
static void hideValue(Use &U) {
  auto *I = cast<Instruction>(U.getUser());
  Type *Ty = U->getType();
  AllocaInst *Variable = passingVariable(*I->getFunction(), Ty);
  IRBuilder<> B(I);
  B.CreateStore(U, Variable, /*isVolatile=*/true);
  U.set(B.CreateLoad(Ty, Variable, /*isVolatile=*/true));
}

/// \returns true if \p Bytes are too many for the frame of Host, which a
/// recursive function has once for each level.
bool Inliner::exceedsLocals(uint64_t Bytes) {
  if (Bytes <= MaxRecursiveLocals)
    return false;
  if (!IsRecursiveHost)
    IsRecursiveHost = callsItself(Host);
  return *IsRecursiveHost || Bytes > MaxLocals;
}

/// Inlines \p Callee, unless it is recursive or a limit would be exceeded.
/// \returns whether it did.
bool Inliner::inlineCall(CallBase &Call, Function &Callee, int Parent) {
  unsigned Size = Callee.getInstructionCount();
  uint64_t Added = localsAdded(Callee, Shared);
  if (isRecursive(Callee, Parent) || Total + Size > Limits.Total ||
      exceedsLocals(Locals + Added))
    return false;
  if (IsOptimized && Callee.hasFnAttribute(Attribute::NoInline))
    for (Use &U : Call.args())
      if (isa<Constant>(U) &&
          isRegisterType(U->getType(), Body.getDataLayout()))
        hideValue(U);
  InlineFunctionInfo IFI;
  // With attributes of the callee that forbid optimizations.
  if (!InlineFunction(Call, IFI, true, nullptr, false).isSuccess())
    return false;
  ++NumInlined;
  Total += Size;
  Locals += Added;
  shareLocals(IFI.StaticAllocas, Shared[&Callee]);
  History.push_back({&Callee, Parent});
  for (CallBase *CB : IFI.InlinedCallSites)
    Work.push_back({CB, static_cast<int>(History.size()) - 1});
  return true;
}

/// Inlines \p Callee if that may and should be.
void Inliner::visitCall(CallBase &Call, Function &Callee, int Parent) {
  Function *Taken = &Callee;
  if (Function *P = Pristine.lookup(&Callee); P && !hasProgram(Callee))
    Taken = P;
  Call.setCalledFunction(Taken);
  bool IsInlinedNatively = !Taken->hasFnAttribute(Attribute::NoInline);
  bool IsInlined = isKnown(Callee) && mayTake(*Taken, Limits.Callee) &&
                   !testsArguments(*Taken, IsInlinedNatively) &&
                   inlineCall(Call, *Taken, Parent);
  if (!mayBeInterposed(Callee))
    return;
  if (IsInlined)
    Replaceable.insert(&Callee);
  else
    // Native code, too, calls the definition that the linker chooses.
    Callee.addFnAttr(Attribute::NoInline);
}

void Inliner::run() {
  for (BasicBlock &BB : Body)
    for (Instruction &I : BB)
      if (auto *CB = dyn_cast<CallBase>(&I))
        Work.push_back({CB, -1});
  for (size_t N = 0; N < Work.size(); ++N) {
    CallBase *Call = Work[N].Call;
    int Parent = Work[N].Parent;
    Function *Callee = Call->getCalledFunction();
    if (!Callee) {
      for (CallBase *Direct : guardTargets(
               *Call, [&](Function &F) { return canBeTarget(F, *Call); }))
        Work.push_back({Direct, Parent});
      continue;
    }
    if (Callee->isDeclaration() || Callee == &Host)
      continue;
    visitCall(*Call, *Callee, Parent);
  }
  addReplaceable(Body, Replaceable.getArrayRef());
  if (!IsOptimized)
    answerConstantTests(Body);
}

/// Erases the markers in \p Body. Calls that were not inlined call the original
/// functions.
static void finishInlining(Function &Body, const PristineMap &Pristine) {
  DenseMap<Function *, Function *> Original;
  for (auto [F, P] : Pristine)
    Original[P] = F;
  for (BasicBlock &BB : Body)
    for (Instruction &I : make_early_inc_range(BB)) {
      // Loops are split after COSY_ASYNC functions have been compiled.
      if (asMarker(I, StartMarker) || asMarker(I, EndMarker) ||
          asMarker(I, BatchMarker) || asMarker(I, BatchStepMarker))
        I.eraseFromParent();
      else if (auto *CB = dyn_cast<CallBase>(&I))
        if (Function *F = Original.lookup(CB->getCalledFunction()))
          CB->setCalledFunction(F);
    }
}

void inlineCallees(Function &Body, const Function &Host,
                   const PristineMap &Pristine, InlineLimits Limits,
                   function_ref<bool(const Function &)> MayInline) {
  Inliner(Body, Host, Pristine, Limits, MayInline).run();
  // The native code of a loop that is split is the loop as it was.
  closeSplitGates(Body);
  finishInlining(Body, Pristine);
}

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

/// Makes the access \p I happen, and with the value that memory has then,
/// unless it is to a variable of the body.
static void fixAccess(Instruction &I) {
  auto IsPrivate = [](const Value *Pointer) {
    return isa<AllocaInst>(getUnderlyingObject(Pointer));
  };
  if (auto *MI = dyn_cast<MemIntrinsic>(&I)) {
    auto *Copy = dyn_cast<MemTransferInst>(MI);
    if (!IsPrivate(MI->getDest()) || (Copy && !IsPrivate(Copy->getSource())))
      MI->setVolatile(ConstantInt::getTrue(I.getContext()));
  } else if (auto *LI = dyn_cast<LoadInst>(&I)) {
    if (!IsPrivate(LI->getPointerOperand()))
      LI->setVolatile(true);
  } else if (auto *SI = dyn_cast<StoreInst>(&I)) {
    if (!IsPrivate(SI->getPointerOperand()))
      SI->setVolatile(true);
  }
}

/// \returns true if simplification could compute \p I with another result than
/// the processor, or move or remove its trap.
static bool dependsOnProcessor(const Instruction &I) {
  if (I.isIntDivRem()) {
    auto *By = dyn_cast<ConstantInt>(I.getOperand(1));
    return !By || By->isZero() || By->isMinusOne();
  }
  if (!isa<BinaryOperator, CastInst, FCmpInst, IntrinsicInst>(I) ||
      !I.getType()->isSingleValueType())
    return false;
  return I.getType()->isFPOrFPVectorTy() ||
         I.getOperand(0)->getType()->isFPOrFPVectorTy();
}

/// Hides an operand of \p I, the divisor of a division, and constants, and uses
/// the result at once, so that \p I is computed here, also if only some paths
/// use the result, or none.
static void fixResult(Instruction &I) {
  hideValue(I.getOperandUse(isa<BinaryOperator>(I) ? 1 : 0));
  for (Use &U : I.operands())
    if (isa<Constant>(U) &&
        (isa<BinaryOperator>(I) || U->getType()->isFPOrFPVectorTy()))
      hideValue(U);
  IRBuilder<>(I.getNextNode())
      .CreateStore(&I, passingVariable(*I.getFunction(), I.getType()),
                   /*isVolatile=*/true);
}

/// The tag of a bundle of calls that are made where the source says. So LLVM
/// does not use what the callee's attributes promise.
static constexpr StringLiteral KeptCallTag = "cosy.kept";

static uint32_t keptCallTag(LLVMContext &Ctx) {
  return Ctx.getOrInsertBundleTag(KeptCallTag)->getValue();
}

/// Replaces \p CB by \p New, which differs only in its bundles.
static void replaceCall(CallBase &CB, CallBase &New) {
  New.copyMetadata(CB);
  New.takeName(&CB);
  CB.replaceAllUsesWith(&New);
  CB.eraseFromParent();
}

/// Keeps calls in \p Body that LLVM could merge, move or remove, except of the
/// C library, which does what it promises.
static void keepCalls(Function &Body) {
  uint32_t Tag = keptCallTag(Body.getContext());
  for (Instruction &I : make_early_inc_range(instructions(Body))) {
    auto *CI = dyn_cast<CallInst>(&I);
    if (!CI || isa<IntrinsicInst>(CI) || !CI->onlyReadsMemory() ||
        CI->getOperandBundle(Tag) || isErrnoAddress(CI) || libraryFunction(*CI))
      continue;
    OperandBundleDef Bundle(KeptCallTag.str(), std::vector<Value *>());
    CallBase *Kept =
        CallBase::addOperandBundle(CI, Tag, Bundle, CI->getIterator());
    Kept->removeFnAttr(Attribute::Memory);
    replaceCall(*CI, *Kept);
  }
}

void releaseCalls(Function &F) {
  uint32_t Tag = keptCallTag(F.getContext());
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (auto *CI = dyn_cast<CallInst>(&I); CI && CI->getOperandBundle(Tag))
      replaceCall(*CI,
                  *CallBase::removeOperandBundle(CI, Tag, CI->getIterator()));
}

/// Drops what attributes of \p Call and of its callee promise of pointers.
/// Native code without optimization does not use it.
static void dropPromises(CallBase &Call) {
  static constexpr Attribute::AttrKind Promises[] = {
      Attribute::NonNull, Attribute::NoAlias, Attribute::Dereferenceable,
      Attribute::DereferenceableOrNull, Attribute::Alignment};
  Function *Callee = Call.getCalledFunction();
  for (Attribute::AttrKind Kind : Promises) {
    Call.removeRetAttr(Kind);
    if (Callee)
      Callee->removeRetAttr(Kind);
    for (unsigned N = 0; N < Call.arg_size(); ++N) {
      // Attributes of an argument in memory describe that memory.
      if (Call.isPassPointeeByValueArgument(N) ||
          Call.paramHasAttr(N, Attribute::StructRet))
        continue;
      Call.removeParamAttr(N, Kind);
      if (Callee && N < Callee->arg_size())
        Callee->removeParamAttr(N, Kind);
    }
  }
}

PreservedAnalyses DefineValuesPass::runOnBody(Function &Body,
                                              FunctionAnalysisManager &) {
  // An access by a null pointer faults, and is not undefined.
  Body.addFnAttr(Attribute::NullPointerIsValid);
  SmallVector<Instruction *, 4> Fixed;
  for (BasicBlock &BB : Body)
    for (Instruction &I : make_early_inc_range(BB)) {
      if (isa<AssumeInst>(I)) {
        I.eraseFromParent();
        continue;
      }
      I.dropPoisonGeneratingAnnotations();
      I.dropUBImplyingAttrsAndMetadata();
      fixAccess(I);
      if (dependsOnProcessor(I))
        Fixed.push_back(&I);
      if (auto *CB = dyn_cast<CallBase>(&I)) {
        if (!isa<IntrinsicInst>(CB))
          dropPromises(*CB);
        continue;
      }
      for (Use &U : I.operands())
        if (isa<UndefValue>(U))
          U.set(Constant::getNullValue(U->getType()));
      // For a shift by too many bits, the processor and compounds use only the
      // low bits of the amount.
      if (I.isShift() && I.getType()->isIntegerTy() &&
          isPowerOf2_32(I.getType()->getIntegerBitWidth())) {
        unsigned Bits = I.getType()->getIntegerBitWidth();
        I.setOperand(1, IRBuilder<>(&I).CreateAnd(I.getOperand(1), Bits - 1));
      }
    }
  for (Instruction *I : Fixed)
    fixResult(*I);
  keepCalls(Body);
  PreservedAnalyses PA;
  PA.preserveSet<CFGAnalyses>();
  return PA;
}

static void sinkIncrements(LoopInfo &LI) {
  for (Loop *L : LI.getLoopsInPreorder()) {
    BasicBlock *Latch = L->getLoopLatch();
    if (!Latch)
      continue;
    for (PHINode &P : L->getHeader()->phis()) {
      auto *I = dyn_cast<Instruction>(P.getIncomingValueForBlock(Latch));
      if (!I || !L->contains(I) || I->mayHaveSideEffects() ||
          I->mayReadFromMemory() || isa<PHINode>(I) || I->isTerminator() ||
          !is_contained(I->operands(), &P) ||
          LI.getLoopFor(I->getParent()) != L)
        continue;
      // Other operands cannot change before the latch, because they are SSA
      // values.
      Instruction *At = Latch->getTerminator();
      bool Movable = true;
      for (User *U : I->users()) {
        auto *UI = cast<Instruction>(U);
        if (UI == &P)
          continue;
        auto *Cmp = dyn_cast<ICmpInst>(UI);
        if (Cmp && Cmp->getParent() == Latch && Cmp->hasOneUse() &&
            Cmp->user_back() == Latch->getTerminator()) {
          Cmp->moveBefore(*Latch, Latch->getTerminator()->getIterator());
          if (At == Latch->getTerminator())
            At = Cmp;
          continue;
        }
        Movable = false;
      }
      if (Movable)
        I->moveBefore(*At->getParent(), At->getIterator());
    }
  }
}

static void mergeAllocas(Function &F) {
  const DataLayout &DL = F.getDataLayout();
  SmallVector<AllocaInst *, 16> All;
  for (Instruction &I : F.getEntryBlock())
    if (auto *AI = dyn_cast<AllocaInst>(&I); AI && AI->isStaticAlloca())
      All.push_back(AI);
  if (All.size() < 2)
    return;
  uint64_t Size = 0;
  Align Max(1);
  SmallVector<uint64_t, 16> Offsets;
  for (AllocaInst *AI : All) {
    Size = alignTo(Size, AI->getAlign());
    Offsets.push_back(Size);
    Size += AI->getAllocationSize(DL)->getFixedValue();
    Max = std::max(Max, AI->getAlign());
  }
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *One = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), Size));
  One->setAlignment(Max);
  for (auto [AI, Off] : zip(All, Offsets))
    AI->replaceAllUsesWith(Off ? B.CreateConstGEP1_64(B.getInt8Ty(), One, Off)
                               : One);
  for (AllocaInst *AI : All)
    AI->eraseFromParent();
}

static bool canRunLoopPasses(Function &F, FunctionAnalysisManager &FAM) {
  if (any_of(F, [](BasicBlock &BB) {
        return BB.hasNPredecessorsOrMore(MaxLoopPredecessors);
      }))
    return false;
  return uint64_t(FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder().size()) *
             F.getInstructionCount() <
         MaxLoopWork;
}

/// Returns true if \p F has a switch whose value depends on the predecessor.
/// clang makes one after a block with variables that is left by `break` and
/// `continue`.
static bool switchesOnConstants(Function &F) {
  return any_of(F, [](BasicBlock &BB) {
    auto *S = dyn_cast<SwitchInst>(BB.getTerminator());
    auto *Br = dyn_cast<BranchInst>(BB.getTerminator());
    Value *On = S                           ? S->getCondition()
                : Br && Br->isConditional() ? Br->getCondition()
                                            : nullptr;
    if (auto *Cmp = dyn_cast_or_null<ICmpInst>(On))
      On = Cmp->getOperand(0);
    auto *P = dyn_cast_or_null<PHINode>(On);
    return P &&
           any_of(P->operands(), [](Use &U) { return isa<ConstantInt>(U); });
  });
}

PreservedAnalyses ThreadSwitchesPass::runOnBody(Function &Body,
                                                FunctionAnalysisManager &FAM) {
  if (!switchesOnConstants(Body))
    return PreservedAnalyses::all();
  FunctionPassManager FPM;
  FPM.addPass(JumpThreadingPass());
  FPM.addPass(SimplifyCFGPass());
  return FPM.run(Body, FAM);
}

PreservedAnalyses ErrorCallsPass::runOnBody(Function &Body,
                                            FunctionAnalysisManager &FAM) {
  SmallVector<CallInst *, 4> Calls;
  for (Instruction &I : instructions(Body))
    if (auto *CI = dyn_cast<CallInst>(&I);
        CI && CI->getCalledFunction() &&
        CI->getCalledFunction()->hasFnAttribute("dontcall-error"))
      Calls.push_back(CI);
  if (Calls.empty())
    return PreservedAnalyses::all();
  // Of several calls in a block, the first one remains.
  for (CallInst *CI : reverse(Calls))
    changeToUnreachable(CI);
  FunctionPassManager FPM;
  FPM.addPass(SimplifyCFGPass());
  FPM.run(Body, FAM);
  return PreservedAnalyses::none();
}

PreservedAnalyses LoopsPass::runOnBody(Function &Body,
                                       FunctionAnalysisManager &FAM) {
  if (!canRunLoopPasses(Body, FAM))
    return PreservedAnalyses::all();
  FunctionPassManager FPM;
  LoopPassManager Rotate;
  Rotate.addPass(LoopRotatePass());
  Rotate.addPass(LICMPass(LICMOptions()));
  FPM.addPass(createFunctionToLoopPassAdaptor(std::move(Rotate), true));
  FPM.addPass(SimplifyCFGPass());
  FPM.addPass(InstCombinePass());
  FPM.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
  return FPM.run(Body, FAM);
}

PreservedAnalyses NarrowSwitchesPass::runOnBody(Function &Body,
                                                FunctionAnalysisManager &) {
  for (BasicBlock &BB : Body) {
    auto *S = dyn_cast<SwitchInst>(BB.getTerminator());
    if (!S || isScalarInt(S->getCondition()->getType()))
      continue;
    // One up-call makes all comparisons.
    IRBuilder<> B(S);
    Value *Wide = S->getCondition(), *Number = B.getInt32(0);
    unsigned N = 0;
    for (auto &C : S->cases()) {
      Value *Is = B.CreateICmpEQ(Wide, C.getCaseValue());
      ConstantInt *This = B.getInt32(++N);
      Number = B.CreateSelect(Is, This, Number);
      C.setValue(This);
    }
    S->setCondition(Number);
  }
  PreservedAnalyses PA;
  PA.preserveSet<CFGAnalyses>();
  return PA;
}

PreservedAnalyses SinkIncrementsPass::runOnBody(Function &Body,
                                                FunctionAnalysisManager &FAM) {
  sinkIncrements(FAM.getResult<LoopAnalysis>(Body));
  PreservedAnalyses PA;
  PA.preserveSet<CFGAnalyses>();
  return PA;
}

PreservedAnalyses MergeLocalsPass::runOnBody(Function &Body,
                                             FunctionAnalysisManager &) {
  mergeAllocas(Body);
  PreservedAnalyses PA;
  PA.preserveSet<CFGAnalyses>();
  return PA;
}

PreservedAnalyses SplitEdgesPass::runOnBody(Function &Body,
                                            FunctionAnalysisManager &) {
  SplitAllCriticalEdges(Body);
  for (BasicBlock &BB : Body)
    if (BB.getSinglePredecessor())
      FoldSingleEntryPHINodes(&BB);
  return PreservedAnalyses::none();
}

PreservedAnalyses SpillPass::runOnBody(Function &Body,
                                       FunctionAnalysisManager &) {
  constexpr unsigned Near = 64;
  DenseMap<Instruction *, unsigned> Place;
  unsigned N = 0;
  for (BasicBlock &BB : Body)
    for (Instruction &I : BB)
      Place[&I] = N++;
  SmallVector<Instruction *, 64> Long;
  for (auto &BB : Body)
    for (Instruction &I : BB)
      if (!isa<AllocaInst>(I) && any_of(I.users(), [&](User *U) {
            auto *UI = cast<Instruction>(U);
            return UI->getParent() != &BB || Place[UI] - Place[&I] > Near;
          }))
        Long.push_back(&I);
  // Demote phis first. Their incoming values, which are stored at the end of
  // the predecessors, are then loaded directly before those stores. A phi's
  // slot is written while its old value may still be live, so the old value
  // gets a slot of its own.
  SmallVector<Instruction *, 64> Values;
  for (Instruction *I : Long) {
    auto *P = dyn_cast<PHINode>(I);
    if (!P) {
      Values.push_back(I);
      continue;
    }
    AllocaInst *Slot = DemotePHIToStack(P);
    for (User *U : Slot->users())
      if (auto *Load = dyn_cast<LoadInst>(U))
        Values.push_back(Load);
  }
  for (Instruction *I : Values)
    DemoteRegToStack(*I);
  mergeAllocas(Body);
  NumSpilled += Values.size();
  return PreservedAnalyses::none();
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

void addSimplification(FunctionPassManager &FPM) {
  FPM.addPass(SROAPass(SROAOptions::ModifyCFG));
  FPM.addPass(EarlyCSEPass(true));
  FPM.addPass(LowerConstantIntrinsicsPass());
  FPM.addPass(SimplifyCFGPass());
  FPM.addPass(InstCombinePass());
  FPM.addPass(SROAPass(SROAOptions::ModifyCFG));
  FPM.addPass(SimplifyCFGPass());
  FPM.addPass(FortifyPass());
  FPM.addPass(ThinCallsPass());
  FPM.addPass(StringsPass());
  FPM.addPass(MutexesPass());
  FPM.addPass(AtomicsPass());
  FPM.addPass(ThreadSwitchesPass());
  FPM.addPass(ErrorCallsPass());
  FPM.addPass(LoopsPass());
  FPM.addPass(LegalizePass());
  FPM.addPass(EarlyCSEPass(true));
  FPM.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
  FPM.addPass(ADCEPass());
  FPM.addPass(SimplifyCFGPass());
  FPM.addPass(NarrowSwitchesPass()); // SimplifyCFG makes wide switches
  FPM.addPass(LoopSimplifyPass());
  FPM.addPass(SinkIncrementsPass());
  FPM.addPass(MergeLocalsPass());
  FPM.addPass(RecognisePass());
}

void addGrouping(FunctionPassManager &FPM) {
  FPM.addPass(SplitEdgesPass());
  FPM.addPass(JoinCallsPass());
  FPM.addPass(GroupUpCallsPass());
  FPM.addPass(FastPathsPass());
}

} // namespace cosy
