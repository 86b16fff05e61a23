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
#ifndef COSY_PLUGIN_MARKED_H
#define COSY_PLUGIN_MARKED_H

#include "region/StartOptions.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace cosy {

constexpr llvm::StringLiteral StartMarker = "__cosy_region_start";
constexpr llvm::StringLiteral StartWithMarker = "__cosy_region_start_with";
constexpr llvm::StringLiteral StartNativeMarker = "__cosy_region_start_native";
constexpr llvm::StringLiteral EndMarker = "__cosy_region_end";
constexpr const llvm::StringLiteral *AllMarkers[] = {
    &StartMarker, &StartWithMarker, &StartNativeMarker, &EndMarker};

/// Returns \p I if it calls the marker \p Name, otherwise null. StartMarker
/// means any marker that begins a region.
llvm::CallInst *asMarker(llvm::Instruction &I, llvm::StringRef Name);

/// Returns the calls of the marker \p Name in \p F, as defined by asMarker().
llvm::SmallVector<llvm::CallInst *, 4> markersOf(llvm::Function &F,
                                                 llvm::StringRef Name);

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

/// Finds the blocks of the region that \p Start begins, and moves native pieces
/// to blocks of their own. \p Start must end its block. \returns false after a
/// report if there are none.
bool findMarked(llvm::CallInst *Start, Marked &E);

/// Adds to setjmp() and similar functions the attribute that whyNotMovable()
/// needs. With -fno-builtin, clang does not add it.
void markCallsThatReturnTwice(llvm::Module &M);

/// Adds to functions that ask for a return address or a frame address which is
/// not their own an attribute that whyNotCopyable() needs: another function
/// that calls them would get another address.
void markFunctionsThatSeeCallers(llvm::Module &M);

/// \returns why only the function that contains \p I can execute it, or null.
const char *whyNotMovable(const llvm::Instruction &I);

/// \returns why no other function can contain a copy of \p I, or null.
const char *whyNotCopyable(const llvm::Instruction &I);

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

} // namespace cosy

#endif // COSY_PLUGIN_MARKED_H
