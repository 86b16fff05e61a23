//===- Text.h - figures as people read them ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_TEXT_H
#define COSY_PROFILE_TEXT_H

#include <cstdint>
#include <string>

namespace cosy {

/// A time with its unit: "12.6 ms".
std::string timeText(double Nanoseconds);

/// A change in per cent of the whole: "-31 %".
std::string changeText(double SavedNs, double WholeNs);

/// A number with commas: "3,201".
std::string countText(uint64_t Value);

} // namespace cosy

#endif // COSY_PROFILE_TEXT_H
