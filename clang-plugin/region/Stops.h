// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Stops.h - Regions that end at errors and limits --------------------===//
#ifndef COSY_PLUGIN_REGION_STOPS_H
#define COSY_PLUGIN_REGION_STOPS_H

#include "llvm/IR/Function.h"

namespace cosy {

/// Adds exits to the regions of \p Host whose options need them: after a system
/// call that fails, and where a limit is reached. Must run before locals are in
/// SSA form, so that variables keep the values that they have at such an exit.
void insertStops(llvm::Function &Host);

} // namespace cosy

#endif // COSY_PLUGIN_REGION_STOPS_H
