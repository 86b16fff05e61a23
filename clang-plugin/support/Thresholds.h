// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Thresholds.h - Sizes and counts that limit the stages --------------===//
//
// Hidden options of LLVM, for opt, and for clang after -mllvm. They change the
// quality of compounds and the compile time, never the behaviour of a program.
// Costs are in Costs.h.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_SUPPORT_THRESHOLDS_H
#define COSY_PLUGIN_SUPPORT_THRESHOLDS_H

#include "llvm/Support/CommandLine.h"

namespace cosy {

extern llvm::cl::opt<unsigned> MaxCallee;
extern llvm::cl::opt<unsigned> MaxInlined;
extern llvm::cl::opt<unsigned> MaxLinkedCallee;
extern llvm::cl::opt<unsigned> MaxLinkedInlined;
extern llvm::cl::opt<unsigned> SharedLocalSize;
extern llvm::cl::opt<unsigned> MaxLocals;
extern llvm::cl::opt<unsigned> MaxRecursiveLocals;
extern llvm::cl::opt<unsigned> MaxTargets;
extern llvm::cl::opt<unsigned> MaxGuessed;
extern llvm::cl::opt<unsigned> MaxAnalysed;
extern llvm::cl::opt<unsigned> MaxCopiedLocal;
extern llvm::cl::opt<unsigned> MaxExpandedCopy;
extern llvm::cl::opt<unsigned> MaxLoopWork;
extern llvm::cl::opt<unsigned> MaxLoopPredecessors;
extern llvm::cl::opt<unsigned> MaxOutlineWork;
extern llvm::cl::opt<unsigned> MaxTripCounts;
extern llvm::cl::opt<unsigned> MaxHoistedConstants;

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_THRESHOLDS_H
