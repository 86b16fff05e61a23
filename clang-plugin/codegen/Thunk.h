// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Thunk.h - The native functions of up-calls -------------------------===//
#ifndef COSY_PLUGIN_CODEGEN_THUNK_H
#define COSY_PLUGIN_CODEGEN_THUNK_H

#include "body/UpCalls.h"
#include "codegen/Code.h"

namespace cosy {

/// Creates the native function of \p Call. Its operands are in the slots \p
/// Uses of the frame, its results are stored to \p Defs. If \p OwnErrno, the
/// thunk uses the errno of the thread, which differs from that of the compound.
llvm::Function *createThunk(const UpCall &Call, llvm::ArrayRef<Reg> Uses,
                            llvm::ArrayRef<Reg> Defs, const llvm::Twine &Name,
                            const llvm::Function &Host, bool OwnErrno);

} // namespace cosy

#endif // COSY_PLUGIN_CODEGEN_THUNK_H
