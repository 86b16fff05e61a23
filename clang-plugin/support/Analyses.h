// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Analyses.h - Analyses for passes outside the pipeline --------------===//
#ifndef COSY_PLUGIN_SUPPORT_ANALYSES_H
#define COSY_PLUGIN_SUPPORT_ANALYSES_H

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Passes/PassBuilder.h"

namespace cosy {

/// The analyses of passes that do not run in the compiler's pipeline.
struct Analyses {
  llvm::LoopAnalysisManager Loops;
  llvm::FunctionAnalysisManager Functions;
  llvm::CGSCCAnalysisManager Components;
  llvm::ModuleAnalysisManager Modules;

  /// Registers LLVM's analyses, except those that are registered already.
  void registerWith(llvm::PassBuilder &PB) {
    PB.registerModuleAnalyses(Modules);
    PB.registerCGSCCAnalyses(Components);
    PB.registerFunctionAnalyses(Functions);
    PB.registerLoopAnalyses(Loops);
    PB.crossRegisterProxies(Loops, Functions, Components, Modules);
  }
};

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_ANALYSES_H
