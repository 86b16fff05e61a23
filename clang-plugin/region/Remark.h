// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Remark.h - Remarks about a region ----------------------------------===//
#ifndef COSY_PLUGIN_REGION_REMARK_H
#define COSY_PLUGIN_REGION_REMARK_H

#include "region/Region.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"

namespace cosy {

/// Emits a remark of the class \p RemarkT at \p Loc, or at COSY_START if that
/// is null. OptimizationRemark is for what was done (-Rpass=cosy),
/// OptimizationRemarkMissed for what was not possible (-Rpass-missed=cosy),
/// OptimizationRemarkAnalysis for figures. \p Name identifies the remark in the
/// YAML record. \p Fill adds its text. \returns whether it is printed.
template <typename RemarkT, typename Fn>
bool remark(const Region &R, const llvm::DILocation *Loc, llvm::StringRef Name,
            Fn Fill) {
  RemarkT Rem("cosy", Name, llvm::DebugLoc(Loc ? Loc : R.Loc), R.Before);
  Fill(Rem);
  llvm::OptimizationRemarkEmitter(R.Host).emit(Rem);
  return Rem.isEnabled();
}

} // namespace cosy

#endif // COSY_PLUGIN_REGION_REMARK_H
