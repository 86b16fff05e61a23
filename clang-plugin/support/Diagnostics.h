// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Diagnostics.h - Messages of the stages on the IR -------------------===//
//
// Errors, warnings and remarks at places of the source. If clang compiles the
// source, they have ranges and fix-its. If the input is bitcode (-save-temps,
// or in the link step), only the line is known. Warnings obey the plugin's -W
// flags and pragmas. For bitcode, an annotation stores their state at a
// function's first region.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_SUPPORT_DIAGNOSTICS_H
#define COSY_PLUGIN_SUPPORT_DIAGNOSTICS_H

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"

#include <string>

namespace cosy {

/// The warning groups.
enum class Warning {
#define COSY_WARNING(Name, Group, Enabled) Name,
#include "support/Warnings.def"
};
constexpr unsigned NumWarnings = 0
#define COSY_WARNING(Name, Group, Enabled) +1
#include "support/Warnings.def"
    ;

/// The name of the group, which is also the name of its flag.
llvm::StringRef warningGroup(Warning W);

/// Returns \p Message followed by the flag that controls it, as clang prints
/// it.
std::string withFlag(const llvm::Twine &Message, Warning W, bool IsError);

/// How a warning is reported.
enum class WarningLevel : char { Off = '-', On = 'w', Error = 'e' };

/// Reports at places of the source. Exists only while clang has the source.
class SourceMessages {
public:
  virtual ~SourceMessages() = default;

  /// Reports \p Text at \p Loc of \p F. \returns false, and reports nothing, if
  /// the source has no such place.
  virtual bool reportError(const llvm::Function &F, const llvm::DILocation *Loc,
                           llvm::StringRef Text) = 0;
  /// The same for a note, which belongs to the message before it.
  virtual bool reportNote(const llvm::Function &F, const llvm::DILocation *Loc,
                          llvm::StringRef Text) = 0;
  /// The same for a warning of the group \p W, unless it is off.
  virtual bool reportWarning(Warning W, const llvm::Function &F,
                             const llvm::DILocation *Loc,
                             llvm::StringRef Text) = 0;
  virtual void suggestMovingMarker(const llvm::DILocation &Loc) = 0;
  /// \returns a WarningLevel for each warning at \p Loc.
  virtual std::string warningLevels(const llvm::DILocation &Loc) = 0;
};

/// Makes reports about the functions of \p Ctx use \p Messages, until the
/// context gets another diagnostic handler. Until then, \p Messages must exist.
/// Other diagnostics go to the present handler.
void setSourceMessages(llvm::LLVMContext &Ctx, SourceMessages &Messages);

/// The text of a message begins with its place, because a linker prints only
/// the text. Each plugin defines it.
extern const bool PlacesAreInText;

/// \returns a WarningLevel for each warning at \p Loc of \p F, or an empty
/// string if they are not known.
std::string warningLevels(const llvm::Function &F, const llvm::DILocation *Loc);

/// Reports \p Message at \p Loc, or at \p F if \p Loc is null. Inside a region,
/// a note points at its COSY_START.
void reportError(const llvm::Function &F, const llvm::DILocation *Loc,
                 const llvm::Twine &Message);

/// Adds a note at \p Loc to the error before it.
void reportNote(const llvm::Function &F, const llvm::DILocation *Loc,
                const llvm::Twine &Message);

/// The same as reportError() as a warning of the group \p W, unless it is off.
void reportWarning(Warning W, const llvm::Function &F,
                   const llvm::DILocation *Loc, const llvm::Twine &Message);

/// Adds a note after a remark about the up-call at \p Loc of \p F, if its
/// statement is the first or the last one of the region. The note shows how to
/// move the marker.
void suggestMovingMarker(const llvm::Function &F, const llvm::DILocation *Loc);

/// "1 operation", "2 operations".
std::string count(uint64_t N, llvm::StringRef One);

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_DIAGNOSTICS_H
