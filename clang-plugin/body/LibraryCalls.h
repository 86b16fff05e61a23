// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LibraryCalls.h - Which calls are of the C library? -----------------===//
//
// A call is one of the C library's function, and may be replaced by operations,
// only if all of this holds:
//
// - It names the function, and the function is not defined in this file.
// - Its arguments and its result have the types that glibc's headers say.
// - The program has not said otherwise: by -fno-builtin, by the attribute
//   no_builtin of the calling function, by -fplugin-arg-cosy-no-builtin-NAME or
//   by COSY_OWN at the declaration.
// - The function that the linker has found is the C library's. That is known
//   when the program starts: libcosy compares the addresses of what
//   findLibraryFunctions() returns. Where one is another, the region runs
//   natively.
//
// TargetLibraryInfo is no help: it knows a third of these functions.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_LIBRARYCALLS_H
#define COSY_PLUGIN_LIBRARYCALLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <string>

namespace cosy {

/// A function of the C library that the plugin knows by name.
struct LibraryFunction {
  llvm::StringRef Name; ///< empty: none
  /// Arguments that it has at least; exactly, if it is not variadic.
  unsigned NumFixed = 0;
  bool IsVariadic = false;

  explicit operator bool() const { return !Name.empty(); }
  bool operator==(llvm::StringRef Other) const { return Name == Other; }
};

/// \returns the function of the C library that \p CB calls; none if it calls
/// anything else.
LibraryFunction libraryFunction(const llvm::CallBase &CB);

/// Marks the calls of \p M that are not of the C library although they look
/// like it: those of the functions \p Own, those of functions declared with
/// COSY_OWN, those in functions compiled with -fno-builtin. Has to be called
/// before functions are inlined, which loses the last.
void markOwnCalls(llvm::Module &M, llvm::ArrayRef<std::string> Own);

/// \returns the functions that \p Body calls and that libraryFunction()
/// recognises, except those whose names the C standard reserves.
llvm::SmallVector<llvm::Function *, 8>
findLibraryFunctions(const llvm::Function &Body);

} // namespace cosy

#endif // COSY_PLUGIN_LIBRARYCALLS_H
