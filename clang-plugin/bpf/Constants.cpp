// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Constants.cpp - A program's constants in the segment ---------------===//
#include "bpf/Confine.h"
#include "support/Diagnostics.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ReplaceConstant.h"

extern "C" {
#include <cosy/function.h>
}

using namespace llvm;

namespace cosy {

/// The alignment of the copy of the constants, as cosy/function.h says.
constexpr Align DataAlign = Align::Constant<64>();

/// Collects all constants that the program reads, and those that they point to.
void Confine::collectConstants() {
  SmallVector<Constant *, 8> Globals;
  for (GlobalVariable &GV : M.globals())
    if (!GV.isDeclaration())
      Globals.push_back(&GV);
  convertUsersOfConstantsToInstructions(Globals, &P);
  for (Instruction &I : instructions(P))
    for (Value *Op : I.operands())
      if (auto *GV = dyn_cast<GlobalVariable>(Op))
        Constants.insert(GV);
  SmallVector<Constant *, 16> Work;
  SmallPtrSet<Constant *, 32> Seen;
  for (unsigned N = 0; N < Constants.size(); ++N) {
    Work.push_back(Constants[N]->getInitializer());
    while (!Work.empty()) {
      Constant *C = Work.pop_back_val();
      if (isa<ConstantData>(C) || !Seen.insert(C).second)
        continue;
      if (auto *GV = dyn_cast<GlobalVariable>(C)) {
        Constants.insert(GV);
        continue;
      }
      for (Value *Op : C->operands())
        if (auto *OC = dyn_cast<Constant>(Op))
          Work.push_back(OC);
    }
  }
  uint64_t At = 0;
  for (GlobalVariable *GV : Constants) {
    Align Own =
        GV->getAlign().value_or(DL.getPrefTypeAlign(GV->getValueType()));
    if (Own > DataAlign)
      reportError(P, nullptr,
                  "in a COSY_FUNCTION: '" + GV->getName() + "' is aligned to " +
                      Twine(Own.value()) +
                      " bytes, and its copy in the segment to at most " +
                      Twine(DataAlign.value()) +
                      "; give it a smaller alignment");
    At = alignTo(At, Own);
    Place[GV] = At;
    At += DL.getTypeAllocSize(GV->getValueType());
  }
  Out.Data.resize(At);
  for (GlobalVariable *GV : Constants)
    serialize(GV->getInitializer(), Place[GV]);
}

void Confine::store(uint64_t V, uint64_t At, unsigned Bytes) {
  for (unsigned N = 0; N < Bytes; ++N)
    Out.Data[At + N] = static_cast<char>(V >> (8 * N));
}

/// Writes the bytes of \p C to Out.Data.
void Confine::serialize(Constant *C, uint64_t At) {
  Type *Ty = C->getType();
  if (C->isNullValue() || isa<UndefValue>(C))
    return;
  if (auto *CI = dyn_cast<ConstantInt>(C)) {
    unsigned Bytes = DL.getTypeStoreSize(Ty);
    for (unsigned N = 0; N < Bytes; ++N)
      Out.Data[At + N] =
          static_cast<char>(CI->getValue().extractBitsAsZExtValue(
              std::min(8u, CI->getBitWidth() - 8 * N), 8 * N));
  } else if (auto *CF = dyn_cast<ConstantFP>(C)) {
    serialize(ConstantInt::get(Ctx, CF->getValueAPF().bitcastToAPInt()), At);
  } else if (auto *S = dyn_cast<ConstantDataSequential>(C)) {
    StringRef Raw = S->getRawDataValues();
    std::copy(Raw.begin(), Raw.end(), Out.Data.begin() + At);
  } else if (auto *ST = dyn_cast<StructType>(Ty)) {
    const StructLayout *Layout = DL.getStructLayout(ST);
    for (unsigned N = 0; N < ST->getNumElements(); ++N)
      serialize(C->getAggregateElement(N), At + Layout->getElementOffset(N));
  } else if (auto *AT = dyn_cast<ArrayType>(Ty)) {
    uint64_t Step = DL.getTypeAllocSize(AT->getElementType());
    for (uint64_t N = 0; N < AT->getNumElements(); ++N)
      serialize(C->getAggregateElement(N), At + N * Step);
  } else if (Ty->isPointerTy()) {
    APInt Offset(64, 0);
    Value *Base = C->stripAndAccumulateConstantOffsets(DL, Offset, true);
    if (auto *GV = dyn_cast<GlobalVariable>(Base)) {
      store(Place[GV] + Offset.getSExtValue(), At, 8);
      Out.Relocations.push_back(At);
    } else {
      reportError(P, nullptr,
                  "in a COSY_FUNCTION: a constant whose value is not "
                  "known here; compute it in the function");
    }
  } else {
    reportError(P, nullptr,
                "in a COSY_FUNCTION: a constant of a kind that has no "
                "copy in the segment; compute it in the function");
  }
}

void Confine::placeConstants() {
  if (Constants.empty())
    return;
  IRBuilder<> B(Entry);
  DataBase = B.CreateIntToPtr(
      load(B, offsetof(cosy_function_ctx, data), "data"), B.getPtrTy());
  for (GlobalVariable *GV : Constants) {
    Value *At = B.CreateConstGEP1_64(B.getInt8Ty(), DataBase, Place[GV]);
    GV->replaceUsesWithIf(At,
                          [](Use &U) { return isa<Instruction>(U.getUser()); });
  }
  for (GlobalVariable *GV : Constants)
    GV->setInitializer(PoisonValue::get(GV->getValueType()));
  for (GlobalVariable *GV : Constants) {
    GV->removeDeadConstantUsers();
    assert(GV->use_empty() && "constant still in use");
    GV->eraseFromParent();
  }
}

} // namespace cosy
