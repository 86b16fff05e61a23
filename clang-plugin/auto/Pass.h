// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pass.h - Single calls go through the module ------------------------===//
//
// A call of a function of preload.def becomes a call of libcosy's wrapper
// cosy_auto_NAME(). A pointer that is called is first compared with such
// functions (IndirectCalls.h). The wrapper makes the call through the module if
// that is loaded, and calls the function otherwise. Nothing else in the program
// changes. With -fcosy-auto, this applies to all calls of a program; without
// it, to those of the native code of regions. So a region that runs natively
// has the fast paths of the module, too. Compounds do not change.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_AUTO_PASS_H
#define COSY_PLUGIN_AUTO_PASS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Redirects the calls of a module. Runs after the optimizations, which
/// recognise the functions by name. A second run changes nothing.
/// markOwnCalls() must have marked the program's own calls before.
class AutoPass : public llvm::PassInfoMixin<AutoPass> {
public:
  explicit AutoPass(bool All) : All(All) {}
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
  static bool isRequired() { return true; }

private:
  bool All; ///< otherwise only calls that are marked for it
};

/// Marks the calls of functions of preload.def in \p Blocks, and in functions
/// of the module that are called there. \returns whether there are any.
bool markSingleCalls(llvm::ArrayRef<llvm::BasicBlock *> Blocks);

/// Leaves the functions of \p M to the link step: gives them AutoAttribute, and
/// refers to the functions of libcosy that they may call then. So the linker
/// loads these before link-time optimisation, while it can still define the
/// symbols that they refer to.
void deferToLinkStep(llvm::Module &M);

/// The same for the calls that markSingleCalls() has marked.
void deferSingleCalls(llvm::Module &M);

} // namespace cosy

#endif // COSY_PLUGIN_AUTO_PASS_H
