// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Paths.h - The usual path of a loop ---------------------------------===//
#ifndef COSY_PLUGIN_BPF_PATHS_H
#define COSY_PLUGIN_BPF_PATHS_H

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Duplicates blocks so that the usual path of each loop has its own blocks.
/// Later passes can use the conditions that are known there.
class SeparatePaths : public llvm::PassInfoMixin<SeparatePaths> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
};

/// Repeats the usual path of a loop, so that several iterations share a check
/// of the budget. Exits from the path lead to the same blocks as before.
class RepeatPaths : public llvm::PassInfoMixin<RepeatPaths> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
};

/// \returns a loop, or an innermost one, whose header is not in \p Done, and
/// adds the header to \p Done.
llvm::Loop *nextLoop(llvm::LoopInfo &LI,
                     llvm::SmallPtrSetImpl<llvm::BasicBlock *> &Done,
                     bool Innermost = false);

/// \returns the number of instructions of \p L.
unsigned sizeOf(const llvm::Loop &L);

/// \returns the maximum number of branches that lead from loops to loops.
unsigned maxBranches(const llvm::LoopInfo &LI);

/// \returns the number of such branches in \p F, or in \p L.
unsigned branchesIn(const llvm::Function &F, const llvm::LoopInfo &LI,
                    const llvm::Loop *L = nullptr);

/// Returns true if \p L has a usual path that is much shorter than the whole
/// loop, and short enough to be repeated.
bool hasUsualPath(const llvm::Loop &L, const llvm::LoopInfo &LI);

} // namespace cosy

#endif // COSY_PLUGIN_BPF_PATHS_H
