// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Marked.h - What lies between two markers ---------------------------===//
//
// Marked are the blocks that are reached from COSY_START and reach COSY_END; an
// error path, a return, a jump elsewhere leave them. Some instructions only the
// host itself can execute: setjmp, alloca, calls that unwind to a handler in
// the function. They are native pieces; a compound ends before one, and the
// next begins after it.
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

/// \p I if it calls the marker \p Name, or null. StartMarker stands for all
/// that begin a region.
llvm::CallInst *asMarker(llvm::Instruction &I, llvm::StringRef Name);

/// The calls of the marker \p Name in \p F, as asMarker() has it.
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
  /// Without the native pieces.
  llvm::SetVector<llvm::BasicBlock *> Blocks;
  /// COSY_START itself, then after the native pieces.
  llvm::SmallVector<Beginning, 2> Beginnings;
  /// An instruction of each native piece.
  llvm::SmallVector<llvm::Instruction *, 2> Natives;
};

/// Makes switches of the computed gotos of \p F, and numbers of its labels'
/// addresses.
void expandComputedGotos(llvm::Function &F);

/// Finds what \p Start begins, and gives native pieces blocks of their own.
/// \returns false after reporting why there is nothing.
bool findMarked(llvm::CallInst *Start, Marked &E);

/// Gives setjmp() and the like the attribute by which whyNotMovable() knows
/// them. With -fno-builtin, clang does not.
void markCallsThatReturnTwice(llvm::Module &M);

/// \returns why \p I can only be executed by the function it is in, or null.
const char *whyNotMovable(const llvm::Instruction &I);

/// Moves the native pieces from E.Blocks to blocks of their own: what \p Why
/// has a reason for. \returns these blocks.
llvm::SmallPtrSet<llvm::BasicBlock *, 8> separateNatives(
    Marked &E, llvm::function_ref<const char *(const llvm::Instruction &)> Why);

/// Adds to E.Beginnings the blocks of \p E to which a block leads that
/// \p IsBefore.
void addBeginnings(Marked &E,
                   llvm::function_ref<bool(llvm::BasicBlock *)> IsBefore);

} // namespace cosy

#endif // COSY_PLUGIN_MARKED_H
