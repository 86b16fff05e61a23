// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SystemCallShape.cpp - System calls that libc's functions make ------===//
#include "body/SystemCallShape.h"
#include "SystemCalls.h"
#include "body/LibraryCalls.h"
#include "body/Operations.h"

#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace cosy {

CallShape systemCallShape(const CallBase &CB) {
  CallShape S;
  LibraryFunction F = libraryFunction(CB);
  if (!F || !isa<CallInst>(CB) || !CB.getCalledFunction()->isDeclaration())
    return S;
  // Variable arguments may be anything.
  for (const Use &U : CB.args())
    if (!isScalar(U->getType()))
      return S;

  auto Add = [&](Value *V, int64_t Imm) {
    S.Args.push_back(V);
    S.Consts.push_back({NoReg, Imm});
  };
  if (F == "syscall") {
    auto *Nr =
        CB.arg_size() ? dyn_cast<ConstantInt>(CB.getArgOperand(0)) : nullptr;
    if (!Nr || CB.arg_size() > 1 + COSY_MAX_ARGS)
      return S;
    const SystemCall *Call = findSystemCall(Nr->getZExtValue());
    if (!Call || !Call->Nested)
      return S;
    // Arguments after the call's own are not looked at.
    for (unsigned I = 0; I < Call->Args.size(); ++I) {
      if (I + 1 < CB.arg_size())
        Add(CB.getArgOperand(I + 1), 0);
      else
        return CallShape(); // natively whatever the register held
    }
    S.Call = Call;
    return S;
  }
  LibcFunction LF = findLibcFunction(F.Name);
  if (!LF.Call || !LF.Call->Nested || !isThin(LF, CB))
    return S;
  SmallVector<StringRef, 6> Parts;
  if (!LF.Map.empty())
    LF.Map.split(Parts, ',');
  for (StringRef P : Parts) {
    unsigned N;
    int64_t Imm;
    if (P.consume_front("$")) {
      if (P.getAsInteger(10, N))
        return CallShape();
      if (N < CB.arg_size())
        Add(CB.getArgOperand(N), 0);
      else if (F.IsVariadic && N >= F.NumFixed)
        Add(nullptr, 0);
      else
        return CallShape();
    } else {
      if (P.getAsInteger(0, Imm))
        return CallShape();
      Add(nullptr, Imm);
    }
  }
  S.Call = LF.Call;
  return S;
}

bool isSystemCall(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  return CB && systemCallShape(*CB).Call;
}

} // namespace cosy
