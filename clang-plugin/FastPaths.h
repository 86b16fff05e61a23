// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FastPaths.h - What the module may do with less work ----------------===//
//
// Some system calls can be made with less work where something is known about
// the program around them. Here it is proved, and becomes hints on the calls.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_FASTPATHS_H
#define COSY_PLUGIN_FASTPATHS_H

#include "UpCalls.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

#include <string>
#include <vector>

namespace cosy {

/// The hints (COSY_HINT_*) of system calls; those not here have none.
using FastHints = llvm::DenseMap<const llvm::CallBase *, unsigned>;

/// What was found about a call, for a remark.
struct FastNote {
  const llvm::CallBase *Call;
  bool Chosen; ///< else it is told why not
  std::string Text;
};

/// \returns the hints that forbid all fast paths of \p Source.
FastHints forbidFastPaths(llvm::Function &Source);

/// Finds the hints of \p Source; what is between calls to be joined is moved
/// before them. Appends to \p Notes.
FastHints chooseFastPaths(llvm::Function &Source, const llvm::LoopInfo &LI,
                          const UpCallList &UpCalls,
                          std::vector<FastNote> &Notes);

} // namespace cosy

#endif // COSY_PLUGIN_FASTPATHS_H
