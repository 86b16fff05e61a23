// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Annotations.h - What the source tells the IR about functions -------===//
#ifndef COSY_PLUGIN_ANNOTATIONS_H
#define COSY_PLUGIN_ANNOTATIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Module.h"

namespace cosy {

/// The annotation of COSY_OWN: the function is the program's own, whatever its
/// name is.
constexpr llvm::StringLiteral OwnAnnotation = "cosy_own";

/// The text that an annotation has as its operand \p V, or "".
llvm::StringRef annotationText(const llvm::Value *V);

/// Calls \p Fn for each __attribute__((annotate("..."))) of a function that is
/// defined or used in \p M.
void forEachAnnotation(
    llvm::Module &M,
    llvm::function_ref<void(llvm::Function &, llvm::StringRef)> Fn);

} // namespace cosy

#endif // COSY_PLUGIN_ANNOTATIONS_H
