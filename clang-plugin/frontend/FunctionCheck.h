// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionCheck.h - Check the types of user functions ----------------===//
#ifndef COSY_PLUGIN_FRONTEND_FUNCTIONCHECK_H
#define COSY_PLUGIN_FRONTEND_FUNCTIONCHECK_H

namespace clang {
class FunctionDecl;
}

namespace cosy {

/// If \p F is a COSY_FUNCTION, reports types that it cannot have.
void checkFunctionDecl(clang::FunctionDecl &F);

} // namespace cosy

#endif // COSY_PLUGIN_FRONTEND_FUNCTIONCHECK_H
