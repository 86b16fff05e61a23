// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Mutexes.h - Free mutexes as operations -----------------------------===//
//
// pthread_mutex_lock(), _trylock() and _unlock() do little with an ordinary
// mutex that no other thread wants: they change its word by a compare and
// exchange, and note the owner. Operations do that. All else - other kinds of
// mutexes, waiting, waking - is left to the function, by an up-call.
//
// The layout of a mutex is a part of glibc's ABI, because programs contain
// initialised mutexes (<bits/struct_mutex.h>).
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_MUTEXES_H
#define COSY_PLUGIN_BODY_MUTEXES_H

#include "body/State.h"

namespace cosy {

/// Replaces calls of these functions, for targets with glibc.
class MutexesPass : public BodyPass<MutexesPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-mutexes";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

/// \returns true if \p I is a call of cosy_thread_id().
bool isThreadNumber(const llvm::Instruction &I);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_MUTEXES_H
