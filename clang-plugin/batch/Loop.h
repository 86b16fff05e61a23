// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Loop.h - The phases of a loop that is split ------------------------===//
//
// An iteration has three phases: it is *collected* (the code before the region,
// and the loop's step and condition), its *calls* are made (the region), and it
// is *finished* (the code after the region). A block may belong to several.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BATCH_LOOP_H
#define COSY_PLUGIN_BATCH_LOOP_H

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// A set of phases.
enum Phase : unsigned { Collecting = 1, Calling = 2, Finishing = 4 };

using BlockSet = llvm::SetVector<llvm::BasicBlock *>;

struct BatchLoop {
  llvm::Function *F = nullptr;
  llvm::CallInst *Marker = nullptr; ///< COSY_BATCH, or Start if there is none
  uint64_t Id = 0;
  uint64_t Size = 0;    ///< iterations in a batch; 0: to be chosen
  bool Check = false;   ///< the program checks that iterations are independent
  bool Promised = true; ///< by COSY_BATCH; otherwise proven or to be proven
  /// If it is proven, only the region sets errno. The code after the region may
  /// read it.
  bool ReadsErrno = true;
  llvm::CallInst *Start = nullptr, *End = nullptr; ///< of the region
  llvm::BasicBlock *Header = nullptr;
  llvm::BasicBlock *Step = nullptr; ///< where the step begins; may be Header
  llvm::BasicBlock *RegionEntry = nullptr; ///< begins with Start
  llvm::BasicBlock *RegionExit = nullptr;  ///< what follows End
  BlockSet Blocks;                         ///< of the loop, with inner loops
  BlockSet Collect, Call, Finish;          ///< by phase
  /// The variables to which the loop stores by their names, and a store to
  /// each.
  llvm::DenseMap<const llvm::Value *, llvm::Instruction *> Stores;

  /// Why a loop without COSY_BATCH is not split: the first reason.
  mutable std::string Why;
  mutable llvm::DebugLoc WhyAt;

  /// Reports at \p At, or at the marker, why the loop cannot be split: an error
  /// if it has a COSY_BATCH. \returns false.
  bool fail(const llvm::DebugLoc &At, const llvm::Twine &Text) const;

  /// \returns true if errno has a value for each iteration.
  bool savesErrno() const { return Promised || ReadsErrno; }

  unsigned phasesOf(llvm::BasicBlock *BB) const {
    return (Collect.count(BB) ? Collecting : 0) |
           (Call.count(BB) ? Calling : 0) | (Finish.count(BB) ? Finishing : 0);
  }
  /// \returns true if an edge to \p BB ends the iteration.
  bool endsIteration(const llvm::BasicBlock *BB) const {
    return BB == Header || BB == Step;
  }
};

/// A local variable that the loop accesses, and how its values are passed from
/// one phase of an iteration to the next.
struct BatchVariable {
  llvm::Value *Base = nullptr; ///< an alloca, or a parameter in memory
  llvm::StringRef Name;        ///< "" if it has none in the source
  uint64_t Size = 0;           ///< in bytes
  llvm::Align Alignment;
  bool InBody = false; ///< declared in the loop's body
  /// Its address is used, and all iterations share it.
  bool IsShared = false;

  /// Each iteration has its own copy, at an address of its own.
  bool IsArray = false;
  /// Otherwise the value of each iteration is copied to an array ...
  bool SaveCollected = false; ///< when an iteration is collected
  bool SaveCalled = false;    ///< after its calls
  /// ... and back
  bool RestoreCalls = false;   ///< before its calls
  bool RestoreFinish = false;  ///< before it is finished
  bool RestoreCollect = false; ///< after a batch, for the next one
  /// The writes of the collect phase, if a read after the loop may see a value
  /// that this phase or a later one wrote. Then RestoreCollect applies only if
  /// there was such a write after the last collected iteration.
  llvm::SmallVector<llvm::Instruction *, 2> CollectWrites;

  bool isSaved() const { return SaveCollected || SaveCalled; }
};

/// The frontend's note about a variable.
struct VariableNote {
  uint64_t Id;          ///< of the loop in whose body it is declared, or 0
  llvm::StringRef Name; ///< of the annotation's constant
};
using VariableNotes = llvm::DenseMap<llvm::Value *, VariableNote>;

/// Sets L.Stores. Call it before values of the loop are moved to memory: then
/// the address of one of several variables is a value, too.
void findStores(BatchLoop &L);

/// Finds the variables of \p L that the split must handle, and those that are
/// shared. No value of the loop is live across blocks. \returns false after
/// reporting an error.
bool findBatchVariables(const BatchLoop &L, const VariableNotes &Notes,
                        llvm::SmallVectorImpl<BatchVariable> &Variables);

/// ptr SharedVariable(): during a proof, the address of a variable.
constexpr llvm::StringLiteral SharedVariable = "cosy.batch.variable";

/// Proves that the iterations of \p L are independent and that the split gains,
/// and sets L.ReadsErrno. L.F is a copy of a function for this purpose; it is
/// changed and must not be used afterwards. \returns false and sets L.Why if
/// there is no proof.
bool proveIndependence(BatchLoop &L, llvm::ArrayRef<BatchVariable> Variables,
                       llvm::FunctionAnalysisManager &FAM);

/// Splits \p L, which has been checked, into its phases. \returns false after
/// reporting an error.
bool emitBatch(BatchLoop &L, llvm::ArrayRef<BatchVariable> Variables);

} // namespace cosy

#endif // COSY_PLUGIN_BATCH_LOOP_H
