// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Table.cpp - The user functions of a translation unit ---------------===//
#include "bpf/Function.h"
#include "support/Names.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

extern "C" {
#include <cosy/function.h>
#include <cosy/region.h>
}

using namespace llvm;

namespace cosy {

static StructType *descriptorType(LLVMContext &Ctx) {
  Type *I32 = Type::getInt32Ty(Ctx), *Ptr = PointerType::get(Ctx, 0);
  // struct cosy_function
  return StructType::get(Ctx, {I32, I32, I32, I32, Ptr, Ptr, I32, I32, Ptr, Ptr,
                               I32, I32, Ptr, Ptr});
}

/// Returns a constant with \p Bytes, or null if there are none.
static Constant *bytes(Module &M, ArrayRef<uint8_t> Bytes, StringRef Section,
                       const Twine &Name) {
  LLVMContext &Ctx = M.getContext();
  if (Bytes.empty())
    return ConstantPointerNull::get(PointerType::get(Ctx, 0));
  Constant *C = ConstantDataArray::get(Ctx, Bytes);
  auto *GV = new GlobalVariable(M, C->getType(), true,
                                GlobalValue::PrivateLinkage, C, Name);
  GV->setSection(Section);
  GV->setAlignment(Align(64));
  return GV;
}

void FunctionTable::add(Function &F, const FunctionProgram &P) {
  LLVMContext &Ctx = M.getContext();
  auto Int = [&](uint64_t V) {
    return ConstantInt::get(Type::getInt32Ty(Ctx), V);
  };
  auto Raw = [](const auto &C) {
    return ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(C.data()),
                             C.size());
  };
  Constant *Null = ConstantPointerNull::get(PointerType::get(Ctx, 0));
  Constant *Relocations = Null;
  if (!P.Relocations.empty()) {
    Constant *List =
        ConstantDataArray::get(Ctx, ArrayRef<uint32_t>(P.Relocations));
    Relocations = new GlobalVariable(M, List->getType(), true,
                                     GlobalValue::PrivateLinkage, List,
                                     "cosy.relocations." + F.getName());
  }
  unsigned Pointers = 0;
  for (Argument &A : F.args())
    if (A.getType()->isPointerTy())
      Pointers |= 1u << A.getArgNo();
  DISubprogram *SP = F.getSubprogram();
  Placeholders[&F] = Table.add(
      ConstantStruct::get(
          descriptorType(Ctx),
          {Int(COSY_REGION_ABI), Int(F.arg_size()), Int(Pointers), Int(P.Stack),
           stringConstant(M, F.getName()),
           stringConstant(M, SP ? SP->getFilename()
                                : StringRef(M.getSourceFileName())),
           Int(SP ? SP->getLine() : 0), Int(P.Object.size()),
           bytes(M, Raw(P.Object), ".cosy.functions",
                 "cosy.object." + F.getName()),
           bytes(M, Raw(P.Data), ".cosy.data", "cosy.data." + F.getName()),
           Int(P.Data.size()), Int(P.Relocations.size()), Relocations, Null}),
      "cosy.function." + F.getName());
  F.addFnAttr(ProgramAttribute);
}

Constant *FunctionTable::list(ArrayRef<const Function *> Functions) {
  Type *Ptr = PointerType::get(M.getContext(), 0);
  if (Functions.empty())
    return ConstantPointerNull::get(cast<PointerType>(Ptr));
  SmallVector<Constant *, 4> List;
  for (const Function *F : Functions)
    List.push_back(Placeholders.lookup(F));
  auto *Ty = ArrayType::get(Ptr, List.size());
  return new GlobalVariable(M, Ty, true, GlobalValue::PrivateLinkage,
                            ConstantArray::get(Ty, List),
                            "cosy.functions.list");
}

void FunctionTable::finish() {
  Table.finish("cosy_functions_add", "cosy_functions_remove");
}

} // namespace cosy
