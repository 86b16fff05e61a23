// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThinCalls.h - Calls that are thin with some arguments only ---------===//
//
// Some functions of libc are a system call with most arguments, and do
// something else with others: utimensat() fails without a call if the name is
// null (COSY_LIBC_IF in syscalls.def). Where the compiler does not know the
// argument, a comparison chooses between the system call and an up-call.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_THINCALLS_H
#define COSY_PLUGIN_BODY_THINCALLS_H

#include "body/State.h"

namespace cosy {

/// Replaces the calls in \p F that may be thin by comparisons, calls that are
/// certainly thin, and the same calls for all other arguments. \returns whether
/// there were any.
bool expandThinCalls(llvm::Function &F);

/// The stage for bodies.
class ThinCallsPass : public BodyPass<ThinCallsPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-thin-calls";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

} // namespace cosy

#endif // COSY_PLUGIN_BODY_THINCALLS_H
