// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Deferred.cpp - Compounds that are made when the program is linked --===//
#include "link/Deferred.h"
#include "Diagnostics.h"
#include "body/Operations.h"
#include "bpf/Function.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace cosy {

/// On the body; its value is Region::Name.
static constexpr StringLiteral BodyAttribute = "cosy-body";

static constexpr StringLiteral PartAttribute = "cosy-part";
static constexpr StringLiteral OptimizedAttribute = "cosy-optimized";
static constexpr StringLiteral DumpAttribute = "cosy-dump";
static constexpr StringLiteral NoFastAttribute = "cosy-no-fast";
static constexpr StringLiteral NoOutlineAttribute = "cosy-no-outline";

/// What instruments functions must not change a body.
static constexpr Attribute::AttrKind Untouched[] = {
    Attribute::OptimizeNone,
    Attribute::NoInline,
    Attribute::NoProfile,
    Attribute::NoSanitizeCoverage,
    Attribute::DisableSanitizerInstrumentation,
};
static constexpr StringLiteral Instrumentations[] = {
    "function-instrument", "instrument-function-entry",
    "instrument-function-entry-inlined", "instrument-function-exit",
    "instrument-function-exit-inlined"};

bool canDefer(const Region &R) {
  const Function &Host = *R.Host;
  // The sanitizers' passes do not run when the program is linked.
  for (Attribute::AttrKind Kind :
       {Attribute::SanitizeAddress, Attribute::SanitizeHWAddress,
        Attribute::SanitizeThread, Attribute::SanitizeMemory,
        Attribute::SanitizeMemTag})
    if (Host.hasFnAttribute(Kind))
      return false;
  // A user function's entry in the table is this file's.
  return !R.IsAsync && !R.Options.StopOnError && !R.Options.limited() &&
         none_of(instructions(*R.Body), isUserFunctionCall);
}

void writeDeferred(Region &R, const DeferredRegion &D) {
  Function &Body = *R.Body;
  auto Write = [&](StringRef Attribute, bool Is) {
    if (Is)
      Body.addFnAttr(Attribute);
  };
  Body.addFnAttr(BodyAttribute, R.Name);
  Body.addFnAttr(WarningAttribute, warningLevels(R.Loc));
  Write(PartAttribute, D.IsPart);
  Write(OptimizedAttribute, D.IsOptimized);
  Write(DumpAttribute, D.Options.Dump);
  Write(NoFastAttribute, D.Options.NoFast);
  Write(NoOutlineAttribute, D.Options.NoOutline);
  Body.getEntryBlock().getTerminator()->setDebugLoc(DebugLoc(R.Loc));
  for (Attribute::AttrKind Kind :
       {Attribute::OptimizeForSize, Attribute::MinSize,
        Attribute::OptimizeForDebugging})
    Body.removeFnAttr(Kind);
  for (Attribute::AttrKind Kind : Untouched)
    Body.addFnAttr(Kind);
  for (StringRef Kind : Instrumentations)
    Body.removeFnAttr(Kind);
  // The variables are those of the host.
  for (Instruction &I : instructions(Body))
    I.dropDbgRecords();
}

bool isDeferredBody(const Function &F) {
  return F.hasFnAttribute(BodyAttribute);
}

DeferredRegion readDeferred(Region &R, unsigned &NumOutputs) {
  Function &Body = *R.Body;
  R.Name = Body.getFnAttribute(BodyAttribute).getValueAsString();
  R.Loc = Body.getEntryBlock().getTerminator()->getDebugLoc();
  DeferredRegion D;
  D.IsPart = Body.hasFnAttribute(PartAttribute);
  D.IsOptimized = Body.hasFnAttribute(OptimizedAttribute);
  D.Options.Dump = Body.hasFnAttribute(DumpAttribute);
  D.Options.NoFast = Body.hasFnAttribute(NoFastAttribute);
  D.Options.NoOutline = Body.hasFnAttribute(NoOutlineAttribute);
  for (Attribute::AttrKind Kind : Untouched)
    Body.removeFnAttr(Kind);
  unsigned NumExits = 0;
  NumOutputs = 0;
  for (const Instruction &I : instructions(Body)) {
    auto *CB = dyn_cast<CallBase>(&I);
    if (!CB || !CB->getCalledFunction() ||
        CB->getCalledFunction()->getName() != ExitMarker)
      continue;
    auto *N = cast<ConstantInt>(CB->getArgOperand(0));
    NumExits = std::max<unsigned>(NumExits, N->getZExtValue() + 1);
    NumOutputs = CB->arg_size() - 1;
  }
  R.Exits.resize(NumExits);
  return D;
}

} // namespace cosy
