// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BatchCheck.h - COSY_BATCH in the source ----------------------------===//
#ifndef COSY_PLUGIN_FRONTEND_BATCHCHECK_H
#define COSY_PLUGIN_FRONTEND_BATCHCHECK_H

#include "llvm/ADT/ArrayRef.h"

namespace clang {
class Decl;
class ParmVarDecl;
} // namespace clang

namespace cosy {

class Frontend;

/// Checks every COSY_BATCH of \p Function, a function or a block, and adds to
/// the source what the IR does not show: where the step of the loop begins, and
/// which variables are declared in the loop's body.
void checkBatches(clang::Decl &Function,
                  llvm::ArrayRef<clang::ParmVarDecl *> Parameters,
                  Frontend &FE);

} // namespace cosy

#endif // COSY_PLUGIN_FRONTEND_BATCHCHECK_H
