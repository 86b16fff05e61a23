// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Strings.h - String functions as several operations -----------------===//
//
// strncpy() is strnlen(), memcpy() and memset(), each of which is an operation.
// Functions of libc that can be expanded to others like this need not leave the
// compound. Operations.cpp handles functions that are a single operation.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_STRINGS_H
#define COSY_PLUGIN_STRINGS_H

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

#endif // COSY_PLUGIN_STRINGS_H
