// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pass.h - Make the deferred compounds -------------------------------===//
#ifndef COSY_PLUGIN_LINK_PASS_H
#define COSY_PLUGIN_LINK_PASS_H

#include "llvm/IR/PassManager.h"

namespace cosy {

/// Makes the compounds of deferred regions (Deferred.h). Does not change
/// modules without such regions.
class LinkPass : public llvm::PassInfoMixin<LinkPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
  static bool isRequired() { return true; }
};

} // namespace cosy

#endif // COSY_PLUGIN_LINK_PASS_H
