// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BatchCheck.h - COSY_BATCH in the source ----------------------------===//
#ifndef COSY_PLUGIN_FRONTEND_BATCHCHECK_H
#define COSY_PLUGIN_FRONTEND_BATCHCHECK_H

namespace clang {
class FunctionDecl;
}

namespace cosy {

class Frontend;

/// Checks every COSY_BATCH of \p F, and adds to the source what the IR does not
/// show: where the step of the loop begins, and which variables are declared in
/// the loop's body.
void checkBatches(clang::FunctionDecl &F, Frontend &FE);

} // namespace cosy

#endif // COSY_PLUGIN_FRONTEND_BATCHCHECK_H
