// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndirectCalls.cpp - Calls through pointers -------------------------===//
#include "body/IndirectCalls.h"
#include "support/Thresholds.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/ProfileData/InstrProf.h"
#include "llvm/Support/Debug.h"
#include "llvm/Transforms/Utils/CallPromotionUtils.h"

#define DEBUG_TYPE "cosy-body"

using namespace llvm;

STATISTIC(NumGuarded, "Functions with which pointers are compared");

namespace cosy {

using FunctionList = SmallVector<Function *, 4>;

/// \returns the functions that \p Call can call, if LLVM knows that.
static FunctionList knownTargets(const CallBase &Call) {
  FunctionList List;
  if (const MDNode *Callees = Call.getMetadata(LLVMContext::MD_callees))
    for (const MDOperand &Op : Callees->operands())
      if (auto *F = mdconst::dyn_extract_or_null<Function>(Op))
        List.push_back(F);
  return List;
}

/// \returns the functions that \p Call has called most often, by a profile.
static FunctionList profiledTargets(CallBase &Call) {
  FunctionList List;
  uint64_t Total = 0;
  auto Counts = getValueProfDataFromInst(Call, IPVK_IndirectCallTarget,
                                         MaxTargets, Total);
  if (Counts.empty())
    return List;
  InstrProfSymtab Functions;
  if (Error E = Functions.create(*Call.getModule())) {
    consumeError(std::move(E));
    return List;
  }
  for (const InstrProfValueData &Count : Counts)
    if (Function *F = Functions.getFunction(Count.Value))
      List.push_back(F);
  return List;
}

/// \returns the only value that is stored in \p Slot, or null.
static Value *onlyStored(AllocaInst &Slot) {
  Value *Stored = nullptr;
  for (User *U : Slot.users()) {
    if (isa<LoadInst>(U) || cast<Instruction>(U)->isLifetimeStartOrEnd())
      continue;
    auto *S = dyn_cast<StoreInst>(U);
    if (!S || S->getPointerOperand() != &Slot || Stored)
      return nullptr;
    Stored = S->getValueOperand();
  }
  return Stored;
}

/// \returns the constant that \p V has if variables of the program have their
/// initial values, or null. Calls have been inlined into the body, but local
/// variables are in memory.
static Constant *initialValue(Value *V, const DataLayout &DL,
                              unsigned Depth = 8) {
  if (auto *C = dyn_cast<Constant>(V))
    return C;
  auto *Load = dyn_cast<LoadInst>(V);
  if (!Load || !Depth)
    return nullptr;
  if (auto *Slot = dyn_cast<AllocaInst>(Load->getPointerOperand())) {
    Value *Stored = onlyStored(*Slot);
    return Stored && Stored->getType() == Load->getType()
               ? initialValue(Stored, DL, Depth - 1)
               : nullptr;
  }
  APInt Offset(DL.getIndexTypeSizeInBits(Load->getPointerOperandType()), 0);
  Value *Base = Load->getPointerOperand()->stripAndAccumulateConstantOffsets(
      DL, Offset, /*AllowNonInbounds=*/true);
  Constant *Address = initialValue(Base, DL, Depth - 1);
  if (!Address)
    return nullptr;
  Address = cast<Constant>(Address->stripAndAccumulateConstantOffsets(
      DL, Offset, /*AllowNonInbounds=*/true));
  auto *GV = dyn_cast<GlobalVariable>(Address);
  if (!GV || !GV->hasInitializer() || GV->isInterposable())
    return nullptr;
  return ConstantFoldLoadFromConst(GV->getInitializer(), Load->getType(),
                                   Offset, DL);
}

/// \returns the function that \p Call calls if the memory that its pointer is
/// loaded from has its initial value.
static FunctionList initialTarget(CallBase &Call) {
  auto *F = dyn_cast_or_null<Function>(
      initialValue(Call.getCalledOperand(), Call.getDataLayout()));
  return F ? FunctionList({F}) : FunctionList();
}

/// \returns true if the plugin has made \p F: a body, a thunk, a constructor.
static bool isOurs(const Function &F) {
  return F.getName().contains(".cosy.") || F.getName().starts_with("cosy.");
}

/// \returns true if \p U belongs to a table of the plugin, such as that of the
/// library functions of a region.
static bool isInOurTable(const User &U) {
  if (auto *GV = dyn_cast<GlobalVariable>(&U))
    return GV->getName().starts_with("cosy.");
  return isa<Constant>(&U) &&
         all_of(U.users(), [](const User *V) { return isInOurTable(*V); });
}

/// \returns true if the program uses the address of \p F.
static bool hasAddressUsed(const Function &F) {
  return F.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/true,
                           /*IgnoreAssumeLikeCalls=*/true,
                           /*IngoreLLVMUsed=*/true) &&
         !all_of(F.uses(), [](const Use &U) {
           auto *CB = dyn_cast<CallBase>(U.getUser());
           return (CB && CB->isCallee(&U)) || isInOurTable(*U.getUser());
         });
}

/// \returns the functions of the type of \p Call whose addresses are used: of
/// those that the module defines and of those that it declares, each only if
/// they are at most MaxTargets.
static FunctionList typedTargets(CallBase &Call,
                                 function_ref<bool(Function &)> MayGuess) {
  FunctionList Defined, Declared;
  for (Function &F : *Call.getModule()) {
    if (F.getFunctionType() != Call.getFunctionType() || isOurs(F) ||
        !hasAddressUsed(F))
      continue;
    if (!F.isDeclaration())
      Defined.push_back(&F);
    else if (MayGuess(F))
      Declared.push_back(&F);
  }
  FunctionList List;
  for (const FunctionList &L : {Defined, Declared})
    if (L.size() <= MaxTargets)
      List.append(L);
  return List;
}

/// \returns true if a pointer that is equal to the address of \p F points to
/// the function that a call of \p F calls, with the code that the module has of
/// it.
static bool canCompare(const Function &F) {
  // The address of a weak function that is missing is null, as the pointer may
  // be.
  if (F.isDeclaration())
    return !F.hasExternalWeakLinkage();
  // If another object may define the function, too, the pointer can equal the
  // address of that definition.
  return F.isDSOLocal();
}

/// Metadata of a call through a pointer: what the pointer was compared with.
static constexpr StringLiteral ComparedName = "cosy.compared";

SmallVector<const Function *, 4> comparedWith(const CallBase &Call) {
  SmallVector<const Function *, 4> List;
  if (const MDNode *Node = Call.getMetadata(ComparedName))
    for (const MDOperand &Op : Node->operands())
      if (auto *V = dyn_cast_or_null<ValueAsMetadata>(Op))
        List.push_back(cast<Function>(V->getValue()));
  return List;
}

/// Notes that the pointer of \p Call was compared with \p F: in the link step,
/// bodies come here again. \returns false if it was noted before.
static bool noteComparison(CallBase &Call, Function *F) {
  SmallVector<Metadata *, 4> List;
  if (const MDNode *Before = Call.getMetadata(ComparedName))
    append_range(List, Before->operands());
  Metadata *New = ValueAsMetadata::get(F);
  if (is_contained(List, New))
    return false;
  List.push_back(New);
  Call.setMetadata(ComparedName, MDNode::get(Call.getContext(), List));
  return true;
}

SmallVector<CallBase *, 4>
guardTargets(CallBase &Call, function_ref<bool(Function &)> MayGuess) {
  SmallVector<CallBase *, 4> Direct;
  if (!MaxTargets || !isa<CallInst>(Call) || Call.isInlineAsm() ||
      Call.isMustTailCall() || Call.hasOperandBundles() ||
      Call.getCalledFunction())
    return Direct;
  FunctionList Targets = knownTargets(Call);
  if (Targets.empty() || Targets.size() > MaxTargets)
    Targets = profiledTargets(Call);
  if (Targets.empty())
    Targets = initialTarget(Call);
  if (Targets.empty())
    Targets = typedTargets(Call, MayGuess);
  MDBuilder MD(Call.getContext());
  for (Function *F : Targets) {
    if (!canCompare(*F) || F->getFunctionType() != Call.getFunctionType() ||
        F->getCallingConv() != Call.getCallingConv() || !MayGuess(*F) ||
        !isLegalToPromote(Call, F) || !noteComparison(Call, F))
      continue;
    LLVM_DEBUG(dbgs() << "compared with " << F->getName() << ":" << Call
                      << "\n");
    ++NumGuarded;
    Direct.push_back(
        &promoteCallWithIfThenElse(Call, F, MD.createLikelyBranchWeights()));
  }
  return Direct;
}

} // namespace cosy
