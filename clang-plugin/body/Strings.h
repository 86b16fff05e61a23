// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Strings.h - String functions as several operations -----------------===//
//
// Some functions of libc can be expanded to others that are operations:
// strncpy() to strnlen(), memcpy() and memset(). So they need no up-call.
// Operations.cpp handles functions that are a single operation.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_STRINGS_H
#define COSY_PLUGIN_BODY_STRINGS_H

#include "body/State.h"

namespace cosy {

/// Replaces these calls by calls that are operations.
class StringsPass : public BodyPass<StringsPass, BodyState::Body> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-strings";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

} // namespace cosy

#endif // COSY_PLUGIN_BODY_STRINGS_H
