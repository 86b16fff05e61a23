// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Frontend.h - The source, for messages of later stages --------------===//
//
// Stores facts about the source while clang has it: the places of regions and
// their expressions, and which warnings are on at which place. The stages on
// the IR know only file, line and column.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_FRONTEND_FRONTEND_H
#define COSY_PLUGIN_FRONTEND_FRONTEND_H

#include "support/Diagnostics.h"

#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/CompilerInstance.h"

#include <array>
#include <map>

namespace cosy {

/// A statement of a region that contains exactly one call.
struct LoneCall {
  clang::SourceLocation Call; ///< its place in the IR; invalid if none
  clang::SourceRange Statement;
};

/// A region of the source.
struct MarkedRegion {
  clang::SourceRange Start, End; ///< the markers
  LoneCall First, Last;          ///< the statements next to them
};

/// The state of the flags of all warnings.
class WarningState {
public:
  /// Applies "cosy-x", "no-cosy-x", "error=cosy-x" or "no-error=cosy-x". The
  /// name cosy means all groups. \returns false if there is no such warning.
  bool set(llvm::StringRef Flag);

  bool isOn(Warning W) const { return Groups[unsigned(W)].On; }
  bool isError(Warning W, bool AllErrors) const {
    const Group &G = Groups[unsigned(W)];
    return G.Error || (AllErrors && !G.NoError);
  }

private:
  struct Group {
    bool On, Error = false, NoError = false;
  };
  std::array<Group, NumWarnings> Groups{{
#define COSY_WARNING(Name, Group, Enabled) {Enabled},
#include "support/Warnings.def"
  }};
};

class Frontend : public SourceMessages {
public:
  /// \p Flags is the state from the command line.
  Frontend(clang::CompilerInstance &CI, const WarningState &Flags);

  // Called while the source is parsed.

  clang::ASTContext &context() { return CI.getASTContext(); }
  /// \returns true unless the source is compiled with -O0.
  bool optimizes() const { return CI.getCodeGenOpts().OptimizationLevel > 0; }

  /// Sets the state of the warnings from \p Loc on.
  void changeWarnings(clang::SourceLocation Loc, const WarningState &S) {
    Changes.push_back({Loc, S});
  }
  const WarningState &warnings() const { return Changes.back().second; }

  /// Stores that the expression at \p Loc has the range \p Range.
  void addRange(clang::SourceLocation Loc, clang::SourceRange Range) {
    Ranges.try_emplace(SM.getExpansionLoc(Loc), Range);
  }
  void addRegion(const MarkedRegion &R) { Regions.push_back(R); }

  /// Annotates \p F with its warning levels, if it may be compiled from
  /// bitcode.
  void annotateWarnings(clang::FunctionDecl &F);

  // Messages.

  void error(clang::SourceLocation Loc, clang::SourceRange Range,
             llvm::StringRef Text, llvm::ArrayRef<clang::FixItHint> Fixes = {});
  void note(clang::SourceLocation Loc, llvm::StringRef Text,
            llvm::ArrayRef<clang::FixItHint> Fixes = {});
  /// \returns whether the warning is on.
  bool warning(Warning W, clang::SourceLocation Loc, clang::SourceRange Range,
               llvm::StringRef Text);

  /// Returns the place after the ';' that follows \p Loc, the last token of a
  /// statement or declaration.
  clang::SourceLocation afterStatement(clang::SourceLocation Loc) const;

  // Messages of the stages on the IR.

  bool reportError(const llvm::Function &F, const llvm::DILocation *Loc,
                   llvm::StringRef Text) override;
  bool reportNote(const llvm::Function &F, const llvm::DILocation *Loc,
                  llvm::StringRef Text) override;
  bool reportWarning(Warning W, const llvm::Function &F,
                     const llvm::DILocation *Loc,
                     llvm::StringRef Text) override;
  void suggestMovingMarker(const llvm::DILocation &Loc) override;
  std::string warningLevels(const llvm::DILocation &Loc) override;

private:
  // These map places of the IR to places of the source.

  /// Returns the place of \p Loc in \p F, or of \p F itself; invalid if it is
  /// not known.
  clang::SourceLocation place(const llvm::Function &F,
                              const llvm::DILocation *Loc) const;
  clang::SourceLocation find(const llvm::DILocation &Loc) const;
  clang::SourceRange rangeAt(clang::SourceLocation Loc) const;
  /// Returns the region around \p Loc, or null.
  const MarkedRegion *regionAround(clang::SourceLocation Loc) const;
  /// Adds a note at the beginning of the region around \p Loc.
  void noteRegion(clang::SourceLocation Loc);

  /// Return replacements that move a marker of \p R over the statement next to
  /// it.
  llvm::SmallVector<clang::FixItHint, 2> moveStart(const MarkedRegion &R) const;
  llvm::SmallVector<clang::FixItHint, 2> moveEnd(const MarkedRegion &R) const;

  WarningLevel level(Warning W, clang::SourceLocation Loc) const;
  /// \returns the levels of all warnings at \p Loc, as the text of an
  /// annotation.
  std::string levels(clang::SourceLocation Loc) const;
  void report(clang::DiagnosticsEngine::Level Level, clang::SourceLocation Loc,
              clang::SourceRange Range, llvm::StringRef Text,
              llvm::ArrayRef<clang::FixItHint> Fixes);

  clang::CompilerInstance &CI;
  clang::SourceManager &SM;
  std::vector<std::pair<clang::SourceLocation, WarningState>> Changes;
  std::map<clang::SourceLocation, clang::SourceRange> Ranges;
  std::vector<MarkedRegion> Regions;
};

} // namespace cosy

#endif // COSY_PLUGIN_FRONTEND_FRONTEND_H
