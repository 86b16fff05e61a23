// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Runtime.cpp - Calls of the check of COSY_BATCH ---------------------===//
#include "batch/Runtime.h"

#include "llvm/IR/DebugInfoMetadata.h"

using namespace llvm;

namespace cosy {

void callBatchRuntime(IRBuilderBase &B, StringRef Name,
                      ArrayRef<Value *> Args) {
  SmallVector<Type *, 5> Types;
  for (Value *V : Args)
    Types.push_back(V->getType());
  Module &M = *B.GetInsertBlock()->getModule();
  FunctionCallee Callee = M.getOrInsertFunction(
      Name, FunctionType::get(B.getVoidTy(), Types, false));
  if (auto *F = dyn_cast<Function>(Callee.getCallee()))
    F->setDoesNotThrow();
  B.CreateCall(Callee, Args);
}

Constant *batchSite(const Function &F, const DebugLoc &Loc) {
  std::string Text;
  if (const DILocation *L = Loc.get())
    Text = (L->getFilename() + ":" + Twine(L->getLine()) + ":" +
            Twine(L->getColumn()))
               .str();
  else
    Text = F.getName().str();
  Module &M = *const_cast<Module *>(F.getParent());
  std::string Name = "cosy.site." + Text;
  if (GlobalVariable *Known = M.getNamedGlobal(Name))
    return Known;
  Constant *Init = ConstantDataArray::getString(M.getContext(), Text);
  auto *G = new GlobalVariable(M, Init->getType(), /*isConstant=*/true,
                               GlobalValue::PrivateLinkage, Init, Name);
  G->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  G->setAlignment(Align(1));
  return G;
}

} // namespace cosy
