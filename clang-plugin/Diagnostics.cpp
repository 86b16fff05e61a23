// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Diagnostics.cpp - Messages of the stages on the IR -----------------===//
#include "Diagnostics.h"
#include "Annotations.h"

#include "llvm/IR/DiagnosticPrinter.h"

using namespace llvm;

namespace cosy {

namespace {

/// A message that consists only of its text.
class PlainMessage : public DiagnosticInfo {
public:
  PlainMessage(StringRef Text, DiagnosticSeverity Severity)
      : DiagnosticInfo(kind(), Severity), Text(Text) {}
  void print(DiagnosticPrinter &Printer) const override { Printer << Text; }

private:
  static int kind() {
    static const int Kind = getNextAvailablePluginDiagnosticKind();
    return Kind;
  }
  StringRef Text;
};

} // namespace

static SourceMessages *Messages;

static bool PlacesInText = false;

void addPlacesToText() { PlacesInText = true; }

void setSourceMessages(SourceMessages *M) { Messages = M; }

std::string warningLevels(const DILocation *Loc) {
  return Messages && Loc ? Messages->warningLevels(*Loc) : "";
}

static void diagnose(const Function &F, const DILocation *Loc,
                     const Twine &Message, DiagnosticSeverity Severity) {
  DiagnosticLocation At = Loc ? DiagnosticLocation(DebugLoc(Loc))
                              : DiagnosticLocation(F.getSubprogram());
  if (!PlacesInText) {
    F.getContext().diagnose(
        DiagnosticInfoUnsupported(F, Message, At, Severity));
    return;
  }
  std::string Text;
  if (At.isValid())
    Text = (At.getRelativePath() + ":" + Twine(At.getLine()) + ":" +
            Twine(At.getColumn()) + ": ")
               .str();
  Text += Message.str();
  F.getContext().diagnose(PlainMessage(Text, Severity));
}

void reportError(const Function &F, const DILocation *Loc,
                 const Twine &Message) {
  if (!Messages || !Messages->reportError(F, Loc, Message.str()))
    diagnose(F, Loc, Message, DS_Error);
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

/// Returns the level that the attributes of \p F give a warning.
static WarningLevel annotatedLevel(Warning W, const Function &F) {
  WarningLevel Level = WarningLevel::On;
  auto Read = [&](StringRef Levels) {
    if (Levels.size() == NumWarnings)
      Level = WarningLevel(Levels[unsigned(W)]);
  };
  forEachAnnotation(const_cast<Module &>(*F.getParent()),
                    [&](Function &Of, StringRef Text) {
                      if (&Of == &F && Text.consume_front(WarningAnnotation))
                        Read(Text);
                    });
  Read(F.getFnAttribute(WarningAttribute).getValueAsString());
  return Level;
}

void reportWarning(Warning W, const Function &F, const DILocation *Loc,
                   const Twine &Message) {
  if (Messages && Messages->reportWarning(W, F, Loc, Message.str()))
    return;
  WarningLevel Level = annotatedLevel(W, F);
  if (Level == WarningLevel::Off)
    return;
  bool IsError = Level == WarningLevel::Error;
  diagnose(F, Loc, withFlag(Message, W, IsError),
           IsError ? DS_Error : DS_Warning);
}

void suggestMovingMarker(const DILocation *Loc) {
  if (Messages && Loc)
    Messages->suggestMovingMarker(*Loc);
}

std::string count(uint64_t N, StringRef One) {
  return (Twine(N) + " " + One + (N == 1 ? "" : "s")).str();
}

} // namespace cosy
