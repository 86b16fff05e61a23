// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinkStep.h - What a host keeps for the link step -------------------===//
#ifndef COSY_PLUGIN_HOST_LINKSTEP_H
#define COSY_PLUGIN_HOST_LINKSTEP_H

#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"

namespace cosy {

/// \returns whether \p F is the body of a deferred region.
bool isDeferredBody(const llvm::Function &F);

/// Keeps the names of \p Body and \p Descriptor, of a deferred region. So
/// ThinLTO copies no function that refers to them into another module.
void keepForLinkStep(llvm::Function &Body, llvm::GlobalVariable &Descriptor);

/// \returns whether keepForLinkStep() was called for \p C.
bool isKeptForLinkStep(const llvm::Constant &C);

} // namespace cosy

#endif // COSY_PLUGIN_HOST_LINKSTEP_H
