// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Callees.cpp - The functions that calls through pointers call -------===//
#include "body/Callees.h"
#include "support/Analyses.h"
#include "support/Names.h"
#include "support/Thresholds.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Debug.h"
#include "llvm/Transforms/IPO/CalledValuePropagation.h"
#include "llvm/Transforms/IPO/GlobalOpt.h"
#include "llvm/Transforms/IPO/SCCP.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

#define DEBUG_TYPE "cosy-callees"

using namespace llvm;

STATISTIC(NumKnown, "Calls through pointers whose possible callees are known");

namespace cosy {

/// Metadata of a call in the module and in its copy: the number of the call.
static constexpr StringLiteral NumberName = "cosy.call";

/// \returns the calls in \p M through pointers of which LLVM knows nothing yet.
static SmallVector<CallInst *, 16> unknownCalls(Module &M) {
  SmallVector<CallInst *, 16> Calls;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *CI = dyn_cast<CallInst>(&I);
          CI && CI->isIndirectCall() &&
          !CI->hasMetadata(LLVMContext::MD_callees))
        Calls.push_back(CI);
  return Calls;
}

/// Copies \p M, with Original[F] for each function F of the copy.
static std::unique_ptr<Module>
copyModule(Module &M, DenseMap<const Function *, Function *> &Original) {
  ValueToValueMapTy Map;
  std::unique_ptr<Module> Copy = CloneModule(M, Map);
  for (Function &F : M)
    Original[cast<Function>(Map[&F])] = &F;
  StripDebugInfo(*Copy);
  for (Function &F : *Copy)
    F.removeFnAttr(Attribute::OptimizeNone);
  return Copy;
}

/// Makes the runs of deferred bodies in \p M calls, so that LLVM knows the
/// values of the inputs.
static void callBodies(Module &M) {
  Function *Run = M.getFunction(DeferredRun);
  if (!Run)
    return;
  for (User *U : Run->users()) {
    auto *CB = cast<CallBase>(U);
    auto *Body = cast<Function>(CB->getArgOperand(1));
    SmallVector<Value *, 8> Inputs(drop_begin(CB->args(), 3));
    CallInst::Create(Body, Inputs, "", CB->getIterator());
    CB->setArgOperand(1, Constant::getNullValue(Body->getType()));
  }
}

static void analyse(Module &M) {
  PassBuilder PB;
  Analyses A;
  A.registerWith(PB);

  ModulePassManager MPM;
  FunctionPassManager Variables, Constants;
  Variables.addPass(SROAPass(SROAOptions::PreserveCFG));
  Variables.addPass(EarlyCSEPass());
  Variables.addPass(SimplifyCFGPass());
  MPM.addPass(createModuleToFunctionPassAdaptor(std::move(Variables)));
  MPM.addPass(GlobalOptPass());
  MPM.addPass(IPSCCPPass(IPSCCPOptions(/*AllowFuncSpec=*/false)));
  Constants.addPass(EarlyCSEPass());
  MPM.addPass(createModuleToFunctionPassAdaptor(std::move(Constants)));
  MPM.addPass(CalledValuePropagationPass());
  MPM.run(M, A.Modules);
}

namespace {

/// What LLVM found about one call.
struct Callees {
  SmallSetVector<Function *, 4> Functions; ///< of the copy
  bool Unknown = false;                    ///< there may be others
};

} // namespace

/// Adds to \p C the functions that \p CB can call.
static void addCallees(const CallBase &CB, Callees &C) {
  if (Function *F = CB.getCalledFunction()) {
    C.Functions.insert(F);
    return;
  }
  const MDNode *Node = CB.getMetadata(LLVMContext::MD_callees);
  C.Unknown |= !Node;
  if (Node)
    for (const MDOperand &Op : Node->operands())
      C.Functions.insert(mdconst::extract<Function>(Op));
}

void findCallees(Module &M) {
  SmallVector<CallInst *, 16> Calls = unknownCalls(M);
  if (Calls.empty() || M.getInstructionCount() > MaxAnalysed)
    return;
  LLVMContext &Ctx = M.getContext();
  unsigned Kind = Ctx.getMDKindID(NumberName);
  Type *I32 = Type::getInt32Ty(Ctx);
  for (auto [N, Call] : enumerate(Calls))
    Call->setMetadata(Kind, MDNode::get(Ctx, ConstantAsMetadata::get(
                                                 ConstantInt::get(I32, N))));

  DenseMap<const Function *, Function *> Original;
  std::unique_ptr<Module> Copy = copyModule(M, Original);
  callBodies(*Copy);
  analyse(*Copy);
  // Optimisations may have copied a call, or removed it.
  std::vector<Callees> Found(Calls.size());
  for (Function &F : *Copy)
    for (Instruction &I : instructions(F))
      if (const MDNode *Number = I.getMetadata(Kind))
        addCallees(cast<CallBase>(I),
                   Found[mdconst::extract<ConstantInt>(Number->getOperand(0))
                             ->getZExtValue()]);

  MDBuilder MD(Ctx);
  for (auto [Call, C] : zip(Calls, Found)) {
    Call->setMetadata(Kind, nullptr);
    SmallVector<Function *, 4> Functions;
    for (Function *F : C.Functions)
      if (Function *Known = Original.lookup(F))
        Functions.push_back(Known);
    if (C.Unknown || Functions.empty() ||
        Functions.size() != C.Functions.size())
      continue;
    LLVM_DEBUG(dbgs() << Functions.size() << " callees:" << *Call << "\n");
    ++NumKnown;
    Call->setMetadata(LLVMContext::MD_callees, MD.createCallees(Functions));
  }
}

} // namespace cosy
