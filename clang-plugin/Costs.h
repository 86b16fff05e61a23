// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Costs.h - What things cost in a compound ---------------------------===//
//
// In guest instructions, more than natively, as ./cosy bench measures them;
// docs/porting.md has the table. Whatever estimates or quotes a cost takes it
// from here.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_COSTS_H
#define COSY_PLUGIN_COSTS_H

namespace cosy {

constexpr unsigned EntryCost = 576;  ///< bench fit: 592 - 16
constexpr unsigned CallSaves = 197;  ///< bench fit: 305.4 - 108.5
constexpr unsigned UpCallCost = 681; ///< bench upcall: 687 - 6

// Bench op.
constexpr unsigned OperationCost = 7;
constexpr unsigned MemoryCost = 15; ///< a load, a store
constexpr unsigned LoopCost = 16;   ///< a jump back

/// At most so much is saved by a call for which there may be a fast path: the
/// 4 KiB of a name that are not cleared, the descriptor that is not looked up.
constexpr unsigned NameCallSaves = 2000; ///< bench newfstatat: 3391 - 1368
/// A third of bench smallfile, 10578 - 6853, without openclose, 5542 - 3926.
constexpr unsigned FileCallSaves = 700;

} // namespace cosy

#endif // COSY_PLUGIN_COSTS_H
