// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Thunk.cpp - The native functions of up-calls -----------------------===//
#include "codegen/Thunk.h"
#include "body/Body.h"
#include "body/LibraryCalls.h"
#include "body/Outline.h"
#include "support/Names.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace cosy {

namespace {

/// Places of the region's instructions in its thunk. For a debugger the thunk
/// is a function into which code of the host was inlined. So its frame shows
/// the host and the lines of the source.
class ThunkLocations {
public:
  ThunkLocations(const UpCall &Call, Function &Thunk, const Function &Host) {
    DISubprogram *Of = Host.getSubprogram();
    Fallback = Call.Culprit->getDebugLoc();
    if (!Of || !Fallback)
      return;
    LLVMContext &Ctx = Thunk.getContext();
    auto *Type =
        DISubroutineType::get(Ctx, DINode::FlagZero, 0, MDNode::get(Ctx, {}));
    auto *SP = DISubprogram::getDistinct(
        Ctx, Of->getFile(), Thunk.getName(), Thunk.getName(), Of->getFile(),
        Fallback->getLine(), Type, Fallback->getLine(), nullptr, 0, 0,
        DINode::FlagArtificial,
        DISubprogram::SPFlagDefinition | DISubprogram::SPFlagLocalToUnit |
            (Of->isOptimized() ? DISubprogram::SPFlagOptimized
                               : DISubprogram::SPFlagZero),
        Of->getUnit());
    Thunk.setSubprogram(SP);
    Site = DILocation::getDistinct(Ctx, Fallback->getLine(),
                                   Fallback->getColumn(), SP);
  }

  DebugLoc of(const DebugLoc &Own) {
    if (!Site)
      return DebugLoc();
    const DebugLoc &Loc = Own ? Own : Fallback;
    DILocation *At =
        DebugLoc::appendInlinedAt(Loc, Site, Site->getContext(), Cache);
    return DILocation::get(Site->getContext(), Loc->getLine(), Loc->getColumn(),
                           Loc->getScope(), At);
  }

private:
  DebugLoc Fallback;
  DILocation *Site = nullptr;
  DenseMap<const MDNode *, MDNode *> Cache;
};

} // namespace

/// Inlines into \p Thunk the outlined pieces that \p Copies call.
static void inlinePieces(Function &Thunk, ArrayRef<Instruction *> Copies,
                         ThunkLocations &Locations) {
  SmallPtrSet<const Instruction *, 32> Located;
  for (const Instruction &I : instructions(Thunk))
    Located.insert(&I);
  bool Any = false;
  for (Instruction *I : Copies) {
    if (!outlinedPieceOf(*I))
      continue;
    // If the call has no place, the places of the piece are kept.
    I->setDebugLoc(DebugLoc());
    InlineFunctionInfo IFI;
    [[maybe_unused]] InlineResult Result =
        InlineFunction(*cast<CallInst>(I), IFI, false, nullptr, false);
    assert(Result.isSuccess() && "an outlined piece can be taken in");
    Any = true;
  }
  if (!Any)
    return;
  for (Instruction &I : instructions(Thunk)) {
    if (Located.count(&I))
      continue;
    I.setDebugLoc(Locations.of(I.getDebugLoc()));
    updateLoopMetadataDebugLocations(I, [&](Metadata *M) -> Metadata * {
      auto *Loc = dyn_cast_or_null<DILocation>(M);
      return Loc ? Locations.of(Loc).get() : M;
    });
  }
}

/// Makes \p Thunk call functions with the attribute warning through pointers,
/// so that clang reports such calls only in native code. There it knows more
/// about the region's inputs, and may have removed the call.
static void hideWarnedCalls(Function &Thunk) {
  for (Instruction &I : instructions(Thunk)) {
    auto *CB = dyn_cast<CallBase>(&I);
    if (!CB || !CB->getCalledFunction() ||
        !CB->getCalledFunction()->hasFnAttribute("dontcall-warn"))
      continue;
    IRBuilder<> B(CB);
    Type *Ptr = CB->getCalledOperand()->getType();
    InlineAsm *Hide =
        InlineAsm::get(FunctionType::get(Ptr, {Ptr}, false), "", "=r,0", false);
    CB->setCalledOperand(B.CreateCall(Hide, {CB->getCalledOperand()}));
  }
}

/// \returns true if \p A, an attribute of the host, says how the host's code is
/// compiled, wherever that code is.
static bool affectsCode(Attribute A) {
  if (A.isStringAttribute()) {
    StringRef Kind = A.getKindAsString();
    if (Kind.starts_with("cosy-"))
      return Kind == AutoAttribute || Kind == TerminateAttribute;
    // Others concern whole functions, or are the body's. Without a minimal
    // width, all vectors are passed as their processor passes them.
    return !instruments(A) && !isNoBuiltin(A) &&
           !Kind.starts_with("dontcall") &&
           !is_contained({"target-cpu", "target-features", "tune-cpu", "thunk",
                          "min-legal-vector-width", "alloc-family",
                          "warn-stack-size"},
                         Kind);
  }
  switch (A.getKindAsEnum()) {
  case Attribute::DisableSanitizerInstrumentation:
  case Attribute::FnRetThunkExtern:
  case Attribute::MinSize:
  case Attribute::NoCfCheck:
  case Attribute::NoImplicitFloat:
  case Attribute::NonLazyBind:
  case Attribute::NoProfile:
  case Attribute::NoRedZone:
  case Attribute::NoSanitizeBounds:
  case Attribute::NoSanitizeCoverage:
  case Attribute::NullPointerIsValid:
  case Attribute::OptimizeForSize:
  case Attribute::OptimizeNone:
  case Attribute::SafeStack:
  case Attribute::SanitizeAddress:
  case Attribute::SanitizeHWAddress:
  case Attribute::SanitizeMemory:
  case Attribute::SanitizeThread:
  case Attribute::ShadowCallStack:
  case Attribute::SkipProfile:
  case Attribute::SpeculativeLoadHardening:
  case Attribute::StackProtect:
  case Attribute::StackProtectReq:
  case Attribute::StackProtectStrong:
  case Attribute::StrictFP:
  case Attribute::UWTable:
    return true;
  default:
    return false;
  }
}

/// Declares a thunk that is compiled as \p Host is, for the processor of
/// \p Body: with link-time optimization, one body may have several hosts.
static Function *declareThunk(const Function &Host, const Function &Body,
                              const Twine &Name) {
  Module &M = *const_cast<Function &>(Host).getParent();
  LLVMContext &Ctx = M.getContext();
  auto *FT = FunctionType::get(Type::getVoidTy(Ctx), {PointerType::get(Ctx, 0)},
                               false);
  Function *Thunk = Function::Create(FT, GlobalValue::InternalLinkage, Name, M);
  Thunk->addFnAttr(Attribute::NoInline);
  Thunk->addFnAttr(ThunkAttribute);
  for (StringRef Kind : {"target-cpu", "target-features", "tune-cpu"})
    if (Body.hasFnAttribute(Kind))
      Thunk->addFnAttr(Body.getFnAttribute(Kind));
  for (Attribute A : Body.getAttributes().getFnAttrs())
    if (isNoBuiltin(A))
      Thunk->addFnAttr(A);
  for (Attribute A : Host.getAttributes().getFnAttrs())
    if (affectsCode(A))
      Thunk->addFnAttr(A);
  // The host must be in backtraces of the functions that it calls, as natively.
  Thunk->addFnAttr("disable-tail-calls", "true");
  Thunk->getArg(0)->setName("frame");
  return Thunk;
}

Function *createThunk(const UpCall &Call, ArrayRef<Reg> Uses,
                      ArrayRef<Reg> Defs, const Twine &Name,
                      const Function &Host, bool OwnErrno) {
  Function *Thunk =
      declareThunk(Host, *Call.Insts.front()->getFunction(), Name);
  Argument *Frame = Thunk->getArg(0);
  IRBuilder<> B(BasicBlock::Create(Thunk->getContext(), "", Thunk));
  const DataLayout &DL = Thunk->getDataLayout();
  Type *I64 = B.getInt64Ty();
  auto Slot = [&](Reg R) {
    return B.CreateConstInBoundsGEP1_64(I64, Frame, R);
  };
  auto IntType = [&](Type *Ty) {
    return B.getIntNTy(DL.getTypeSizeInBits(Ty).getFixedValue());
  };

  ThunkLocations Locations(Call, *Thunk, Host);
  B.SetCurrentDebugLocation(Locations.of(Call.Culprit->getDebugLoc()));
  ValueToValueMapTy Map;
  for (auto [V, R] : zip(Call.Uses, Uses)) {
    if (auto *CI = dyn_cast<CallInst>(V);
        CI && OwnErrno && isErrnoAddress(CI)) {
      Map[V] = B.CreateCall(CI->getFunctionType(), CI->getCalledOperand());
      continue;
    }
    Type *Ty = V->getType();
    Value *Raw = B.CreateLoad(I64, Slot(R));
    if (Ty->isPointerTy())
      Map[V] = B.CreateIntToPtr(Raw, Ty);
    else
      Map[V] = B.CreateBitCast(B.CreateTrunc(Raw, IntType(Ty)), Ty);
  }
  SmallVector<Instruction *, 8> Copies;
  for (Instruction *I : Call.Insts) {
    Instruction *New = I->clone();
    New->dropDbgRecords();
    New->setMetadata(UpCallName, nullptr);
    New->setMetadata(LLVMContext::MD_DIAssignID,
                     nullptr); // the host's variable
    B.Insert(New);
    New->setDebugLoc(Locations.of(I->getDebugLoc()));
    Map[I] = New;
    RemapInstruction(New, Map,
                     RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
    Copies.push_back(New);
  }
  for (auto [I, R] : zip(Call.Defs, Defs)) {
    Value *V = Map[I];
    Type *Ty = V->getType();
    if (Ty->isPointerTy())
      V = B.CreatePtrToInt(V, I64);
    else
      V = B.CreateZExt(B.CreateBitCast(V, IntType(Ty)), I64);
    B.CreateStore(V, Slot(R));
  }
  B.CreateRetVoid();
  inlinePieces(*Thunk, Copies, Locations);
  releaseCalls(*Thunk);
  hideWarnedCalls(*Thunk);
  return Thunk;
}

} // namespace cosy
