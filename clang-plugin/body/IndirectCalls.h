// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndirectCalls.h - Calls through pointers ---------------------------===//
//
// The native code of a region calls through a pointer as before. In the body,
// the pointer is first compared with the functions that it can be expected to
// point to, which can then be inlined or are system calls. If it is none of
// them, the call through the pointer is an up-call. So a wrong guess costs only
// the comparisons.
//
// A function that is only declared, such as stat(), may be compared, too. C
// gives each function one address in the whole program: that of the GOT, or of
// a PLT entry which the linker makes the function's address everywhere. So the
// comparison holds for the function that a call by the name calls, even if the
// program or a preloaded library defines it. Whether that function is the C
// library's is decided as for calls by name (LibraryCalls.h).
//
// These functions are, in this order:
// - those that LLVM says are the only ones (Callees.h), if they are few;
// - those that a profile with value counts says are called;
// - the one that the pointer has if it is loaded from a variable that has its
//   initial value, for instance a structure of operations;
// - those of the same type whose addresses are used in the module, if they are
//   few. Functions that are only declared are counted separately.
//
// LLVM's own promotion of such calls runs after the body was cloned.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_INDIRECTCALLS_H
#define COSY_PLUGIN_BODY_INDIRECTCALLS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"

namespace cosy {

/// Inserts before \p Call, a call through a pointer, comparisons with the
/// functions for which \p MayGuess holds. They have the type of the call.
/// \returns the calls of these functions.
llvm::SmallVector<llvm::CallBase *, 4>
guardTargets(llvm::CallBase &Call,
             llvm::function_ref<bool(llvm::Function &)> MayGuess);

/// \returns the functions with which the pointer of \p Call was compared.
llvm::SmallVector<const llvm::Function *, 4>
comparedWith(const llvm::CallBase &Call);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_INDIRECTCALLS_H
