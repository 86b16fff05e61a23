// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Code.cpp - A compound between selection and emission ---------------===//
#include "codegen/Code.h"

using namespace llvm;

namespace cosy {

void Code::computePreds() {
  for (Block &B : Blocks)
    B.Preds.clear();
  auto Add = [&](unsigned From, unsigned To) {
    auto &P = Blocks[To].Preds;
    if (!is_contained(P, From))
      P.push_back(From);
  };
  for (unsigned B = 0; B < Blocks.size(); ++B)
    for (Inst &I : Blocks[B].Insts) {
      if (I.Target != ~0u)
        Add(B, I.Target);
      if (I.isSwitch())
        for (unsigned T : I.Defs)
          Add(B, T);
    }
}

} // namespace cosy
