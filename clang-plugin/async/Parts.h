// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Parts.h - Parts of coroutines that become compounds ----------------===//
//
// A part of a COSY_ASYNC function begins at a call that the module can park,
// such as recv(), and ends where no other such call can be reached. The module
// executes the part as a compound, and parks it on the socket where a call has
// to wait. Everything else stays in the coroutine: other calls that may wait,
// calls of COSY_ASYNC functions, and code that depends on the thread. These are
// the native pieces of a part.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_ASYNC_PARTS_H
#define COSY_PLUGIN_ASYNC_PARTS_H

#include "region/Marked.h"

namespace cosy {

/// An attribute of the calls in a region of a COSY_ASYNC function. They are
/// made at once, not by the loop.
constexpr llvm::StringLiteral InRegionAttribute = "cosy-in-region";

/// Returns true if \p I is a system call that may wait, outside of regions. The
/// coroutine is suspended at it, unless the module parks a compound there.
bool mayWait(const llvm::Instruction &I);

/// Finds in \p Host, a COSY_ASYNC function, the parts that are worth a
/// compound, and moves its native pieces to blocks of their own. Each iteration
/// of a loop that waits can leave its compound, or begin it.
/// \returns whether there is any part.
bool findAsyncParts(llvm::Function &Host, Marked &E);

/// Undoes the latter, because no part of \p Host has become a compound.
void removeChoices(llvm::Function &Host);

/// Returns true if a part can contain the body of \p Callee, a plain function.
/// Calls in it that wait block the thread, as in the source.
bool canBeInAsyncPart(const llvm::Function &Callee);

} // namespace cosy

#endif // COSY_PLUGIN_ASYNC_PARTS_H
