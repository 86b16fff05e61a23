// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FastPaths.h - What the module may do with less work ----------------===//
#ifndef COSY_PLUGIN_FASTPATHS_H
#define COSY_PLUGIN_FASTPATHS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

namespace cosy {

/// The hints (COSY_HINT_*) of system calls; those not here have none.
using FastHints = llvm::DenseMap<const llvm::CallBase *, unsigned>;

/// \returns the hints that forbid all fast paths of \p Source.
FastHints forbidFastPaths(llvm::Function &Source);

} // namespace cosy

#endif // COSY_PLUGIN_FASTPATHS_H
