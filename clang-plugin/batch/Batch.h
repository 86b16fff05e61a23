// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Batch.h - Loops that are split by COSY_BATCH -----------------------===//
//
// A loop whose iterations are independent is distributed: the code before the
// region of up to N iterations, the regions of these iterations in one
// compound, then the code after the region of these iterations. COSY_BATCH
// promises that the iterations are independent; without it, BatchProof.cpp has
// to prove it.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BATCH_H
#define COSY_PLUGIN_BATCH_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// void __cosy_batch(uint64_t size, uint64_t id): the loop is to be split.
/// BatchCheck has given each marker a number, the id.
constexpr llvm::StringLiteral BatchMarker = "__cosy_batch";
/// void __cosy_batch_step(uint64_t id): the step of the loop begins here.
constexpr llvm::StringLiteral BatchStepMarker = "__cosy_batch_step";
/// Annotation of a local variable, followed by the id of the loop in whose body
/// it is declared, or 0, a colon, and its name.
constexpr llvm::StringLiteral BatchVariableAnnotation = "cosy_batch_variable:";

/// The maximum number of iterations in a batch.
constexpr uint64_t MaxBatch = 4096;

/// bool SplitGate(): whether a loop that is split without COSY_BATCH runs so.
/// It is true if the region of the loop runs as a compound, which is only known
/// when the program runs. The call and the marker of the region have the same
/// metadata SplitGateKind.
constexpr llvm::StringLiteral SplitGate = "cosy.split.runs";
constexpr llvm::StringLiteral SplitGateKind = "cosy.split";

/// Splits the loops of \p M that have a COSY_BATCH, or whose iterations are
/// provably independent, before any other change to the functions, and removes
/// the markers. With \p Check, the loops tell libcosy which iteration runs, and
/// only those with a COSY_BATCH are split. \returns whether there were any.
bool splitBatches(llvm::Module &M, llvm::FunctionAnalysisManager &FAM,
                  bool Check);

/// \returns the call of SplitGate that belongs to the region of \p Start, or
/// null.
llvm::CallInst *splitGateOf(llvm::CallInst &Start);

/// Makes all calls of SplitGate in \p F false.
void closeSplitGates(llvm::Function &F);

/// Removes the markers without changing the loops.
bool removeBatchMarkers(llvm::Module &M);

} // namespace cosy

#endif // COSY_PLUGIN_BATCH_H
