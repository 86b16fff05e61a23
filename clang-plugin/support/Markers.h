// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Markers.h - Calls of markers ---------------------------------------===//
#ifndef COSY_PLUGIN_SUPPORT_MARKERS_H
#define COSY_PLUGIN_SUPPORT_MARKERS_H

#include "support/Names.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

namespace cosy {

/// The maximum number of iterations in a batch.
constexpr uint64_t MaxBatch = 4096;

/// Returns \p I if it calls the marker \p Name, otherwise null. StartMarker
/// means any marker that begins a region.
llvm::CallInst *asMarker(llvm::Instruction &I, llvm::StringRef Name);

/// Returns the calls of the marker \p Name in \p F, as defined by asMarker().
llvm::SmallVector<llvm::CallInst *, 4> markersOf(llvm::Function &F,
                                                 llvm::StringRef Name);

/// \returns the first call of a marker in \p BB that begins or ends a region,
/// or null.
llvm::CallInst *firstMarker(llvm::BasicBlock &BB);

/// \returns all direct calls of \p F.
llvm::SmallVector<llvm::CallInst *, 4> callsOf(llvm::Function &F);

/// \returns those of the function \p Name, if \p M has one.
llvm::SmallVector<llvm::CallInst *, 4> callsOf(llvm::Module &M,
                                               llvm::StringRef Name);

/// \returns the call of SplitGate that belongs to the region of \p Start, or
/// null.
llvm::CallInst *splitGateOf(llvm::CallInst &Start);

/// Makes all calls of SplitGate in \p F false.
void closeSplitGates(llvm::Function &F);

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_MARKERS_H
