// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Function.h - User functions as BPF programs ------------------------===//
//
// A function marked COSY_FUNCTION is compiled twice: to machine code as always,
// and to a BPF program that the module can call in the middle of a compound. In
// the program every access to memory stays in the segment. What the program,
// the library and the module agree on is in cosy/function.h.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_FUNCTION_H
#define COSY_PLUGIN_FUNCTION_H

#include "region/DescriptorTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"

#include <optional>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace cosy {

/// The annotation that COSY_FUNCTION is.
constexpr llvm::StringLiteral FunctionAnnotation = "cosy_function";

/// A marked function's program.
struct FunctionProgram {
  std::string Object; ///< the ELF file
  std::vector<char>
      Data; ///< the constants it reads, to be placed in the segment
  std::vector<unsigned>
      Relocations;    ///< words in Data that are offsets into Data
  uint64_t Stack = 0; ///< bytes of stack in the segment
};

/// \returns the functions of \p M that are marked.
llvm::SmallVector<llvm::Function *, 4> findUserFunctions(llvm::Module &M);

/// Checks \p F and all it calls for what a program cannot contain, and reports
/// each at its line. \returns whether there was nothing.
bool checkUserFunction(llvm::Function &F);

/// Compiles \p F; \returns nothing after an error that has been reported.
std::optional<FunctionProgram> compileUserFunction(llvm::Function &F);

/// Returns true if a sanitizer or profiler calls \p F. Programs omit such
/// calls.
bool isInstrumentation(const llvm::Function &F);

/// Returns true if \p I calls a function that has a program. A CALL implements
/// it.
bool isUserFunctionCall(const llvm::Instruction &I);

/// \returns true if \p F has been compiled to a program.
bool hasProgram(const llvm::Function &F);

/// Forgets the program of \p F: regions call it natively.
void makeNative(llvm::Function &F);

/// The user functions of a translation unit, as cosy/region.h has them.
class FunctionTable {
public:
  explicit FunctionTable(llvm::Module &M)
      : M(M), Table(M, "cosy.functions", "cosy_functions") {}

  void add(llvm::Function &F, const FunctionProgram &P);

  /// \returns an array of pointers to the struct cosy_function of \p Functions.
  llvm::Constant *list(llvm::ArrayRef<const llvm::Function *> Functions);

  /// Creates the table, its constructor and its destructor.
  void finish();

private:
  llvm::Module &M;
  DescriptorTable Table;
  /// What stands for the descriptors until finish().
  llvm::DenseMap<const llvm::Function *, llvm::GlobalVariable *> Placeholders;
};

/// \returns whether the plugin has a function \p Name of the C library.
bool isInFunctionLibrary(llvm::StringRef Name, llvm::LLVMContext &Ctx);

/// \returns the functions of the C library the plugin has, as a module.
std::unique_ptr<llvm::Module> loadFunctionLibrary(llvm::LLVMContext &Ctx);

//===----------------------------------------------------------------------===//
// The steps of compileUserFunction(), on a module that has nothing but the
// program.
//===----------------------------------------------------------------------===//

/// The function called where a program ends with a status: (status, address).
/// Does not return.
constexpr llvm::StringLiteral TrapName = "cosy.trap";

/// Ends the program with \p Status if \p Condition, before \p Before.
void trapIf(llvm::Value *Condition, llvm::Instruction *Before, unsigned Status,
            llvm::Value *Address);

/// Makes the library's buffer overflows end the program.
void lowerOverflows(llvm::Module &M);

/// Makes divisions that natively raise SIGFPE end the program.
void guardDivisions(llvm::Function &F);

/// Optimises \p M, the module of the program of \p User, for \p TM. \p Unroll
/// allows code to be repeated. \returns false after an error.
bool optimizeProgram(llvm::Module &M, llvm::TargetMachine &TM, bool Unroll,
                     const llvm::Function &User);

/// Expands what the BPF target cannot do.
void expandForBpf(llvm::Function &F);

/// Makes all memory of \p Program, whose argument is its context, the
/// segment's: constants, locals, addresses, loops. Fills in \p Out's Data and
/// Stack.
void confine(llvm::Function &Program, FunctionProgram &Out);

/// Makes the loops of \p Program end in time, and resume where they left. \p
/// Entry ends the first part, which is executed each time. \p Zero is a 0 there
/// whose value neither LLVM nor the verifier knows.
void boundLoops(llvm::Function &Program, llvm::Instruction *Entry,
                llvm::Value *Zero);

/// Adds the map, the license and types that the loader wants to see.
void addLoaderData(llvm::Function &Program);

} // namespace cosy

#endif // COSY_PLUGIN_FUNCTION_H
