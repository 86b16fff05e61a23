// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionCheck.h - Are markers used as they should be? ----------------===//
#ifndef COSY_PLUGIN_REGIONCHECK_H
#define COSY_PLUGIN_REGIONCHECK_H

#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"

#include <memory>

namespace cosy {

class WarningState;

/// Checks the markers of every function before code is generated for it, and
/// tells the Frontend, which it creates, about the regions. \p Flags are what
/// the command line says about warnings.
std::unique_ptr<clang::ASTConsumer>
createRegionCheck(clang::CompilerInstance &CI, const WarningState &Flags);

} // namespace cosy

#endif // COSY_PLUGIN_REGIONCHECK_H
