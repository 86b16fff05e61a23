// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Copyable.h - Instructions that only their function can execute -----===//
#ifndef COSY_PLUGIN_SUPPORT_COPYABLE_H
#define COSY_PLUGIN_SUPPORT_COPYABLE_H

#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"

namespace cosy {

/// Adds to setjmp() and similar functions the attribute that whyNotMovable()
/// needs. With -fno-builtin, clang does not add it.
void markCallsThatReturnTwice(llvm::Module &M);

/// Adds to functions that ask for a return address or a frame address which is
/// not their own an attribute that whyNotCopyable() needs: another function
/// that calls them would get another address.
void markFunctionsThatSeeCallers(llvm::Module &M);

/// \returns why only the function that contains \p I can execute it, or null.
const char *whyNotMovable(const llvm::Instruction &I);

/// \returns why no other function can contain a copy of \p I, or null.
const char *whyNotCopyable(const llvm::Instruction &I);

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_COPYABLE_H
