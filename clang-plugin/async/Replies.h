// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Replies.h - Sends and receives that are one operation --------------===//
//
// A server mostly sends an answer and then receives the next request. If a
// COSY_ASYNC function does nothing else between the two calls, both can be one
// operation of the loop: the function is resumed once, and the module entered
// once.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_ASYNC_REPLIES_H
#define COSY_PLUGIN_ASYNC_REPLIES_H

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"

#include <vector>

namespace cosy {

/// A send(), and the recv() that follows if the former has sent all its bytes.
struct Reply {
  llvm::CallInst *Send, *Receive;
  /// Of the recv(); available before the send(). They follow a value that is
  /// lowered: it may be the result of another call.
  llvm::WeakTrackingVH Buffer, Size;
};

/// Finds the replies of \p F, a COSY_ASYNC function. Inserts the code that
/// computes Buffer and Size.
std::vector<Reply> findReplies(llvm::Function &F);

} // namespace cosy

#endif // COSY_PLUGIN_ASYNC_REPLIES_H
