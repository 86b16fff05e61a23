// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Target.h - Machines for which there are compounds ------------------===//
#ifndef COSY_PLUGIN_SUPPORT_TARGET_H
#define COSY_PLUGIN_SUPPORT_TARGET_H

#include "llvm/IR/Module.h"

namespace cosy {

/// \returns whether \p M is compiled for the machine that compounds are for.
bool canHaveCompounds(const llvm::Module &M);

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_TARGET_H
