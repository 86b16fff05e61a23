// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Profit.h - The gain of a region ------------------------------------===//
//
// Estimates in instructions, from the figures in docs/benchmarks.md, and
// advice.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_CODEGEN_PROFIT_H
#define COSY_PLUGIN_CODEGEN_PROFIT_H

#include "codegen/Select.h"
#include "region/Region.h"

#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"

namespace cosy {

/// Warns if the compound \p Sel of \p R with \p UpCalls takes longer than its
/// native code, as a whole or in each iteration of a loop: certainly or, if it
/// leaves the kernel, usually. Remarks report the gain of the region and of its
/// loops.
void explainProfit(const Region &R, const Selection &Sel,
                   const UpCallList &UpCalls, llvm::LoopInfo &LI,
                   llvm::BlockFrequencyInfo &BFI, llvm::ScalarEvolution &SE);

/// Estimates what the compound \p Sel of \p R, a part of a COSY_ASYNC function,
/// costs for each request beyond native code. If that is more than it saves,
/// sets R.Loses, and a remark reports it.
void judgePart(Region &R, const Selection &Sel, llvm::BlockFrequencyInfo &BFI);

/// Returns what an up-call costs, and how to avoid the one for \p Culprit, in a
/// region or in an asynchronous function.
std::string upCallAdvice(const llvm::Instruction &Culprit, bool IsAsync);

} // namespace cosy

#endif // COSY_PLUGIN_CODEGEN_PROFIT_H
