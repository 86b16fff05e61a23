// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Deferred.cpp - Compounds that the link step makes ------------------===//
#include "link/Deferred.h"
#include "support/Diagnostics.h"
#include "support/Names.h"
#include "support/UserFunctions.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace cosy {

/// Instrumentation, which must not change a body.
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

/// Marks a call to which deferBody() gave noinline.
static constexpr StringLiteral KeptCallAttribute = "cosy-kept-call";

/// LLVM inlines functions that are always inlined also into functions that it
/// does not optimize. They may contain what a body must not, such as a variable
/// length array.
static void keepCalls(Function &Body) {
  for (Instruction &I : instructions(Body)) {
    auto *CB = dyn_cast<CallBase>(&I);
    if (!CB || isa<IntrinsicInst>(CB))
      continue;
    CB->removeFnAttr(Attribute::AlwaysInline);
    if (CB->getAttributes().hasFnAttr(Attribute::NoInline))
      continue;
    CB->addFnAttr(Attribute::NoInline);
    CB->addFnAttr(Attribute::get(CB->getContext(), KeptCallAttribute));
  }
}

/// Reverts keepCalls().
static void releaseCalls(Function &Body) {
  for (Instruction &I : instructions(Body))
    if (auto *CB = dyn_cast<CallBase>(&I);
        CB && CB->getAttributes().hasFnAttr(KeptCallAttribute)) {
      CB->removeFnAttr(Attribute::NoInline);
      CB->removeFnAttr(KeptCallAttribute);
    }
}

bool canDefer(const Region &R) {
  const Function &Host = *R.Host;
  // The sanitizers' passes do not run in the link step.
  for (Attribute::AttrKind Kind :
       {Attribute::SanitizeAddress, Attribute::SanitizeHWAddress,
        Attribute::SanitizeThread, Attribute::SanitizeMemory,
        Attribute::SanitizeMemTag})
    if (Host.hasFnAttribute(Kind))
      return false;
  // The table entry of a user function belongs to this file.
  return !R.IsAsync && !R.Options.StopOnError && !R.Options.limited() &&
         none_of(instructions(*R.Body), isUserFunctionCall);
}

void deferBody(Region &R) {
  Function &Body = *R.Body;
  Body.addFnAttr(DeferredAttribute);
  Body.addFnAttr(WarningAttribute, warningLevels(*R.Host, R.Loc));
  Body.getEntryBlock().getTerminator()->setDebugLoc(DebugLoc(R.Loc));
  for (Attribute::AttrKind Kind :
       {Attribute::OptimizeForSize, Attribute::MinSize,
        Attribute::OptimizeForDebugging})
    Body.removeFnAttr(Kind);
  for (Attribute::AttrKind Kind : Untouched)
    Body.addFnAttr(Kind);
  for (StringRef Kind : Instrumentations)
    Body.removeFnAttr(Kind);
  keepCalls(Body);
  // The variables belong to the host.
  for (Instruction &I : instructions(Body))
    I.dropDbgRecords();
}

BodyDescription resumeBody(Region &R) {
  Function &Body = *R.Body;
  for (Attribute::AttrKind Kind : Untouched)
    Body.removeFnAttr(Kind);
  Body.removeFnAttr(DeferredAttribute);
  releaseCalls(Body);
  BodyDescription D = BodyDescription::read(Body);
  R.Name = D.Name;
  R.Loc = Body.getEntryBlock().getTerminator()->getDebugLoc();
  R.Exits.resize(D.NumExits);
  return D;
}

} // namespace cosy
