// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionAddresses.h - Addresses of constants in user functions -----===//
#ifndef COSY_PLUGIN_FUNCTIONADDRESSES_H
#define COSY_PLUGIN_FUNCTIONADDRESSES_H

#include "llvm/IR/Function.h"

namespace cosy {

/// Marks \p F, of the library of user functions, whose results do not depend on
/// where things are.
void ignoreAddresses(llvm::Function &F);

/// Reports where \p Program, made of \p User and of what it calls, depends on
/// the address of a constant. \returns false after an error. To be called when
/// local variables are values and nothing else has been optimized.
bool checkAddresses(llvm::Function &Program, const llvm::Function &User);

} // namespace cosy

#endif // COSY_PLUGIN_FUNCTIONADDRESSES_H
