// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Diagnostics.cpp - What the stages on the IR tell the user ----------===//
#include "Diagnostics.h"
#include "Annotations.h"
#include "Frontend.h"

using namespace llvm;

namespace cosy {

/// Where in the source \p Loc of \p F is; invalid if that is not known.
static clang::SourceLocation place(const Frontend &FE, const Function &F,
                                   const DILocation *Loc) {
  if (Loc)
    return FE.find(*Loc);
  const DISubprogram *SP = F.getSubprogram();
  if (!SP)
    return {};
  return FE.find(*DILocation::get(F.getContext(), SP->getLine(), 0,
                                  const_cast<DISubprogram *>(SP)));
}

static void diagnose(const Function &F, const DILocation *Loc,
                     const Twine &Message, DiagnosticSeverity Severity) {
  DiagnosticLocation At = Loc ? DiagnosticLocation(DebugLoc(Loc))
                              : DiagnosticLocation(F.getSubprogram());
  F.getContext().diagnose(DiagnosticInfoUnsupported(F, Message, At, Severity));
}

void reportError(const Function &F, const DILocation *Loc,
                 const Twine &Message) {
  Frontend *FE = Frontend::get();
  clang::SourceLocation At;
  if (FE)
    At = place(*FE, F, Loc);
  if (At.isInvalid())
    return diagnose(F, Loc, Message, DS_Error);
  FE->error(At, FE->rangeAt(At), Message.str());
  if (const MarkedRegion *R = FE->regionAround(At))
    FE->note(R->Start.getBegin(), "region starts here");
}

StringRef warningGroup(Warning W) {
  static const StringLiteral Names[] = {
#define COSY_WARNING(Name, Group, Enabled) Group,
#include "Warnings.def"
  };
  return Names[unsigned(W)];
}

std::string withFlag(const Twine &Message, Warning W, bool IsError) {
  return (Message + " [" + (IsError ? "-Werror," : "") + "-W" +
          warningGroup(W) + "]")
      .str();
}

/// What is written down for \p F.
static WarningLevel annotatedLevel(Warning W, const Function &F) {
  WarningLevel Level = WarningLevel::On;
  forEachAnnotation(const_cast<Module &>(*F.getParent()),
                    [&](Function &Of, StringRef Text) {
                      if (&Of == &F && Text.consume_front(WarningAnnotation) &&
                          Text.size() == NumWarnings)
                        Level = WarningLevel(Text[unsigned(W)]);
                    });
  return Level;
}

void reportWarning(Warning W, const Function &F, const DILocation *Loc,
                   const Twine &Message) {
  Frontend *FE = Frontend::get();
  clang::SourceLocation At;
  if (FE)
    At = place(*FE, F, Loc);
  if (At.isInvalid()) {
    WarningLevel Level = annotatedLevel(W, F);
    if (Level == WarningLevel::Off)
      return;
    bool IsError = Level == WarningLevel::Error;
    return diagnose(F, Loc, withFlag(Message, W, IsError),
                    IsError ? DS_Error : DS_Warning);
  }
  if (!FE->warning(W, At, FE->rangeAt(At), Message.str()))
    return;
  if (const MarkedRegion *R = FE->regionAround(At))
    FE->note(R->Start.getBegin(), "region starts here");
}

void suggestMovingMarker(const DILocation *Loc) {
  Frontend *FE = Frontend::get();
  if (!FE || !Loc || !FE->wantsMissed())
    return;
  clang::SourceLocation At = FE->find(*Loc);
  const MarkedRegion *R = At.isValid() ? FE->regionAround(At) : nullptr;
  if (!R)
    return;
  if (R->First.Call == At) {
    if (auto Fixes = FE->moveStart(*R); !Fixes.empty())
      FE->note(At, "begin the region behind this statement", Fixes);
  } else if (R->Last.Call == At) {
    if (auto Fixes = FE->moveEnd(*R); !Fixes.empty())
      FE->note(At, "end the region before this statement", Fixes);
  }
}

std::string count(uint64_t N, StringRef One) {
  return (Twine(N) + " " + One + (N == 1 ? "" : "s")).str();
}

} // namespace cosy
