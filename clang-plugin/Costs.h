// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Costs.h - What things cost in a compound ---------------------------===//
//
// In guest instructions, more than natively. The figures and their origin are
// in <cosy/costs.h>, by which libcosy decides, too. Whatever estimates or
// quotes a cost takes it from here.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_COSTS_H
#define COSY_PLUGIN_COSTS_H

#include <cosy/costs.h>

namespace cosy {

constexpr unsigned EntryCost = COSY_COST_ENTRY;
constexpr unsigned CallSaves = COSY_CALL_SAVES;
constexpr unsigned UpCallCost = COSY_COST_UPCALL;

constexpr unsigned OperationCost = COSY_COST_OPERATION;
constexpr unsigned MemoryCost = COSY_COST_MEMORY; ///< a load, a store
constexpr unsigned LoopCost = COSY_COST_LOOP;     ///< a jump back

/// At most so much is saved by a call for which there may be a fast path: the
/// 4 KiB of a name that are not cleared, the descriptor that is not looked up.
constexpr unsigned NameCallSaves = COSY_NAME_CALL_SAVES;
constexpr unsigned FileCallSaves = COSY_FILE_CALL_SAVES;
/// An lseek with COSY_HINT_JOIN saves so much.
constexpr unsigned JoinedSeekSaves = COSY_JOINED_SEEK_SAVES;

} // namespace cosy

#endif // COSY_PLUGIN_COSTS_H
