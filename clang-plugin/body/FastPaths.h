// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FastPaths.h - Hints for the module's fast paths --------------------===//
//
// Some system calls can be made with less work if the program around them meets
// conditions. These passes prove the conditions and attach hints (COSY_HINT_*)
// to the calls, as metadata. A transformation that moves or clones a call keeps
// its hints.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_FASTPATHS_H
#define COSY_PLUGIN_BODY_FASTPATHS_H

#include "body/State.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

namespace cosy {

/// Returns true if \p I belongs to an up-call that is executed while a private
/// file is open. Then the file becomes an ordinary one.
bool publishesFile(const llvm::Instruction &I);

/// \returns the hints of the system call \p Call; 0 if it has none.
unsigned hintsOf(const llvm::CallBase &Call);

/// Adds \p Hints to those of \p Call.
void addHints(llvm::CallBase &Call, unsigned Hints);

/// Metadata of reads and writes that region/Borrow.h marks: the data of the
/// read need not reach the process.
constexpr llvm::StringLiteral BorrowMark = "cosy.borrow";

/// A finding about a call, for a remark.
struct FastNote {
  const llvm::DILocation *Loc; ///< of the call
  bool Chosen;                 ///< otherwise Text is the reason
  llvm::StringRef Text;
};

/// \returns what the passes below have noted about calls of \p Body.
llvm::SmallVector<FastNote, 0> fastNotesOf(const llvm::Function &Body);

/// Joins calls that the module can make as one. Moves the code between them
/// before the first call.
class JoinCallsPass : public BodyPass<JoinCallsPass, BodyState::Recognised> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-join";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Finds the other hints. Changes only metadata.
class FastPathsPass : public BodyPass<FastPathsPass, BodyState::Grouped> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-fast-paths";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

} // namespace cosy

#endif // COSY_PLUGIN_BODY_FASTPATHS_H
