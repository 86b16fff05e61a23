// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Host.h - The code that runs a compound -----------------------------===//
//
// The code that the host executes before a region, see cosy/region.h. Every
// exit of the region gets a second predecessor, for the compound. Before it
// leaves, the native code asks whether libcosy measures it.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_HOST_HOST_H
#define COSY_PLUGIN_HOST_HOST_H

#include "codegen/Emit.h"
#include "region/Locals.h"
#include "region/Region.h"
#include "support/DescriptorTable.h"

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"

#include <map>

namespace cosy {

/// void cosy_region_left(region) of libcosy is called at the end of native code
/// that libcosy measures.
constexpr llvm::StringLiteral RegionLeft = "cosy_region_left";

/// Replaces \p Run, a call of DeferredRun, by a run of the compound \p C. \p
/// Inputs are values of its body.
void completeDeferred(llvm::CallBase &Run, const Code &C,
                      llvm::ArrayRef<llvm::Value *> Inputs);

/// The path of a region through its compound. It is built before the compound
/// is known.
class CompoundPath {
public:
  /// Builds the blocks. Replaces outputs that an exit does not need by poison
  /// in R.Body.
  explicit CompoundPath(Region &R);

  /// Makes \p Gate, a call of SplitGate, true if the compound runs.
  void setGate(llvm::CallInst &Gate);

  /// Adds the code that depends on the compound. \p Descriptor is the region's
  /// struct cosy_region, \p C its allocated code, \p Inputs their values, \p
  /// Locals the variables that are copied.
  void complete(llvm::Constant *Descriptor, const Code &C,
                llvm::ArrayRef<llvm::Value *> Inputs,
                llvm::ArrayRef<PrivateLocal> Locals);

  /// Removes the path. Only the native code remains.
  void abandon();

  /// Defers the region: calls DeferredRun in place of cosy_region_run(). \p
  /// NumOutputs is the number of outputs of the compound.
  void defer(unsigned NumOutputs, llvm::ArrayRef<PrivateLocal> Locals);

  /// The compound's registers; null after abandon().
  llvm::AllocaInst *frame() const { return Frame; }

  /// The block that runs the compound, with its inputs.
  const llvm::BasicBlock &run() const { return *Run; }

private:
  void rewriteUses();
  llvm::Value *inputValue(llvm::IRBuilderBase &B, llvm::Value *V,
                          llvm::ArrayRef<PrivateLocal> Locals);
  llvm::Value *copyOf(llvm::IRBuilderBase &B, const PrivateLocal &L);
  void addNativeEnds(llvm::Constant *Descriptor);
  void copyValuesOut(llvm::ArrayRef<PrivateLocal> Locals,
                     llvm::ArrayRef<Reg> Registers);
  void removeUnusedExits();

  Region &R;
  llvm::GlobalVariable *Placeholder; ///< for the descriptor
  llvm::AllocaInst *Frame;
  llvm::BasicBlock *Run;
  llvm::CallInst *RunCall;
  llvm::SmallVector<llvm::BasicBlock *, 2> Leaves; ///< by exit
  struct OutputLoad {
    llvm::LoadInst *Load;
    llvm::GetElementPtrInst *Slot;
    unsigned Output;
    unsigned Exit;
  };
  llvm::SmallVector<OutputLoad, 16> Loads;
};

/// The table of the regions of a translation unit.
class RegionTable {
public:
  explicit RegionTable(llvm::Module &M)
      : M(M), Table(M, "cosy.regions", "cosy_regions") {}

  /// Adds a region, which assumes that \p Library are functions of the C
  /// library. \returns a placeholder for its struct cosy_region until finish().
  llvm::Constant *add(const Region &R, const Image &I, const Code &C,
                      llvm::ArrayRef<llvm::Function *> Thunks,
                      llvm::Constant *Functions,
                      llvm::ArrayRef<llvm::Function *> Library);

  /// Creates the table, its constructor and its destructor.
  void finish();

private:
  llvm::StructType *descriptorType();
  llvm::Constant *limits(const Region &R, const Code &C);
  llvm::Constant *functionList(llvm::ArrayRef<llvm::Function *> Library,
                               llvm::ArrayRef<llvm::Function *> Replaceable);

  llvm::Module &M;
  DescriptorTable Table;
  /// The number of regions of each file and line.
  std::map<std::pair<std::string, unsigned>, unsigned> Numbers;
};

} // namespace cosy

#endif // COSY_PLUGIN_HOST_HOST_H
