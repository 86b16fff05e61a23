// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AutoPass.h - Single calls go through the module --------------------===//
//
// -fcosy-auto: a call of a function of preload.def becomes a call of libcosy's
// wrapper of it, cosy_auto_NAME(), which makes the call through the module if
// that is loaded, and calls the function otherwise. Nothing else of the program
// changes, and no markers are needed. Regions keep their compounds; their
// native code is changed as all other code is.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_AUTOPASS_H
#define COSY_PLUGIN_AUTOPASS_H

#include "llvm/IR/PassManager.h"

namespace cosy {

/// Redirects the calls of a module. Runs after the optimizations, which know
/// the functions by their names; a second run finds nothing to do. Which calls
/// are the program's own has to be marked before (markOwnCalls()).
class AutoPass : public llvm::PassInfoMixin<AutoPass> {
public:
  explicit AutoPass(bool IsLinkStep) : IsLinkStep(IsLinkStep) {}
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
  static bool isRequired() { return true; }

private:
  bool IsLinkStep; ///< change only functions with AutoAttribute
};

/// Leaves the functions of \p M to the link step: gives them AutoAttribute, and
/// refers to the functions of libcosy that they may call then. So the linker
/// looks for these before link-time optimisation, when it can still define what
/// they refer to.
void deferToLinkStep(llvm::Module &M);

} // namespace cosy

#endif // COSY_PLUGIN_AUTOPASS_H
