// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recognise.h - System calls that libc's functions make --------------===//
//
// Calls of the C library that are thin wrappers of a system call become calls
// of cosy.sys.NAME, with exactly the arguments of that system call. Later
// stages use no other names. Hints for the module are metadata of these calls
// (FastPaths.h).
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_RECOGNISE_H
#define COSY_PLUGIN_BODY_RECOGNISE_H

#include "body/State.h"

#include "llvm/IR/InstrTypes.h"

namespace cosy {

struct SystemCall;

/// An attribute of cosy.sys.*. Its value is the number of the system call.
constexpr llvm::StringLiteral SystemCallAttribute = "cosy-system-call";

/// A system call and its arguments, from a call of libc.
struct CallShape {
  const SystemCall *Call = nullptr;
  llvm::SmallVector<llvm::Value *, 6> Args;
};

/// \returns the system call that \p CB, a call of libc, makes; Call is null if
/// it makes none. If \p IfThin, also the one that it makes only with some
/// arguments.
CallShape systemCallShape(const llvm::CallBase &CB, bool IfThin = false);

/// \returns true if \p I, which is not recognised yet, will become a system
/// call of the compound.
bool makesSystemCall(const llvm::Instruction &I);

/// \returns the system call of \p I if it calls cosy.sys.*, otherwise null.
const SystemCall *systemCallOf(const llvm::Instruction &I);

/// \returns true if \p I is a call of cosy.sys.*.
inline bool isSystemCall(const llvm::Instruction &I) { return systemCallOf(I); }

/// Replaces the calls of libc that are system calls by calls of cosy.sys.*.
class RecognisePass
    : public BodyPass<RecognisePass, BodyState::Legal, BodyState::Recognised> {
public:
  static constexpr llvm::StringLiteral Name = "cosy-recognise";
  llvm::PreservedAnalyses runOnBody(llvm::Function &Body,
                                    llvm::FunctionAnalysisManager &FAM);
};

} // namespace cosy

#endif // COSY_PLUGIN_BODY_RECOGNISE_H
