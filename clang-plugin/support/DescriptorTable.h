// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DescriptorTable.h - Descriptors of a translation unit --------------===//
#ifndef COSY_PLUGIN_SUPPORT_DESCRIPTORTABLE_H
#define COSY_PLUGIN_SUPPORT_DESCRIPTORTABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

#include <vector>

namespace cosy {

/// Another name of cosy_regions_add(). If libcosy is not linked, the linker's
/// error contains this name, which is the remedy.
constexpr llvm::StringLiteral AddRegions =
    "cosy_is_not_linked__use_cosy_cc_or_lcosy";
constexpr llvm::StringLiteral RemoveRegions = "cosy_regions_remove";

/// A private constant with the text \p S.
llvm::Constant *stringConstant(llvm::Module &M, llvm::StringRef S);

/// \returns the function void Name(table, count) of libcosy.
llvm::FunctionCallee tableFunction(llvm::Module &M, llvm::StringRef Name);

/// Creates void Name(void) { Callee(Table, Count); }
llvm::Function *createTableCaller(llvm::Module &M, const llvm::Twine &Name,
                                  llvm::StringRef Callee,
                                  llvm::GlobalVariable *Table, uint64_t Count);

/// The descriptors of a translation unit, all of one type, in a section of
/// their own.
class DescriptorTable {
public:
  DescriptorTable(llvm::Module &M, llvm::StringRef Name,
                  llvm::StringRef Section)
      : M(M), Name(Name), Section(Section) {}

  /// \returns the placeholder of the address of \p Descriptor until finish().
  llvm::GlobalVariable *add(llvm::Constant *Descriptor,
                            const llvm::Twine &Placeholder);

  /// Creates the table, a constructor that passes it to the function \p Add of
  /// libcosy, and a destructor that passes it to \p Remove.
  void finish(llvm::StringRef Add, llvm::StringRef Remove);

private:
  llvm::Module &M;
  llvm::StringRef Name, Section;
  std::vector<llvm::Constant *> Descriptors;
  std::vector<llvm::GlobalVariable *> Placeholders;
};

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_DESCRIPTORTABLE_H
