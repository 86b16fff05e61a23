// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Errno.h - errno in a loop that is split ----------------------------===//
//
// In the loop as written, errno passes from the code before the region to the
// region, to the code after it, and to the next iteration. In a batch each of
// these phases runs for all iterations, so the value that an iteration has set
// is saved, and set again before its next phase. An iteration that sets no
// errno leaves it as it is.
//
// - Code that calls only functions of the C library which never set errno to 0
//   begins with errno 0. It has set errno if it assigns to it, or if errno is
//   another value afterwards. Where it names errno, it reads the earlier value
//   instead of 0.
// - Other code may read errno, so it begins with the earlier value. In the
//   collect phase it has set errno if it assigns to it, or if the value has
//   changed. A region that has such code counts as setting errno always.
// - If the iterations are proven to be independent, only regions set errno. So
//   nothing else has to be done for them.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BATCH_ERRNO_H
#define COSY_PLUGIN_BATCH_ERRNO_H

#include "batch/Loop.h"

#include "llvm/IR/IRBuilder.h"

namespace cosy {

/// Emits what a split loop does with errno. Functions with \p At get the number
/// of the iteration in the batch.
class BatchErrno {
public:
  explicit BatchErrno(BatchLoop &L) : L(L) {}

  /// \returns the bytes of stack for each iteration.
  static uint64_t sizeFor(const BatchLoop &L) {
    return L.savesErrno() ? sizeof(uint64_t) : 0;
  }
  /// Creates the variables. Must run before blocks of the loop are copied.
  void create();
  /// Before iterations of a batch are collected.
  void begin(llvm::IRBuilderBase &B);
  void afterCollect(llvm::IRBuilderBase &B, llvm::Value *At);
  /// Prepares the collecting blocks. Must run after these were copied to the
  /// finish phase.
  void prepareCollect();
  /// After the last iteration of a batch was collected. Code of one that is not
  /// collected may have run since.
  void endCollect(llvm::IRBuilderBase &B);
  void beforeCalls(llvm::IRBuilderBase &B, llvm::Value *At);
  void afterCalls(llvm::IRBuilderBase &B, llvm::Value *At);
  /// After the calls of all iterations.
  void endCalls(llvm::IRBuilderBase &B);
  void beforeFinish(llvm::IRBuilderBase &B, llvm::Value *At);
  /// After a batch, unless code after the region leaves the loop.
  void end(llvm::IRBuilderBase &B);

private:
  /// What is known about the code of a phase, and its variables. These are null
  /// if they are not needed.
  struct Uses {
    bool MaySet = false;
    bool BeginsWithZero = false;
    llvm::AllocaInst *Assigned = nullptr; ///< the code has assigned to errno
    llvm::AllocaInst *Earlier = nullptr;  ///< errno before the code
  };

  llvm::AllocaInst *local(llvm::Type *Ty, const llvm::Twine &Name);
  llvm::Value *address(llvm::IRBuilderBase &B);
  llvm::Value *element(llvm::IRBuilderBase &B, llvm::Value *At);
  llvm::Value *load(llvm::IRBuilderBase &B);
  llvm::Value *setOr(llvm::IRBuilderBase &B, llvm::Value *V,
                     llvm::Value *Otherwise);
  void set(llvm::IRBuilderBase &B, llvm::Value *V);
  llvm::Value *isSet(llvm::IRBuilderBase &B, const Uses &By, llvm::Value *Now);
  void passOn(llvm::IRBuilderBase &B, const Uses &By, llvm::Value *Is,
              llvm::Value *Now);
  llvm::Value *takeCollected(llvm::IRBuilderBase &B);
  void findUses();
  void createFor(const BlockSet &Blocks, Uses &By);
  void rewrite(const BlockSet &Blocks, const Uses &By);

  BatchLoop &L;
  Uses Collect, Calls;
  /// Null if they are not needed. A saved value is an int64_t: errno, or
  /// NotSet.
  llvm::AllocaInst *Saved = nullptr;       ///< by iteration
  llvm::AllocaInst *Start = nullptr;       ///< errno before the batch
  llvm::AllocaInst *Uncollected = nullptr; ///< saved by endCollect()
};

} // namespace cosy

#endif // COSY_PLUGIN_BATCH_ERRNO_H
