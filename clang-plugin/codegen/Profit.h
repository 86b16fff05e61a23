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

/// Warns if \p R, whose compound is \p Sel with \p UpCalls, is certain to take
/// longer than its machine code, as a whole or in each round of a loop; and
/// tells by remarks what it gains where.
void explainProfit(const Region &R, const Selection &Sel,
                   const UpCallList &UpCalls, llvm::LoopInfo &LI);

/// What an up-call costs, and how to do without the one for \p Culprit.
std::string upCallAdvice(const llvm::Instruction &Culprit);

} // namespace cosy

#endif // COSY_PLUGIN_PROFIT_H
