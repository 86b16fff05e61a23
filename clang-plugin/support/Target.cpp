// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Target.cpp - Machines for which there are compounds ----------------===//
#include "support/Target.h"

#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace cosy {

bool canHaveCompounds(const Module &M) {
  return Triple(M.getTargetTriple()).getArch() == Triple::x86_64 &&
         M.getDataLayout().getPointerSizeInBits() == 64;
}

} // namespace cosy
