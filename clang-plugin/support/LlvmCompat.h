// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LlvmCompat.h - Differences between the versions of LLVM ------------===//
//
// The plugin is compiled for the version of the clang that loads it: 19 to 23.
// Everything that depends on the version is here, so that other files contain
// no test of it. LLVM 20 has the interfaces of 21, unless a comment says more.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_SUPPORT_LLVMCOMPAT_H
#define COSY_PLUGIN_SUPPORT_LLVMCOMPAT_H

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/LoopPeel.h"

// Moved in 20.
#if LLVM_VERSION_MAJOR >= 20
#include "llvm/Transforms/Utils/Instrumentation.h"
#else
#include "llvm/Transforms/Instrumentation.h"
#endif

// Moved in 22.
#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

// A predicate of matched comparisons, with the flag samesign since 20.
#if LLVM_VERSION_MAJOR >= 20
#include "llvm/IR/CmpPredicate.h"
#endif

#include <memory>
#include <optional>
#include <string>

namespace cosy {

#if LLVM_VERSION_MAJOR >= 20
using MatchedPredicate = llvm::CmpPredicate;
#else
using MatchedPredicate = llvm::CmpInst::Predicate;
#endif

/// The variable part of an address, as GEPOperator::collectOffset() takes it.
#if LLVM_VERSION_MAJOR >= 20
using VariableOffsets = llvm::SmallMapVector<llvm::Value *, llvm::APInt, 4>;
#else
using VariableOffsets = llvm::MapVector<llvm::Value *, llvm::APInt>;
#endif

/// \returns the first instruction of \p BB that is no phi, or null. An iterator
/// since 20, which is the end of a block without such an instruction.
inline llvm::Instruction *firstNonPhi(llvm::BasicBlock &BB) {
#if LLVM_VERSION_MAJOR >= 20
  auto It = BB.getFirstNonPHIOrDbg();
  return It == BB.end() ? nullptr : &*It;
#else
  return BB.getFirstNonPHIOrDbg();
#endif
}

/// \returns the variable whose lifetime \p Marker begins or ends. It is the
/// last operand: since 22 the size, which was the first one, is missing.
inline llvm::Value *lifetimeVariable(const llvm::CallBase &Marker) {
  return Marker.getArgOperand(Marker.arg_size() - 1)->stripPointerCasts();
}

/// Makes \p To a module for the target of \p From.
inline void copyTarget(llvm::Module &To, const llvm::Module &From) {
  To.setTargetTriple(From.getTargetTriple());
  To.setDataLayout(From.getDataLayout());
}

/// Makes \p M a module for \p TM. A triple is a class since 21.
inline void setTarget(llvm::Module &M, const llvm::TargetMachine &TM) {
#if LLVM_VERSION_MAJOR >= 21
  M.setTargetTriple(TM.getTargetTriple());
#else
  M.setTargetTriple(TM.getTargetTriple().str());
#endif
  M.setDataLayout(TM.createDataLayout());
}

/// \returns a machine with the usual options for the triple \p Name, or null.
/// A triple is a class since 21.
inline std::unique_ptr<llvm::TargetMachine> createMachine(llvm::StringRef Name,
                                                          llvm::StringRef Cpu) {
  llvm::Triple Triple(Name);
  std::string Error;
  const llvm::Target *T = llvm::TargetRegistry::lookupTarget("", Triple, Error);
  if (!T)
    return nullptr;
#if LLVM_VERSION_MAJOR >= 21
  const llvm::Triple &For = Triple;
#else
  llvm::StringRef For = Triple.str();
#endif
  return std::unique_ptr<llvm::TargetMachine>(
      T->createTargetMachine(For, Cpu, "", llvm::TargetOptions(), std::nullopt,
                             std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Peels the first iteration of \p L. Since 21 the last iterations can be
/// peeled, too.
inline void peelFirst(llvm::Loop &L, llvm::LoopInfo &LI,
                      llvm::ScalarEvolution &SE, llvm::DominatorTree &DT,
                      llvm::AssumptionCache &AC) {
  llvm::ValueToValueMapTy Map;
#if LLVM_VERSION_MAJOR >= 21
  llvm::peelLoop(&L, 1, /*PeelLast=*/false, &LI, &SE, DT, &AC, true, Map);
#else
  llvm::peelLoop(&L, 1, &LI, &SE, DT, &AC, true, Map);
#endif
}

/// The opcode of \p I, and the one that it returns for every branch. Since 23
/// there are two.
inline unsigned opcodeOf(const llvm::Instruction &I) {
#if LLVM_VERSION_MAJOR >= 23
  return llvm::isa<llvm::UncondBrInst>(I) ? llvm::Instruction::CondBr
                                          : I.getOpcode();
#else
  return I.getOpcode();
#endif
}
#if LLVM_VERSION_MAJOR >= 23
constexpr unsigned BranchOpcode = llvm::Instruction::CondBr;
#else
constexpr unsigned BranchOpcode = llvm::Instruction::Br;
#endif

/// Calls an intrinsic that has no types, and that LLVM does not fold. Since 23,
/// CreateIntrinsic() returns a value, because it folds other intrinsics.
inline llvm::CallInst *callIntrinsic(llvm::IRBuilderBase &B,
                                     llvm::Intrinsic::ID ID,
                                     llvm::ArrayRef<llvm::Value *> Args) {
  llvm::ArrayRef<llvm::Type *> NoTypes;
  return llvm::cast<llvm::CallInst>(B.CreateIntrinsic(ID, NoTypes, Args));
}

/// Removes the assembly code of \p M that belongs to no function. Since 23 it
/// is a list, which has a function for this.
inline void removeModuleAsm(llvm::Module &M) {
#if LLVM_VERSION_MAJOR >= 23
  M.removeModuleInlineAsm();
#else
  M.setModuleInlineAsm("");
#endif
}

/// Visits the uses by which an address may be known to other code.
class AddressVisitor : public llvm::CaptureTracker {
public:
  /// \returns whether \p U, which is not known to keep the address private, is
  /// such a use. The first one ends the visit.
  virtual bool isEscape(const llvm::Use &U) = 0;
  /// Whether there is such a use, or too many uses to visit.
  bool Found = false;

  void tooManyUses() final { Found = true; }
#if LLVM_VERSION_MAJOR >= 21
  // LLVM visits the uses of a call's result without asking if the argument is
  // known by nothing else. Other names of an address are escapes, as before.
  bool shouldExplore(const llvm::Use *U) final {
    auto *CB = llvm::dyn_cast<llvm::CallBase>(U->getUser());
    if (CB && !llvm::isa<llvm::IntrinsicInst>(CB) && CB->isDataOperand(U)) {
      llvm::CaptureInfo Info = CB->getCaptureInfo(CB->getDataOperandNo(U));
      if (llvm::capturesAnything(Info.getRetComponents()))
        Found |= isEscape(*U);
    }
    return !Found;
  }
  // Tests for null are reported since 21.
  Action captured(const llvm::Use *U, llvm::UseCaptureInfo Info) final {
    if (Info.UseCC == llvm::CaptureComponents::AddressIsNull)
      return Continue;
    Found |= isEscape(*U);
    return Found ? Stop : Continue;
  }
#else
  bool captured(const llvm::Use *U) final {
    Found |= isEscape(*U);
    return Found;
  }
#endif
};

/// \returns whether other code may know the address \p V, or compares it,
/// except with null. Returning it counts, too. This replaces LLVM's function
/// with the parameters ReturnCaptures and StoreCaptures: 21 has another third
/// parameter, with which a call for 19 still compiles, but visits only one use.
inline bool mayBeCaptured(const llvm::Value *V) {
  struct : AddressVisitor {
    bool isEscape(const llvm::Use &) override { return true; }
  } Uses;
  llvm::PointerMayBeCaptured(V, &Uses);
  return Uses.Found;
}

/// Adds \p Add, which takes a pass manager, at the end of the optimizations.
/// Since 20 the callbacks also get the phase of link-time optimization.
template <typename Fn> void atOptimizerLast(llvm::PassBuilder &PB, Fn Add) {
  PB.registerOptimizerLastEPCallback([Add](llvm::ModulePassManager &MPM,
                                           llvm::OptimizationLevel,
                                           auto...) { Add(MPM); });
}

/// The same before the first simplification, when callees have come from other
/// modules.
template <typename Fn>
void atPipelineEarlySimplification(llvm::PassBuilder &PB, Fn Add) {
  PB.registerPipelineEarlySimplificationEPCallback(
      [Add](llvm::ModulePassManager &MPM, llvm::OptimizationLevel, auto...) {
        Add(MPM);
      });
}

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_LLVMCOMPAT_H
