// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinkPlugin.cpp - The entry points for lld --------------------------===//
//
// --load-pass-plugin=cosy-lto.so makes lld do the work that cosy-plugin.so left
// to the link step (link/Deferred.h). It is a separate file because lld does
// not contain clang's classes.
//
//===----------------------------------------------------------------------===//
#include "Passes.h"
#include "auto/Pass.h"
#include "link/Pass.h"
#include "support/Diagnostics.h"
#include "support/LlvmCompat.h"
#include "support/Version.h"

#include "llvm/Passes/PassBuilder.h"

using namespace llvm;

namespace cosy {

static const bool RightVersion = checkVersion("cosy-lto.so", "lld", "lld");

const bool PlacesAreInText = true;

static void addLinkPass(ModulePassManager &MPM) { MPM.addPass(LinkPass()); }

static void addAutoPass(ModulePassManager &MPM) {
  MPM.addPass(AutoPass(/*All=*/false));
}

static void addPasses(PassBuilder &PB) {
  registerPasses(PB);
  // With full LTO all functions are in one module.
  PB.registerFullLinkTimeOptimizationEarlyEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel) { addLinkPass(MPM); });
  PB.registerFullLinkTimeOptimizationLastEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel) { addAutoPass(MPM); });
  // With ThinLTO each file has a module, with copies of the functions of other
  // files that it calls. Without optimization LLVM has no such extension
  // points.
  atPipelineEarlySimplification(PB, addLinkPass);
  atOptimizerLast(PB, addAutoPass);
}

} // namespace cosy

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "cosy", LLVM_VERSION_STRING,
          cosy::addPasses};
}
