// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FastPaths.cpp - What the module may do with less work --------------===//
#include "FastPaths.h"
#include "Select.h"

#include "llvm/IR/InstIterator.h"

#include <cosy/format.h>

using namespace llvm;

namespace cosy {

FastHints forbidFastPaths(Function &Source) {
  FastHints Hints;
  for (Instruction &I : instructions(Source))
    if (isSystemCall(I))
      Hints[cast<CallBase>(&I)] = COSY_HINT_PLAIN;
  return Hints;
}

} // namespace cosy
