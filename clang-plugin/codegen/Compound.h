// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compound.h - The steps from a body to its image --------------------===//
#ifndef COSY_PLUGIN_CODEGEN_COMPOUND_H
#define COSY_PLUGIN_CODEGEN_COMPOUND_H

#include "body/FastPaths.h"
#include "body/UpCalls.h"
#include "codegen/Emit.h"
#include "codegen/Select.h"
#include "region/Borrow.h"
#include "region/Region.h"

namespace cosy {

/// A compound with its image, up-calls, buffers and thunks.
struct Compound {
  Selection Sel;
  Image Img;
  UpCallList UpCalls;
  std::vector<ReadBuffer> Buffers;
  std::vector<llvm::Function *> Thunks;
};

/// Simplifies R.Body, into which callees have been inlined and which has been
/// described, and compiles it to \p C. Remarks report the result. \returns
/// false if there is no compound. If R.Body is not only a part of a coroutine,
/// that is reported.
bool makeCompound(Region &R, Compound &C, llvm::FunctionAnalysisManager &FAM);

/// Reports the buffers that R.Body reads into.
void explainBuffers(const Region &R, llvm::ArrayRef<ReadBuffer> Buffers);

/// \returns whether \p Body, which is only a part of the marked code, is worth
/// a compound.
bool isWorthwhile(llvm::Function &Body, llvm::FunctionAnalysisManager &FAM);

/// Compiles bodies to compounds, reports their gain and prints their text on
/// standard error. No host runs them.
class PrintCompoundPass
    : public BodyPass<PrintCompoundPass, BodyState::Recognised,
                      BodyState::Grouped> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-print-compound";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Erases R.Body, and the functions that only it calls.
void eraseBody(Region &R, llvm::FunctionAnalysisManager &FAM);

} // namespace cosy

#endif // COSY_PLUGIN_CODEGEN_COMPOUND_H
