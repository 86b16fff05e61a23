// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OneUpCall.h - Functions that are cheaper as one up-call ------------===//
#ifndef COSY_PLUGIN_BODY_ONEUPCALL_H
#define COSY_PLUGIN_BODY_ONEUPCALL_H

#include "llvm/IR/Function.h"

namespace cosy {

/// \returns true if a call of \p F in a compound should be an up-call, because
/// the code of \p F in the compound would cost at least as much: each of its
/// paths makes up-calls itself, and its system calls save less than these cost.
/// \p F is not recognised yet.
bool isCheaperAsOneUpCall(const llvm::Function &F);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_ONEUPCALL_H
