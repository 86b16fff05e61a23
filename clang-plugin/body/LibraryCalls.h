// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LibraryCalls.h - Calls of the C library ----------------------------===//
//
// A call calls the C library's function, and may be replaced by operations,
// only if all of this holds:
//
// - It names the function, and the function is not defined in this file.
// - Its arguments and its result have the types that glibc's headers say.
// - The program does not exclude it: by -fno-builtin, by the attribute
//   no_builtin of the calling function, by -fplugin-arg-cosy-no-builtin-NAME or
//   by COSY_OWN at the declaration.
// - The linker has resolved the name to the C library's function. That is known
//   when the program starts: libcosy compares the addresses of the functions
//   that findLibraryFunctions() returns. If one differs, the region runs
//   natively.
//
// TargetLibraryInfo cannot be used, because it knows only a third of these
// functions.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_LIBRARYCALLS_H
#define COSY_PLUGIN_BODY_LIBRARYCALLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <string>

namespace cosy {

/// A function of the C library that the plugin knows by name.
struct LibraryFunction {
  llvm::StringRef Name; ///< empty: none
  /// The number of fixed arguments.
  unsigned NumFixed = 0;
  bool IsVariadic = false;

  explicit operator bool() const { return !Name.empty(); }
  bool operator==(llvm::StringRef Other) const { return Name == Other; }
};

/// \returns the function of the C library that \p CB calls, or an empty one.
LibraryFunction libraryFunction(const llvm::CallBase &CB);

/// \returns \p Holds of \p Call, a call through a pointer, as if it called
/// \p F, which has its type.
bool asCallOf(llvm::Function &F, llvm::CallBase &Call,
              llvm::function_ref<bool(const llvm::CallBase &)> Holds);

/// \returns true if the C standard reserves \p Name, so that no program may
/// define a function of that name (C11, 7.1.3 and 7.31.13).
bool isReserved(llvm::StringRef Name);

/// Marks the calls of \p M that look like calls of the C library but are not:
/// calls of the functions \p Own, calls of functions declared with COSY_OWN,
/// and calls in functions compiled with -fno-builtin. Calls through pointers
/// are marked if there may be such a function to call. Must run before
/// inlining, which loses the last property.
void markOwnCalls(llvm::Module &M, llvm::ArrayRef<std::string> Own);

/// \returns true if \p A forbids the compiler to make calls of some functions
/// of the C library.
bool isNoBuiltin(llvm::Attribute A);

/// \returns true if \p V is the address of errno. A program that defines the
/// function itself has another errno. -fno-builtin does not change what errno
/// means.
bool isErrnoAddress(const llvm::Value *V);

/// \returns true if \p U is the address of a load or a store.
bool isAccess(const llvm::Use &U);

/// \returns true if the address \p Errno is used only for loads and stores.
bool isAccessedDirectly(const llvm::Instruction &Errno);

/// \returns true if \p Body accesses errno only by loads and stores.
bool accessesErrnoDirectly(const llvm::Function &Body);

/// \returns the functions that \p Body calls and that libraryFunction()
/// recognises, except those whose names the C standard reserves.
llvm::SmallVector<llvm::Function *, 8>
findLibraryFunctions(const llvm::Function &Body);

} // namespace cosy

#endif // COSY_PLUGIN_BODY_LIBRARYCALLS_H
