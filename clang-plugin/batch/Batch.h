// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Batch.h - Loops that are split by COSY_BATCH -----------------------===//
//
// A loop whose iterations are independent is distributed: the code before the
// region of up to N iterations, the regions of these iterations in one
// compound, then the code after the region of these iterations. COSY_BATCH
// promises that the iterations are independent; without it, Proof.cpp has
// to prove it.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BATCH_BATCH_H
#define COSY_PLUGIN_BATCH_BATCH_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Splits the loops of \p M that have a COSY_BATCH, or whose iterations are
/// provably independent, before any other change to the functions, and removes
/// the markers. With \p Check, the loops tell libcosy which iteration runs, and
/// only those with a COSY_BATCH are split. \returns whether there were any.
bool splitBatches(llvm::Module &M, llvm::FunctionAnalysisManager &FAM,
                  bool Check);

/// Removes the markers without changing the loops.
bool removeBatchMarkers(llvm::Module &M);

/// The same in \p F, with the notes about its variables.
bool removeBatchMarkers(llvm::Function &F);

} // namespace cosy

#endif // COSY_PLUGIN_BATCH_BATCH_H
