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

std::string cosy::printable(StringRef Bytes) {
  std::string Text;
  for (size_t I = 0; I < Bytes.size(); ++I) {
    unsigned char Byte = Bytes[I];
    // In UTF-8, the control characters U+0080 to U+009F have two bytes.
    bool IsC1 = Byte == 0xc2 && I + 1 < Bytes.size() &&
                static_cast<unsigned char>(Bytes[I + 1]) < 0xa0;
    if (IsC1)
      ++I;
    Text += IsC1 || Byte < 0x20 || Byte == 0x7f ? '?' : Bytes[I];
  }
  return Text;
}
