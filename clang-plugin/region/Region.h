// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Region.h - The code of one compound --------------------------------===//
//
// A region is the code of one compound: the marked blocks that are reached from
// one of its beginnings. The host continues after an exit: at COSY_END, at a
// return, or before a native piece.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_REGION_REGION_H
#define COSY_PLUGIN_REGION_REGION_H

#include "region/Marked.h"
#include "support/StartOptions.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

struct Region {
  /// An exit edge. From is the last block inside, To is the first one outside.
  /// Both have only this edge, and From begins only with phis.
  struct Exit {
    llvm::BasicBlock *From;
    llvm::BasicBlock *To;
  };

  llvm::Function *Host = nullptr;
  std::string Name;                      ///< of the function it was written in
  const llvm::DILocation *Loc = nullptr; ///< where it begins
  unsigned Index = 0;                    ///< in its function
  StartOptions Options;
  bool IsAsync = false; ///< a part of a COSY_ASYNC function
  bool Loses = false;   ///< a part whose compound costs more than it saves
  /// Places and reasons of up-calls for which remarks were emitted, or null.
  llvm::StringSet<> *Explained = nullptr;
  llvm::BasicBlock *Before = nullptr; ///< its only successor is Entry
  llvm::BasicBlock *Entry = nullptr;
  llvm::SetVector<llvm::BasicBlock *> Blocks;
  llvm::SmallVector<Exit, 2> Exits;
  /// Blocks that the host can reach other than through Entry: after an exit, or
  /// by a jump into the region. A subset of Blocks.
  llvm::SmallPtrSet<llvm::BasicBlock *, 8> Reentered;
  /// Values that are defined inside and already exist when the region begins,
  /// because it begins in the middle of a loop; and copies of them in Before.
  llvm::SmallVector<std::pair<llvm::Instruction *, llvm::Instruction *>, 0>
      LiveIn;
  /// Values defined inside and used outside, or in another block that is
  /// re-entered.
  llvm::SmallVector<llvm::Instruction *, 8> Outputs;

  /// The region as a function of its inputs. Each exit calls cosy.exit with the
  /// outputs.
  llvm::Function *Body = nullptr;
  llvm::SmallVector<llvm::Value *, 8> Inputs; ///< by argument of Body
};

/// Brings \p Host into a form in which regions have few inputs: locals in SSA
/// form, no lifetime markers of variables that they use.
void prepareHost(llvm::Function &Host, llvm::FunctionAnalysisManager &FAM);

/// Creates \p R for the beginning \p B, and splits off its blocks.
void findRegion(const Marked &E, const Marked::Beginning &B, Region &R);

/// Returns true if the use \p U of a value defined in \p R sees the value of
/// the compound after a run: it is outside the region, or in a block that is
/// executed natively after an exit.
bool isUseOutside(const Region &R, const llvm::Use &U);

/// Creates R.Body and R.Inputs.
void cloneBody(Region &R);

} // namespace cosy

#endif // COSY_PLUGIN_REGION_REGION_H
