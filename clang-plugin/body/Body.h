// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Body.h - Inline and simplify a compound's body ---------------------===//
#ifndef COSY_PLUGIN_BODY_BODY_H
#define COSY_PLUGIN_BODY_BODY_H

#include "body/State.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Copies of functions with regions, made before the regions change them. A
/// region that calls such a function inlines the copy.
using PristineMap = llvm::DenseMap<llvm::Function *, llvm::Function *>;

/// Makes __builtin_constant_p() false in \p F, except for constants in the
/// source. Without optimisation the compiler knows no other values; must run
/// before the plugin's optimisations find more.
void answerConstantTests(llvm::Function &F);

/// \returns true if native code may call another function than \p F by its
/// name: one of another object file, or of the program if \p F is a shared
/// library's.
bool mayBeInterposed(const llvm::Function &F);

/// Marks the inline functions of C++ for mayBeInterposed(), because ThinLTO
/// changes their linkage. Must be called in the compile step.
void markSameEverywhere(llvm::Module &M);

/// \returns true if only an object that is loaded with \p F, which is a shared
/// library's, can define the function that native code calls. libcosy finds
/// out.
bool mayBeReplaced(const llvm::Function &F);

/// \returns the functions that were inlined into \p Body although they may be
/// replaced.
llvm::SmallVector<llvm::Function *, 4>
replaceableFunctions(const llvm::Function &Body);

/// \returns true if the code of \p Callee, which has at most \p
/// MaxInstructions, does the same in a copy within \p Host, as far as the
/// attributes tell.
bool canContain(const llvm::Function &Host, const llvm::Function &Callee,
                unsigned MaxInstructions);

/// Limits for inlineCallees(), in instructions before simplification.
struct InlineLimits {
  unsigned Callee; ///< of a function
  unsigned Total;  ///< of all of them together
  /// All code that can be in the compound is.
  bool NoUpCalls = false;
  /// The region may run natively, so that functions may be inlined that may be
  /// replaced.
  bool Replaceable = false;
};

/// Inlines the functions that \p Body calls, if their definitions are known, \p
/// MayInline allows it, \p Limits are kept, and it does not cost more up-calls.
/// Functions that \p Body calls directly are inlined first. \p Host, which
/// contains the region, is never inlined. \p MayInline is also asked whether a
/// called pointer may be compared with a function that is only declared.
void inlineCallees(llvm::Function &Body, const llvm::Function &Host,
                   const PristineMap &Pristine, InlineLimits Limits,
                   llvm::function_ref<bool(const llvm::Function &)> MayInline);

/// \returns true if because of \p A, an attribute of a function, later passes
/// add calls of the program's functions, for instance with
/// -finstrument-functions, or room where the program puts its own code while it
/// runs.
bool instruments(llvm::Attribute A);

/// \returns true if \p F is recursive by direct calls.
bool callsItself(const llvm::Function &F);

/// \returns true if \p F has a loop.
bool hasLoop(const llvm::Function &F);

/// Gives undefined values a fixed value, as machine code without optimisation
/// has one, makes all accesses to memory and all calls happen, and keeps
/// divisions that trap and what depends on the rounding mode. Otherwise
/// simplification could exploit undefined behaviour, and a program that works
/// in spite of an uninitialised variable would behave differently in the
/// compound.
class DefineValuesPass : public BodyPass<DefineValuesPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-define-values";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Lets code generation see the calls in \p F, code of a body, that
/// DefineValuesPass kept, as other ones.
void releaseCalls(llvm::Function &F);

/// Threads jumps where a switch depends on the predecessor. clang emits such a
/// switch after a block with variables that is left by break and continue.
class ThreadSwitchesPass
    : public BodyPass<ThreadSwitchesPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-thread-switches";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Removes code that leads to a call of a function with the attribute error. A
/// program compiles only if the native code has no such call, for which clang
/// may know more about the region's inputs.
class ErrorCallsPass : public BodyPass<ErrorCallsPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-error-calls";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Rotates loops and hoists invariant code, unless there are too many loops.
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

/// Merges all local variables into one, so that the host passes one address.
class MergeLocalsPass : public BodyPass<MergeLocalsPass, BodyState::Legal> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-merge-locals";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Splits critical edges, because the copies for phis are done on edges.
class SplitEdgesPass : public BodyPass<SplitEdgesPass, BodyState::Recognised> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-split-edges";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Stores values with long live ranges in memory, for bodies that need too many
/// registers.
class SpillPass
    : public BodyPass<SpillPass, BodyState::Grouped, BodyState::Recognised> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-spill";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// Adds the passes that simplify a body, after callees have been inlined, and
/// bring it into the form that selection needs: from the state body to
/// recognised.
void addSimplification(llvm::FunctionPassManager &FPM);

/// Adds the passes that decide what is an operation, a hint or an up-call: from
/// the state recognised to grouped. Code that is cheaper native is outlined
/// before.
void addGrouping(llvm::FunctionPassManager &FPM);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_BODY_H
