// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Body.h - Inline and simplify a compound's body ---------------------===//
#ifndef COSY_PLUGIN_BODY_H
#define COSY_PLUGIN_BODY_H

#include "body/State.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Functions with regions, as they were before: what a region that calls them
/// takes in.
using PristineMap = llvm::DenseMap<llvm::Function *, llvm::Function *>;

/// Limits of the instructions that inlineCallees() inlines, before they are
/// simplified.
struct InlineLimits {
  unsigned Callee; ///< of a function
  unsigned Total;  ///< of all of them together
};

/// Takes the functions \p Body calls into it, where their bodies are known
/// and within \p Limits, those that it calls itself first; only those that
/// \p MayTake, and not \p Host itself, which contains the region.
void inlineCallees(llvm::Function &Body, const llvm::Function &Host,
                   const PristineMap &Pristine, InlineLimits Limits,
                   llvm::function_ref<bool(const llvm::Function &)> MayTake);

/// \returns true if \p F has a loop.
bool hasLoop(const llvm::Function &F);

/// Gives what is undefined in C some value, as machine code that was not
/// optimized has one: otherwise the body would be simplified by what cannot be
/// meant, and not do what a program does that gets away with an uninitialised
/// variable.
class DefineValuesPass : public BodyPass<DefineValuesPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-define-values";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Threads jumps where a switch depends on the block before it: clang makes one
/// after a block with variables that is left by break and continue.
class ThreadSwitchesPass
    : public BodyPass<ThreadSwitchesPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-thread-switches";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Rotates loops, and hoists what does not change in them, unless there are too
/// many.
class LoopsPass : public BodyPass<LoopsPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-loops";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Lets switches on integers wider than a register test a number of the case.
class NarrowSwitchesPass
    : public BodyPass<NarrowSwitchesPass, BodyState::Legal> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-narrow-switches";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Moves the increment of a loop's counter after the last use of its old value,
/// so that both can have one register.
class SinkIncrementsPass
    : public BodyPass<SinkIncrementsPass, BodyState::Legal> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-sink-increments";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Makes one local variable of all, so that the host passes one address.
class MergeLocalsPass : public BodyPass<MergeLocalsPass, BodyState::Legal> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-merge-locals";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Splits critical edges: what phis copy is done on edges.
class SplitEdgesPass : public BodyPass<SplitEdgesPass, BodyState::Recognised> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-split-edges";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Puts values that live long into memory, for bodies that need too many
/// registers.
class SpillPass
    : public BodyPass<SpillPass, BodyState::Grouped, BodyState::Recognised> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-spill";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Adds the passes that simplify a body, into which callees have been inlined,
/// and bring it into the form that selection wants: from the state body to
/// recognised.
void addSimplification(llvm::FunctionPassManager &FPM);

/// Adds the passes that decide what is an operation, a hint or an up-call: from
/// the state recognised to grouped. Code that is better native is moved before.
void addGrouping(llvm::FunctionPassManager &FPM);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_H
