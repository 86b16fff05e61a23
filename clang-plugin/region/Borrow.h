// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Borrow.h - Reads whose data need not reach the process -------------===//
#ifndef COSY_PLUGIN_REGION_BORROW_H
#define COSY_PLUGIN_REGION_BORROW_H

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
  /// The data is written by a write of the region.
  bool Written = false;
};

/// Finds the reads of \p Body, the body of \p R, whose data is only used by
/// writes of the same bytes, and marks these calls. Must run before the body is
/// simplified, because simplification may merge two reads. Uses in the
/// functions \p Ignored do not count.
///
/// \returns the buffers that are read into.
std::vector<ReadBuffer>
findBorrowed(llvm::Function &Body, const Region &R,
             const llvm::DominatorTree &DT,
             llvm::function_ref<bool(const llvm::Function *)> Ignored);

} // namespace cosy

#endif // COSY_PLUGIN_REGION_BORROW_H
