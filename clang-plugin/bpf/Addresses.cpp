// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Addresses.cpp - Addresses of constants in user functions -----------===//
//
// The constants that a user function reads are copied into the segment. So the
// address of a constant differs from the native one. A function may read
// through it, compare it with an address in the same constant, or test whether
// it equals that of another constant. It must not compute anything else from
// it, and neither return it nor store it outside its own variables.
//
//===----------------------------------------------------------------------===//
#include "bpf/Addresses.h"
#include "bpf/Function.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

#include <numeric>

using namespace llvm;

namespace cosy {

static constexpr StringLiteral IgnoredName = "cosy.address.ignored";
/// Loads of a copy, whose type says nothing about what is there.
static constexpr StringLiteral CopyName = "cosy.copy";

void markCopy(LoadInst &Load) {
  Load.setMetadata(CopyName, MDNode::get(Load.getContext(), {}));
}

void ignoreAddresses(Function &F) {
  for (Instruction &I : instructions(F)) {
    if (isa<ICmpInst, PtrToIntInst>(I))
      I.setMetadata(IgnoredName, MDNode::get(F.getContext(), {}));
    if (auto *Load = dyn_cast<LoadInst>(&I))
      markCopy(*Load);
  }
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

/// \returns true if a constant to which \p C refers, perhaps by way of others,
/// contains addresses.
static bool refersToAddresses(const Constant &C) {
  SmallSetVector<const Constant *, 16> Work;
  Work.insert(&C);
  for (unsigned N = 0; N < Work.size(); ++N) {
    auto *GV = dyn_cast<GlobalVariable>(Work[N]);
    if (GV && GV->hasDefinitiveInitializer() &&
        containsAddresses(*GV->getInitializer()))
      return true;
    if (isa<GlobalValue>(Work[N]))
      continue;
    for (const Use &Op : Work[N]->operands())
      if (auto *OpC = dyn_cast<Constant>(Op))
        Work.insert(OpC);
  }
  return false;
}

namespace {

/// A part of a constant or a variable. If an index is not known, its start may
/// be any multiple of the step away from the offset.
struct Part {
  const Value *Object;
  int64_t Offset, Step, Size;
};

} // namespace

template <typename MapT>
MapT offsetsOf(bool (GEPOperator::*)(const DataLayout &, unsigned, MapT &,
                                     APInt &) const);

/// A map from indices to what they are multiplied with. Its type depends on the
/// version of LLVM.
using VariableOffsets = decltype(offsetsOf(&GEPOperator::collectOffset));

/// \returns the parts of objects that \p Size bytes at \p P may be.
static SmallVector<Part, 4> partsAt(const Value *P, int64_t Size,
                                    const DataLayout &DL) {
  Part Known = {P, 0, 0, Size};
  while (auto *GEP = dyn_cast<GEPOperator>(Known.Object)) {
    VariableOffsets Variable;
    APInt Constant(64, 0);
    if (!GEP->collectOffset(DL, 64, Variable, Constant))
      break;
    Known.Offset += Constant.getSExtValue();
    for (auto &[Index, Scale] : Variable)
      Known.Step = std::gcd(Known.Step, Scale.getSExtValue());
    Known.Object = GEP->getPointerOperand();
  }
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(P, Objects, nullptr, 0);
  SmallVector<Part, 4> Result;
  for (const Value *Object : Objects)
    Result.push_back(Object == Known.Object ? Known : Part{Object, 0, 1, Size});
  return Result;
}

/// \returns true if \p A and \p B, parts of one object, may overlap.
static bool mayOverlap(const Part &A, const Part &B) {
  int64_t Distance = A.Offset - B.Offset, Step = std::gcd(A.Step, B.Step);
  if (!Step)
    return Distance > -A.Size && Distance < B.Size;
  int64_t After = (Distance % Step + Step) % Step;
  return After < B.Size || Step - After < A.Size;
}

/// Adds the parts of \p Object where its initial value \p C, at \p Offset, has
/// addresses.
static void findAddresses(const Value &Object, Constant &C, int64_t Offset,
                          const DataLayout &DL, SmallVectorImpl<Part> &Parts) {
  if (!containsAddresses(C))
    return;
  auto *ST = dyn_cast<StructType>(C.getType());
  auto *AT = dyn_cast<ArrayType>(C.getType());
  if (!ST && !AT) {
    int64_t Size = DL.getTypeStoreSize(C.getType());
    Parts.push_back({&Object, Offset, 0, Size});
    return;
  }
  for (unsigned N = 0; N < C.getNumOperands(); ++N) {
    uint64_t At = ST ? DL.getStructLayout(ST)->getElementOffset(N)
                     : DL.getTypeAllocSize(AT->getElementType()) * N;
    findAddresses(Object, *C.getAggregateElement(N), Offset + At, DL, Parts);
  }
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
               const Function &User,
               SmallPtrSetImpl<const Instruction *> &HandedOut)
      : Object(Constant), Program(Program), User(User),
        DL(Program.getDataLayout()), HandedOut(HandedOut) {
    findAddresses(Object, *Constant.getInitializer(), 0, DL, Parts);
    RefersToAddresses = refersToAddresses(*Constant.getInitializer());
  }

  bool run() {
    Work.insert(&Object);
    // A store to a variable concerns loads that were visited before.
    for (size_t Known = 0; Known != Work.size() + Parts.size();) {
      Known = Work.size() + Parts.size();
      for (unsigned N = 0; N < Work.size(); ++N)
        for (const Use &U : Work[N]->uses())
          if (!visit(U))
            return false;
    }
    return true;
  }

private:
  bool visit(const Use &U);
  bool visitStore(const Instruction &I, const Value &V, const Value &Pointer);
  bool visitCompare(const ICmpInst &Cmp, const Value *P);
  void visitLoad(const Instruction &I, const Value &From);
  bool isAddressAt(const Part &P) const;
  bool isDistance(const llvm::User *U) const;
  bool error(const Instruction &I, const Twine &What) const;

  /// Returns true if \p P may point into this constant, or into another one
  /// whose address it contains.
  bool isOfObject(const Value *P) const { return isWithin(P, &Object); }

  GlobalVariable &Object;
  const Function &Program;
  const Function &User;
  const DataLayout &DL;
  /// Instructions that hand out an address, and were reported.
  SmallPtrSetImpl<const Instruction *> &HandedOut;
  /// Parts of this constant and of variables that contain addresses.
  SmallVector<Part, 8> Parts;
  /// Instructions that store the address to a variable.
  SmallPtrSet<const Instruction *, 4> Stores;
  /// Addresses in the constant, or loaded from it, also as integers, and local
  /// variables that contain such addresses.
  SetVector<const Value *> Work;
  /// Values in Work that are only copied, and may be other data.
  SmallPtrSet<const Value *, 8> Copied;
  /// Loads of addresses, or null, that are not used as pointers.
  SmallPtrSet<const Value *, 8> Addresses;
  /// Variables to which an address was stored as an integer.
  SmallPtrSet<const Value *, 4> Integers;
  bool RefersToAddresses;
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
  if (isa<Constant>(Other) && cast<Constant>(Other)->isNullValue() &&
      Cmp.isEquality())
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

/// \returns true if \p P is an address of the constant, wherever it starts.
/// Beside addresses there may be null.
bool AddressCheck::isAddressAt(const Part &P) const {
  Constant *C = Object.getInitializer();
  auto *Pointer = PointerType::getUnqual(Object.getContext());
  int64_t Last = int64_t(DL.getTypeAllocSize(C->getType())) - P.Size;
  int64_t First = P.Step ? (P.Offset % P.Step + P.Step) % P.Step : P.Offset;
  if (P.Object != &Object || P.Size != DL.getPointerSize() || First < 0 ||
      First > Last)
    return false;
  bool Any = false;
  for (int64_t At = First; At <= (P.Step ? Last : First);
       At += std::max<int64_t>(P.Step, 1)) {
    Constant *Value = ConstantFoldLoadFromConst(C, Pointer, APInt(64, At), DL);
    bool IsAddress = Value && containsAddresses(*Value);
    if (!IsAddress && !(Value && Value->isNullValue()))
      return false;
    Any |= IsAddress;
  }
  return Any;
}

/// Follows what \p I loads from \p From, if it may be an address.
void AddressCheck::visitLoad(const Instruction &I, const Value &From) {
  bool IsPointer = I.getType()->isPointerTy();
  bool IsCopy = I.getMetadata(CopyName);
  SmallVector<Part, 4> Loads =
      partsAt(&From, DL.getTypeStoreSize(I.getType()), DL);
  bool IsAddress =
      any_of(Loads, [&](const Part &Loaded) { return isAddressAt(Loaded); });
  if (none_of(Loads, [&](const Part &Loaded) {
        const Value *Base = Loaded.Object;
        // Constants to which this one points may have addresses, too.
        if (Base != &Object && !isa<AllocaInst>(Base))
          return (IsPointer && !Parts.empty()) || (IsCopy && RefersToAddresses);
        return (IsPointer || IsCopy || IsAddress || Integers.contains(Base)) &&
               any_of(Parts, [&](const Part &P) {
                 return P.Object == Base && mayOverlap(P, Loaded);
               });
      }))
    return;
  Work.insert(&I);
  if (IsCopy && !IsPointer)
    Copied.insert(&I);
  // Functions of the C library compute with pointers, with the same result.
  if (IsAddress &&
      none_of(I.users(), [](const auto *U) { return isa<IntToPtrInst>(U); }))
    Addresses.insert(&I);
}

/// Visits \p I, which writes the address \p V to \p Pointer.
bool AddressCheck::visitStore(const Instruction &I, const Value &V,
                              const Value &Pointer) {
  SmallVector<Part, 4> To =
      partsAt(&Pointer, DL.getTypeStoreSize(V.getType()), DL);
  if (all_of(To, [](const Part &P) { return isa<AllocaInst>(P.Object); })) {
    if (Stores.insert(&I).second)
      Parts.append(To);
    for (const Part &P : To) {
      Work.insert(P.Object);
      if (V.getType()->isIntegerTy() && !Copied.contains(&V))
        Integers.insert(P.Object);
    }
    return true;
  }
  if (HandedOut.insert(&I).second) {
    reportError(User, I.getDebugLoc(),
                "in a COSY_FUNCTION: the address of constant data is handed "
                "out, and would be that of a copy; hand out a number that "
                "stands for it, or copy the data");
    noteInlinedCalls(I);
  }
  return false;
}

/// \returns true if \p I, a call, computes with an argument of type \p Ty.
static bool isArithmetic(const Instruction &I, const Type &Ty) {
  auto *II = dyn_cast<IntrinsicInst>(&I);
  if (!II)
    return false;
  Intrinsic::ID ID = II->getIntrinsicID();
  if (ID == Intrinsic::is_constant || ID == Intrinsic::expect)
    return false;
  return Ty.isIntegerTy() || ID == Intrinsic::ptrmask;
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
  unsigned Operand = U.getOperandNo();
  const Use *Pointer = pointerUse(I);
  if (Pointer && Pointer->getOperandNo() == Operand) {
    if (!isa<StoreInst>(I))
      visitLoad(I, *U.get());
    return true;
  }
  bool IsCopied = Copied.contains(U.get());
  auto *GEP = dyn_cast<GetElementPtrInst>(&I);
  if (isa<PHINode, SelectInst, FreezeInst, BitCastInst, IntToPtrInst,
          PtrToIntInst>(I) ||
      (GEP && Operand == GEP->getPointerOperandIndex())) {
    if (!IsCopied)
      Copied.erase(&I);
    else if (!Work.contains(&I) && !isa<IntToPtrInst>(I))
      Copied.insert(&I);
    Work.insert(&I);
    return true;
  }
  if (isa<AllocaInst>(getUnderlyingObject(U.get())))
    return true; // the address of a variable
  auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I);
  if (Exchange && Operand == 1)
    return error(I, "is compared");
  if (Pointer)
    return visitStore(I, *U.get(), *Pointer->get());
  if ((IsCopied && !Addresses.contains(U.get())) || isDistance(&I))
    return true;
  if (auto *Cmp = dyn_cast<ICmpInst>(&I))
    return visitCompare(*Cmp, U);
  if (isa<CallBase>(I) && !isArithmetic(I, *U->getType()))
    return true; // compiler builtins, which take no address as a value
  return error(I, "is computed with");
}

bool checkAddresses(Function &Program, const Function &User) {
  // Check all constants, so that one compilation reports all errors.
  bool Good = true;
  SmallPtrSet<const Instruction *, 4> HandedOut;
  for (GlobalVariable &GV : Program.getParent()->globals())
    if (GV.isConstant() && GV.hasDefinitiveInitializer())
      Good &= AddressCheck(GV, Program, User, HandedOut).run();
  return Good;
}

} // namespace cosy
