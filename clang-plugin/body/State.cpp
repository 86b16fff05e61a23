// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- State.cpp - The state of a body ------------------------------------===//
#include "body/State.h"
#include "body/Operations.h"
#include "body/Recognise.h"
#include "body/UpCalls.h"
#include "support/Markers.h"
#include "support/Names.h"
#include "support/UserFunctions.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cosy {

/// For tests, and to find a stage with a fault. Increases compile time.
static cl::opt<bool> VerifyEach("cosy-verify-each", cl::Hidden,
                                cl::desc("Verify bodies after each stage"));

static constexpr StringLiteral StateNames[] = {"", "body", "legal",
                                               "recognised", "grouped"};

BodyState stateOf(const Function &F) {
  if (!F.hasFnAttribute(StateAttribute))
    return BodyState::None;
  StringRef Name = F.getFnAttribute(StateAttribute).getValueAsString();
  const auto *It = find(StateNames, Name);
  return It == std::end(StateNames) ? BodyState::None
                                    : BodyState(It - std::begin(StateNames));
}

void setState(Function &Body, BodyState S) {
  Body.addFnAttr(StateAttribute, StateNames[unsigned(S)]);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static constexpr StringLiteral NameAttribute = "cosy-body";
static constexpr StringLiteral ExitsAttribute = "cosy-exits";
static constexpr StringLiteral OutputsAttribute = "cosy-outputs";
static constexpr StringLiteral LimitAttribute = "cosy-limit";
static constexpr StringLiteral PartAttribute = "cosy-part";
static constexpr StringLiteral OptimizedAttribute = "cosy-optimized";
static constexpr StringLiteral DumpAttribute = "cosy-dump";

void BodyDescription::write(Function &Body) const {
  auto Flag = [&](StringRef Attribute, bool Is) {
    if (Is)
      Body.addFnAttr(Attribute);
  };
  Body.addFnAttr(NameAttribute, Name);
  Body.addFnAttr(ExitsAttribute, std::to_string(NumExits));
  Body.addFnAttr(OutputsAttribute, std::to_string(NumOutputs));
  if (Limit)
    Body.addFnAttr(LimitAttribute, std::to_string(Limit));
  Flag(PartAttribute, IsPart);
  Flag(OptimizedAttribute, IsOptimized);
  Flag(DumpAttribute, Dump);
  Flag(NoFastAttribute, NoFast);
  Flag(NoOutlineAttribute, NoOutline);
}

BodyDescription BodyDescription::read(const Function &Body) {
  auto Text = [&](StringRef Attribute) {
    return Body.getFnAttribute(Attribute).getValueAsString();
  };
  BodyDescription D;
  D.Name = Text(NameAttribute);
  Text(ExitsAttribute).getAsInteger(10, D.NumExits);
  Text(OutputsAttribute).getAsInteger(10, D.NumOutputs);
  Text(LimitAttribute).getAsInteger(10, D.Limit);
  D.IsPart = Body.hasFnAttribute(PartAttribute);
  D.IsOptimized = Body.hasFnAttribute(OptimizedAttribute);
  D.Dump = Body.hasFnAttribute(DumpAttribute);
  D.NoFast = Body.hasFnAttribute(NoFastAttribute);
  D.NoOutline = Body.hasFnAttribute(NoOutlineAttribute);
  return D;
}

//===----------------------------------------------------------------------===//
// Promises of the states
//===----------------------------------------------------------------------===//

namespace {

class Verifier {
public:
  explicit Verifier(const Function &Body)
      : Body(Body), DL(Body.getDataLayout()), State(stateOf(Body)) {}

  std::string run();

private:
  const char *wrongIn(const Instruction &I);
  const char *wrongExit(const CallBase &Exit);
  const char *notLegal(const Instruction &I) const;
  const char *notRecognised(const Instruction &I) const;
  const char *notGrouped(const Instruction &I);

  const Function &Body;
  const DataLayout &DL;
  BodyState State;
  const CallBase *FirstExit = nullptr;
  /// The last instruction of an up-call, by its number.
  DenseMap<unsigned, const Instruction *> Last;
};

} // namespace

const char *Verifier::wrongExit(const CallBase &Exit) {
  if (!Exit.arg_size() || !isa<ConstantInt>(Exit.getArgOperand(0)))
    return "an exit has a constant number";
  if (!FirstExit)
    FirstExit = &Exit;
  if (Exit.arg_size() != FirstExit->arg_size())
    return "all exits have the same outputs";
  return nullptr;
}

/// Up-calls may contain these instructions, but operations cannot implement
/// them.
const char *Verifier::notLegal(const Instruction &I) const {
  if (I.hasDbgRecords())
    return "hints and debug records mean nothing to a compound";
  if (I.isLifetimeStartOrEnd())
    return "the host has the local variables";
  if (auto *CI = dyn_cast<CallInst>(&I))
    if (CI->getIntrinsicID() == Intrinsic::threadlocal_address &&
        !CI->getParent()->isEntryBlock())
      return "addresses that the host computes are in the entry block";
  if (auto *GEP = dyn_cast<GetElementPtrInst>(&I))
    if (!GEP->hasAllConstantIndices() && !GEP->getType()->isVectorTy() &&
        (GEP->getNumIndices() != 1 ||
         !GEP->getSourceElementType()->isIntegerTy(8)))
      return "an address is a sum of an address and bytes";
  const Type *Ty = isa<LoadInst>(I)    ? I.getType()
                   : isa<StoreInst>(I) ? I.getOperand(0)->getType()
                                       : nullptr;
  if (Ty && isScalarInt(Ty) && isOddWidth(bitsOf(Ty)) && !I.isAtomic())
    return "memory is accessed in 1, 2, 4 or 8 bytes";
  return nullptr;
}

const char *Verifier::notRecognised(const Instruction &I) const {
  auto *CB = dyn_cast<CallBase>(&I);
  return CB && systemCallShape(*CB).Call ? "this call is a system call"
                                         : nullptr;
}

const char *Verifier::notGrouped(const Instruction &I) {
  std::optional<unsigned> Number = upCallOf(I);
  bool IsUserCall = isUserFunctionCall(I);
  if (!Number)
    return IsUserCall || !isOperation(I, DL)
               ? "what is no operation belongs to an up-call"
               : nullptr;
  if (isSystemCall(I) || isExit(I) || isStopTest(I) || isa<PHINode>(I) ||
      I.isTerminator())
    return "an up-call contains only what native code can do";
  const Instruction *&Before = Last[*Number];
  if (Before && Before->getParent() != I.getParent())
    return "an up-call is in one block";
  if (Before && IsUserCall)
    return "a user function is an up-call of its own";
  Before = &I;
  auto IsInside = [&](const Value *V) {
    auto *Other = dyn_cast<Instruction>(V);
    return Other && upCallOf(*Other) == Number;
  };
  if (!I.getType()->isVoidTy() && !isRegisterType(I.getType(), DL) &&
      !all_of(I.users(), IsInside))
    return "a register can contain what leaves an up-call";
  for (const Value *V : I.operands())
    if ((isa<Instruction>(V) || isa<Argument>(V)) && !IsInside(V) &&
        !isRegisterType(V->getType(), DL))
      return "a register can contain what enters an up-call";
  return nullptr;
}

const char *Verifier::wrongIn(const Instruction &I) {
  if (isExit(I))
    if (const char *Why = wrongExit(cast<CallBase>(I)))
      return Why;
  auto &Any = const_cast<Instruction &>(I);
  if (asMarker(Any, StartMarker) || asMarker(Any, EndMarker))
    return "a body has no markers";
  if (State >= BodyState::Legal)
    if (const char *Why = notLegal(I))
      return Why;
  if (State >= BodyState::Recognised)
    if (const char *Why = notRecognised(I))
      return Why;
  if (State >= BodyState::Grouped) {
    if (const char *Why = notGrouped(I))
      return Why;
    for (unsigned N = 0; I.isTerminator() && N < I.getNumSuccessors(); ++N)
      if (isCriticalEdge(&I, N))
        return "critical edges are split";
  }
  return nullptr;
}

std::string Verifier::run() {
  if (!Body.getReturnType()->isVoidTy())
    return "a body returns nothing";
  for (const Instruction &I : instructions(Body))
    if (const char *Why = wrongIn(I)) {
      std::string Text = std::string(Why) + ":";
      raw_string_ostream(Text) << I;
      return Text;
    }
  return "";
}

std::string verifyBody(const Function &Body) { return Verifier(Body).run(); }

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

static void report(const Function &F, const Twine &Text) {
  F.getContext().emitError("cosy: body " + F.getName() + " is in the state " +
                           StateNames[unsigned(stateOf(F))] + ": " + Text);
}

bool expectState(const Function &F, BodyState Expected, StringRef Pass) {
  if (stateOf(F) == Expected)
    return true;
  report(F,
         Pass + " takes bodies in the state " + StateNames[unsigned(Expected)]);
  return false;
}

bool expectExits(const Function &Body, StringRef Pass) {
  BodyDescription D = BodyDescription::read(Body);
  for (const Instruction &I : instructions(Body)) {
    if (!isExit(I))
      continue;
    auto &Exit = cast<CallBase>(I);
    auto *Number = Exit.arg_empty()
                       ? nullptr
                       : dyn_cast<ConstantInt>(Exit.getArgOperand(0));
    if (Number && Number->getZExtValue() < D.NumExits &&
        Exit.arg_size() == D.NumOutputs + 1)
      continue;
    report(Body, Pass + " takes bodies with " + Twine(D.NumExits) +
                     " exits and " + Twine(D.NumOutputs) +
                     " outputs, as their attributes say");
    return false;
  }
  return true;
}

void expectSound(const Function &Body, StringRef Pass) {
  if (!VerifyEach)
    return;
  if (std::string Why = verifyBody(Body); !Why.empty())
    report(Body, "after " + Pass + ", " + Why);
}

PreservedAnalyses VerifyBodyPass::run(Function &F, FunctionAnalysisManager &) {
  if (stateOf(F) != BodyState::None)
    if (std::string Why = verifyBody(F); !Why.empty())
      report(F, Why);
  return PreservedAnalyses::all();
}

} // namespace cosy
