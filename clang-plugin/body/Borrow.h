// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Borrow.h - Reads whose data need not reach the process -------------===//
#ifndef COSY_PLUGIN_BORROW_H
#define COSY_PLUGIN_BORROW_H

#include "region/Region.h"

#include "llvm/IR/Dominators.h"

#include <string>
#include <vector>

namespace cosy {

/// A buffer that the region reads into.
struct ReadBuffer {
  const llvm::DILocation *Loc = nullptr; ///< of the read
  /// Why its reads have to be copied; empty if they need not be.
  std::string Why;
  /// Somebody wants the data: it is written somewhere.
  bool Written = false;
};

/// Finds the reads of \p Body, the body of \p R, whose data is only used by
/// writes of the same bytes, and marks these calls. Must run before the body is
/// simplified, which may make two reads of one. Uses in the functions
/// \p Ignored do not count.
///
/// \returns the buffers that are read into.
std::vector<ReadBuffer>
findBorrowed(llvm::Function &Body, const Region &R,
             const llvm::DominatorTree &DT,
             llvm::function_ref<bool(const llvm::Function *)> Ignored);

/// Gives what findBorrowed() has marked in \p Body, and is still whole, the
/// hint BORROW.
void hintBorrowed(llvm::Function &Body);

} // namespace cosy

#endif // COSY_PLUGIN_BORROW_H
