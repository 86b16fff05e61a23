// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionCheck.h - Are markers used as they should be? ----------------===//
#ifndef COSY_PLUGIN_REGIONCHECK_H
#define COSY_PLUGIN_REGIONCHECK_H

#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"

#include <memory>

namespace cosy {

/// Checks the markers of every function before code is generated for it.
std::unique_ptr<clang::ASTConsumer>
createRegionCheck(clang::CompilerInstance &CI);

} // namespace cosy

#endif // COSY_PLUGIN_REGIONCHECK_H
