// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Select.cpp - From LLVM IR to operations ----------------------------===//
//
// Values narrower than 64 bits are kept "clean", that is zero-extended, only
// where a user looks at the bits above: operations look at their low WIDTH
// bytes, so a truncation or the int result of a system call usually costs
// nothing. i1 and widths that are no power of two are always clean.
//
// Constant offsets are folded into loads, stores and arguments, comparisons
// into branches. Whether an instruction is needed in a register at all is
// decided first, from its users.
//
//===----------------------------------------------------------------------===//
#include "codegen/Select.h"
#include "SystemCalls.h"
#include "body/FastPaths.h"
#include "body/LibraryCalls.h"
#include "bpf/Function.h"
#include "region/Region.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cosy {

bool isRegisterType(const Type *Ty, const DataLayout &DL) {
  if (auto *IT = dyn_cast<IntegerType>(Ty))
    return IT->getBitWidth() <= 64;
  if (Ty->isPointerTy())
    return Ty->getPointerAddressSpace() == 0;
  if (Ty->isHalfTy() || Ty->isBFloatTy() || Ty->isFloatTy() || Ty->isDoubleTy())
    return true;
  if (auto *VT = dyn_cast<FixedVectorType>(Ty)) {
    uint64_t Bits = DL.getTypeSizeInBits(const_cast<FixedVectorType *>(VT));
    Type *Elt = VT->getElementType();
    return (Bits == 8 || Bits == 16 || Bits == 32 || Bits == 64) &&
           DL.getTypeSizeInBits(Elt) % 8 == 0;
  }
  return false;
}

static bool isScalarInt(const Type *Ty) {
  return Ty->isIntegerTy() && Ty->getIntegerBitWidth() <= 64;
}

static bool isScalar(const Type *Ty) {
  return isScalarInt(Ty) ||
         (Ty->isPointerTy() && Ty->getPointerAddressSpace() == 0);
}

static unsigned bitsOf(const Type *Ty) {
  return Ty->isIntegerTy()   ? Ty->getIntegerBitWidth()
         : Ty->isPointerTy() ? 64
                             : Ty->getPrimitiveSizeInBits().getFixedValue();
}

/// The smallest operand width in bytes that holds \p Bits.
static unsigned widthFor(unsigned Bits) {
  return Bits <= 8 ? 1 : Bits <= 16 ? 2 : Bits <= 32 ? 4 : 8;
}

static bool isOddWidth(unsigned Bits) { return Bits != 8 * widthFor(Bits); }

namespace {

/// Functions of libc that are an operation or a few.
enum class MemoryCall {
  None,
  Copy,
  Fill,
  Compare,
  Find,
  Length,
  StrCmp,
  StrNCmp,
  StrNLen,
  StrChr,
  StrRChr,
  StpCpy,
  StrCpy,
  StrCat
};

} // namespace

/// Does only the sign of \p Result matter? The value of memcmp is up to libc:
/// on some CPUs it is the difference of two bytes, on others 1 or -1.
static bool onlySignMatters(const Value &Result) {
  SmallSetVector<const Value *, 4>
      Values; // the result, or 0, or something else
  Values.insert(&Result);
  auto IsTest = [](const User *U, const Value *V) {
    ICmpInst::Predicate P;
    if (match(U, m_ICmp(P, m_Specific(V), m_Zero())) ||
        match(U, m_Shr(m_Specific(V), m_SpecificInt(bitsOf(V->getType()) - 1))))
      return true;
    return (match(U, m_ICmp(P, m_Specific(V), m_AllOnes())) &&
            P == ICmpInst::ICMP_SGT) ||
           (match(U, m_ICmp(P, m_Specific(V), m_One())) &&
            P == ICmpInst::ICMP_SLT);
  };
  for (unsigned N = 0; N < Values.size(); ++N)
    for (const User *U : Values[N]->users()) {
      if (isa<PHINode, SelectInst, FreezeInst>(U))
        Values.insert(U);
      else if (!IsTest(U, Values[N]))
        return false;
    }
  return true;
}

static MemoryCall classifyMemoryCall(const CallBase &CB) {
  if (auto *MI = dyn_cast<MemIntrinsic>(&CB)) {
    if (MI->getDestAddressSpace() || !isScalarInt(MI->getLength()->getType()))
      return MemoryCall::None;
    if (auto *MT = dyn_cast<MemTransferInst>(MI))
      return MT->getSourceAddressSpace() ? MemoryCall::None : MemoryCall::Copy;
    return MemoryCall::Fill;
  }
  MemoryCall Kind = StringSwitch<MemoryCall>(libraryFunction(CB).Name)
                        .Cases("memcmp", "bcmp", MemoryCall::Compare)
                        .Case("memchr", MemoryCall::Find)
                        .Case("strlen", MemoryCall::Length)
                        .Case("strcmp", MemoryCall::StrCmp)
                        .Case("strncmp", MemoryCall::StrNCmp)
                        .Case("strnlen", MemoryCall::StrNLen)
                        .Cases("strchr", "index", MemoryCall::StrChr)
                        .Cases("strrchr", "rindex", MemoryCall::StrRChr)
                        .Case("stpcpy", MemoryCall::StpCpy)
                        .Case("strcpy", MemoryCall::StrCpy)
                        .Case("strcat", MemoryCall::StrCat)
                        .Default(MemoryCall::None);
  if (Kind == MemoryCall::Compare && !onlySignMatters(CB))
    return MemoryCall::None;
  return Kind;
}

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

bool isHostComputed(const Instruction &I) {
  if (auto *AI = dyn_cast<AllocaInst>(&I))
    return AI->isStaticAlloca();
  auto *CI = dyn_cast<CallInst>(&I);
  if (!CI || !CI->getParent()->isEntryBlock())
    return false;
  if (CI->getIntrinsicID() == Intrinsic::threadlocal_address)
    return true;
  return libraryFunction(*CI) == "__errno_location";
}

bool isExit(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  return CB && CB->getCalledFunction() &&
         CB->getCalledFunction()->getName() == ExitMarker;
}

bool isStopTest(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  return CB && CB->getCalledFunction() &&
         CB->getCalledFunction()->getName() == StoppedMarker;
}

/// \returns true if \p I has no effect in a compound.
static bool isIgnored(const Instruction &I) {
  if (auto *FI = dyn_cast<FenceInst>(&I))
    return FI->getOrdering() != AtomicOrdering::SequentiallyConsistent ||
           FI->getSyncScopeID() == SyncScope::SingleThread;
  auto *II = dyn_cast<IntrinsicInst>(&I);
  if (!II)
    return false;
  switch (II->getIntrinsicID()) {
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::invariant_start:
  case Intrinsic::invariant_end:
  case Intrinsic::assume:
  case Intrinsic::donothing:
  case Intrinsic::sideeffect:
  case Intrinsic::pseudoprobe:
  case Intrinsic::var_annotation:
  case Intrinsic::experimental_noalias_scope_decl:
    return II->use_empty();
  default:
    return isa<DbgInfoIntrinsic>(II);
  }
}

bool isOperation(const Instruction &I, const DataLayout &DL) {
  if (isIgnored(I) || isHostComputed(I))
    return true;
  switch (I.getOpcode()) {
  case Instruction::PHI:
  case Instruction::Freeze:
    return isRegisterType(I.getType(), DL);
  case Instruction::Select:
    return isRegisterType(I.getType(), DL) &&
           I.getOperand(0)->getType()->isIntegerTy(1);
  case Instruction::ICmp:
    return isScalar(I.getOperand(0)->getType());
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
    return isScalarInt(I.getType()) && isScalarInt(I.getOperand(0)->getType());
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
    return isScalar(I.getType()) && isScalar(I.getOperand(0)->getType());
  case Instruction::BitCast:
    return isRegisterType(I.getType(), DL) &&
           isRegisterType(I.getOperand(0)->getType(), DL);
  case Instruction::GetElementPtr:
    return isScalar(I.getType());
  case Instruction::Load: {
    auto &LI = cast<LoadInst>(I);
    return isRegisterType(LI.getType(), DL) && !LI.getPointerAddressSpace() &&
           !isOddWidth(DL.getTypeSizeInBits(LI.getType()));
  }
  case Instruction::Store: {
    auto &SI = cast<StoreInst>(I);
    Type *Ty = SI.getValueOperand()->getType();
    return isRegisterType(Ty, DL) && !SI.getPointerAddressSpace() &&
           !isOddWidth(DL.getTypeSizeInBits(Ty)) &&
           SI.getOrdering() != AtomicOrdering::SequentiallyConsistent;
  }
  case Instruction::Br:
  case Instruction::Switch:
  case Instruction::Ret:
  case Instruction::Unreachable:
    return true;
  case Instruction::Call: {
    auto &CB = cast<CallBase>(I);
    return isExit(I) || isStopTest(I) ||
           classifyMemoryCall(CB) != MemoryCall::None || isSystemCall(I);
  }
  default:
    return isa<BinaryOperator>(I) && isScalarInt(I.getType());
  }
}

namespace {

/// An address as a value and a constant; no value means an absolute address.
struct Address {
  Value *Base;
  int64_t Offset;
};

class Selector {
public:
  Selector(Function &F, LoopInfo &LI, const UpCallList &UpCalls)
      : F(F), DL(F.getDataLayout()), LI(LI), UpCalls(UpCalls) {}

  Selection run(unsigned NumOutputs);

private:
  // What is needed.
  void findDemand();
  void demand(Value *V);
  void demandAddress(Value *V);
  void demandClean(Value *V);
  void flattenCondition(Value *Cond, bool &And,
                        SmallVectorImpl<Value *> &Leaves);
  void demandCondition(Value *Cond);
  void demandOperands(Instruction &I);
  void findClean();

  // Blocks.
  void orderBlocks();
  void lowerBlock(BasicBlock &BB);
  void placeHoisted();

  // Instructions.
  void lower(Instruction &I);
  void lowerAlias(Instruction &I);
  void lowerBinary(BinaryOperator &I);
  void lowerCompare(ICmpInst &I);
  bool isCleanAnyway(const Value *V) const;
  void setComparison(Inst &I, const ICmpInst &Cmp, CmpInst::Predicate P);
  void lowerCast(CastInst &I);
  void lowerSelect(SelectInst &I);
  void lowerMemoryCall(CallBase &CB, MemoryCall Kind);
  void lowerSystemCall(CallBase &CB, const CallShape &S);
  void lowerExit(CallBase &CB);
  void lowerUpCall(unsigned N);
  void lowerUserCall(CallBase &CB, unsigned UpCall);
  void lowerBranch(BranchInst &I);
  void lowerSwitch(SwitchInst &I);
  void copiesFor(BasicBlock &Succ);

  // Values.
  Address stripOnce(Value *V) const;
  Address strip(Value *V, bool AtMaterialised) const;
  bool isAlias(const Value *V) const;
  Reg reg(Value *V);
  Reg regForAddress(const Address &A);
  Reg constant(int64_t Imm);
  Reg define(Value *V);
  std::optional<int64_t> constantOf(const Value *V) const;
  Reg signExtended(Value *V, unsigned &Width);
  void mask(Reg R, unsigned Bits);

  Inst &emit(unsigned Op) {
    Inst I;
    I.Op = Op;
    I.Loc = Loc;
    Sel.C.Blocks[Cur].Insts.push_back(std::move(I));
    return Sel.C.Blocks[Cur].Insts.back();
  }
  void emitALU(unsigned Op, unsigned Width, Reg Dst, Reg A, Reg B, int64_t Imm);
  Inst makeBranch(Value *Cond, bool Negate, BasicBlock *Target);
  void emitJump(BasicBlock *Target) {
    emit(COSY_OP_JMP).Target = Number.lookup(Target);
  }

  Function &F;
  const DataLayout &DL;
  LoopInfo &LI;
  const UpCallList &UpCalls;
  Selection Sel;

  std::vector<BasicBlock *> Order;
  DenseMap<const BasicBlock *, unsigned> Number;
  unsigned Cur = 0;
  const DILocation *Loc = nullptr;

  DenseSet<const Value *> Demanded;
  DenseSet<const Value *> Clean; ///< must be zero-extended
  SmallVector<Value *, 64> Work;
  std::vector<Value *> CleanWork;

  DenseMap<const Value *, Reg> Regs;
  DenseMap<const PHINode *, Reg> PhiRegs; ///< what the predecessors write

  DenseMap<std::pair<unsigned, int64_t>, Reg> Constants; ///< by block
  std::vector<std::vector<Inst>> Hoisted;                ///< by block
  std::vector<size_t> TerminatorAt;                      ///< by block
};

} // namespace

static unsigned condOf(CmpInst::Predicate P) {
  switch (P) {
  case CmpInst::ICMP_EQ:
    return COSY_COND_EQ;
  case CmpInst::ICMP_NE:
    return COSY_COND_NE;
  case CmpInst::ICMP_ULT:
    return COSY_COND_ULT;
  case CmpInst::ICMP_ULE:
    return COSY_COND_ULE;
  case CmpInst::ICMP_UGT:
    return COSY_COND_UGT;
  case CmpInst::ICMP_UGE:
    return COSY_COND_UGE;
  case CmpInst::ICMP_SLT:
    return COSY_COND_SLT;
  case CmpInst::ICMP_SLE:
    return COSY_COND_SLE;
  case CmpInst::ICMP_SGT:
    return COSY_COND_SGT;
  case CmpInst::ICMP_SGE:
    return COSY_COND_SGE;
  default:
    llvm_unreachable("not an integer comparison");
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The register contents of a constant that is not an address.
std::optional<int64_t> Selector::constantOf(const Value *V) const {
  if (auto *CI = dyn_cast<ConstantInt>(V))
    return CI->getBitWidth() <= 64 ? std::optional<int64_t>(CI->getZExtValue())
                                   : std::nullopt;
  if (isa<ConstantPointerNull>(V) || isa<UndefValue>(V) ||
      isa<ConstantAggregateZero>(V))
    return 0;
  if (auto *CF = dyn_cast<ConstantFP>(V))
    return CF->getValueAPF().bitcastToAPInt().getZExtValue();
  if (auto *CV = dyn_cast<ConstantDataVector>(V)) {
    uint64_t Bits = 0;
    StringRef Raw = CV->getRawDataValues();
    memcpy(&Bits, Raw.data(), std::min<size_t>(Raw.size(), 8));
    return Bits;
  }
  return std::nullopt;
}

/// \returns true if \p V is a value plus a constant.
bool Selector::isAlias(const Value *V) const {
  if (auto *GEP = dyn_cast<GEPOperator>(V))
    return GEP->hasAllConstantIndices();
  if (auto *Op = dyn_cast<Operator>(V)) {
    switch (Op->getOpcode()) {
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
      return bitsOf(V->getType()) == 64 &&
             bitsOf(Op->getOperand(0)->getType()) == 64;
    case Instruction::Add:
      return V->getType()->isIntegerTy(64) &&
             isa<ConstantInt>(Op->getOperand(1));
    default:
      return false;
    }
  }
  return false;
}

/// What the alias \p V is another name of.
Address Selector::stripOnce(Value *V) const {
  auto *Op = cast<Operator>(V);
  int64_t Offset = 0;
  if (auto *GEP = dyn_cast<GEPOperator>(Op)) {
    APInt Off(64, 0);
    GEP->accumulateConstantOffset(DL, Off);
    Offset = Off.getSExtValue();
  } else if (Op->getOpcode() == Instruction::Add) {
    Offset = cast<ConstantInt>(Op->getOperand(1))->getSExtValue();
  }
  return {Op->getOperand(0), Offset};
}

/// The address \p V is, looking through aliases; \p AtMaterialised stops at
/// those that are in a register anyway.
Address Selector::strip(Value *V, bool AtMaterialised) const {
  Address A{V, 0};
  while (isAlias(A.Base)) {
    if (auto *I = dyn_cast<Instruction>(A.Base))
      if ((AtMaterialised && Demanded.count(I)) || UpCalls.Of.count(I))
        break;
    Address Next = stripOnce(A.Base);
    A = {Next.Base, A.Offset + Next.Offset};
  }
  if (std::optional<int64_t> C = constantOf(A.Base)) {
    A.Offset += *C;
    A.Base = nullptr;
  }
  return A;
}

Reg Selector::define(Value *V) {
  Reg R = Sel.C.newReg();
  Regs[V] = R;
  return R;
}

/// A register holding \p Imm. In a loop it is set before the outermost one.
Reg Selector::constant(int64_t Imm) {
  constexpr size_t MaxHoisted = 24; // each of them occupies a register
  unsigned At = Cur;
  if (Loop *L = LI.getLoopFor(Order[Cur])) {
    L = L->getOutermostLoop();
    BasicBlock *Pre = L->getLoopPreheader();
    if (Pre && Number.count(Pre)) {
      unsigned N = Number.lookup(Pre);
      if (Hoisted[N].size() < MaxHoisted || Constants.count({N, Imm}))
        At = N;
    }
  }
  auto [It, New] = Constants.try_emplace({At, Imm}, NoReg);
  if (!New)
    return It->second;
  Reg R = Sel.C.newReg();
  It->second = R;
  Inst I;
  I.Op = COSY_OP_CONST;
  I.Dst = R;
  I.Imm = Imm;
  I.Loc = Loc;
  if (At == Cur)
    Sel.C.Blocks[Cur].Insts.push_back(std::move(I));
  else
    Hoisted[At].push_back(std::move(I));
  return R;
}

/// The register of \p V, all of it.
Reg Selector::reg(Value *V) {
  if (std::optional<int64_t> C = constantOf(V))
    return constant(*C);
  auto It = Regs.find(V);
  if (It != Regs.end())
    return It->second;
  // Other constants are addresses: inputs the host computes.
  assert((isa<Constant>(V) || isa<Argument>(V) ||
          isHostComputed(*cast<Instruction>(V))) &&
         "a value is used before its definition");
  Reg R = define(V);
  Sel.Inputs.push_back(V);
  Sel.C.Inputs.push_back(R);
  return R;
}

Reg Selector::regForAddress(const Address &A) {
  return A.Base ? reg(A.Base) : NoReg;
}

void Selector::emitALU(unsigned Op, unsigned Width, Reg Dst, Reg A, Reg B,
                       int64_t Imm) {
  Inst &I = emit(Op);
  I.Width = Width;
  I.Dst = Dst;
  I.A = A;
  I.B = B;
  I.Imm = Imm;
}

/// Clears what is above the low \p Bits of \p R.
void Selector::mask(Reg R, unsigned Bits) {
  emitALU(COSY_OP_AND, 8, R, R, NoReg,
          (int64_t)maskTrailingOnes<uint64_t>(Bits));
}

/// \p V so that its sign bit is the one of \p Width, which is set to it.
Reg Selector::signExtended(Value *V, unsigned &Width) {
  unsigned Bits = bitsOf(V->getType());
  Width = widthFor(Bits);
  Reg R = reg(V);
  if (!isOddWidth(Bits))
    return R;
  Reg T = Sel.C.newReg();
  int64_t Shift = Width * 8 - Bits;
  emitALU(COSY_OP_SHL, Width, T, R, NoReg, Shift);
  Reg T2 = Sel.C.newReg();
  emitALU(COSY_OP_ASHR, Width, T2, T, NoReg, Shift);
  return T2;
}

//===----------------------------------------------------------------------===//
// What is needed
//===----------------------------------------------------------------------===//

void Selector::demand(Value *V) {
  if (Demanded.insert(V).second && isa<Instruction>(V))
    Work.push_back(V);
}

void Selector::demandAddress(Value *V) {
  Address A = strip(V, false);
  if (A.Base)
    demand(A.Base);
}

/// \p V is needed zero-extended.
void Selector::demandClean(Value *V) {
  if (Clean.insert(V).second)
    CleanWork.push_back(V);
}

/// The comparisons and other values a condition consists of: all have to hold
/// (\p And), or one. What an up-call computes it computes as a whole.
void Selector::flattenCondition(Value *Cond, bool &And,
                                SmallVectorImpl<Value *> &Leaves) {
  Value *A, *B;
  auto Matches = [&](Value *V, bool IsAnd) {
    auto *I = dyn_cast<Instruction>(V);
    return I && I->hasOneUse() && !UpCalls.Of.count(I) &&
           (IsAnd ? match(I, m_LogicalAnd(m_Value(A), m_Value(B)))
                  : match(I, m_LogicalOr(m_Value(A), m_Value(B))));
  };
  And = Matches(Cond, true);
  SmallVector<Value *, 8> Stack{Cond};
  while (!Stack.empty()) {
    Value *V = Stack.pop_back_val();
    if (Leaves.size() + Stack.size() < 16 && Matches(V, And)) {
      Stack.push_back(B);
      Stack.push_back(A);
    } else {
      Leaves.push_back(V);
    }
  }
}

void Selector::demandCondition(Value *Cond) {
  auto *Cmp = dyn_cast<ICmpInst>(Cond);
  if (!Cmp || UpCalls.Of.count(Cmp)) {
    demand(Cond);
    return;
  }
  demand(Cmp->getOperand(0));
  demand(Cmp->getOperand(1));
}

void Selector::demandOperands(Instruction &I) {
  if (auto It = UpCalls.Of.find(&I); It != UpCalls.Of.end()) {
    for (Value *V : UpCalls.Calls[It->second].Uses)
      demand(V);
    return;
  }
  if (isIgnored(I) || isHostComputed(I))
    return;
  if (isAlias(&I)) {
    demandAddress(stripOnce(&I).Base);
    return;
  }
  switch (I.getOpcode()) {
  case Instruction::Load:
    demandAddress(I.getOperand(0));
    return;
  case Instruction::Store:
    demand(I.getOperand(0));
    demandAddress(I.getOperand(1));
    return;
  case Instruction::Br:
    if (cast<BranchInst>(I).isConditional()) {
      bool And;
      SmallVector<Value *, 8> Leaves;
      flattenCondition(cast<BranchInst>(I).getCondition(), And, Leaves);
      for (Value *V : Leaves)
        demandCondition(V);
    }
    return;
  case Instruction::Call: {
    CallShape S = systemCallShape(cast<CallBase>(I));
    if (S.Call) {
      for (auto [N, V] : enumerate(S.Args))
        if (V) {
          demandAddress(V);
          if (S.Call->Args[N] != 'd')
            demandClean(V);
        }
      return;
    }
    for (Value *V : cast<CallBase>(I).args())
      if (!isa<ConstantInt>(V))
        demand(V);
    return;
  }
  case Instruction::ZExt:
  case Instruction::IntToPtr:
    demandClean(I.getOperand(0));
    break;
  default:
    break;
  }
  for (Value *V : I.operands())
    if (!isa<BasicBlock>(V) && !constantOf(V))
      demand(V);
}

void Selector::findDemand() {
  for (BasicBlock *BB : Order)
    for (Instruction &I : *BB)
      if (I.isTerminator() || I.mayHaveSideEffects() || UpCalls.Of.count(&I))
        demandOperands(I);
  while (!Work.empty())
    demandOperands(*cast<Instruction>(Work.pop_back_val()));
}

/// A value that must be clean and only passes on another one passes that on.
void Selector::findClean() {
  while (!CleanWork.empty()) {
    auto *I = dyn_cast<Instruction>(CleanWork.back());
    CleanWork.pop_back();
    if (!I || UpCalls.Of.count(I))
      continue;
    if (isa<PHINode>(I) || isa<FreezeInst>(I) || isa<BitCastInst>(I)) {
      for (Value *V : I->operands())
        demandClean(V);
    } else if (isa<SelectInst>(I)) {
      demandClean(I->getOperand(1));
      demandClean(I->getOperand(2));
    }
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Lays blocks out so that loops are contiguous and as few jumps as possible
/// are needed: after a block comes a successor in the same loop, else the
/// innermost block that has waited.
void Selector::orderBlocks() {
  DenseSet<const BasicBlock *> Placed;
  std::vector<std::vector<BasicBlock *>> Waiting(1);
  auto Defer = [&](BasicBlock *BB) {
    unsigned D = LI.getLoopDepth(BB);
    if (Waiting.size() <= D)
      Waiting.resize(D + 1);
    Waiting[D].push_back(BB);
  };
  auto Next = [&]() -> BasicBlock * {
    for (auto &List : reverse(Waiting))
      while (!List.empty()) {
        BasicBlock *BB = List.back();
        List.pop_back();
        if (!Placed.count(BB))
          return BB;
      }
    return nullptr;
  };
  for (BasicBlock *BB = &F.getEntryBlock(); BB; BB = Next()) {
    while (BB) {
      Placed.insert(BB);
      Number[BB] = Order.size();
      Order.push_back(BB);
      Loop *L = LI.getLoopFor(BB);
      BasicBlock *Best = nullptr;
      for (BasicBlock *S : successors(BB)) {
        if (Placed.count(S))
          continue;
        Defer(S);
        // The last successor is the false one, that is the way straight on.
        if ((!L || L->contains(S)) &&
            (!Best || LI.getLoopDepth(S) >= LI.getLoopDepth(Best)))
          Best = S;
      }
      BB = Best;
    }
  }
}

/// Appends the copies the phis of \p Succ need on the way from the current
/// block.
void Selector::copiesFor(BasicBlock &Succ) {
  Inst Copies;
  Copies.Op = OpCopies;
  Copies.Loc = Loc;
  for (PHINode &P : Succ.phis()) {
    if (!Demanded.count(&P))
      continue;
    Value *V = P.getIncomingValueForBlock(Order[Cur]);
    if (isa<UndefValue>(V))
      continue;
    Operand O;
    if (std::optional<int64_t> C = constantOf(V))
      O.Imm = *C;
    else
      O.R = reg(V);
    Copies.Defs.push_back(PhiRegs[&P]);
    Copies.Ops.push_back(O);
  }
  if (!Copies.Defs.empty())
    Sel.C.Blocks[Cur].Insts.push_back(std::move(Copies));
}

void Selector::lowerBlock(BasicBlock &BB) {
  Cur = Number.lookup(&BB);
  Sel.C.Blocks[Cur].Depth = LI.getLoopDepth(&BB);
  Sel.C.Blocks[Cur].Source = &BB;
  Inst Copies;
  Copies.Op = OpCopies;
  for (PHINode &P : BB.phis()) {
    if (!Demanded.count(&P))
      continue;
    Copies.Defs.push_back(Regs[&P]);
    Copies.Ops.push_back({PhiRegs[&P], 0});
  }
  if (!Copies.Defs.empty())
    Sel.C.Blocks[Cur].Insts.push_back(std::move(Copies));

  for (Instruction &I : BB) {
    if (isa<PHINode>(I))
      continue;
    if (const DebugLoc &DLoc = I.getDebugLoc())
      Loc = DLoc.get();
    if (auto It = UpCalls.Of.find(&I); It != UpCalls.Of.end()) {
      if (UpCalls.Calls[It->second].Insts.front() == &I)
        lowerUpCall(It->second);
      continue;
    }
    if (isIgnored(I) || isHostComputed(I))
      continue;
    if (!I.isTerminator() && !I.mayHaveSideEffects() && !Demanded.count(&I))
      continue;
    if (I.isTerminator())
      TerminatorAt[Cur] = Sel.C.Blocks[Cur].Insts.size();
    lower(I);
    if (isExit(I))
      break; // what follows is only for LLVM
  }
}

/// Puts constants of loops before the end of the loops' preheaders.
void Selector::placeHoisted() {
  for (unsigned B = 0; B < Order.size(); ++B) {
    auto &Insts = Sel.C.Blocks[B].Insts;
    Insts.insert(Insts.begin() + TerminatorAt[B],
                 std::make_move_iterator(Hoisted[B].begin()),
                 std::make_move_iterator(Hoisted[B].end()));
  }
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// An alias that is needed in a register.
void Selector::lowerAlias(Instruction &I) {
  Address A = stripOnce(&I);
  Address Rest = strip(A.Base, true);
  A = {Rest.Base, A.Offset + Rest.Offset};
  Reg Base = regForAddress(A);
  if (Base == NoReg)
    Regs[&I] = constant(A.Offset);
  else if (A.Offset == 0)
    Regs[&I] = Base;
  else
    emitALU(COSY_OP_ADD, 8, define(&I), Base, NoReg, A.Offset);
}

void Selector::lowerBinary(BinaryOperator &I) {
  unsigned Bits = bitsOf(I.getType());
  unsigned Width = widthFor(Bits);
  Value *L = I.getOperand(0), *R = I.getOperand(1);
  if (I.isCommutative() && isa<ConstantInt>(L))
    std::swap(L, R);

  unsigned Op;
  bool Signed = false, Overflows = false;
  switch (I.getOpcode()) {
  case Instruction::Add:
    Op = COSY_OP_ADD;
    Overflows = true;
    break;
  case Instruction::Sub:
    Op = COSY_OP_SUB;
    Overflows = true;
    break;
  case Instruction::Mul:
    Op = COSY_OP_MUL;
    Overflows = true;
    break;
  case Instruction::UDiv:
    Op = COSY_OP_UDIV;
    break;
  case Instruction::SDiv:
    Op = COSY_OP_SDIV;
    Signed = Overflows = true;
    break;
  case Instruction::URem:
    Op = COSY_OP_UREM;
    break;
  case Instruction::SRem:
    Op = COSY_OP_SREM;
    Signed = Overflows = true;
    break;
  case Instruction::And:
    Op = COSY_OP_AND;
    break;
  case Instruction::Or:
    Op = COSY_OP_OR;
    break;
  case Instruction::Xor:
    Op = COSY_OP_XOR;
    break;
  case Instruction::Shl:
    Op = COSY_OP_SHL;
    Overflows = true;
    break;
  case Instruction::LShr:
    Op = COSY_OP_LSHR;
    break;
  case Instruction::AShr:
    Op = COSY_OP_ASHR;
    Signed = Overflows = true;
    break;
  default:
    llvm_unreachable("not an integer operation");
  }
  bool Odd = isOddWidth(Bits);
  Reg A = NoReg, B = NoReg;
  int64_t Imm = 0;
  if (Odd && Signed) {
    // A shift's amount is a small number, whatever its sign bit would be.
    A = signExtended(L, Width);
    B = I.getOpcode() == Instruction::AShr ? reg(R) : signExtended(R, Width);
  } else if (I.getOpcode() == Instruction::Sub && match(L, m_Zero())) {
    Op = COSY_OP_MUL;
    A = reg(R);
    Imm = -1;
  } else {
    A = reg(L);
    if (auto *CI = dyn_cast<ConstantInt>(R))
      Imm = Odd ? (int64_t)CI->getZExtValue() : CI->getSExtValue();
    else
      B = reg(R);
  }
  Reg D = define(&I);
  emitALU(Op, Width, D, A, B, Imm);
  if (Odd && Overflows)
    mask(D, Bits);
}

/// \returns true if \p V is a loop counter: a phi of its header plus a
/// constant.
static bool isLoopCounter(const Value *V, const LoopInfo &LI) {
  auto *Add = dyn_cast<AddOperator>(V);
  auto *P = Add ? dyn_cast<PHINode>(Add->getOperand(0)) : nullptr;
  return P && isa<ConstantInt>(Add->getOperand(1)) &&
         LI.isLoopHeader(P->getParent()) && is_contained(P->operands(), V);
}

/// Is the register of \p V zero above its bits, whether or not that is asked
/// for?
bool Selector::isCleanAnyway(const Value *V) const {
  if (isOddWidth(bitsOf(V->getType())))
    return true;
  auto *Load = dyn_cast<LoadInst>(V);
  return Load && !UpCalls.Of.count(Load) && !isHostComputed(*Load);
}

/// Lets \p I, a SET or BR, compare what \p Cmp does by \p P.
void Selector::setComparison(Inst &I, const ICmpInst &Cmp,
                             CmpInst::Predicate P) {
  Value *L = Cmp.getOperand(0), *R = Cmp.getOperand(1);
  if (constantOf(L) && !constantOf(R)) {
    std::swap(L, R);
    P = CmpInst::getSwappedPredicate(P);
  }
  unsigned Bits = bitsOf(L->getType());
  I.Width = widthFor(Bits);
  I.Cond = condOf(P);
  if (isOddWidth(Bits) && CmpInst::isSigned(P)) {
    I.A = signExtended(L, I.Width);
    I.B = signExtended(R, I.Width);
    return;
  }
  I.A = reg(L);
  // LOOP has no room for a second constant, and has the width of the counter.
  bool EndsLoop = I.Op == COSY_OP_BR && isLoopCounter(L, LI);
  // The whole register is compared with less work than 8 or 16 bits of it.
  bool Whole = I.Width < 4 && !CmpInst::isSigned(P) && !EndsLoop &&
               isCleanAnyway(L) && (isa<ConstantInt>(R) || isCleanAnyway(R));
  if (EndsLoop || !constantOf(R))
    I.B = reg(R);
  else if (auto *CI = dyn_cast<ConstantInt>(R))
    I.Imm = isOddWidth(Bits) || Whole ? (int64_t)CI->getZExtValue()
                                      : CI->getSExtValue();
  if (Whole)
    I.Width = 8;
}

void Selector::lowerCompare(ICmpInst &I) {
  Inst S;
  S.Op = COSY_OP_SET;
  S.Loc = Loc;
  setComparison(S, I, I.getPredicate());
  S.Dst = define(&I);
  Sel.C.Blocks[Cur].Insts.push_back(std::move(S));
}

Inst Selector::makeBranch(Value *Cond, bool Negate, BasicBlock *Target) {
  auto *Cmp = dyn_cast<ICmpInst>(Cond);
  Inst Br;
  Br.Op = COSY_OP_BR;
  Br.Loc = Loc;
  Br.Target = Number.lookup(Target);
  if (!Cmp || UpCalls.Of.count(Cmp)) {
    Br.A = reg(Cond);
    Br.Width = 8;
    Br.Cond = Negate ? COSY_COND_EQ : COSY_COND_NE;
  } else {
    setComparison(Br, *Cmp,
                  Negate ? Cmp->getInversePredicate() : Cmp->getPredicate());
  }
  return Br;
}

void Selector::lowerCast(CastInst &I) {
  Value *V = I.getOperand(0);
  unsigned From = bitsOf(V->getType()), To = bitsOf(I.getType());
  switch (I.getOpcode()) {
  case Instruction::Trunc:
    if (isOddWidth(To)) {
      emitALU(COSY_OP_AND, 8, define(&I), reg(V), NoReg,
              (int64_t)maskTrailingOnes<uint64_t>(To));
    } else if (Clean.count(&I)) {
      Reg R = reg(V), D = define(&I);
      Inst &Z = emit(COSY_OP_ZEXT);
      Z.Width = To / 8;
      Z.A = R;
      Z.Dst = D;
    } else {
      Regs[&I] = reg(V);
    }
    return;
  case Instruction::SExt: {
    unsigned W;
    if (From == 1) {
      Reg R = reg(V);
      Reg D = define(&I);
      emitALU(COSY_OP_MUL, widthFor(To), D, R, NoReg, -1);
      if (isOddWidth(To))
        mask(D, To);
    } else if (isOddWidth(From)) {
      Reg R = reg(V), T = Sel.C.newReg(), D = define(&I);
      emitALU(COSY_OP_SHL, 8, T, R, NoReg, 64 - From);
      emitALU(COSY_OP_ASHR, 8, D, T, NoReg, 64 - From);
      if (To < 64)
        mask(D, To);
    } else {
      W = widthFor(To);
      Reg R = reg(V), D = define(&I);
      Inst &S = emit(COSY_OP_SEXT);
      S.Width = From / 8;
      S.A = R;
      S.Dst = D;
      S.Imm = W;
      if (isOddWidth(To))
        mask(D, To);
    }
    return;
  }
  default:
    // zext, inttoptr, ptrtoint to less, bitcast: the bits stay.
    if (From > To && isOddWidth(To)) {
      emitALU(COSY_OP_AND, 8, define(&I), reg(V), NoReg,
              (int64_t)maskTrailingOnes<uint64_t>(To));
    } else if (From > To) {
      Reg R = reg(V), D = define(&I);
      Inst &Z = emit(COSY_OP_ZEXT);
      Z.Width = To / 8;
      Z.A = R;
      Z.Dst = D;
    } else {
      Regs[&I] = reg(V);
    }
    return;
  }
}

void Selector::lowerSelect(SelectInst &I) {
  Value *C = I.getCondition(), *T = I.getTrueValue(), *E = I.getFalseValue();
  if (I.getType()->isIntegerTy(1)) {
    // Registers hold no poison: the plain operations are as good.
    bool And = match(E, m_Zero());
    if (And || match(T, m_One())) {
      Reg A = reg(C), B = reg(And ? T : E);
      emitALU(And ? COSY_OP_AND : COSY_OP_OR, 1, define(&I), A, B, 0);
      return;
    }
  }
  Reg A = reg(C), B = reg(T), D = reg(E);
  Inst &S = emit(COSY_OP_SELECT);
  S.A = A;
  S.B = B;
  S.C = D;
  S.Dst = define(&I);
}

void Selector::lowerMemoryCall(CallBase &CB, MemoryCall Kind) {
  static const unsigned Ops[] = {0,
                                 COSY_OP_COPY,
                                 COSY_OP_FILL,
                                 COSY_OP_COMPARE,
                                 COSY_OP_FIND,
                                 COSY_OP_STRLEN,
                                 COSY_OP_STRCMP,
                                 COSY_OP_STRCMP,
                                 COSY_OP_STRNLEN,
                                 COSY_OP_STRCHR,
                                 COSY_OP_STRRCHR,
                                 COSY_OP_STPCPY,
                                 COSY_OP_STPCPY,
                                 COSY_OP_STPCPY};
  bool HasResult = Kind != MemoryCall::Copy && Kind != MemoryCall::Fill;
  Reg R[3] = {NoReg, NoReg, NoReg};
  unsigned N = std::min(CB.arg_size(), 3u);
  for (unsigned I = 0; I < N; ++I)
    R[I] = reg(CB.getArgOperand(I));
  if (Kind == MemoryCall::StrCmp)
    R[2] = constant(-1);
  Reg Dest = R[0], Result = NoReg;
  if (Kind == MemoryCall::StrCat) {
    Reg Length = Sel.C.newReg();
    Inst &L = emit(COSY_OP_STRLEN);
    L.A = Dest;
    L.Dst = Length;
    R[0] = Sel.C.newReg();
    emitALU(COSY_OP_ADD, 8, R[0], Dest, Length, 0);
  }
  if (Kind == MemoryCall::StrCpy || Kind == MemoryCall::StrCat)
    Result = Sel.C.newReg();
  else if (HasResult)
    Result = define(&CB);
  Inst &S = emit(Ops[static_cast<unsigned>(Kind)]);
  S.A = R[0];
  S.B = R[1];
  S.C = R[2];
  S.Dst = Result;
  // These return where they copied to.
  if (Kind == MemoryCall::StrCpy || Kind == MemoryCall::StrCat) {
    Inst &M = emit(COSY_OP_MOV);
    M.A = Dest;
    M.Dst = define(&CB);
  }
}

void Selector::lowerSystemCall(CallBase &CB, const CallShape &Shape) {
  SmallVector<Operand, 6> Args;
  for (auto [V, C] : zip(Shape.Args, Shape.Consts)) {
    if (!V) {
      Args.push_back(C);
      continue;
    }
    Address A = strip(V, true);
    Args.push_back({regForAddress(A), A.Offset});
  }
  Reg D = define(&CB);
  Inst &S = emit(COSY_OP_LIBC);
  S.Imm = Shape.Call->Number;
  S.Hints = hintsOf(CB);
  S.Width = Args.size();
  S.Dst = D;
  S.Ops.append(Args.begin(), Args.end());
  ++Sel.NumSystemCalls;
  unsigned Bits = CB.getType()->isVoidTy() ? 64 : bitsOf(CB.getType());
  if (Bits < 64 && (Clean.count(&CB) || isOddWidth(Bits))) {
    Inst &Z = emit(COSY_OP_ZEXT);
    Z.Width = widthFor(Bits);
    Z.A = D;
    Z.Dst = define(&CB);
  }
}

void Selector::lowerExit(CallBase &CB) {
  Inst Copies;
  Copies.Op = OpCopies;
  Copies.Loc = Loc;
  Inst Exit;
  Exit.Op = COSY_OP_EXIT;
  Exit.Loc = Loc;
  Exit.Imm = cast<ConstantInt>(CB.getArgOperand(0))->getZExtValue();
  Exit.A = Sel.C.Stop; // whoever sets it must find it, wherever that is
  for (unsigned I = 1; I < CB.arg_size(); ++I) {
    Value *V = CB.getArgOperand(I);
    Exit.Ops.push_back({isa<PoisonValue>(V) ? NoReg : Sel.C.Outputs[I - 1], 0});
    if (isa<UndefValue>(V))
      continue;
    Operand O;
    if (std::optional<int64_t> C = constantOf(V))
      O.Imm = *C;
    else
      O.R = reg(V);
    Copies.Defs.push_back(Sel.C.Outputs[I - 1]);
    Copies.Ops.push_back(O);
  }
  auto &Insts = Sel.C.Blocks[Cur].Insts;
  TerminatorAt[Cur] = Insts.size();
  if (!Copies.Defs.empty())
    Insts.push_back(std::move(Copies));
  Insts.push_back(std::move(Exit));
}

/// A user function: the kernel calls it, or it is the up-call that it also is.
void Selector::lowerUserCall(CallBase &CB, unsigned UpCall) {
  const Function *F = CB.getCalledFunction();
  auto &Functions = Sel.C.Functions;
  auto *It = find(Functions, F);
  unsigned Number = It - Functions.begin();
  if (It == Functions.end())
    Functions.push_back(F);
  Inst I;
  I.Op = COSY_OP_CALL;
  I.Imm = Number;
  I.UpCall = UpCall;
  I.Width = CB.arg_size();
  if (const DebugLoc &DLoc = CB.getDebugLoc())
    Loc = DLoc.get();
  I.Loc = Loc;
  for (Value *V : CB.args()) {
    if (std::optional<int64_t> C = constantOf(V))
      I.Ops.push_back({NoReg, *C});
    else
      I.Ops.push_back({reg(V), 0});
  }
  I.Dst = CB.getType()->isVoidTy() ? Sel.C.newReg() : define(&CB);
  Sel.C.Blocks[Cur].Insts.push_back(std::move(I));
}

void Selector::lowerUpCall(unsigned N) {
  const UpCall &U = UpCalls.Calls[N];
  if (isUserFunctionCall(*U.Culprit))
    return lowerUserCall(cast<CallBase>(*U.Culprit), N);
  Inst I;
  I.Op = COSY_OP_UPCALL;
  I.Imm = N;
  if (const DebugLoc &DLoc = U.Culprit->getDebugLoc())
    Loc = DLoc.get();
  I.Loc = Loc;
  for (Value *V : U.Uses)
    I.Ops.push_back({reg(V), 0});
  for (Instruction *D : U.Defs)
    I.Defs.push_back(define(D));
  Sel.C.Blocks[Cur].Insts.push_back(std::move(I));
}

void Selector::lowerBranch(BranchInst &I) {
  if (I.isUnconditional()) {
    copiesFor(*I.getSuccessor(0));
    emitJump(I.getSuccessor(0));
    return;
  }
  BasicBlock *True = I.getSuccessor(0), *False = I.getSuccessor(1);
  bool And;
  SmallVector<Value *, 8> Leaves;
  flattenCondition(I.getCondition(), And, Leaves);
  // All that they compare first, so that nothing stands between the branches.
  SmallVector<Inst, 8> Branches;
  for (Value *V : ArrayRef(Leaves).drop_back())
    Branches.push_back(makeBranch(V, And, And ? False : True));
  Branches.push_back(makeBranch(Leaves.back(), false, True));
  for (Inst &Br : Branches)
    Sel.C.Blocks[Cur].Insts.push_back(std::move(Br));
  emitJump(False);
}

void Selector::lowerSwitch(SwitchInst &I) {
  constexpr unsigned FewCases = 3;
  unsigned Bits = bitsOf(I.getCondition()->getType());
  unsigned Width = widthFor(Bits);
  Reg A = reg(I.getCondition());
  SmallVector<std::pair<uint64_t, BasicBlock *>, 16> Cases;
  for (auto &C : I.cases())
    if (C.getCaseSuccessor() != I.getDefaultDest())
      Cases.push_back({C.getCaseValue()->getZExtValue(), C.getCaseSuccessor()});
  llvm::sort(Cases, llvm::less_first());
  if (Cases.size() <= FewCases) {
    for (auto [V, BB] : Cases) {
      Inst &Br = emit(COSY_OP_BR);
      Br.Cond = COSY_COND_EQ;
      Br.Width = Width;
      Br.A = A;
      Br.Imm = isOddWidth(Bits) ? (int64_t)V : SignExtend64(V, Bits);
      Br.Target = Number.lookup(BB);
    }
    emitJump(I.getDefaultDest());
    return;
  }
  Inst &S = emit(COSY_OP_SWITCH);
  S.A = A;
  S.Width = Width;
  S.Target = Number.lookup(I.getDefaultDest());
  for (auto [V, BB] : Cases) {
    S.Ops.push_back({NoReg, (int64_t)V});
    S.Defs.push_back(Number.lookup(BB));
  }
}

void Selector::lower(Instruction &I) {
  if (isAlias(&I))
    return lowerAlias(I);
  if (auto *GEP = dyn_cast<GetElementPtrInst>(&I)) {
    // Legalisation left one index, in bytes.
    Reg A = reg(GEP->getPointerOperand()), B = reg(GEP->getOperand(1));
    emitALU(COSY_OP_ADD, 8, define(GEP), A, B, 0);
    return;
  }
  if (auto *BO = dyn_cast<BinaryOperator>(&I))
    return lowerBinary(*BO);
  switch (I.getOpcode()) {
  case Instruction::ICmp:
    return lowerCompare(cast<ICmpInst>(I));
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::IntToPtr:
  case Instruction::PtrToInt:
  case Instruction::BitCast:
    return lowerCast(cast<CastInst>(I));
  case Instruction::Freeze:
    Regs[&I] = reg(I.getOperand(0));
    return;
  case Instruction::Select:
    return lowerSelect(cast<SelectInst>(I));
  case Instruction::Load: {
    Address A = strip(I.getOperand(0), true);
    Reg Base = regForAddress(A);
    Inst &L = emit(COSY_OP_LOAD);
    L.Width = DL.getTypeStoreSize(I.getType());
    L.A = Base;
    L.Imm = A.Offset;
    L.Dst = define(&I);
    return;
  }
  case Instruction::Store: {
    Reg V = reg(I.getOperand(0));
    Address A = strip(I.getOperand(1), true);
    Reg Base = regForAddress(A);
    Inst &S = emit(COSY_OP_STORE);
    S.Width = DL.getTypeStoreSize(I.getOperand(0)->getType());
    S.A = Base;
    S.Imm = A.Offset;
    S.B = V;
    return;
  }
  case Instruction::Br:
    return lowerBranch(cast<BranchInst>(I));
  case Instruction::Switch:
    return lowerSwitch(cast<SwitchInst>(I));
  case Instruction::Ret: // after an exit, or after undefined behaviour
  case Instruction::Unreachable:
    emit(COSY_OP_JMP).Target = Cur; // never reached natively either
    return;
  case Instruction::Call: {
    auto &CB = cast<CallBase>(I);
    if (isExit(I))
      return lowerExit(CB);
    if (isStopTest(I)) {
      Regs[&I] = Sel.C.Stop;
      return;
    }
    if (CallShape S = systemCallShape(CB); S.Call)
      return lowerSystemCall(CB, S);
    return lowerMemoryCall(CB, classifyMemoryCall(CB));
  }
  default:
    llvm_unreachable("legalisation left an instruction without operation");
  }
}

Selection Selector::run(unsigned NumOutputs) {
  Code &C = Sel.C;
  orderBlocks();
  C.Blocks.resize(Order.size());
  Hoisted.resize(Order.size());
  TerminatorAt.resize(Order.size());
  C.NumUpCalls = UpCalls.Calls.size();
  for (unsigned I = 0; I < NumOutputs; ++I)
    C.Outputs.push_back(C.newReg());

  for (BasicBlock *BB : Order)
    if (Sel.C.Stop == NoReg && any_of(*BB, isStopTest)) {
      Sel.C.Stop = C.newReg();
      C.Inputs.push_back(Sel.C.Stop);
      Sel.Inputs.push_back(
          ConstantInt::get(Type::getInt64Ty(F.getContext()), 0));
    }
  findDemand();
  findClean();
  for (BasicBlock *BB : Order)
    for (PHINode &P : BB->phis())
      if (Demanded.count(&P)) {
        define(&P);
        PhiRegs[&P] = C.newReg();
      }
  // Definitions come before uses in a walk of the dominator tree; reverse post
  // order is one.
  ReversePostOrderTraversal<Function *> RPO(&F);
  for (BasicBlock *BB : RPO)
    lowerBlock(*BB);
  placeHoisted();
  C.computePreds();
  return std::move(Sel);
}

Selection select(Function &Body, LoopInfo &LI, const UpCallList &UpCalls,
                 unsigned NumOutputs) {
  return Selector(Body, LI, UpCalls).run(NumOutputs);
}

void Code::computePreds() {
  for (Block &B : Blocks)
    B.Preds.clear();
  auto Add = [&](unsigned From, unsigned To) {
    auto &P = Blocks[To].Preds;
    if (!is_contained(P, From))
      P.push_back(From);
  };
  for (unsigned B = 0; B < Blocks.size(); ++B)
    for (Inst &I : Blocks[B].Insts) {
      if (I.Target != ~0u)
        Add(B, I.Target);
      if (I.isSwitch())
        for (unsigned T : I.Defs)
          Add(B, T);
    }
}

} // namespace cosy
