// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StartOptions.h - The options of COSY_START_WITH --------------------===//
#ifndef COSY_PLUGIN_SUPPORT_STARTOPTIONS_H
#define COSY_PLUGIN_SUPPORT_STARTOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Instructions.h"

#include <cosy/options.h>

#include <optional>
#include <string>

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

/// Reads the arguments of a COSY_START_WITH into \p Options. Arguments that are
/// not constant are nullopt. \returns an error message, or "".
std::string readOptions(llvm::ArrayRef<std::optional<uint64_t>> Args,
                        StartOptions &Options);

/// Returns the options of the region that \p Start begins, as far as they are
/// valid. RegionCheck has reported the others.
StartOptions optionsOf(const llvm::CallInst &Start);

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_STARTOPTIONS_H
