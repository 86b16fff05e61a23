// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FastPaths.h - What the module may do with less work ----------------===//
//
// Some system calls can be made with less work where something is known about
// the program around them. Here it is proved, and becomes hints (COSY_HINT_*)
// on the calls, as metadata: what moves or clones a call keeps them, and no
// list of calls has to survive a transformation.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_FASTPATHS_H
#define COSY_PLUGIN_FASTPATHS_H

#include "body/UpCalls.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

#include <string>
#include <vector>

namespace cosy {

/// \returns the hints of the system call \p Call; 0 if it has none.
unsigned hintsOf(const llvm::CallBase &Call);

/// Adds \p Hints to those of \p Call.
void addHints(llvm::CallBase &Call, unsigned Hints);

/// What was found about a call, for a remark.
struct FastNote {
  const llvm::DILocation *Loc; ///< of the call
  bool Chosen;                 ///< else it is told why not
  std::string Text;
};

/// Joins calls of \p Body that the module can make as one: what is between
/// them is moved before the first. Call before findUpCalls(), as values are
/// replaced. Appends to \p Notes.
void joinCalls(llvm::Function &Body, std::vector<FastNote> &Notes);

/// Forbids all fast paths of \p Body.
void forbidFastPaths(llvm::Function &Body);

/// Finds the other hints of \p Body, of which nothing but metadata changes.
/// Appends to \p Notes.
void chooseFastPaths(llvm::Function &Body, const llvm::LoopInfo &LI,
                     const UpCallList &UpCalls, std::vector<FastNote> &Notes);

} // namespace cosy

#endif // COSY_PLUGIN_FASTPATHS_H
