// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Annotations.h - Annotations of functions, from the source to the IR ===//
#ifndef COSY_PLUGIN_SUPPORT_ANNOTATIONS_H
#define COSY_PLUGIN_SUPPORT_ANNOTATIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Module.h"

namespace cosy {

/// Returns the text of the annotation whose operand is \p V, or "".
llvm::StringRef annotationText(const llvm::Value *V);

/// Calls \p Fn for each __attribute__((annotate("..."))) of a function that is
/// defined or used in \p M.
void forEachAnnotation(
    llvm::Module &M,
    llvm::function_ref<void(llvm::Function &, llvm::StringRef)> Fn);

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_ANNOTATIONS_H
