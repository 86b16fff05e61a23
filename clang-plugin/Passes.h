// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - The stages by name --------------------------------------===//
#ifndef COSY_PLUGIN_PASSES_H
#define COSY_PLUGIN_PASSES_H

namespace llvm {
class PassBuilder;
}

namespace cosy {

/// Registers the stages by name with \p PB, for opt -passes=.
void registerPasses(llvm::PassBuilder &PB);

} // namespace cosy

#endif // COSY_PLUGIN_PASSES_H
