// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StartOptions.cpp - The options of COSY_START_WITH ------------------===//
#include "support/StartOptions.h"
#include "support/Names.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/Constants.h"

extern "C" {
#include <cosy/format.h>
}

using namespace llvm;

namespace cosy {

std::string readOptions(ArrayRef<std::optional<uint64_t>> Args,
                        StartOptions &Options) {
  const char *NoOption =
      "COSY_START_WITH has an argument that is not an option "
      "of cosy.h; cosy-regions(7) lists the options";
  SmallSet<uint64_t, 4> Given;
  for (size_t N = 0; N < Args.size(); ++N) {
    if (!Args[N])
      return NoOption;
    if (!Given.insert(*Args[N]).second)
      return "an option of COSY_START_WITH is given twice";
    auto Value = [&](StringRef What, uint64_t Min, uint64_t Max,
                     uint64_t &V) -> std::string {
      // The last argument is COSY_OPTION_END.
      if (++N + 1 >= Args.size() || !Args[N])
        return (What + " has to be a constant").str();
      V = *Args[N];
      if (V < Min || V > Max)
        return (What + " has to be " + Twine(Min) + " to " + Twine(Max)).str();
      return "";
    };
    std::string Wrong;
    uint64_t V;
    switch (*Args[N]) {
    case COSY_OPTION_END:
      if (Given.contains(COSY_OPTION_AT_LIMIT) && !Options.limited())
        return "COSY_AT_LIMIT without a limit; add COSY_MAX_OPERATIONS or "
               "COSY_MAX_MS";
      return "";
    case COSY_OPTION_STOP_ON_ERROR:
      Options.StopOnError = true;
      break;
    case COSY_OPTION_MAX_OPERATIONS:
      Wrong = Value("COSY_MAX_OPERATIONS", 1, COSY_MAX_LIMIT, V);
      if (Wrong.empty())
        Options.MaxOperations = V;
      break;
    case COSY_OPTION_MAX_MS:
      Wrong = Value("COSY_MAX_MS", 1, UINT32_MAX, V);
      if (Wrong.empty())
        Options.MaxMs = V;
      break;
    case COSY_OPTION_AT_LIMIT:
      Wrong = Value("COSY_AT_LIMIT", COSY_RESUME, COSY_KILL, V);
      if (Wrong.empty())
        Options.AtLimit = static_cast<cosy_policy>(V);
      else
        Wrong = "COSY_AT_LIMIT takes COSY_RESUME, COSY_STOP or COSY_KILL";
      break;
    case COSY_RESUME:
    case COSY_STOP:
    case COSY_KILL:
      return "COSY_RESUME, COSY_STOP and COSY_KILL are not options of "
             "COSY_START_WITH; write COSY_AT_LIMIT(COSY_STOP), for example";
    default:
      return NoOption;
    }
    if (!Wrong.empty())
      return Wrong;
  }
  return "an option of COSY_START_WITH lacks its value";
}

StartOptions optionsOf(const CallInst &Start) {
  StartOptions Options;
  if (Start.getCalledFunction()->getName() != StartWithMarker)
    return Options;
  SmallVector<std::optional<uint64_t>, 8> Args;
  for (const Use &U : Start.args()) {
    auto *C = dyn_cast<ConstantInt>(U.get());
    Args.push_back(C ? std::optional<uint64_t>(C->getZExtValue())
                     : std::nullopt);
  }
  readOptions(Args, Options);
  return Options;
}

} // namespace cosy
