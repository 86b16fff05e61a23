//===- Fail.h - end with a message ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_FAIL_H
#define COSY_PROFILE_FAIL_H

#include "llvm/ADT/Twine.h"

namespace cosy {

/// The exit status for a failure of the profiler itself.
constexpr int OwnFailure = 125;

/// Print the failure, its reason, and a remedy if there is one, and exit.
[[noreturn]] void fail(int Status, const llvm::Twine &What,
                       const llvm::Twine &Why, const llvm::Twine &Hint = "");

} // namespace cosy

#endif // COSY_PROFILE_FAIL_H
