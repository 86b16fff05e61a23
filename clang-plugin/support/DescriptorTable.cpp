// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DescriptorTable.cpp - Descriptors of a translation unit ------------===//
#include "support/DescriptorTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace cosy {

Constant *stringConstant(Module &M, StringRef S) {
  Constant *Text = ConstantDataArray::getString(M.getContext(), S);
  auto *GV = new GlobalVariable(M, Text->getType(), true,
                                GlobalValue::PrivateLinkage, Text, "cosy.str");
  GV->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  GV->setAlignment(Align(1));
  return GV;
}

FunctionCallee tableFunction(Module &M, StringRef Name) {
  LLVMContext &Ctx = M.getContext();
  return M.getOrInsertFunction(
      Name, FunctionType::get(Type::getVoidTy(Ctx),
                              {PointerType::get(Ctx, 0), Type::getInt64Ty(Ctx)},
                              false));
}

Function *createTableCaller(Module &M, const Twine &Name, StringRef Callee,
                            GlobalVariable *Table, uint64_t Count) {
  LLVMContext &Ctx = M.getContext();
  Type *Void = Type::getVoidTy(Ctx);
  Function *F = Function::Create(FunctionType::get(Void, false),
                                 GlobalValue::InternalLinkage, Name, M);
  F->addFnAttr(Attribute::NoUnwind);
  F->addFnAttr(Attribute::DisableSanitizerInstrumentation);
  IRBuilder<> B(BasicBlock::Create(Ctx, "", F));
  B.CreateCall(tableFunction(M, Callee), {Table, B.getInt64(Count)});
  B.CreateRetVoid();
  return F;
}

GlobalVariable *DescriptorTable::add(Constant *Descriptor,
                                     const Twine &Placeholder) {
  Descriptors.push_back(Descriptor);
  Placeholders.push_back(new GlobalVariable(M, Descriptor->getType(), false,
                                            GlobalValue::ExternalLinkage,
                                            nullptr, Placeholder));
  return Placeholders.back();
}

void DescriptorTable::finish(StringRef Add, StringRef Remove) {
  if (Descriptors.empty())
    return;
  Type *I64 = Type::getInt64Ty(M.getContext());
  auto *Ty = ArrayType::get(Descriptors.front()->getType(), Descriptors.size());
  auto *Table = new GlobalVariable(M, Ty, false, GlobalValue::InternalLinkage,
                                   ConstantArray::get(Ty, Descriptors), Name);
  Table->setSection(Section);
  Table->setAlignment(Align(8));
  GlobalVariable::SanitizerMetadata Meta;
  Meta.NoAddress = true; // no red zones between the tables of several files
  Table->setSanitizerMetadata(Meta);
  for (auto [N, P] : enumerate(Placeholders)) {
    P->replaceAllUsesWith(ConstantExpr::getInBoundsGetElementPtr(
        Ty, Table,
        ArrayRef<Constant *>{ConstantInt::get(I64, 0),
                             ConstantInt::get(I64, N)}));
    P->eraseFromParent();
  }
  appendToGlobalCtors(
      M, createTableCaller(M, Name + ".add", Add, Table, Descriptors.size()),
      65535);
  appendToGlobalDtors(
      M,
      createTableCaller(M, Name + ".remove", Remove, Table, Descriptors.size()),
      65535);
}

} // namespace cosy
