// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Operations.h - Instructions that operations implement --------------===//
//
// Each instruction of a body is a system call, another operation, or a part of
// an up-call. These functions tell which.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_OPERATIONS_H
#define COSY_PLUGIN_BODY_OPERATIONS_H

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

namespace cosy {

/// The attribute of bodies whose host has sanitize_thread. Their atomic
/// accesses are up-calls: if the sanitizer did not see them, it would report
/// races.
constexpr llvm::StringLiteral ThreadSanitized = "cosy-thread-sanitized";

/// \returns true if a register can contain values of type \p Ty.
bool isRegisterType(const llvm::Type *Ty, const llvm::DataLayout &DL);

/// \returns true if \p Ty is an integer that fits into a register.
bool isScalarInt(const llvm::Type *Ty);

/// \returns true if \p Ty is such an integer, or a pointer.
bool isScalar(const llvm::Type *Ty);

/// The size of \p Ty, which a register can contain.
unsigned bitsOf(const llvm::Type *Ty);

/// The smallest operand width in bytes that holds \p Bits.
inline unsigned widthFor(unsigned Bits) {
  return Bits <= 8 ? 1 : Bits <= 16 ? 2 : Bits <= 32 ? 4 : 8;
}

/// \returns true if no operand width has exactly \p Bits.
inline bool isOddWidth(unsigned Bits) { return Bits != 8 * widthFor(Bits); }

/// Functions of libc that one or a few operations implement.
enum class MemoryCall {
  None,
  Copy,
  Fill,
  Compare,
  Find,
  Length,
  StrCmp,
  StrNCmp,
  StrNLen,
  StrChr,
  StrRChr,
  StpCpy,
  StrCpy,
  StrCat
};

/// \returns which of these functions \p CB calls.
MemoryCall classifyMemoryCall(const llvm::CallBase &CB);

/// Returns true if operations can implement \p I. Everything else is an
/// up-call.
bool isOperation(const llvm::Instruction &I, const llvm::DataLayout &DL);

/// \returns true if \p I has no effect in a compound.
bool isIgnored(const llvm::Instruction &I);

/// \returns true if \p I tests whether the region must end.
bool isStopTest(const llvm::Instruction &I);

/// \returns true if \p I ends the compound.
bool isExit(const llvm::Instruction &I);

/// Returns true if the host computes \p I before it runs the compound: the
/// address of a local or thread-local variable, or of errno.
bool isHostComputed(const llvm::Instruction &I);

/// Erases the unused functions cosy.sys.* and cosy.cmpxchg.* in \p M.
void eraseOperationFunctions(llvm::Module &M);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_OPERATIONS_H
