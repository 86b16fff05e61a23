// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Marked.h - The blocks between the markers --------------------------===//
//
// The marked blocks are those that are reached from COSY_START and reach
// COSY_END. Error paths, returns and jumps to other code leave them. Only the
// host itself can execute some instructions: setjmp, alloca, calls that unwind
// to a handler in the function. These are native pieces. A compound ends before
// a native piece, and the next one begins after it.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_REGION_MARKED_H
#define COSY_PLUGIN_REGION_MARKED_H

#include "support/StartOptions.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace cosy {

struct Marked {
  /// A place where a compound can begin. The only successor of Before is Entry,
  /// and the only predecessor of Entry is Before.
  struct Beginning {
    llvm::BasicBlock *Before;
    llvm::BasicBlock *Entry;
    const llvm::DILocation *Loc;
  };

  llvm::Function *Host = nullptr;
  const llvm::DILocation *Loc = nullptr; ///< of COSY_START
  StartOptions Options;
  bool IsAsync = false; ///< parts of a COSY_ASYNC function, without markers
  /// The marked blocks, without native pieces.
  llvm::SetVector<llvm::BasicBlock *> Blocks;
  /// The first is at COSY_START, the others are after native pieces.
  llvm::SmallVector<Beginning, 2> Beginnings;
  /// One instruction of each native piece.
  llvm::SmallVector<llvm::Instruction *, 2> Natives;
};

/// Replaces the computed gotos of \p F by switches, and the addresses of its
/// labels by numbers.
void expandComputedGotos(llvm::Function &F);

/// Ends a block after each marker in \p F that begins a region, unless that is
/// to stay native.
void splitAfterStarts(llvm::Function &F);

/// The blocks between the markers, with native pieces. If no path reaches
/// COSY_END, they are those of endless loops, or all that are reached.
struct MarkedBlocks {
  llvm::SetVector<llvm::BasicBlock *> Blocks;
  bool HasEnd;
};

/// \returns the blocks of the region that \p Start begins. \p Start must end
/// its block.
MarkedBlocks findMarkedBlocks(const llvm::CallInst &Start);

/// Finds the blocks of the region that \p Start begins, and moves native pieces
/// to blocks of their own. \p Start must end its block. \returns false after a
/// report if there are none.
bool findMarked(llvm::CallInst *Start, Marked &E);

/// Moves native pieces from E.Blocks to blocks of their own: the instructions
/// for which \p Why returns a reason. \returns these blocks.
llvm::SmallPtrSet<llvm::BasicBlock *, 8> separateNatives(
    Marked &E, llvm::function_ref<const char *(const llvm::Instruction &)> Why);

/// \returns \p Blocks, of one function, in the function's order, which is that
/// of the source.
llvm::SetVector<llvm::BasicBlock *>
inLayoutOrder(const llvm::SetVector<llvm::BasicBlock *> &Blocks);

/// Adds a beginning for each block of \p E that has a predecessor for which \p
/// IsBefore is true.
void addBeginnings(Marked &E,
                   llvm::function_ref<bool(llvm::BasicBlock *)> IsBefore);

using VariableSet = llvm::SmallPtrSet<const llvm::Value *, 8>;

/// Adds the variables that \p I names to \p Variables.
void addVariables(const llvm::Instruction &I, VariableSet &Variables);

/// Removes the lifetime markers of \p Variables in \p F. Compounds do not
/// execute them.
void removeLifetimeMarkers(llvm::Function &F, const VariableSet &Variables);

} // namespace cosy

#endif // COSY_PLUGIN_REGION_MARKED_H
