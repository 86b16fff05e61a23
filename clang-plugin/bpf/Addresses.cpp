// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Addresses.cpp - Addresses of constants in user functions -----------===//
//
// The constants that a user function reads are copied into the segment. So the
// address of a constant differs from the native one. A function may read
// through it, compare it with an address in the same constant, or test whether
// it equals that of another constant. It must not compute anything else from
// it. Confine.cpp finds functions that return or store such an address.
//
//===----------------------------------------------------------------------===//
#include "bpf/Addresses.h"
#include "bpf/Function.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace cosy {

static constexpr StringLiteral IgnoredName = "cosy.address.ignored";

void ignoreAddresses(Function &F) {
  for (Instruction &I : instructions(F))
    if (isa<ICmpInst, PtrToIntInst>(I))
      I.setMetadata(IgnoredName, MDNode::get(F.getContext(), {}));
}

/// \returns true if the constant \p C contains addresses.
static bool containsAddresses(const Constant &C) {
  SmallSetVector<const Constant *, 16> Work;
  Work.insert(&C);
  for (unsigned N = 0; N < Work.size(); ++N) {
    if (isa<GlobalValue>(Work[N]))
      return true;
    for (const Use &Op : Work[N]->operands())
      if (auto *OpC = dyn_cast<Constant>(Op))
        Work.insert(OpC);
  }
  return false;
}

/// Returns true if \p P certainly is the address of a constant or, if \p
/// Loaded, certainly was loaded from a constant.
static bool isOfConstant(const Value *P, bool Loaded) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(P, Objects, nullptr, 0);
  return all_of(Objects, [&](const Value *V) {
    if (auto *Load = dyn_cast<LoadInst>(V))
      return Loaded && isOfConstant(Load->getPointerOperand(), false);
    auto *GV = dyn_cast<GlobalVariable>(V);
    return GV && GV->isConstant();
  });
}

/// \returns true if \p P, after arithmetic, always is an address in \p Object.
static bool isWithin(const Value *P, const Value *Object) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(P, Objects, nullptr, 0);
  return all_of(Objects, [&](const Value *V) { return V == Object; });
}

namespace {

/// Follows the addresses of one constant through a program.
class AddressCheck {
public:
  AddressCheck(GlobalVariable &Constant, const Function &Program,
               const Function &User)
      : Object(Constant), Program(Program), User(User),
        HasAddresses(containsAddresses(*Constant.getInitializer())) {}

  bool run() {
    Work.insert(&Object);
    for (unsigned N = 0; N < Work.size(); ++N)
      for (const Use &U : Work[N]->uses())
        if (!visit(U))
          return false;
    return true;
  }

private:
  bool visit(const Use &U);
  bool visitCompare(const ICmpInst &Cmp, const Value *P);
  bool visitInteger(const PtrToIntInst &I);
  bool isDistance(const llvm::User *U) const;
  bool error(const Instruction &I, const Twine &What) const;

  /// Returns true if \p P may point into this constant, or into another one
  /// whose address it contains.
  bool isOfObject(const Value *P) const { return isWithin(P, &Object); }

  GlobalVariable &Object;
  const Function &Program;
  const Function &User;
  const bool HasAddresses;
  /// Addresses in the constant, or loaded from it, and local variables that
  /// contain such addresses.
  SetVector<const Value *> Work;
};

} // namespace

bool AddressCheck::error(const Instruction &I, const Twine &What) const {
  // clang names strings like this; no variable in C has a dot in its name.
  std::string Name = Object.getName().starts_with(".str")
                         ? std::string("a string")
                         : ("'" + Object.getName() + "'").str();
  reportError(User, I.getDebugLoc(),
              "the address of " + Name + " " + What +
                  ": in the kernel the function works on a copy of its "
                  "constants, at another address; compare what is there, or "
                  "pass the address as an argument");
  noteInlinedCalls(I);
  return false;
}

bool AddressCheck::visitCompare(const ICmpInst &Cmp, const Value *P) {
  const Value *Other = Cmp.getOperand(Cmp.getOperand(0) == P);
  if (isa<ConstantPointerNull>(Other) && Cmp.isEquality())
    return true;
  if (isOfObject(P) && isOfObject(Other))
    return true;
  // Different constants have different copies.
  if (Cmp.isEquality() && isOfConstant(P, true) && isOfConstant(Other, true))
    return true;
  return error(Cmp, "is compared");
}

/// Returns true if \p U is the distance of two addresses in the constant. It
/// has the same value natively.
bool AddressCheck::isDistance(const llvm::User *U) const {
  auto *Sub = dyn_cast<BinaryOperator>(U);
  return Sub && Sub->getOpcode() == Instruction::Sub &&
         all_of(Sub->operands(), [&](const Value *V) {
           auto *P = dyn_cast<PtrToIntOperator>(V);
           return P && isOfObject(P->getPointerOperand());
         });
}

bool AddressCheck::visitInteger(const PtrToIntInst &I) {
  if (all_of(I.users(), [&](auto *U) { return isDistance(U); }))
    return true;
  if (any_of(I.users(), [](auto *U) { return isa<StoreInst>(U); }))
    return true;
  return error(I, "is computed with");
}

bool AddressCheck::visit(const Use &U) {
  if (isa<Constant>(U.getUser())) {
    // A constant that contains the address is checked separately.
    if (!isa<GlobalValue>(U.getUser()))
      Work.insert(U.getUser());
    return true;
  }
  auto &I = *cast<Instruction>(U.getUser());
  if (I.getFunction() != &Program || I.getMetadata(IgnoredName))
    return true;
  bool IsVariable = isa<AllocaInst>(U.get());
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    if (Load->getType()->isPointerTy() && (HasAddresses || IsVariable))
      Work.insert(Load);
    return true;
  }
  if (isa<GetElementPtrInst, PHINode, SelectInst, FreezeInst, BitCastInst>(I)) {
    Work.insert(&I);
    return true;
  }
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    const Value *To = getUnderlyingObject(Store->getPointerOperand());
    if (U.getOperandNo() == 0 && isa<AllocaInst>(To))
      Work.insert(To);
    return true;
  }
  if (IsVariable)
    return true;
  if (auto *Cmp = dyn_cast<ICmpInst>(&I))
    return visitCompare(*Cmp, U);
  if (auto *P = dyn_cast<PtrToIntInst>(&I))
    return visitInteger(*P);
  if (auto *Copy = dyn_cast<MemTransferInst>(&I)) {
    const Value *To = getUnderlyingObject(Copy->getRawDest());
    if (!HasAddresses || U.get() != Copy->getRawSource())
      return true;
    if (!isa<AllocaInst>(To))
      return error(I, "is copied, with the addresses that are there,");
    Work.insert(To);
    return true;
  }
  if (isDistance(&I))
    return true;
  if (isa<CallBase>(I))
    return true; // compiler builtins, which take no address as a value
  return error(I, "is computed with");
}

bool checkAddresses(Function &Program, const Function &User) {
  // Check all constants, so that one compilation reports all errors.
  bool Good = true;
  for (GlobalVariable &GV : Program.getParent()->globals())
    if (GV.isConstant() && GV.hasDefinitiveInitializer())
      Good &= AddressCheck(GV, Program, User).run();
  return Good;
}

} // namespace cosy
