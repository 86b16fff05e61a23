// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Library.cpp - The C library for user functions ---------------------===//
#include "bpf/Function.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cosy {

static const unsigned char Library[] = {
#include "function-library.inc"
};

std::unique_ptr<Module> loadFunctionLibrary(LLVMContext &Ctx) {
  StringRef Bytes(reinterpret_cast<const char *>(Library), sizeof(Library));
  return cantFail(
      parseBitcodeFile(MemoryBufferRef(Bytes, "function-library"), Ctx));
}

bool isInFunctionLibrary(StringRef Name, LLVMContext &Ctx) {
  std::unique_ptr<Module> M = loadFunctionLibrary(Ctx);
  Function *F = M->getFunction(Name);
  return F && !F->isDeclaration();
}

} // namespace cosy
