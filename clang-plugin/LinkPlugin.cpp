// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinkPlugin.cpp - What lld sees of the Cosy plugin ------------------===//
//
// --load-pass-plugin=cosy-lto.so makes lld do the rest of what cosy-plugin.so
// has left to the link step (Deferred.h). It is a file of its own because lld
// does not have clang's classes.
//
//===----------------------------------------------------------------------===//
#include "Diagnostics.h"
#include "Passes.h"
#include "Version.h"
#include "auto/AutoPass.h"
#include "link/LinkPass.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"

using namespace llvm;

namespace cosy {

static const bool RightVersion = checkVersion("cosy-lto.so", "lld", "lld");

static void addPasses(PassBuilder &PB) {
  registerPasses(PB);
  putPlacesIntoText();
  PB.registerFullLinkTimeOptimizationEarlyEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel) {
        MPM.addPass(LinkPass());
      });
  PB.registerFullLinkTimeOptimizationLastEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel) {
        MPM.addPass(AutoPass(/*All=*/false));
      });
}

} // namespace cosy

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "cosy", LLVM_VERSION_STRING,
          cosy::addPasses};
}
