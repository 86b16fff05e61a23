// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Function.h - User functions as BPF programs ------------------------===//
//
// A function marked COSY_FUNCTION is compiled twice: to machine code, and to a
// BPF program that the module can call in the middle of a compound. Every
// access of the program stays in the segment. cosy/function.h is the interface
// between the program, the library and the module.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BPF_FUNCTION_H
#define COSY_PLUGIN_BPF_FUNCTION_H

#include "support/DescriptorTable.h"

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

/// The program of a marked function.
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

/// Checks that a program can contain \p F and all functions that it calls.
/// Reports each violation at its line. \returns true if there was none.
bool checkUserFunction(llvm::Function &F);

/// Adds notes to an error at \p I of a program: the calls that lead to it from
/// the marked function, the last one first.
void noteInlinedCalls(const llvm::Instruction &I);

/// Compiles \p F. \returns nothing after an error, which has been reported.
std::optional<FunctionProgram> compileUserFunction(llvm::Function &F);

/// Returns true if a sanitizer or profiler calls \p F. Programs omit such
/// calls.
bool isInstrumentation(const llvm::Function &F);

/// The table of the user functions of a translation unit, as cosy/region.h
/// defines it.
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
  /// The placeholders of the descriptors until finish().
  llvm::DenseMap<const llvm::Function *, llvm::GlobalVariable *> Placeholders;
};

/// \returns whether the plugin contains the function \p Name of the C library.
bool isInFunctionLibrary(llvm::StringRef Name, llvm::LLVMContext &Ctx);

/// \returns a module with the functions of the C library that the plugin
/// contains.
std::unique_ptr<llvm::Module> loadFunctionLibrary(llvm::LLVMContext &Ctx);

//===----------------------------------------------------------------------===//
// The steps of compileUserFunction(), on a module that contains only the
// program.
//===----------------------------------------------------------------------===//

/// The function called where a program ends with a status: (status, address).
/// Does not return.
constexpr llvm::StringLiteral TrapName = "cosy.trap";

/// Ends the program with \p Status if \p Condition, before \p Before.
void trapIf(llvm::Value *Condition, llvm::Instruction *Before, unsigned Status,
            llvm::Value *Address);

/// Makes buffer overflows that library functions detect end the program.
void lowerOverflows(llvm::Module &M);

/// Makes divisions that raise SIGFPE natively end the program.
void guardDivisions(llvm::Function &F);

/// Optimises \p M, the module of the program of \p User, for \p TM. \p Unroll
/// allows code to be duplicated. \returns false after an error.
bool optimizeProgram(llvm::Module &M, llvm::TargetMachine &TM, bool Unroll,
                     const llvm::Function &User);

/// \returns the operand of \p I that is the address of an access, or null.
llvm::Use *pointerUse(llvm::Instruction &I);

/// Expands instructions that the BPF target does not support.
void expandForBpf(llvm::Function &F);

/// Makes all memory that \p Program accesses part of the segment: constants,
/// locals, addresses, loops. The argument of \p Program is its context. Sets
/// Data and Stack of \p Out.
void confine(llvm::Function &Program, FunctionProgram &Out);

/// Makes the loops of \p Program end in time, and resume at the same point. \p
/// Entry ends the first part, which every call executes. \p Zero is a 0 there
/// whose value neither LLVM nor the verifier knows.
void boundLoops(llvm::Function &Program, llvm::Instruction *Entry,
                llvm::Value *Zero);

/// Adds the map, the license and the types that the loader expects.
void addLoaderData(llvm::Function &Program);

} // namespace cosy

#endif // COSY_PLUGIN_BPF_FUNCTION_H
