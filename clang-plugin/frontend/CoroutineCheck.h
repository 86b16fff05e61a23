// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CoroutineCheck.h - COSY_ASYNC in the source ------------------------===//
#ifndef COSY_PLUGIN_FRONTEND_COROUTINECHECK_H
#define COSY_PLUGIN_FRONTEND_COROUTINECHECK_H

namespace clang {
class Decl;
}

namespace cosy {

class Frontend;

/// Checks the type and the body of \p D if it is a COSY_ASYNC function. Checks
/// in any function or variable that COSY_ASYNC functions are called only where
/// that is allowed.
void checkCoroutines(clang::Decl &D, Frontend &FE);

} // namespace cosy

#endif // COSY_PLUGIN_FRONTEND_COROUTINECHECK_H
