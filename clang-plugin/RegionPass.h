// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionPass.h - Compile regions to compounds ------------------------===//
#ifndef COSY_PLUGIN_REGIONPASS_H
#define COSY_PLUGIN_REGIONPASS_H

#include "support/LlvmCompat.h"

#include "llvm/IR/PassManager.h"
#include "llvm/Passes/OptimizationLevel.h"

#include <optional>
#include <string>
#include <vector>

namespace cosy {

struct RegionOptions {
  bool Dump = false;       ///< print compounds as text on standard error
  bool NoFast = false;     ///< no fast paths
  bool NoOutline = false;  ///< run natively only code without an operation
  bool BatchCheck = false; ///< the program checks the promise of COSY_BATCH
  bool Auto = false;       ///< single calls go through the module: AutoPass
  bool MemorySanitizer = false; ///< -fsanitize=memory: no compounds
  /// The link step makes compounds, and redirects calls: link/Deferred.h
  bool Defer = false;
  /// Functions that are the program's own, whatever their names.
  std::vector<std::string> OwnFunctions;
  /// The level of the optimizations that follow.
  llvm::OptimizationLevel Level = llvm::OptimizationLevel::O2;
  /// Options of -fprofile-instr-generate, if they are known here.
  std::optional<llvm::InstrProfOptions> Profile;
  /// Options of --coverage.
  std::optional<llvm::GCOVOptions> Coverage;
};

/// Compiles every region of a module to a compound, in addition to its native
/// code. Does not change modules without markers, so a second run has no
/// effect; only Coverage applies to every module.
class RegionPass : public llvm::PassInfoMixin<RegionPass> {
public:
  explicit RegionPass(RegionOptions Options = {})
      : Options(std::move(Options)) {}
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
  static bool isRequired() { return true; }

private:
  bool addCoverage(llvm::Module &M, llvm::ModuleAnalysisManager &MAM);

  RegionOptions Options;
};

} // namespace cosy

#endif // COSY_PLUGIN_REGIONPASS_H
