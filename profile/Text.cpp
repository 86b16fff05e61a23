//===- Text.cpp - format figures ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

std::string cosy::timeText(double Nanoseconds) {
  std::string Text;
  raw_string_ostream Stream(Text);
  if (std::fabs(Nanoseconds) < 1e3)
    Stream << format("%.0f ns", Nanoseconds);
  else if (std::fabs(Nanoseconds) < 1e6)
    Stream << format("%.1f us", Nanoseconds / 1e3);
  else if (std::fabs(Nanoseconds) < 1e9)
    Stream << format("%.1f ms", Nanoseconds / 1e6);
  else
    Stream << format("%.2f s", Nanoseconds / 1e9);
  return Text;
}

std::string cosy::changeText(double SavedNs, double WholeNs) {
  std::string Text;
  raw_string_ostream(Text) << format(
      "%+.0f %%", WholeNs > 0 ? -100 * SavedNs / WholeNs : 0);
  return Text;
}

std::string cosy::countText(uint64_t Value) {
  std::string Digits = std::to_string(Value);
  for (size_t I = Digits.size(); I > 3; I -= 3)
    Digits.insert(I - 3, ",");
  return Digits;
}
