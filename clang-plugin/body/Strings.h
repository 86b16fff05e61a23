// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Strings.h - String functions as several operations -----------------===//
//
// strncpy() is strnlen(), memcpy() and memset(), each of which is an operation.
// Functions of libc that are made of others in such a way need not leave the
// compound. Those that are one operation are known to Select.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_STRINGS_H
#define COSY_PLUGIN_STRINGS_H

#include "llvm/IR/Function.h"

namespace cosy {

/// Replaces calls in \p Body by calls that are operations.
void expandStrings(llvm::Function &Body);

} // namespace cosy

#endif // COSY_PLUGIN_STRINGS_H
