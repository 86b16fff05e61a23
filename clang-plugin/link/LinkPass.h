// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinkPass.h - Compounds from the whole program ----------------------===//
#ifndef COSY_PLUGIN_LINKPASS_H
#define COSY_PLUGIN_LINKPASS_H

#include "llvm/IR/PassManager.h"

namespace cosy {

/// Makes the compounds that the compile step has left to the link step
/// (Deferred.h). Leaves modules without such regions alone.
class LinkPass : public llvm::PassInfoMixin<LinkPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
  static bool isRequired() { return true; }
};

} // namespace cosy

#endif // COSY_PLUGIN_LINKPASS_H
