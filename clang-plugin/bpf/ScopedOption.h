// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScopedOption.h - Options of LLVM without an interface --------------===//
#ifndef COSY_PLUGIN_BPF_SCOPEDOPTION_H
#define COSY_PLUGIN_BPF_SCOPEDOPTION_H

#include "llvm/Support/CommandLine.h"

namespace cosy {

/// Sets an option of LLVM that has no other interface, and restores it.
class ScopedOption {
public:
  ScopedOption(llvm::StringRef Name, llvm::StringRef Value) {
    auto &All = llvm::cl::getRegisteredOptions();
    auto It = All.find(Name);
    assert(It != All.end() && "unknown option of LLVM");
    Option = It->second;
    Option->addOccurrence(0, Name, Value);
  }
  ~ScopedOption() { Option->setDefault(); }

private:
  llvm::cl::Option *Option;
};

} // namespace cosy

#endif // COSY_PLUGIN_BPF_SCOPEDOPTION_H
