// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Diagnostics.h - What the stages on the IR tell the user ------------===//
//
// Errors, warnings and remarks at places of the source. Where clang compiles
// the source itself they have ranges and fix-its; from bitcode (-save-temps, or
// when a program is linked) there is only the line. Warnings obey the plugin's
// -W flags and pragmas: for bitcode those at a function's first region are
// written down in an annotation.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_DIAGNOSTICS_H
#define COSY_PLUGIN_DIAGNOSTICS_H

#include "region/Region.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"

namespace cosy {

/// The warning groups.
enum class Warning {
#define COSY_WARNING(Name, Group, Enabled) Name,
#include "Warnings.def"
};
constexpr unsigned NumWarnings = 0
#define COSY_WARNING(Name, Group, Enabled) +1
#include "Warnings.def"
    ;

/// The group's name, which is also that of its flag.
llvm::StringRef warningGroup(Warning W);

/// \p Message with the flag that it obeys after it, as clang has it.
std::string withFlag(const llvm::Twine &Message, Warning W, bool IsError);

/// How a warning is reported.
enum class WarningLevel : char { Off = '-', On = 'w', Error = 'e' };

/// An annotation of a function that may be compiled from bitcode begins so;
/// after it is a WarningLevel for each warning.
constexpr llvm::StringLiteral WarningAnnotation = "cosy_warnings:";

/// The same as a function attribute, for regions whose compounds are made when
/// the program is linked.
constexpr llvm::StringLiteral WarningAttribute = "cosy-warnings";

/// Reports at places of the source, while clang has it.
class SourceMessages {
public:
  virtual ~SourceMessages() = default;

  /// Reports \p Text at \p Loc of \p F. \returns false, and reports nothing, if
  /// the source has no such place.
  virtual bool reportError(const llvm::Function &F, const llvm::DILocation *Loc,
                           llvm::StringRef Text) = 0;
  /// The same for a warning of the group \p W, as far as that is not off.
  virtual bool reportWarning(Warning W, const llvm::Function &F,
                             const llvm::DILocation *Loc,
                             llvm::StringRef Text) = 0;
  virtual void suggestMovingMarker(const llvm::DILocation &Loc) = 0;
  /// \returns a WarningLevel for each warning at \p Loc.
  virtual std::string warningLevels(const llvm::DILocation &Loc) = 0;
};

/// Makes \p Messages report, until it is null. Without it there is only the IR.
void setSourceMessages(SourceMessages *Messages);

/// Makes the text of later messages begin with their place, because a linker
/// prints only the text.
void putPlacesIntoText();

/// \returns a WarningLevel for each warning at \p Loc; empty if that is not
/// known.
std::string warningLevels(const llvm::DILocation *Loc);

/// Reports \p Message at \p Loc, or at \p F if there is none. Inside a region a
/// note points at its COSY_START.
void reportError(const llvm::Function &F, const llvm::DILocation *Loc,
                 const llvm::Twine &Message);

/// The same as a warning of the group \p W, as far as that is not off.
void reportWarning(Warning W, const llvm::Function &F,
                   const llvm::DILocation *Loc, const llvm::Twine &Message);

/// Emits a remark of the class \p RemarkT - OptimizationRemark for what was
/// done (-Rpass=cosy), OptimizationRemarkMissed for what could not be
/// (-Rpass-missed=cosy), OptimizationRemarkAnalysis for figures - at \p Loc, or
/// at COSY_START if that is null. \p Name identifies it in the YAML record,
/// \p Fill adds its text. \returns whether it is printed.
template <typename RemarkT, typename Fn>
bool remark(const Region &R, const llvm::DILocation *Loc, llvm::StringRef Name,
            Fn Fill) {
  RemarkT Rem("cosy", Name, llvm::DebugLoc(Loc ? Loc : R.Loc), R.Before);
  Fill(Rem);
  llvm::OptimizationRemarkEmitter(R.Host).emit(Rem);
  return Rem.isEnabled();
}

/// Behind a remark about the up-call at \p Loc: if its statement is the first
/// or the last of the region, a note that shows how to move the marker.
void suggestMovingMarker(const llvm::DILocation *Loc);

/// "1 operation", "2 operations".
std::string count(uint64_t N, llvm::StringRef One);

} // namespace cosy

#endif // COSY_PLUGIN_DIAGNOSTICS_H
