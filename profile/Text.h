//===- Text.h - format figures ----------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_TEXT_H
#define COSY_PROFILE_TEXT_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace cosy {

/// Return a time with its unit: "12.6 ms".
std::string timeText(double Nanoseconds);

/// Return a change in per cent of the whole: "-31 %".
std::string changeText(double SavedNs, double WholeNs);

/// Return a number with commas: "3,201".
std::string countText(uint64_t Value);

/// Return \p Bytes with '?' in place of control characters. Names of files and
/// functions may contain any, but the report may be read on a terminal.
std::string printable(llvm::StringRef Bytes);

} // namespace cosy

#endif // COSY_PROFILE_TEXT_H
