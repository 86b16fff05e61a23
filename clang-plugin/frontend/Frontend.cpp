// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Frontend.cpp - The source, for messages of later stages ------------===//
#include "frontend/Frontend.h"
#include "support/Names.h"

#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;
using llvm::StringRef;

namespace cosy {

//===----------------------------------------------------------------------===//
// Warning flags
//===----------------------------------------------------------------------===//

bool WarningState::set(StringRef Flag) {
  bool Positive = !Flag.consume_front("no-");
  bool AboutErrors = Flag.consume_front("error=");
  bool Known = false;
  for (unsigned N = 0; N < NumWarnings; ++N) {
    if (Flag != "cosy" && Flag != warningGroup(Warning(N)))
      continue;
    Known = true;
    Group &G = Groups[N];
    if (AboutErrors) {
      G.Error = Positive;
      G.NoError = !Positive;
      G.On |= Positive;
    } else {
      G.On = Positive;
    }
  }
  return Known;
}

namespace {

/// #pragma cosy diagnostic push | pop | ignored "-W…" | warning … | error …
///
/// clang's own pragma for diagnostics does not support these groups.
class DiagnosticPragma : public PragmaHandler {
public:
  explicit DiagnosticPragma(Frontend &FE)
      : PragmaHandler("diagnostic"), FE(FE) {}

  void HandlePragma(Preprocessor &PP, PragmaIntroducer, Token &Tok) override {
    SourceLocation Loc = Tok.getLocation();
    PP.LexUnexpandedToken(Tok);
    const IdentifierInfo *II = Tok.getIdentifierInfo();
    StringRef Verb = II ? II->getName() : StringRef();
    if (Verb == "push") {
      Stack.push_back(FE.warnings());
    } else if (Verb == "pop") {
      if (Stack.empty())
        return error(PP, Tok.getLocation(),
                     "#pragma cosy diagnostic pop without a push before it");
      FE.changeWarnings(Loc, Stack.back());
      Stack.pop_back();
    } else if (Verb == "ignored" || Verb == "warning" || Verb == "error") {
      std::string Name;
      PP.LexUnexpandedToken(Tok);
      SourceLocation NameLoc = Tok.getLocation();
      if (!PP.FinishLexStringLiteral(Tok, Name, "pragma cosy diagnostic",
                                     false))
        return;
      WarningState S = FE.warnings();
      StringRef Group = Name;
      if (!Group.consume_front("-W") || !S.set(prefix(Verb) + Group.str()))
        return error(PP, NameLoc,
                     "unknown warning '" + Name +
                         "' of the cosy plugin; cosy-regions(7) lists them");
      if (Verb == "warning")
        S.set("no-error=" + Group.str());
      FE.changeWarnings(Loc, S);
    } else {
      error(PP, Tok.getLocation(),
            "expected push, pop, ignored, warning or error after "
            "#pragma cosy diagnostic");
    }
  }

private:
  static std::string prefix(StringRef Verb) {
    return Verb == "ignored" ? "no-" : Verb == "error" ? "error=" : "";
  }
  void error(Preprocessor &PP, SourceLocation Loc, StringRef Text) {
    DiagnosticsEngine &D = PP.getDiagnostics();
    D.Report(Loc, D.getCustomDiagID(DiagnosticsEngine::Error, "%0")) << Text;
  }

  Frontend &FE;
  std::vector<WarningState> Stack;
};

} // namespace

//===----------------------------------------------------------------------===//
// The frontend
//===----------------------------------------------------------------------===//

Frontend::Frontend(CompilerInstance &CI, const WarningState &Flags)
    : CI(CI), SM(CI.getSourceManager()) {
  Changes.push_back({SourceLocation(), Flags});
  CI.getPreprocessor().AddPragmaHandler("cosy", new DiagnosticPragma(*this));
}

void Frontend::annotateWarnings(FunctionDecl &F) {
  if (!CI.getCodeGenOpts().DisableLLVMPasses)
    return;
  for (const MarkedRegion &R : Regions) {
    SourceLocation Start = SM.getExpansionLoc(R.Start.getBegin());
    if (!SM.isPointWithin(Start, SM.getExpansionLoc(F.getBeginLoc()),
                          SM.getExpansionLoc(F.getEndLoc())))
      continue;
    F.addAttr(AnnotateAttr::CreateImplicit(
        context(), std::string(WarningAnnotation) + levels(Start), nullptr, 0));
    return;
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void Frontend::report(DiagnosticsEngine::Level Level, SourceLocation Loc,
                      SourceRange Range, StringRef Text,
                      ArrayRef<FixItHint> Fixes) {
  DiagnosticsEngine &D = CI.getDiagnostics();
  DiagnosticBuilder B = D.Report(
      SM.getExpansionLoc(Loc),
      D.getDiagnosticIDs()->getCustomDiagID(DiagnosticIDs::Level(Level), "%0"));
  B << Text;
  if (Range.isValid())
    B << CharSourceRange::getTokenRange(
        SM.getExpansionRange(Range).getAsRange());
  for (const FixItHint &F : Fixes)
    B << F;
}

void Frontend::error(SourceLocation Loc, SourceRange Range, StringRef Text,
                     ArrayRef<FixItHint> Fixes) {
  report(DiagnosticsEngine::Error, Loc, Range, Text, Fixes);
}

void Frontend::note(SourceLocation Loc, StringRef Text,
                    ArrayRef<FixItHint> Fixes) {
  report(DiagnosticsEngine::Note, Loc, SourceRange(), Text, Fixes);
}

WarningLevel Frontend::level(Warning W, SourceLocation Loc) const {
  const DiagnosticsEngine &D = CI.getDiagnostics();
  // The last change before Loc applies. The changes are in the order of the
  // source.
  auto After = std::partition_point(
      Changes.begin() + 1, Changes.end(), [&](const auto &C) {
        return SM.isBeforeInTranslationUnit(C.first, Loc);
      });
  const WarningState &S = std::prev(After)->second;
  if (!S.isOn(W) || D.getIgnoreAllWarnings() ||
      (D.getSuppressSystemWarnings() && SM.isInSystemHeader(Loc)))
    return WarningLevel::Off;
  return S.isError(W, D.getWarningsAsErrors()) ? WarningLevel::Error
                                               : WarningLevel::On;
}

bool Frontend::warning(Warning W, SourceLocation Loc, SourceRange Range,
                       StringRef Text) {
  WarningLevel Level = level(W, Loc);
  if (Level == WarningLevel::Off)
    return false;
  bool IsError = Level == WarningLevel::Error;
  report(IsError ? DiagnosticsEngine::Error : DiagnosticsEngine::Warning, Loc,
         Range, withFlag(Text, W, IsError), {});
  return true;
}

std::string Frontend::levels(SourceLocation Loc) const {
  std::string Levels;
  for (unsigned N = 0; N < NumWarnings; ++N)
    Levels += static_cast<char>(level(Warning(N), Loc));
  return Levels;
}

//===----------------------------------------------------------------------===//
// Messages of the stages on the IR
//===----------------------------------------------------------------------===//

SourceLocation Frontend::place(const llvm::Function &F,
                               const llvm::DILocation *Loc) const {
  if (Loc)
    return find(*Loc);
  const llvm::DISubprogram *SP = F.getSubprogram();
  if (!SP)
    return {};
  return find(*llvm::DILocation::get(F.getContext(), SP->getLine(), 0,
                                     const_cast<llvm::DISubprogram *>(SP)));
}

void Frontend::noteRegion(SourceLocation Loc) {
  if (const MarkedRegion *R = regionAround(Loc))
    note(R->Start.getBegin(), "region starts here");
}

bool Frontend::reportError(const llvm::Function &F, const llvm::DILocation *Loc,
                           StringRef Text) {
  SourceLocation At = place(F, Loc);
  if (At.isInvalid())
    return false;
  error(At, rangeAt(At), Text);
  noteRegion(At);
  return true;
}

bool Frontend::reportNote(const llvm::Function &F, const llvm::DILocation *Loc,
                          StringRef Text) {
  SourceLocation At = place(F, Loc);
  if (At.isInvalid())
    return false;
  note(At, Text);
  return true;
}

bool Frontend::reportWarning(Warning W, const llvm::Function &F,
                             const llvm::DILocation *Loc, StringRef Text) {
  SourceLocation At = place(F, Loc);
  if (At.isInvalid())
    return false;
  if (warning(W, At, rangeAt(At), Text))
    noteRegion(At);
  return true;
}

void Frontend::suggestMovingMarker(const llvm::DILocation &Loc) {
  if (!CI.getCodeGenOpts().OptimizationRemarkMissed.patternMatches("cosy"))
    return;
  SourceLocation At = find(Loc);
  const MarkedRegion *R = At.isValid() ? regionAround(At) : nullptr;
  if (!R)
    return;
  if (R->First.Call == At) {
    if (auto Fixes = moveStart(*R); !Fixes.empty())
      note(At, "begin the region after this statement", Fixes);
  } else if (R->Last.Call == At) {
    if (auto Fixes = moveEnd(*R); !Fixes.empty())
      note(At, "end the region before this statement", Fixes);
  }
}

std::string Frontend::warningLevels(const llvm::DILocation &Loc) {
  SourceLocation At = find(Loc);
  return At.isValid() ? levels(At) : "";
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

SourceLocation Frontend::find(const llvm::DILocation &Loc) const {
  auto File = SM.getFileManager().getOptionalFileRef(Loc.getFilename());
  if (!File) {
    llvm::SmallString<128> Path(Loc.getDirectory());
    llvm::sys::path::append(Path, Loc.getFilename());
    File = SM.getFileManager().getOptionalFileRef(Path);
  }
  if (!File || !Loc.getLine())
    return SourceLocation();
  return SM.translateFileLineCol(*File, Loc.getLine(),
                                 std::max(1u, Loc.getColumn()));
}

SourceRange Frontend::rangeAt(SourceLocation Loc) const {
  auto It = Ranges.find(Loc);
  return It == Ranges.end() ? SourceRange(Loc) : It->second;
}

const MarkedRegion *Frontend::regionAround(SourceLocation Loc) const {
  for (const MarkedRegion &R : Regions) {
    SourceLocation Start = SM.getExpansionLoc(R.Start.getBegin());
    SourceLocation End = SM.getExpansionLoc(R.End.getBegin());
    if (SM.getFileID(Start) == SM.getFileID(Loc) &&
        SM.isBeforeInTranslationUnit(Start, Loc) &&
        SM.isBeforeInTranslationUnit(Loc, End))
      return &R;
  }
  return nullptr;
}

SourceLocation Frontend::afterStatement(SourceLocation Loc) const {
  Loc = SM.getExpansionRange(Loc).getEnd();
  Token Last;
  if (!Lexer::getRawToken(Loc, Last, SM, CI.getLangOpts()) &&
      Last.is(tok::semi))
    return Last.getEndLoc(); // the semicolon of a declaration
  std::optional<Token> Next = Lexer::findNextToken(Loc, SM, CI.getLangOpts());
  return Next && Next->is(tok::semi) ? Next->getEndLoc() : SourceLocation();
}

llvm::SmallVector<FixItHint, 2>
Frontend::moveStart(const MarkedRegion &R) const {
  SourceLocation To = afterStatement(R.First.Statement.getEnd());
  SourceLocation Semi = afterStatement(R.Start.getEnd());
  if (To.isInvalid() || To.isMacroID() || Semi.isInvalid() || Semi.isMacroID())
    return {};
  SourceLocation From = SM.getExpansionLoc(R.Start.getBegin());
  CharSourceRange Marker = CharSourceRange::getCharRange(From, Semi);
  StringRef Text = Lexer::getSourceText(Marker, SM, CI.getLangOpts());
  return {FixItHint::CreateRemoval(Marker),
          FixItHint::CreateInsertion(To, (" " + Text).str())};
}

llvm::SmallVector<FixItHint, 2> Frontend::moveEnd(const MarkedRegion &R) const {
  SourceLocation To = R.Last.Statement.getBegin();
  SourceLocation Semi = afterStatement(R.End.getEnd());
  if (To.isMacroID() || Semi.isInvalid() || Semi.isMacroID())
    return {};
  SourceLocation From = SM.getExpansionLoc(R.End.getBegin());
  CharSourceRange Marker = CharSourceRange::getCharRange(From, Semi);
  StringRef Text = Lexer::getSourceText(Marker, SM, CI.getLangOpts());
  return {FixItHint::CreateInsertion(To, (Text + " ").str()),
          FixItHint::CreateRemoval(Marker)};
}

} // namespace cosy
