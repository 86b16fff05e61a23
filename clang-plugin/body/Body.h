// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Body.h - Inline and simplify a compound's body ---------------------===//
#ifndef COSY_PLUGIN_BODY_H
#define COSY_PLUGIN_BODY_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Functions with regions, as they were before: what a region that calls them
/// takes in.
using PristineMap = llvm::DenseMap<llvm::Function *, llvm::Function *>;

/// How many instructions inlineCallees() takes in, before they are simplified.
struct InlineLimits {
  unsigned Callee; ///< of a function
  unsigned Total;  ///< of all of them together
};

/// For functions of the same file.
constexpr InlineLimits SameFileLimits = {2000, 20000};

/// Takes the functions \p Body calls into it, where their bodies are known
/// and within \p Limits, those that it calls itself first; only those that
/// \p MayTake, and not \p Host itself, which contains the region.
void inlineCallees(llvm::Function &Body, const llvm::Function &Host,
                   const PristineMap &Pristine, InlineLimits Limits,
                   llvm::function_ref<bool(const llvm::Function &)> MayTake);

/// \returns true if \p F has a loop.
bool hasLoop(const llvm::Function &F);

/// Gives what is undefined in C some value, as machine code that was not
/// optimized has one: otherwise \p Body would be simplified by what cannot be
/// meant, and not do what a program does that gets away with an uninitialised
/// variable.
void defineValues(llvm::Function &Body);

/// Simplifies \p Body and brings it into the form selection wants.
void simplifyBody(llvm::Function &Body, llvm::FunctionAnalysisManager &FAM);

/// Puts values that live long into memory, for bodies that need too many
/// registers.
void spillValues(llvm::Function &Body);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_H
