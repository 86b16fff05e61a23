// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionCheck.h - Can these functions be marked? -------------------===//
#ifndef COSY_PLUGIN_FUNCTIONCHECK_H
#define COSY_PLUGIN_FUNCTIONCHECK_H

namespace clang {
class FunctionDecl;
}

namespace cosy {

/// If \p F is a COSY_FUNCTION, reports what its type cannot be.
void checkFunctionDecl(clang::FunctionDecl &F);

} // namespace cosy

#endif // COSY_PLUGIN_FUNCTIONCHECK_H
