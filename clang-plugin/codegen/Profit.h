// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Profit.h - What a region gains from being a compound ---------------===//
//
// Estimates in instructions, from what docs/benchmarks.md measures, and advice.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_PROFIT_H
#define COSY_PLUGIN_PROFIT_H

#include "codegen/Select.h"
#include "region/Region.h"

#include "llvm/Analysis/LoopInfo.h"

namespace cosy {

/// Warns if \p R, whose compound is \p Sel with \p UpCalls, certainly takes
/// longer than its machine code, as a whole or in each iteration of a loop.
/// Remarks report the gain of the region and of its loops.
void explainProfit(const Region &R, const Selection &Sel,
                   const UpCallList &UpCalls, llvm::LoopInfo &LI);

/// Returns what an up-call costs, and how to avoid the one for \p Culprit.
std::string upCallAdvice(const llvm::Instruction &Culprit);

} // namespace cosy

#endif // COSY_PLUGIN_PROFIT_H
