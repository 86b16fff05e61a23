// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Diagnostics.cpp - Messages of the stages on the IR -----------------===//
#include "support/Diagnostics.h"
#include "support/Annotations.h"
#include "support/Names.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"

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

/// Keeps the SourceMessages of a context. A context has one handler, so this
/// one passes everything on to the handler that was there before.
class SourceHandler : public DiagnosticHandler {
public:
  SourceHandler(SourceMessages &Messages,
                std::unique_ptr<DiagnosticHandler> Next)
      : DiagnosticHandler(tag()), Messages(Messages), Next(std::move(Next)) {}

  /// \returns the messages for \p F, or null if there are none.
  static SourceMessages *messages(const Function &F) {
    const DiagnosticHandler *H = F.getContext().getDiagHandlerPtr();
    return H && H->DiagnosticContext == tag()
               ? &static_cast<const SourceHandler *>(H)->Messages
               : nullptr;
  }

  bool handleDiagnostics(const DiagnosticInfo &DI) override {
    return Next->handleDiagnostics(DI);
  }
  bool isAnalysisRemarkEnabled(StringRef Pass) const override {
    return Next->isAnalysisRemarkEnabled(Pass);
  }
  bool isMissedOptRemarkEnabled(StringRef Pass) const override {
    return Next->isMissedOptRemarkEnabled(Pass);
  }
  bool isPassedOptRemarkEnabled(StringRef Pass) const override {
    return Next->isPassedOptRemarkEnabled(Pass);
  }
  bool isAnyRemarkEnabled() const override {
    return Next->isAnyRemarkEnabled();
  }

private:
  /// Identifies handlers of this class, which have no type information.
  static void *tag() {
    static char Tag;
    return &Tag;
  }

  SourceMessages &Messages;
  std::unique_ptr<DiagnosticHandler> Next;
};

} // namespace

void setSourceMessages(LLVMContext &Ctx, SourceMessages &Messages) {
  Ctx.setDiagnosticHandler(
      std::make_unique<SourceHandler>(Messages, Ctx.getDiagnosticHandler()));
}

std::string warningLevels(const Function &F, const DILocation *Loc) {
  SourceMessages *Messages = SourceHandler::messages(F);
  return Messages && Loc ? Messages->warningLevels(*Loc) : "";
}

static void diagnose(const Function &F, const DILocation *Loc,
                     const Twine &Message, DiagnosticSeverity Severity) {
  DiagnosticLocation At = Loc ? DiagnosticLocation(DebugLoc(Loc))
                              : DiagnosticLocation(F.getSubprogram());
  if (!PlacesAreInText) {
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
  SourceMessages *Messages = SourceHandler::messages(F);
  if (!Messages || !Messages->reportError(F, Loc, Message.str()))
    diagnose(F, Loc, Message, DS_Error);
}

void reportNote(const Function &F, const DILocation *Loc,
                const Twine &Message) {
  SourceMessages *Messages = SourceHandler::messages(F);
  if (!Messages || !Messages->reportNote(F, Loc, Message.str()))
    diagnose(F, Loc, Message, DS_Note);
}

StringRef warningGroup(Warning W) {
  static const StringLiteral Names[] = {
#define COSY_WARNING(Name, Group, Enabled) Group,
#include "support/Warnings.def"
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
  SourceMessages *Messages = SourceHandler::messages(F);
  if (Messages && Messages->reportWarning(W, F, Loc, Message.str()))
    return;
  WarningLevel Level = annotatedLevel(W, F);
  if (Level == WarningLevel::Off)
    return;
  bool IsError = Level == WarningLevel::Error;
  diagnose(F, Loc, withFlag(Message, W, IsError),
           IsError ? DS_Error : DS_Warning);
}

void suggestMovingMarker(const Function &F, const DILocation *Loc) {
  SourceMessages *Messages = SourceHandler::messages(F);
  if (Messages && Loc)
    Messages->suggestMovingMarker(*Loc);
}

std::string count(uint64_t N, StringRef One) {
  return (Twine(N) + " " + One + (N == 1 ? "" : "s")).str();
}

} // namespace cosy
