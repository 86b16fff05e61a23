// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegAlloc.h - Registers of a compound -------------------------------===//
#ifndef COSY_PLUGIN_CODEGEN_REGALLOC_H
#define COSY_PLUGIN_CODEGEN_REGALLOC_H

#include "codegen/Code.h"

namespace cosy {

/// Gives every register of \p C its final number and turns parallel copies into
/// operations. Inputs become registers 0, 1, …, possibly in another order.
/// Outputs become a contiguous range. C.Inputs and C.Outputs are updated.
/// \returns false if COSY_MAX_REGS are too few. Then \p C cannot be used any
/// more.
bool allocateRegisters(Code &C);

} // namespace cosy

#endif // COSY_PLUGIN_CODEGEN_REGALLOC_H
