// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Region.h - A marked region in its function -------------------------===//
//
// A region is the blocks between the two markers: those that are reached from
// COSY_START and reach COSY_END. What leads elsewhere - an error path, a return
// - is an exit of the region and stays native.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_REGION_H
#define COSY_PLUGIN_REGION_H

#include "StartOptions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

constexpr llvm::StringLiteral StartMarker = "__cosy_region_start";
constexpr llvm::StringLiteral StartWithMarker = "__cosy_region_start_with";
constexpr llvm::StringLiteral StartNativeMarker = "__cosy_region_start_native";
constexpr llvm::StringLiteral EndMarker = "__cosy_region_end";
constexpr const llvm::StringLiteral *AllMarkers[] = {
    &StartMarker, &StartWithMarker, &StartNativeMarker, &EndMarker};

struct Region {
  /// A way out: From is the last block inside, To the first outside. Both have
  /// only this edge, and From only phis in front of it.
  struct Exit {
    llvm::BasicBlock *From;
    llvm::BasicBlock *To;
  };

  llvm::Function *Host = nullptr;
  const llvm::DILocation *Loc = nullptr; ///< of COSY_START
  unsigned Index = 0;                    ///< in its function
  StartOptions Options;
  llvm::BasicBlock *Before = nullptr;    ///< its only successor is Entry
  llvm::BasicBlock *Entry = nullptr;
  llvm::SetVector<llvm::BasicBlock *> Blocks;
  llvm::SmallVector<Exit, 2> Exits;
  /// Values defined inside and used outside.
  llvm::SmallVector<llvm::Instruction *, 8> Outputs;

  /// The region as a function of its inputs. Where it is left it calls
  /// cosy.exit with the outputs.
  llvm::Function *Source = nullptr;
  llvm::SmallVector<llvm::Value *, 8> Inputs; ///< by argument of Source
};

/// \p I if it calls the marker \p Name, or null. StartMarker stands for all that
/// begin a region.
llvm::CallInst *asMarker(llvm::Instruction &I, llvm::StringRef Name);

/// Brings \p Host into a form in which regions have few inputs: locals in SSA
/// form, no lifetime markers, no optnone.
void prepareHost(llvm::Function &Host, llvm::FunctionAnalysisManager &FAM);

/// Finds the region \p Start begins and splits its blocks off; the markers are
/// gone afterwards. \returns false after reporting why it is none.
bool findRegion(llvm::CallInst *Start, Region &R);

/// \returns why the function of a call or region cannot be cloned because of
/// \p I, or null.
const char *whyNotMovable(const llvm::Instruction &I);

/// Makes R.Source and R.Inputs.
void cloneSource(Region &R);

} // namespace cosy

#endif // COSY_PLUGIN_REGION_H
