// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emit.h - The image of a compound -----------------------------------===//
#ifndef COSY_PLUGIN_CODEGEN_EMIT_H
#define COSY_PLUGIN_CODEGEN_EMIT_H

#include "codegen/Code.h"

#include <string>
#include <vector>

namespace cosy {

/// An image in the format of cosy/format.h.
struct Image {
  std::vector<char> Bytes;
  unsigned NumOps = 0; ///< operations, without ARG and CASE slots
};

/// Emits the image of \p C, whose registers are allocated.
Image emitImage(Code &C);

/// \returns what \p I has too many of for a compound, with the maximum, or "".
std::string exceededLimit(const Image &I);

/// \returns why \p I is not a valid compound, or "".
std::string verifyImage(const Image &I);

} // namespace cosy

#endif // COSY_PLUGIN_CODEGEN_EMIT_H
