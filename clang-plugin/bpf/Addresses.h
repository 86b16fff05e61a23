// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Addresses.h - Addresses of constants in user functions -------------===//
#ifndef COSY_PLUGIN_BPF_ADDRESSES_H
#define COSY_PLUGIN_BPF_ADDRESSES_H

#include "llvm/IR/Function.h"

namespace cosy {

/// Marks \p F, a function of the library whose result does not depend on
/// addresses.
void ignoreAddresses(llvm::Function &F);

/// \returns true if \p F is memcpy() or memmove(), whose calls must not be
/// inlined before checkAddresses(), which follows what they copy.
bool isCopy(const llvm::Function &F);

/// Reports where \p Program, made of \p User and of its callees, depends on the
/// address of a constant, or hands it out. \returns false after an error. Must
/// run after local variables were promoted and before any other optimisation.
bool checkAddresses(llvm::Function &Program, const llvm::Function &User);

} // namespace cosy

#endif // COSY_PLUGIN_BPF_ADDRESSES_H
