// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StartOptions.h - What COSY_START_WITH asks for ---------------------===//
#ifndef COSY_PLUGIN_STARTOPTIONS_H
#define COSY_PLUGIN_STARTOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Instructions.h"

#include <cosy/options.h>

#include <optional>

namespace cosy {

/// The options of a region.
struct StartOptions {
  bool StopOnError = false;
  uint64_t MaxOperations = 0; ///< 0: no limit
  uint32_t MaxMs = 0;         ///< 0: no limit
  cosy_policy AtLimit = COSY_RESUME;

  bool limited() const { return MaxOperations || MaxMs; }
  /// \returns true if runs are counted, which native code does not do.
  bool countsRuns() const { return limited() && AtLimit != COSY_RESUME; }
  bool stopsAtLimit() const { return limited() && AtLimit == COSY_STOP; }
};

/// Reads the arguments of a COSY_START_WITH into \p Options; those that are no
/// constant are nullopt. \returns what is wrong, or "".
std::string readOptions(llvm::ArrayRef<std::optional<uint64_t>> Args,
                        StartOptions &Options);

/// The options of the region that \p Start begins, as far as they are right;
/// RegionCheck has reported the others.
StartOptions optionsOf(const llvm::CallInst &Start);

/// Makes the regions of \p Host that ask for it leave after a system call that
/// fails, and where they have reached their limit. Before locals are in SSA
/// form, so that whatever variables hold then is what they hold after the
/// region.
void insertStops(llvm::Function &Host);

} // namespace cosy

#endif // COSY_PLUGIN_STARTOPTIONS_H
