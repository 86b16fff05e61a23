// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionCheck.h - Check the markers of regions -----------------------===//
#ifndef COSY_PLUGIN_FRONTEND_REGIONCHECK_H
#define COSY_PLUGIN_FRONTEND_REGIONCHECK_H

#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"

#include <memory>

namespace cosy {

class Frontend;

/// Checks the markers of every function before code is generated for it, and
/// reports the regions to \p FE, which exists as long as the check.
std::unique_ptr<clang::ASTConsumer>
createRegionCheck(clang::CompilerInstance &CI, std::unique_ptr<Frontend> FE);

} // namespace cosy

#endif // COSY_PLUGIN_FRONTEND_REGIONCHECK_H
