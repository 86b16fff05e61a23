// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recognise.cpp - System calls that libc's functions make ------------===//
#include "body/Recognise.h"
#include "body/LibraryCalls.h"
#include "body/Operations.h"
#include "support/Names.h"
#include "support/SystemCalls.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/Support/Debug.h"

#include <cosy/format.h>

#define DEBUG_TYPE "cosy-recognise"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumRecognised, "Calls of libc that became system calls");

namespace cosy {

//===----------------------------------------------------------------------===//
// Calls of libc
//===----------------------------------------------------------------------===//

CallShape systemCallShape(const CallBase &CB, bool IfThin) {
  CallShape S;
  LibraryFunction F = libraryFunction(CB);
  if (!F || !isa<CallInst>(CB) || !CB.getCalledFunction()->isDeclaration())
    return S;
  // Variable arguments may have any type.
  for (const Use &U : CB.args())
    if (!isScalar(U->getType()))
      return S;

  auto AddConstant = [&](int64_t Imm) {
    S.Args.push_back(
        ConstantInt::getSigned(Type::getInt64Ty(CB.getContext()), Imm));
  };
  if (F == "syscall") {
    auto *Nr =
        CB.arg_size() ? dyn_cast<ConstantInt>(CB.getArgOperand(0)) : nullptr;
    if (!Nr || CB.arg_size() > 1 + COSY_MAX_ARGS)
      return S;
    const SystemCall *Call = findSystemCall(Nr->getZExtValue());
    if (!Call || !Call->Nested)
      return S;
    // Further arguments are ignored.
    for (unsigned I = 0; I < Call->Args.size(); ++I) {
      if (I + 1 < CB.arg_size())
        S.Args.push_back(CB.getArgOperand(I + 1));
      else
        return CallShape(); // natively this is an undefined register
    }
    S.Call = Call;
    return S;
  }
  LibcFunction LF = findLibcFunction(F.Name);
  if (!LF.Call || !LF.Call->Nested ||
      !(isThin(LF, CB) || (IfThin && canCompareThin(LF, CB))))
    return S;
  SmallVector<StringRef, 6> Parts;
  if (!LF.Map.empty())
    LF.Map.split(Parts, ',');
  for (StringRef P : Parts) {
    unsigned N;
    int64_t Imm;
    if (P.consume_front("$")) {
      if (P.getAsInteger(10, N))
        return CallShape();
      if (N < CB.arg_size())
        S.Args.push_back(CB.getArgOperand(N));
      else if (F.IsVariadic && N >= F.NumFixed)
        AddConstant(0);
      else
        return CallShape();
    } else {
      if (P.getAsInteger(0, Imm))
        return CallShape();
      AddConstant(Imm);
    }
  }
  S.Call = LF.Call;
  return S;
}

bool makesSystemCall(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  return CB && systemCallShape(*CB).Call;
}

//===----------------------------------------------------------------------===//
// Calls of cosy.sys.*
//===----------------------------------------------------------------------===//

const SystemCall *systemCallOf(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  const Function *F = CB ? CB->getCalledFunction() : nullptr;
  uint64_t Number;
  if (!F || !F->hasFnAttribute(SystemCallAttribute) ||
      F->getFnAttribute(SystemCallAttribute)
          .getValueAsString()
          .getAsInteger(10, Number))
    return nullptr;
  return findSystemCall(Number);
}

/// \returns cosy.sys.NAME of the type \p Ty. Calls of one system call may
/// differ in their types; the names of further functions get a number.
static Function *systemCallFunction(Module &M, const SystemCall &Call,
                                    FunctionType *Ty) {
  for (unsigned N = 0;; ++N) {
    std::string Name = ("cosy.sys." + Call.Name).str();
    if (N)
      Name += "." + std::to_string(N);
    Function *F = M.getFunction(Name);
    if (!F) {
      F = Function::Create(Ty, GlobalValue::ExternalLinkage, Name, M);
      F->addFnAttr(SystemCallAttribute, std::to_string(Call.Number));
    }
    if (F->getFunctionType() == Ty)
      return F;
  }
}

/// \returns the attributes of the call \p CI and of the function that it calls.
static AttributeSet attributesOf(const CallInst &CI) {
  LLVMContext &Ctx = CI.getContext();
  AttrBuilder B(Ctx, CI.getAttributes().getFnAttrs());
  B.removeAttribute(ThinAttribute);
  for (Attribute A : CI.getCalledFunction()->getAttributes().getFnAttrs())
    if (!A.isStringAttribute() && !B.contains(A.getKindAsEnum()))
      B.addAttribute(A);
  return AttributeSet::get(Ctx, B);
}

static void recognise(CallInst &CI, const CallShape &Shape) {
  LLVM_DEBUG(dbgs() << "system call " << Shape.Call->Name << ":" << CI << "\n");
  SmallVector<Type *, 6> Types;
  for (const Value *V : Shape.Args)
    Types.push_back(V->getType());
  Function *F =
      systemCallFunction(*CI.getModule(), *Shape.Call,
                         FunctionType::get(CI.getType(), Types, false));
  CallInst *New = CallInst::Create(F, Shape.Args, "", CI.getIterator());
  New->takeName(&CI);
  New->copyMetadata(CI);
  New->setAttributes(AttributeList::get(CI.getContext(), attributesOf(CI),
                                        AttributeSet(), {}));
  CI.replaceAllUsesWith(New);
  CI.eraseFromParent();
  ++NumRecognised;
}

//===----------------------------------------------------------------------===//
// Checks of results
//===----------------------------------------------------------------------===//

/// \returns true if \p Call returns 0 when it succeeds, and its failure is no
/// usual result, as it is of access().
static bool returnsStatus(const SystemCall &Call) {
  static constexpr StringLiteral Names[] = {
      "stat",   "lstat",    "fstat",     "newfstatat", "statx",
      "statfs", "fstatfs",  "close",     "unlink",     "unlinkat",
      "mkdir",  "mkdirat",  "rmdir",     "link",       "linkat",
      "rename", "renameat", "renameat2", "symlink",    "symlinkat",
      "chmod",  "fchmod",   "fchmodat",  "chown",      "fchown",
      "lchown", "fchownat", "truncate",  "ftruncate",  "utimensat",
      "flock",  "epoll_ctl"};
  return is_contained(Names, Call.Name);
}

/// Notes at each comparison of such a result with 0 that the call usually
/// succeeds. LLVM assumes of any number that it is seldom 0.
static bool expectSuccess(Function &Body) {
  constexpr uint32_t Succeeds = 15, Fails = 1;
  bool Changed = false;
  for (BasicBlock &BB : Body) {
    auto *Br = dyn_cast<BranchInst>(BB.getTerminator());
    auto *Cmp = Br && Br->isConditional() && !hasBranchWeightMD(*Br)
                    ? dyn_cast<ICmpInst>(Br->getCondition())
                    : nullptr;
    auto *Result =
        Cmp && Cmp->isEquality() && match(Cmp->getOperand(1), m_Zero())
            ? dyn_cast<Instruction>(Cmp->getOperand(0))
            : nullptr;
    const SystemCall *Call = Result ? systemCallOf(*Result) : nullptr;
    if (!Call || !returnsStatus(*Call))
      continue;
    bool IfZero = Cmp->getPredicate() == ICmpInst::ICMP_EQ;
    Br->setMetadata(LLVMContext::MD_prof,
                    MDBuilder(Body.getContext())
                        .createBranchWeights(IfZero ? Succeeds : Fails,
                                             IfZero ? Fails : Succeeds));
    Changed = true;
  }
  return Changed;
}

PreservedAnalyses RecognisePass::runOnBody(Function &Body,
                                           FunctionAnalysisManager &) {
  SmallVector<CallInst *, 16> Calls;
  for (Instruction &I : instructions(Body))
    if (makesSystemCall(I))
      Calls.push_back(cast<CallInst>(&I));
  if (Calls.empty())
    return PreservedAnalyses::all();
  // In reverse order, so that lists of users begin with the first call.
  for (CallInst *CI : reverse(Calls))
    recognise(*CI, systemCallShape(*CI));
  PreservedAnalyses PA;
  PA.preserveSet<CFGAnalyses>();
  if (expectSuccess(Body)) {
    PA.abandon<BranchProbabilityAnalysis>();
    PA.abandon<BlockFrequencyAnalysis>();
  }
  return PA;
}

} // namespace cosy
