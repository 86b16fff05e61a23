// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UpCalls.cpp - What a compound leaves to native code ----------------===//
#include "body/UpCalls.h"
#include "async/AsyncParts.h"
#include "body/Operations.h"
#include "body/Outline.h"
#include "body/SystemCallShape.h"
#include "bpf/Function.h"
#include "link/Deferred.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace cosy {

/// \returns true if \p A explains an up-call better than \p B.
static bool saysMore(const Instruction &A, const Instruction &B) {
  auto Rank = [](const Instruction &I) {
    return isa<CallBase>(I) ? outlinedPieceOf(I) ? 1 : 2 : 0;
  };
  return Rank(A) > Rank(B);
}

static UpCallList group(Function &Body) {
  const DataLayout &DL = Body.getDataLayout();
  UpCallList List;
  for (BasicBlock &BB : Body) {
    UpCall Cur;
    SmallVector<Instruction *, 16> Gap; // operations since then, native as well
    auto Finish = [&] {
      if (!Cur.Insts.empty())
        List.Calls.push_back(std::move(Cur));
      Cur = UpCall();
      Gap.clear();
    };
    for (Instruction &I : BB) {
      if (isa<PHINode>(I))
        continue;
      if (isUserFunctionCall(I)) {
        Finish();
        Cur.Insts.push_back(&I);
        Cur.Culprit = &I;
        Finish();
        continue;
      }
      if (!isOperation(I, DL)) {
        Cur.Insts.append(Gap.begin(), Gap.end());
        Gap.clear();
        Cur.Insts.push_back(&I);
        const Instruction &Why = culpritOf(I);
        if (!Cur.Culprit || saysMore(Why, *Cur.Culprit))
          Cur.Culprit = const_cast<Instruction *>(&Why);
        continue;
      }
      if (Cur.Insts.empty() || isHostComputed(I))
        continue;
      if (I.isTerminator() || isSystemCall(I) || isStopTest(I) || isExit(I))
        Finish();
      else
        Gap.push_back(&I);
    }
    Finish();
  }
  for (auto [N, Call] : enumerate(List.Calls))
    for (Instruction *I : Call.Insts)
      List.Of[I] = N;
  for (auto [N, Call] : enumerate(List.Calls)) {
    SmallPtrSet<Value *, 8> Seen;
    auto Inside = [&, N = N](const Value *V) {
      auto *I = dyn_cast<Instruction>(V);
      auto It = I ? List.Of.find(I) : List.Of.end();
      return It != List.Of.end() && It->second == N;
    };
    for (Instruction *I : Call.Insts) {
      for (Value *V : I->operands())
        if ((isa<Instruction>(V) || isa<Argument>(V)) && !Inside(V) &&
            Seen.insert(V).second)
          Call.Uses.push_back(V);
      if (any_of(I->users(), [&](User *U) { return !Inside(U); }))
        Call.Defs.push_back(I);
    }
  }
  return List;
}

UpCallList findUpCalls(Function &Body) {
  const DataLayout &DL = Body.getDataLayout();
  while (true) {
    UpCallList List = group(Body);
    // What is too wide for a register goes through memory; the loads and
    // stores then belong to the groups.
    SmallSetVector<Instruction *, 8> Wide;
    for (const UpCall &Call : List.Calls) {
      for (Value *V : Call.Uses)
        if (!isRegisterType(V->getType(), DL))
          Wide.insert(cast<Instruction>(V));
      for (Instruction *I : Call.Defs)
        if (!isRegisterType(I->getType(), DL))
          Wide.insert(I);
    }
    for (BasicBlock &BB : Body)
      for (PHINode &P : BB.phis())
        if (!isRegisterType(P.getType(), DL))
          Wide.insert(&P);
    if (Wide.empty())
      return List;
    for (Instruction *I : Wide) {
      if (auto *P = dyn_cast<PHINode>(I))
        DemotePHIToStack(P);
      else
        DemoteRegToStack(*I);
    }
  }
}

namespace {

/// Places of the region's instructions in its thunk. For a debugger the thunk
/// is a function of its own, into which a piece of the region's function was
/// inlined: so its frame shows that function and the user's lines.
class ThunkLocations {
public:
  ThunkLocations(const UpCall &Call, Function &Thunk, const Function &Host) {
    DISubprogram *Of = Host.getSubprogram();
    Fallback = Call.Culprit->getDebugLoc();
    if (!Of || !Fallback)
      return;
    LLVMContext &Ctx = Thunk.getContext();
    auto *Type = DISubroutineType::get(Ctx, DINode::FlagZero, 0,
                                       DITypeRefArray(MDNode::get(Ctx, {})));
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

/// Takes the outlined pieces that \p Copies call into \p Thunk.
static void takePiecesIn(Function &Thunk, ArrayRef<Instruction *> Copies,
                         ThunkLocations &Locations) {
  SmallPtrSet<const Instruction *, 32> Located;
  for (const Instruction &I : instructions(Thunk))
    Located.insert(&I);
  bool Any = false;
  for (Instruction *I : Copies) {
    if (!outlinedPieceOf(*I))
      continue;
    // Without a place of the call those of the piece stay what they are.
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

Function *createThunk(const UpCall &Call, ArrayRef<Reg> Uses,
                      ArrayRef<Reg> Defs, const Twine &Name,
                      const Function &Host, bool OwnErrno) {
  Module &M = *const_cast<Function &>(Host).getParent();
  LLVMContext &Ctx = M.getContext();
  auto *FT = FunctionType::get(Type::getVoidTy(Ctx), {PointerType::get(Ctx, 0)},
                               false);
  Function *Thunk = Function::Create(FT, GlobalValue::InternalLinkage, Name, M);
  Thunk->addFnAttr(Attribute::NoInline);
  for (StringRef Kind :
       {"target-cpu", "target-features", "tune-cpu", "frame-pointer",
        "no-trapping-math", AutoAttribute.data()})
    if (Host.hasFnAttribute(Kind))
      Thunk->addFnAttr(Host.getFnAttribute(Kind));
  for (Attribute::AttrKind Kind :
       {Attribute::UWTable, Attribute::StrictFP, Attribute::SanitizeAddress,
        Attribute::SanitizeThread, Attribute::SanitizeMemory,
        Attribute::StackProtect, Attribute::StackProtectStrong,
        Attribute::StackProtectReq})
    if (Host.hasFnAttribute(Kind))
      Thunk->addFnAttr(Host.getFnAttribute(Kind));
  // The region's function is in a backtrace from what it calls, as natively.
  Thunk->addFnAttr("disable-tail-calls", "true");
  Argument *Frame = Thunk->getArg(0);
  Frame->setName("frame");

  IRBuilder<> B(BasicBlock::Create(Ctx, "", Thunk));
  const DataLayout &DL = M.getDataLayout();
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
        CI && OwnErrno && isErrnoAddress(*CI)) {
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
  takePiecesIn(*Thunk, Copies, Locations);
  return Thunk;
}

std::string describe(const Instruction &I) {
  if (outlinedPieceOf(I))
    return "code that takes longer as operations";
  if (auto *CB = dyn_cast<CallBase>(&I)) {
    if (CB->isInlineAsm())
      return "inline assembly";
    if (const Function *F = CB->getCalledFunction())
      return ("call of " + F->getName()).str();
    return "call through a pointer";
  }
  if (isa<AtomicRMWInst>(I) || isa<AtomicCmpXchgInst>(I) || isa<FenceInst>(I) ||
      I.isAtomic())
    return "atomic operation";
  for (Type *Ty : {I.getType(), I.getOperand(0)->getType()}) {
    if (Ty->isVectorTy())
      return "vector operation";
    if (Ty->isFloatingPointTy())
      return "floating point";
    if (Ty->isIntegerTy())
      return "integer wider than 64 bits";
  }
  return std::string("operation ") + I.getOpcodeName();
}

} // namespace cosy
