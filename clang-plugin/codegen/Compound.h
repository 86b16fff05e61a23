// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compound.h - The steps from a body to its image --------------------===//
#ifndef COSY_PLUGIN_COMPOUND_H
#define COSY_PLUGIN_COMPOUND_H

#include "body/Borrow.h"
#include "body/FastPaths.h"
#include "body/UpCalls.h"
#include "codegen/Emit.h"
#include "codegen/Select.h"
#include "region/Region.h"
#include "region/RegionPass.h"

namespace cosy {

/// A compound and what goes with it.
struct Compound {
  unsigned NumOutputs = 0;
  Selection Sel;
  Image Img;
  UpCallList UpCalls;
  std::vector<ReadBuffer> Buffers;
  std::vector<FastNote> FastNotes;
  std::vector<llvm::Function *> Thunks;
  /// Functions that R.Body calls, to be erased after it.
  llvm::SmallVector<llvm::Function *, 0> Pieces;
};

/// Simplifies R.Body, into which callees have been inlined, and makes \p C of
/// it. C.NumOutputs is set before. Remarks say what it became; if \p IsPart, it
/// is not all of what was marked.
/// \returns false if there is no compound, after an error if R.Body has to
/// become one.
bool makeCompound(Region &R, Compound &C, bool IsPart,
                  llvm::FunctionAnalysisManager &FAM,
                  const RegionOptions &Options);

/// Reports the buffers that R.Body reads into.
void explainBuffers(const Region &R, llvm::ArrayRef<ReadBuffer> Buffers);

/// \returns whether \p Body, which is not all of what was marked, is worth a
/// compound.
bool isWorthwhile(llvm::Function &Body, llvm::FunctionAnalysisManager &FAM);

/// Erases R.Body, and what \p C has besides.
void eraseBody(Region &R, const Compound &C,
               llvm::FunctionAnalysisManager &FAM);

} // namespace cosy

#endif // COSY_PLUGIN_COMPOUND_H
