// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Locals.h - Local variables whose address stays private -------------===//
//
// A local variable whose address a region only passes to functions of the same
// file is in memory at this point. Inlining would promote it to a register,
// unless the compound gets its address. So the host passes its value instead.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_REGION_LOCALS_H
#define COSY_PLUGIN_REGION_LOCALS_H

#include "region/Region.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"

namespace cosy {

/// A variable that is copied in, and out if the region may change it.
struct PrivateLocal {
  llvm::AllocaInst *Variable; ///< in the host
  unsigned Argument;          ///< of the body
  uint64_t Size;              ///< in bytes
  bool ByValue;    ///< the input is its value, else the address of a copy
  bool Changes;    ///< has to be copied out
  unsigned Output; ///< number of the output, if ByValue and Changes
};

/// What is known about the variables of a host. It is found once for all
/// regions: a large function has many, and each variable many uses.
class HostVariables {
public:
  /// \returns true if the host uses \p Variable outside \p R only to access
  /// memory.
  bool onlyAccesses(const llvm::AllocaInst &Variable, const Region &R);

  /// Adds the uses of variables by the path through the compound of \p R. It
  /// runs the compound in the block \p Run.
  void addPath(const Region &R, const llvm::BasicBlock &Run);

  /// Must be called if the host changes otherwise than by splitting blocks.
  void clear() { Others.clear(); }

private:
  /// The instructions that may do something else with a variable's address.
  llvm::DenseMap<const llvm::AllocaInst *, llvm::SmallVector<llvm::WeakVH, 2>>
      Others;
};

/// Finds the variables that only the region's own code can access, after
/// callees have been inlined into R.Body, and changes R.Body accordingly.
llvm::SmallVector<PrivateLocal, 4> privatizeLocals(Region &R,
                                                   HostVariables &Known);

} // namespace cosy

#endif // COSY_PLUGIN_REGION_LOCALS_H
