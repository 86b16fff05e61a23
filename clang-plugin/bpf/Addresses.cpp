// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Addresses.cpp - Addresses of constants in user functions -----------===//
//
// The constants that a user function reads are copied into the segment. So the
// address of a constant differs from the native one. A function may read
// through it, compare it with an address in the same constant, or test whether
// it equals that of another constant. It must not compute anything else from
// it, and neither return it nor store it outside its own variables.
//
// One rule finds the addresses: whatever is loaded from where an address may be
// is that address, as a pointer, a number or a byte. So the check follows where
// pointers point to, and what they are stored to.
//
//===----------------------------------------------------------------------===//
#include "bpf/Addresses.h"
#include "bpf/Function.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

#include <cstdlib>
#include <numeric>
#include <tuple>

using namespace llvm;

namespace cosy {

static constexpr StringLiteral IgnoredName = "cosy.address.ignored";

void ignoreAddresses(Function &F) {
  auto Ignore = [](Instruction &I) {
    I.setMetadata(IgnoredName, MDNode::get(I.getContext(), {}));
  };
  for (Instruction &I : instructions(F)) {
    if (isa<ICmpInst>(I) && I.getOperand(0)->getType()->isPointerTy())
      Ignore(I);
    if (!isa<PtrToIntInst>(I))
      continue;
    Ignore(I);
    // The number of a pointer that was one before becomes that number.
    for (User *U : I.users())
      if (auto *Number = dyn_cast<BinaryOperator>(U))
        Ignore(*Number);
  }
}

bool isCopy(const Function &F) {
  return (F.getName() == "memcpy" || F.getName() == "memmove") &&
         F.arg_size() == 3 && F.getReturnType()->isPointerTy();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {

/// Size bytes at Offset, or at any multiple of Step away from it.
struct Bytes {
  int64_t Offset = 0, Step = 0, Size = 0;

  bool operator==(const Bytes &B) const {
    return std::tie(Offset, Step, Size) == std::tie(B.Offset, B.Step, B.Size);
  }

  bool mayOverlap(const Bytes &B) const {
    int64_t Distance = Offset - B.Offset, Common = std::gcd(Step, B.Step);
    if (!Common)
      return Distance > -Size && Distance < B.Size;
    int64_t After = (Distance % Common + Common) % Common;
    return After < B.Size || Common - After < Size;
  }

  /// Adds \p B, which has the same size.
  void join(const Bytes &B) {
    Step = std::gcd(std::gcd(Step, B.Step), Offset - B.Offset);
  }
};

/// Where in an object an address may point to.
struct Place {
  /// Without a size.
  Bytes At;
  /// The object, array or member that the address does not leave, because C
  /// does not define that. It has no size if that is not known.
  Bytes Within;
  /// The constant that messages name: the one that contains the address, or to
  /// which it points.
  const GlobalVariable *Source = nullptr;

  bool operator==(const Place &P) const {
    return At == P.At && Within == P.Within;
  }

  void join(const Place &P) {
    if (Within.Size == P.Within.Size)
      Within.join(P.Within);
    else if (P.Within.Size < Within.Size && P.hasWithin(At))
      Within = P.Within; // an array and a pointer to its first element
    else if (P.Within.Size < Within.Size || !hasWithin(P.At))
      Within = Bytes();
    At.join(P.At);
  }

  /// \returns true if an access of \p Size bytes may be one to \p B.
  bool mayAccess(int64_t Size, const Bytes &B) const {
    bool IsAtEnd = isExact() && At.Offset - Within.Offset == Within.Size;
    return Bytes{At.Offset, At.Step, Size}.mayOverlap(B) &&
           (!Within.Size || IsAtEnd || Within.mayOverlap(B));
  }

  /// \returns true if the address leaves Within when \p Move is added.
  bool leaves(int64_t Move) const {
    if (!isExact())
      return Within.Size && std::abs(Move) > Within.Size;
    int64_t Now = At.Offset - Within.Offset + Move;
    return Now < 0 || Now > Within.Size;
  }

private:
  /// \returns true if it is known where in Within the address is.
  bool isExact() const { return Within.Size && At.Step == Within.Step; }

  /// \returns true if \p Other certainly is in Within.
  bool hasWithin(const Bytes &Other) const {
    if (!Within.Size || Other.Step != Within.Step)
      return false;
    int64_t Distance = Other.Offset - Within.Offset;
    if (Within.Step)
      Distance = (Distance % Within.Step + Within.Step) % Within.Step;
    return Distance >= 0 && Distance <= Within.Size;
  }
};

/// The places to which a value may be an address, or a part of one, by object:
/// a constant, a variable, or null for any other. A null pointer has none.
using Places = SmallMapVector<const Value *, Place, 2>;

/// What is stored somewhere in an object.
struct Content {
  Bytes At;
  const Value *V;

  bool operator==(const Content &C) const { return At == C.At && V == C.V; }
};

} // namespace

static void join(Places &Into, const Value *Object, const Place &P) {
  auto [It, New] = Into.insert({Object, P});
  if (!New)
    It->second.join(P);
}

static void join(Places &Into, const Places &From) {
  for (auto &[Object, P] : From)
    join(Into, Object, P);
}

static bool isConstantData(const Value *Object) {
  auto *GV = dyn_cast_or_null<GlobalVariable>(Object);
  return GV && GV->isConstant() && GV->hasDefinitiveInitializer();
}

/// \returns the constants to which \p C refers directly.
static SmallSetVector<const GlobalValue *, 4> globalsIn(const Constant &C) {
  SmallSetVector<const GlobalValue *, 4> Globals;
  SmallSetVector<const Constant *, 16> Work;
  Work.insert(&C);
  for (unsigned N = 0; N < Work.size(); ++N) {
    if (auto *GV = dyn_cast<GlobalValue>(Work[N])) {
      Globals.insert(GV);
      continue;
    }
    for (const Use &Op : Work[N]->operands())
      if (auto *OpC = dyn_cast<Constant>(Op))
        Work.insert(OpC);
  }
  return Globals;
}

/// Adds the parts of \p C, at \p Offset, that contain addresses.
static void findAddresses(const Constant &C, int64_t Offset,
                          const DataLayout &DL, std::vector<Content> &Found) {
  auto *ST = dyn_cast<StructType>(C.getType());
  if (!ST && !C.getType()->isArrayTy()) {
    if (!globalsIn(C).empty())
      Found.push_back(
          {{Offset, 0, int64_t(DL.getTypeStoreSize(C.getType()))}, &C});
    return;
  }
  // Without operands it is zero, or consists of numbers.
  for (unsigned N = 0; N < C.getNumOperands(); ++N) {
    const Constant &Element = *C.getAggregateElement(N);
    int64_t At = ST ? DL.getStructLayout(ST)->getElementOffset(N)
                    : N * DL.getTypeAllocSize(Element.getType());
    findAddresses(Element, Offset + At, DL, Found);
  }
}

/// \returns the array in \p Object whose elements have \p Size bytes, and which
/// contains \p At. Simplification removes the instruction that shows in which
/// array an address is if that array is the first member.
static Bytes arrayAround(const Value *Object, const Bytes &At, int64_t Size,
                         const DataLayout &DL) {
  Type *Ty = nullptr;
  if (auto *GV = dyn_cast_or_null<GlobalVariable>(Object))
    Ty = GV->getValueType();
  else if (auto *AI = dyn_cast_or_null<AllocaInst>(Object))
    Ty = AI->getAllocatedType();
  int64_t Offset = At.Offset, Step = At.Step;
  while (Ty && Offset >= 0 && Offset < int64_t(DL.getTypeAllocSize(Ty))) {
    if (auto *ST = dyn_cast<StructType>(Ty); ST && !Step) {
      const StructLayout &Layout = *DL.getStructLayout(ST);
      unsigned N = Layout.getElementContainingOffset(Offset);
      Offset -= int64_t(Layout.getElementOffset(N));
      Ty = ST->getElementType(N);
      continue;
    }
    auto *AT = dyn_cast<ArrayType>(Ty);
    int64_t Element = AT ? DL.getTypeAllocSize(AT->getElementType()) : 0;
    if (!Element || Step % Element)
      break;
    if (Element == Size) {
      if (Step)
        break;
      return {At.Offset - Offset, At.Step, int64_t(DL.getTypeAllocSize(AT))};
    }
    Offset %= Element;
    Step = 0;
    Ty = AT->getElementType();
  }
  return {};
}

/// \returns where \p GEP points to if its pointer is at \p P in \p Object.
static Place addressBy(const GEPOperator &GEP, const Value *Object, Place P,
                       const DataLayout &DL) {
  const Type *Outer = nullptr; // of the element to which the index refers
  for (auto It = gep_type_begin(GEP), E = gep_type_end(GEP); It != E; ++It) {
    auto *Array = dyn_cast_or_null<ArrayType>(Outer);
    Outer = It.getIndexedType();
    auto *Index = dyn_cast<ConstantInt>(It.getOperand());
    if (StructType *ST = It.getStructTypeOrNull()) {
      unsigned Field = Index->getZExtValue();
      P.At.Offset += int64_t(DL.getStructLayout(ST)->getElementOffset(Field));
      P.Within = {P.At.Offset, P.At.Step,
                  int64_t(DL.getTypeAllocSize(ST->getElementType(Field)))};
      continue;
    }
    int64_t Size = It.getSequentialElementStride(DL);
    int64_t Move = Index ? Index->getSExtValue() * Size : 0;
    if (Array) {
      P.Within = {P.At.Offset, P.At.Step,
                  int64_t(Array->getNumElements()) * Size};
    } else if (!Index || Move) {
      Bytes Inner = arrayAround(Object, P.At, Size, DL);
      if (Inner.Size && Inner.Size < P.Within.Size)
        P.Within = Inner;
    }
    if (P.leaves(Move))
      P.Within = Bytes();
    P.At.Offset += Move;
    if (!Index)
      P.At.Step = std::gcd(P.At.Step, Size);
  }
  return P;
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

namespace {

/// Follows the addresses of constants through a program.
class AddressCheck {
public:
  AddressCheck(const Function &Program, const Function &User)
      : Program(Program), User(User), DL(Program.getDataLayout()),
        DT(const_cast<Function &>(Program)) {}

  /// \returns false after an error.
  bool run() {
    while (follow())
      ;
    for (const Instruction &I : instructions(Program))
      check(I);
    return Reported.empty();
  }

private:
  using ContentMap = DenseMap<const Value *, std::vector<Content>>;

  bool follow();
  Places of(const Value *V) const;
  Places ofConstant(const Constant &C) const;
  Bytes sizeOf(Type *Ty) const {
    return {0, 0, int64_t(DL.getTypeAllocSize(Ty))};
  }
  Places compute(const Instruction &I);
  const std::vector<Content> &contentsOf(const Value *Object);
  Places load(const Places &From, int64_t Size);
  void store(const Instruction &I, ContentMap &To);
  void copy(const CallBase &Call, ContentMap &To);

  /// \returns the places in \p Of that are in constants.
  static Places constantsIn(const Places &Of);
  void check(const Instruction &I);
  void checkCompare(const ICmpInst &Cmp);
  bool isDistance(const Instruction &I) const;
  bool derivesFrom(const Value *V, const Value *Origin) const;
  bool isWithinOne(const Value *A, const Value *B) const;
  void error(const Instruction &I, const Places &Constants, const Twine &What);
  void errorHandedOut(const Instruction &I, const Places &Constants);

  const Function &Program;
  const Function &User;
  const DataLayout &DL;
  DominatorTree DT;
  DenseMap<const Value *, Places> Known;
  ContentMap Constants, Variables;
  /// Constants with an error. Each has only one, because others follow from it.
  SmallPtrSet<const GlobalVariable *, 4> Reported;
};

} // namespace

Places AddressCheck::ofConstant(const Constant &C) const {
  Places Result;
  if (isa<ConstantData>(C))
    return Result;
  auto *Ptr = dyn_cast<PtrToIntOperator>(&C);
  const Value *V = Ptr ? Ptr->getPointerOperand() : &C;
  APInt Offset(64, 0);
  if (V->getType()->isPointerTy())
    V = V->stripAndAccumulateConstantOffsets(DL, Offset, true);
  auto *GV = dyn_cast<GlobalVariable>(V);
  if (GV && GV->getValueType()->isSized()) {
    Result[GV] = {
        {Offset.getSExtValue(), 0, 0}, sizeOf(GV->getValueType()), GV};
    return Result;
  }
  for (const GlobalValue *Any : globalsIn(C))
    Result[Any] = {{0, 1, 0}, {}, dyn_cast<GlobalVariable>(Any)};
  return Result;
}

/// \returns the places of \p V, as far as they are known.
Places AddressCheck::of(const Value *V) const {
  if (auto *C = dyn_cast<Constant>(V))
    return ofConstant(*C);
  auto It = Known.find(V);
  return It == Known.end() ? Places() : It->second;
}

const std::vector<Content> &AddressCheck::contentsOf(const Value *Object) {
  if (!isConstantData(Object))
    return Variables[Object];
  auto [It, New] = Constants.try_emplace(Object);
  if (New)
    findAddresses(*cast<GlobalVariable>(Object)->getInitializer(), 0, DL,
                  It->second);
  return It->second;
}

/// \returns the places of what may be stored in \p Size bytes at \p From.
Places AddressCheck::load(const Places &From, int64_t Size) {
  Places Result;
  for (auto &[Object, P] : From)
    for (const Content &C : contentsOf(Object)) {
      if (!P.mayAccess(Size, C.At))
        continue;
      for (auto &[To, Loaded] : of(C.V)) {
        Place Named = Loaded;
        if (isConstantData(Object))
          Named.Source = P.Source;
        join(Result, To, Named);
      }
    }
  return Result;
}

/// \returns the places of the result of \p I.
Places AddressCheck::compute(const Instruction &I) {
  Places Result;
  auto *CB = dyn_cast<CallBase>(&I);
  if (auto *AI = dyn_cast<AllocaInst>(&I)) {
    Result[AI] = {{}, sizeOf(AI->getAllocatedType()), nullptr};
  } else if (auto *GEP = dyn_cast<GEPOperator>(&I)) {
    for (auto &[Object, P] : of(GEP->getPointerOperand()))
      join(Result, Object, addressBy(*GEP, Object, P, DL));
  } else if (isa<PHINode, SelectInst>(I)) {
    for (const Value *V : I.operand_values())
      join(Result, of(V));
  } else if (isa<PtrToIntInst>(I)) {
    if (!I.getMetadata(IgnoredName))
      Result = of(I.getOperand(0));
  } else if (isa<FreezeInst, BitCastInst, IntToPtrInst>(I)) {
    Result = of(I.getOperand(0));
  } else if (auto *Extract = dyn_cast<ExtractValueInst>(&I)) {
    // The value of an atomic operation, without its success.
    if (Extract->getIndices().front() == 0)
      Result = of(Extract->getAggregateOperand());
  } else if (const Use *Pointer = pointerUse(const_cast<Instruction &>(I))) {
    if (!isa<StoreInst>(I))
      Result = load(of(*Pointer), DL.getTypeStoreSize(I.getType()));
  } else if (CB && CB->getCalledFunction() &&
             isCopy(*CB->getCalledFunction())) {
    Result = of(CB->getArgOperand(0));
  }
  // The program's arguments, and what they point to.
  bool IsKnown = !Result.empty() || isa<PHINode, SelectInst, FreezeInst>(I);
  if (I.getType()->isPointerTy() && !IsKnown)
    Result[nullptr] = {};
  return Result;
}

/// Notes in \p To what \p I writes to variables.
void AddressCheck::store(const Instruction &I, ContentMap &To) {
  const Use *Pointer = pointerUse(const_cast<Instruction &>(I));
  if (!Pointer || isa<LoadInst>(I))
    return;
  const Value *V = isa<StoreInst>(I) ? cast<StoreInst>(I).getValueOperand()
                                     : I.getOperand(I.getNumOperands() - 1);
  if (of(V).empty())
    return;
  int64_t Size = DL.getTypeStoreSize(V->getType());
  for (auto &[Object, P] : of(*Pointer))
    if (isa_and_nonnull<AllocaInst>(Object))
      To[Object].push_back({{P.At.Offset, P.At.Step, Size}, V});
}

/// \returns the maximum number of bytes that \p Call copies.
static int64_t copiedBytes(const CallBase &Call) {
  constexpr int64_t Unknown = INT32_MAX;
  auto *Size = dyn_cast<ConstantInt>(Call.getArgOperand(2));
  return Size ? std::min<uint64_t>(Size->getZExtValue(), Unknown) : Unknown;
}

/// Notes in \p To what \p Call copies to variables.
void AddressCheck::copy(const CallBase &Call, ContentMap &To) {
  for (auto &[Object, D] : of(Call.getArgOperand(0))) {
    if (!isa_and_nonnull<AllocaInst>(Object))
      continue;
    for (auto &[Source, S] : of(Call.getArgOperand(1)))
      for (const Content &C : contentsOf(Source)) {
        if (!S.mayAccess(copiedBytes(Call), C.At))
          continue;
        // What was copied from a variable may be copied there again.
        Content New = {{0, 1, 1}, C.V};
        if (isConstantData(Source))
          New.At = {C.At.Offset - S.At.Offset + D.At.Offset,
                    std::gcd(std::gcd(C.At.Step, S.At.Step), D.At.Step),
                    C.At.Size};
        if (!is_contained(To[Object], New))
          To[Object].push_back(New);
      }
  }
}

/// Computes all places once more. \returns true if there are new ones.
bool AddressCheck::follow() {
  bool Changed = false;
  ContentMap Stored;
  for (const BasicBlock *BB :
       ReversePostOrderTraversal<const Function *>(&Program))
    for (const Instruction &I : *BB) {
      Places Before = of(&I), After = Before;
      join(After, compute(I));
      if (After.size() != Before.size() || !equal(After, Before)) {
        Changed = true;
        Known[&I] = std::move(After);
      }
      store(I, Stored);
      auto *CB = dyn_cast<CallBase>(&I);
      if (CB && CB->getCalledFunction() && isCopy(*CB->getCalledFunction()))
        copy(*CB, Stored);
    }
  for (auto &[Object, List] : Stored)
    Changed |= List != Variables.lookup(Object);
  Variables = std::move(Stored);
  return Changed;
}

Places AddressCheck::constantsIn(const Places &Of) {
  Places Result;
  for (auto &[Object, P] : Of)
    if (isConstantData(Object))
      Result[Object] = P;
  return Result;
}

void AddressCheck::error(const Instruction &I, const Places &Constants,
                         const Twine &What) {
  for (auto &[Object, P] : Constants) {
    if (!Reported.insert(P.Source).second)
      continue;
    // clang names strings like this; no variable in C has a dot in its name.
    StringRef Own = P.Source->getName();
    std::string Name = Own.starts_with(".str") ? std::string("a string")
                                               : ("'" + Own + "'").str();
    reportError(User, I.getDebugLoc(),
                "the address of " + Name + " " + What +
                    ": in the kernel the function works on a copy of its "
                    "constants, at another address; compare what is there, or "
                    "pass the address as an argument");
    noteInlinedCalls(I);
  }
}

void AddressCheck::errorHandedOut(const Instruction &I,
                                  const Places &Constants) {
  bool IsNew = false;
  for (auto &[Object, P] : Constants)
    IsNew |= Reported.insert(P.Source).second;
  if (!IsNew)
    return;
  reportError(User, I.getDebugLoc(),
              "in a COSY_FUNCTION: the address of constant data is handed "
              "out, and would be that of a copy; hand out a number that "
              "stands for it, or copy the data");
  noteInlinedCalls(I);
}

/// \returns true if \p V can be a whole address, and not only a part of one.
static bool isWhole(const Value *V) {
  return V->getType()->isPointerTy() || V->getType()->isIntegerTy(64);
}

/// \returns the addresses of which \p V is one, or from one of which it is
/// derived within its object.
static SmallVector<const Value *, 4> basesOf(const Value *V) {
  SmallVector<const Value *, 4> Bases;
  if (isa<GetElementPtrInst, PtrToIntInst>(V))
    Bases.push_back(cast<Instruction>(V)->getOperand(0));
  else if (auto *Phi = dyn_cast<PHINode>(V))
    Bases.append(Phi->op_begin(), Phi->op_end());
  else if (auto *Select = dyn_cast<SelectInst>(V))
    Bases = {Select->getTrueValue(), Select->getFalseValue()};
  return Bases;
}

/// \returns true if \p V is null or in the object of \p Origin. What is derived
/// from an address must be executed after it, so that it is not of an earlier
/// iteration of a loop.
bool AddressCheck::derivesFrom(const Value *V, const Value *Origin) const {
  SmallSetVector<const Value *, 8> Work;
  Work.insert(V);
  for (unsigned N = 0; N < Work.size(); ++N) {
    const Value *Derived = Work[N];
    auto *C = dyn_cast<Constant>(Derived);
    if (Derived == Origin || (C && C->isNullValue()))
      continue;
    auto Bases = basesOf(Derived);
    auto *First = dyn_cast<Instruction>(Origin);
    if (Bases.empty() ||
        (First && !DT.dominates(First, cast<Instruction>(Derived))))
      return false;
    Work.insert(Bases.begin(), Bases.end());
  }
  return true;
}

/// \returns true if \p A and \p B are addresses in the same object.
bool AddressCheck::isWithinOne(const Value *A, const Value *B) const {
  Places OfA = of(A), OfB = of(B);
  if (!isWhole(A))
    return false;
  if (OfA.size() == 1 && OfB.size() == 1)
    return OfA.begin()->first && OfA.begin()->first == OfB.begin()->first;
  // Each may be in several objects. Look for an address from which both are
  // derived, from the last one to the first.
  for (const Value *Origin : {A, B})
    while (Origin) {
      if (derivesFrom(A, Origin) && derivesFrom(B, Origin))
        return true;
      auto Bases = basesOf(Origin);
      auto Base = find_if(Bases, [&](const Value *V) {
        return DT.dominates(V, cast<Instruction>(Origin));
      });
      Origin = Base == Bases.end() ? nullptr : *Base;
    }
  return false;
}

/// Checks \p Cmp, which compares the address of a constant.
void AddressCheck::checkCompare(const ICmpInst &Cmp) {
  const Value *A = Cmp.getOperand(0), *B = Cmp.getOperand(1);
  if (isWithinOne(A, B))
    return;
  if (Cmp.isEquality() && isWhole(A)) {
    auto IsNull = [](const Value *V) {
      auto *C = dyn_cast<Constant>(V);
      return C && C->isNullValue();
    };
    // Different constants have different copies.
    auto IsConstant = [&](const Value *V) {
      Places Of = of(V);
      return !Of.empty() && constantsIn(Of).size() == Of.size();
    };
    if (IsNull(A) || IsNull(B) || (IsConstant(A) && IsConstant(B)))
      return;
  }
  for (const Value *V : {A, B})
    error(Cmp, constantsIn(of(V)), "is compared");
}

/// \returns true if \p I is the distance of two addresses in an object. It has
/// the same value natively.
bool AddressCheck::isDistance(const Instruction &I) const {
  return I.getOpcode() == Instruction::Sub &&
         isWithinOne(I.getOperand(0), I.getOperand(1));
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

void AddressCheck::check(const Instruction &I) {
  auto IsVariable = [](const auto &Entry) {
    return isa_and_nonnull<AllocaInst>(Entry.first);
  };
  if (isa<PHINode, SelectInst, FreezeInst, BitCastInst, IntToPtrInst,
          PtrToIntInst, ExtractValueInst>(I) ||
      I.getMetadata(IgnoredName))
    return;
  if (auto *CB = dyn_cast<CallBase>(&I);
      CB && CB->getCalledFunction() && isCopy(*CB->getCalledFunction()) &&
      !all_of(of(CB->getArgOperand(0)), IsVariable))
    errorHandedOut(
        I, constantsIn(load(of(CB->getArgOperand(1)), copiedBytes(*CB))));
  const Use *Pointer = pointerUse(const_cast<Instruction &>(I));
  auto *GEP = dyn_cast<GetElementPtrInst>(&I);
  for (const Use &U : I.operands()) {
    unsigned Operand = U.getOperandNo();
    if (&U == Pointer || (GEP && Operand == GEP->getPointerOperandIndex()))
      continue;
    Places Constants = constantsIn(of(U));
    if (Constants.empty())
      continue;
    if (isa<AtomicCmpXchgInst>(I) && Operand == 1)
      error(I, Constants, "is compared");
    else if (Pointer && !all_of(of(*Pointer), IsVariable))
      errorHandedOut(I, Constants);
    else if (auto *Cmp = dyn_cast<ICmpInst>(&I))
      checkCompare(*Cmp);
    else if (!Pointer && !isDistance(I) &&
             (!isa<CallBase>(I) || isArithmetic(I, *U->getType())))
      error(I, Constants, "is computed with");
  }
}

bool checkAddresses(Function &Program, const Function &User) {
  return AddressCheck(Program, User).run();
}

} // namespace cosy
