// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionConfine.cpp - Keep a program in its segment ----------------===//
//
// The last step before code generation. An access to the segment is an access
// to the low 32 bits of its address, relative to the kernel's mapping of the
// segment (an addrspacecast, of which the verifier makes the base register). So
// that no access reaches another place than the native one would, the upper 32
// bits are compared where they are not known:
//
//  - constants and locals are in the segment, and an address a little off a
//    checked one is, too: the first and last 64 KiB of a segment are never
//    mapped;
//  - so one comparison serves neighbouring accesses, and an unrolled loop.
//
//===----------------------------------------------------------------------===//
#include "Diagnostics.h"
#include "bpf/Function.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

extern "C" {
#include <cosy/function.h>
}

using namespace llvm;

namespace cosy {

/// An address so far from a checked one needs no check of its own: the largest
/// distance an instruction can have in it, well within the unmapped ends.
constexpr int64_t Near = 32767;

namespace {

struct Access {
  Instruction *I;
  Use *Pointer;
  bool Write;   ///< to what others can see
  bool Unknown; ///< the upper half of the address
};

class Confine {
public:
  Confine(Function &P, FunctionProgram &Out)
      : P(P), M(*P.getParent()), Ctx(P.getContext()), DL(P.getDataLayout()),
        Out(Out), Context(P.getArg(0)) {
    BasicBlock &First = P.getEntryBlock();
    SplitBlock(&First, First.getFirstInsertionPt());
    Entry = First.getTerminator();
  }

  void run() {
    lowerAtomics();
    flattenConditions();
    collectConstants();
    checkEscapes();
    findAccesses();
    loadContext();
    guard();
    placeConstants();
    placeLocals();
    boundLoops(P, Entry, Zero);
    translate();
    lowerTraps();
    splitEdges();
  }

private:
  void lowerAtomics();
  Value *bitOf(IRBuilderBase &B, Value *C);
  void keepBits();
  void flattenConditions();
  void collectConstants();
  void checkEscapes();
  void findAccesses();
  void loadContext();
  void guard();
  void placeConstants();
  void placeLocals();
  Value *translated(Value *Base);
  void translate();
  void lowerTraps();
  void splitEdges();

  void serialize(Constant *C, uint64_t At);
  void store(uint64_t V, uint64_t At, unsigned Bytes);
  Value *field(IRBuilderBase &B, size_t Offset) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Context, Offset);
  }
  Value *load(IRBuilderBase &B, size_t Offset, const Twine &Name) {
    LoadInst *L = B.CreateLoad(B.getInt64Ty(), field(B, Offset), Name);
    Own.insert(L);
    return L;
  }

  Function &P;
  Module &M;
  LLVMContext &Ctx;
  const DataLayout &DL;
  FunctionProgram &Out;
  Instruction *Entry; ///< where the program's own begins
  Argument *Context;
  SetVector<GlobalVariable *> Constants;
  DenseMap<GlobalVariable *, uint64_t> Place;
  std::vector<Access> Accesses;
  DenseMap<Value *, Value *> Translated;
  SmallPtrSet<Value *, 16> Compared;  ///< bases needed as a number, too
  SmallPtrSet<Instruction *, 32> Own; ///< accesses to the context
  SmallPtrSet<Value *, 16> Bits;      ///< conditions as numbers, 0 or 1
  Value *UpperHalf = nullptr;
  Value *Zero = nullptr;
  Value *DataBase = nullptr;
  BasicBlock *Fail = nullptr; ///< where traps end
};

} // namespace

static Use *pointerUse(Instruction &I) {
  if (auto *L = dyn_cast<LoadInst>(&I))
    return &L->getOperandUse(LoadInst::getPointerOperandIndex());
  if (auto *S = dyn_cast<StoreInst>(&I))
    return &S->getOperandUse(StoreInst::getPointerOperandIndex());
  if (auto *R = dyn_cast<AtomicRMWInst>(&I))
    return &R->getOperandUse(AtomicRMWInst::getPointerOperandIndex());
  if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
    return &X->getOperandUse(AtomicCmpXchgInst::getPointerOperandIndex());
  return nullptr;
}

/// Atomic loads and stores of x86-64 are plain ones, but for the strongest
/// store. Everything else of the machine's size may have any alignment.
void Confine::lowerAtomics() {
  for (Instruction &I : make_early_inc_range(instructions(P))) {
    if (auto *L = dyn_cast<LoadInst>(&I)) {
      if (L->isAtomic()) {
        L->setAtomic(AtomicOrdering::NotAtomic);
        L->setVolatile(true);
      }
      L->setAlignment(DL.getABITypeAlign(L->getType()));
    } else if (auto *S = dyn_cast<StoreInst>(&I)) {
      if (S->getOrdering() == AtomicOrdering::SequentiallyConsistent &&
          S->getValueOperand()->getType()->getPrimitiveSizeInBits() >= 32) {
        IRBuilder<> B(S);
        B.CreateAtomicRMW(AtomicRMWInst::Xchg, S->getPointerOperand(),
                          S->getValueOperand(), MaybeAlign(),
                          AtomicOrdering::SequentiallyConsistent);
        S->eraseFromParent();
        continue;
      }
      if (S->isAtomic()) {
        S->setAtomic(AtomicOrdering::NotAtomic);
        S->setVolatile(true);
      }
      S->setAlignment(DL.getABITypeAlign(S->getValueOperand()->getType()));
    } else if (isa<FenceInst>(I)) {
      // Between volatile accesses the order stays.
      I.eraseFromParent();
    }
  }
}

//===----------------------------------------------------------------------===//
// Conditions as numbers
//===----------------------------------------------------------------------===//

/// 1 if \p C, else 0, computed without a branch; null if that is not simple.
Value *Confine::bitOf(IRBuilderBase &B, Value *C) {
  Type *I64 = B.getInt64Ty();
  if (isa<Constant>(C))
    return B.CreateZExt(C, I64);
  auto *I = dyn_cast<Instruction>(C);
  if (!I)
    return nullptr;
  switch (I->getOpcode()) {
  case Instruction::Freeze:
    return bitOf(B, I->getOperand(0));
  case Instruction::Trunc:
    return B.CreateAnd(B.CreateZExtOrTrunc(I->getOperand(0), I64), 1);
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor: {
    Value *X = bitOf(B, I->getOperand(0));
    Value *Y = X ? bitOf(B, I->getOperand(1)) : nullptr;
    return Y ? B.CreateBinOp(cast<BinaryOperator>(I)->getOpcode(), X, Y)
             : nullptr;
  }
  case Instruction::Select: {
    Value *If = bitOf(B, I->getOperand(0));
    Value *X = If ? bitOf(B, I->getOperand(1)) : nullptr;
    Value *Y = X ? bitOf(B, I->getOperand(2)) : nullptr;
    if (!Y)
      return nullptr;
    // The one that is not taken may be anything.
    X = B.CreateFreeze(X);
    Y = B.CreateFreeze(Y);
    return B.CreateXor(Y, B.CreateAnd(If, B.CreateXor(X, Y)));
  }
  }
  auto *Cmp = dyn_cast<ICmpInst>(I);
  if (!Cmp)
    return nullptr;
  CmpInst::Predicate Pred = Cmp->getPredicate();
  Value *X = Cmp->getOperand(0), *Y = Cmp->getOperand(1);
  if (X->getType()->isPointerTy()) {
    X = B.CreatePtrToInt(X, I64);
    Y = B.CreatePtrToInt(Y, I64);
  }
  if (Pred == CmpInst::ICMP_NE && Bits.contains(X))
    return X;
  bool Signed = CmpInst::isSigned(Pred);
  bool Narrow = X->getType()->getScalarSizeInBits() < 64;
  X = B.CreateIntCast(X, I64, Signed);
  Y = B.CreateIntCast(Y, I64, Signed);
  Value *Bit;
  if (Cmp->isEquality()) {
    Value *D = B.CreateXor(X, Y);
    if (Narrow || isKnownNonNegative(D, DL))
      Bit = B.CreateLShr(B.CreateSub(D, B.getInt64(1)), 63);
    else
      Bit = B.CreateXor(B.CreateLShr(B.CreateOr(D, B.CreateNeg(D)), 63), 1);
    return Pred == CmpInst::ICMP_EQ ? Bit : B.CreateXor(Bit, 1);
  }
  // X < Y, maybe with sides exchanged and the result, too.
  bool Greater = Pred == CmpInst::ICMP_UGT || Pred == CmpInst::ICMP_SGT ||
                 Pred == CmpInst::ICMP_ULE || Pred == CmpInst::ICMP_SLE;
  if (Greater)
    std::swap(X, Y);
  Value *D = B.CreateSub(X, Y);
  if (!Narrow) {
    Value *NotX = B.CreateNot(X), *Less, *Same;
    if (Signed) {
      Less = B.CreateAnd(X, B.CreateNot(Y));
      Same = B.CreateNot(B.CreateXor(X, Y));
    } else {
      Less = B.CreateAnd(NotX, Y);
      Same = B.CreateOr(NotX, Y);
    }
    D = B.CreateOr(Less, B.CreateAnd(Same, D));
  }
  Bit = B.CreateLShr(D, 63);
  bool Negated = Pred == CmpInst::ICMP_ULE || Pred == CmpInst::ICMP_SLE ||
                 Pred == CmpInst::ICMP_UGE || Pred == CmpInst::ICMP_SGE;
  return Negated ? B.CreateXor(Bit, 1) : Bit;
}

/// Conditions that come from several places, or are computed of others and used
/// elsewhere, are kept as numbers.
void Confine::keepBits() {
  SmallVector<PHINode *, 8> Phis;
  SmallVector<Instruction *, 8> Others;
  auto IsElsewhere = [](const Use &U, const Instruction &I) {
    auto *User = cast<Instruction>(U.getUser());
    return User->getParent() != I.getParent() && !isa<PHINode>(User);
  };
  for (Instruction &I : instructions(P)) {
    if (!I.getType()->isIntegerTy(1))
      continue;
    if (auto *Phi = dyn_cast<PHINode>(&I))
      Phis.push_back(Phi);
    else if (!isa<ICmpInst>(I) &&
             any_of(I.uses(), [&](const Use &U) { return IsElsewhere(U, I); }))
      Others.push_back(&I);
  }
  IRBuilder<> B(Ctx);
  auto Condition = [&](Value *Bit) {
    Bits.insert(Bit);
    return B.CreateICmpNE(Bit, B.getInt64(0));
  };
  SmallVector<PHINode *, 8> New;
  for (PHINode *Phi : Phis) {
    B.SetInsertPoint(Phi);
    New.push_back(B.CreatePHI(B.getInt64Ty(), Phi->getNumIncomingValues()));
    B.SetInsertPoint(Phi->getParent(), Phi->getParent()->getFirstInsertionPt());
    Phi->replaceAllUsesWith(Condition(New.back()));
  }
  for (auto [Phi, Bit] : zip(Phis, New)) {
    for (auto [V, From] : zip(Phi->incoming_values(), Phi->blocks())) {
      int Known = Bit->getBasicBlockIndex(From);
      B.SetInsertPoint(From->getTerminator());
      Value *In = Known >= 0 ? Bit->getIncomingValue(Known) : bitOf(B, V);
      Bit->addIncoming(In ? In : B.CreateZExt(V, B.getInt64Ty()), From);
    }
    Phi->eraseFromParent();
  }
  for (Instruction *I : Others) {
    B.SetInsertPoint(I->getNextNode());
    if (Value *Bit = bitOf(B, I)) {
      Value *C = Condition(Bit);
      I->replaceUsesWithIf(C, [&](Use &U) { return IsElsewhere(U, *I); });
    }
  }
}

/// BPF makes a number of a condition by a branch. The verifier would go through
/// all combinations of such numbers in a loop.
void Confine::flattenConditions() {
  for (Instruction &I : make_early_inc_range(instructions(P)))
    if (auto *MM = dyn_cast<MinMaxIntrinsic>(&I)) {
      IRBuilder<> B(MM);
      MM->replaceAllUsesWith(B.CreateSelect(
          B.CreateICmp(MM->getPredicate(), MM->getLHS(), MM->getRHS()),
          MM->getLHS(), MM->getRHS()));
      MM->eraseFromParent();
    }
  keepBits();
  // Nor may a condition be kept for later.
  for (Instruction &I : instructions(P)) {
    if (!isa<ICmpInst>(I))
      continue;
    for (Use &U : make_early_inc_range(I.uses())) {
      auto *User = cast<Instruction>(U.getUser());
      if (User->getParent() == I.getParent() || isa<PHINode>(User))
        continue;
      Instruction *Copy = I.clone();
      Copy->insertBefore(User);
      U.set(Copy);
    }
  }
  for (Instruction &I : make_early_inc_range(instructions(P))) {
    if (!I.getType()->isIntegerTy() || I.getType()->isIntegerTy(1))
      continue;
    IRBuilder<> B(&I);
    Type *Ty = I.getType();
    Value *New = nullptr;
    if ((isa<ZExtInst>(I) || isa<SExtInst>(I)) &&
        I.getOperand(0)->getType()->isIntegerTy(1)) {
      if (Value *Bit = bitOf(B, I.getOperand(0)))
        New = B.CreateTrunc(isa<SExtInst>(I) ? B.CreateNeg(Bit) : Bit, Ty);
    } else if (auto *S = dyn_cast<SelectInst>(&I)) {
      Value *X = S->getTrueValue(), *Y = S->getFalseValue();
      if (!isa<ConstantInt>(X) && !isa<ConstantInt>(Y))
        continue;
      if (Value *Bit = bitOf(B, S->getCondition()))
        New = B.CreateXor(Y, B.CreateAnd(B.CreateXor(X, Y),
                                         B.CreateTrunc(B.CreateNeg(Bit), Ty)));
    }
    if (!New)
      continue;
    I.replaceAllUsesWith(New);
    I.eraseFromParent();
  }
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// All constants that the program reads, and those they point to.
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
    At = alignTo(
        At, GV->getAlign().value_or(DL.getPrefTypeAlign(GV->getValueType())));
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

/// The program sees a copy of its constants. Nobody may see the copy's address.
void Confine::checkEscapes() {
  SetVector<Value *> Work;
  for (GlobalVariable *GV : Constants)
    Work.insert(GV);
  bool Points = !Out.Relocations.empty();
  for (unsigned N = 0; N < Work.size(); ++N) {
    for (User *U : Work[N]->users()) {
      auto *I = dyn_cast<Instruction>(U);
      if (!I)
        continue; // the initialiser of another one
      if (auto *S = dyn_cast<StoreInst>(I)) {
        if (S->getValueOperand() != Work[N])
          continue;
        Value *To = getUnderlyingObject(S->getPointerOperand());
        if (isa<AllocaInst>(To)) {
          Work.insert(To);
          continue;
        }
        reportError(
            P, S->getDebugLoc(),
            "in a COSY_FUNCTION: the address of constant data is handed "
            "out, and would be that of a copy; hand out a number that "
            "stands for it, or copy the data");
        return;
      }
      if (auto *L = dyn_cast<LoadInst>(I)) {
        if (L->getType()->isPointerTy() &&
            (Points ||
             isa<AllocaInst>(getUnderlyingObject(L->getPointerOperand()))))
          Work.insert(L);
        continue;
      }
      if (isa<GetElementPtrInst>(I) || isa<PHINode>(I) || isa<SelectInst>(I) ||
          isa<CastInst>(I))
        Work.insert(I);
    }
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void Confine::findAccesses() {
  DominatorTree DT(P);
  LoopInfo LI(DT);
  AssumptionCache AC(P);
  TargetLibraryInfoImpl TLII{Triple(M.getTargetTriple())};
  TLII.disableAllFunctions();
  TargetLibraryInfo TLI(TLII);
  ScalarEvolution SE(P, TLI, AC, DT, LI);

  // In the order of dominance, so that what has been checked is known.
  SmallVector<BasicBlock *, 32> Order;
  for (auto *Node : depth_first(DT.getRootNode()))
    Order.push_back(Node->getBlock());
  SmallVector<Instruction *, 32> Checked, Written;
  auto InRange = [&](const SCEV *Distance, uint64_t Size) {
    if (isa<SCEVCouldNotCompute>(Distance))
      return false;
    ConstantRange R = SE.getSignedRange(Distance);
    return R.getSignedMin().sge(-Near) &&
           R.getSignedMax().sle(static_cast<int64_t>(Near + Size));
  };
  for (BasicBlock *BB : Order)
    for (Instruction &I : *BB) {
      Use *U = pointerUse(I);
      if (!U || getUnderlyingObject(U->get(), 0) == Context)
        continue;
      Access A = {&I, U, false, true};
      Value *Root = getUnderlyingObject(U->get(), 0);
      const SCEV *Address = SE.getSCEV(U->get());
      if (isa<GlobalVariable>(Root) || isa<AllocaInst>(Root)) {
        uint64_t Size = isa<GlobalVariable>(Root)
                            ? DL.getTypeAllocSize(
                                  cast<GlobalVariable>(Root)->getValueType())
                            : cast<AllocaInst>(Root)
                                  ->getAllocationSize(DL)
                                  ->getFixedValue();
        A.Unknown = !InRange(SE.getMinusSCEV(Address, SE.getSCEV(Root)), Size);
      }
      for (Instruction *Before : Checked) {
        if (!A.Unknown)
          break;
        if (DT.dominates(Before, &I))
          A.Unknown = !InRange(
              SE.getMinusSCEV(Address, SE.getSCEV(pointerUse(*Before)->get())),
              0);
      }
      if (A.Unknown)
        Checked.push_back(&I);
      A.Write =
          !isa<LoadInst>(I) && !isa<AllocaInst>(Root) &&
          none_of(Written, [&](Instruction *W) { return DT.dominates(W, &I); });
      if (A.Write)
        Written.push_back(&I);
      Accesses.push_back(A);
    }
}

void Confine::loadContext() {
  IRBuilder<> B(Entry);
  if (any_of(Accesses, [](const Access &A) { return A.Unknown; }))
    UpperHalf = B.CreateLShr(load(B, offsetof(cosy_function_ctx, base), "base"),
                             32, "upper");
  // A zero that neither the compiler nor the verifier sees through.
  LoadInst *L =
      B.CreateLoad(B.getInt64Ty(),
                   field(B, offsetof(cosy_function_ctx, result)), true, "zero");
  Own.insert(L);
  Zero = L;
}

void Confine::guard() {
  for (Access &A : Accesses) {
    IRBuilder<> B(A.I);
    if (A.Unknown) {
      Value *Address = B.CreatePtrToInt(A.Pointer->get(), B.getInt64Ty());
      trapIf(B.CreateICmpNE(B.CreateLShr(Address, 32), UpperHalf), A.I,
             COSY_FUNCTION_FAULT, Address);
    }
    if (A.Write) {
      IRBuilder<> W(A.I);
      Own.insert(W.CreateStore(W.getInt32(1),
                               field(W, offsetof(cosy_function_ctx, wrote))));
    }
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

void Confine::placeLocals() {
  SmallVector<AllocaInst *, 8> Locals;
  for (Instruction &I : instructions(P))
    if (auto *AI = dyn_cast<AllocaInst>(&I))
      Locals.push_back(AI);
  if (Locals.empty())
    return;
  uint64_t Size = 0;
  SmallVector<uint64_t, 8> At;
  for (AllocaInst *AI : Locals) {
    Size = alignTo(Size, AI->getAlign());
    At.push_back(Size);
    Size += AI->getAllocationSize(DL)->getFixedValue();
  }
  Size = alignTo(Size, 16);
  Out.Stack = Size;
  IRBuilder<> B(Entry);
  Value *Low = load(B, offsetof(cosy_function_ctx, stack), "stack");
  Value *High = load(B, offsetof(cosy_function_ctx, stack_end), "stack.end");
  trapIf(B.CreateICmpULT(B.CreateSub(High, Low), B.getInt64(Size)), Entry,
         COSY_FUNCTION_STACK, nullptr);
  B.SetInsertPoint(Entry);
  Value *Base =
      B.CreateIntToPtr(B.CreateSub(High, B.getInt64(Size)), B.getPtrTy());
  for (auto [AI, Offset] : zip(Locals, At)) {
    AI->replaceAllUsesWith(B.CreateConstGEP1_64(B.getInt8Ty(), Base, Offset));
    AI->eraseFromParent();
  }
}

/// \p Base, an address of the process, relative to the segment. Computed once,
/// directly after it, so that all its users can have it.
Value *Confine::translated(Value *Base) {
  Value *&Known = Translated[Base];
  if (Known)
    return Known;
  IRBuilder<> B(isa<Instruction>(Base)
                    ? &**cast<Instruction>(Base)->getInsertionPointAfterDef()
                    : Entry);
  auto *GEP = dyn_cast<GetElementPtrInst>(Base);
  Value *T;
  if (GEP && !Compared.contains(Base)) {
    // What it is an offset to often stays the same; nor is the sum needed
    // otherwise.
    SmallVector<Value *, 2> Indices(GEP->indices());
    Value *From = translated(GEP->getPointerOperand());
    T = B.CreateGEP(GEP->getSourceElementType(), From, Indices);
  } else {
    Value *Arena = B.CreateIntToPtr(B.CreatePtrToInt(Base, B.getInt64Ty()),
                                    PointerType::get(Ctx, 1));
    T = B.CreateAddrSpaceCast(Arena, B.getPtrTy(),
                              Base->getName() + ".segment");
  }
  return Translated[Base] = T;
}

/// From addresses of the process to addresses relative to the segment.
void Confine::translate() {
  struct Place {
    Value *Base;
    int64_t Offset;
  };
  SmallVector<Place, 32> Places;
  for (Access &A : Accesses) {
    APInt Offset(64, 0);
    Value *Ptr = A.Pointer->get();
    Value *Base = Ptr->stripAndAccumulateConstantOffsets(DL, Offset, true);
    if (Offset.abs().sgt(Near - 8)) {
      Base = Ptr;
      Offset = 0;
    }
    if (A.Unknown)
      Compared.insert(Base);
    Places.push_back({Base, Offset.getSExtValue()});
  }
  for (auto [A, Place] : zip(Accesses, Places)) {
    Value *T = translated(Place.Base);
    IRBuilder<> B(A.I);
    A.Pointer->set(Place.Offset
                       ? B.CreateConstGEP1_64(B.getInt8Ty(), T, Place.Offset)
                       : T);
  }
}

/// All traps end in one block.
void Confine::lowerTraps() {
  SmallVector<CallInst *, 16> Traps;
  SmallVector<Instruction *, 4> Ends;
  for (Instruction &I : instructions(P)) {
    auto *CI = dyn_cast<CallInst>(&I);
    if (CI && CI->getCalledFunction() &&
        CI->getCalledFunction()->getName() == TrapName)
      Traps.push_back(CI);
    if (isa<UnreachableInst>(I))
      Ends.push_back(&I);
  }
  PHINode *Status, *Address, *Line;
  for (CallInst *CI : Traps) {
    if (!Fail) {
      Fail = BasicBlock::Create(Ctx, "fail", &P);
      IRBuilder<> B(Fail);
      Status = B.CreatePHI(B.getInt32Ty(), Traps.size());
      Line = B.CreatePHI(B.getInt32Ty(), Traps.size());
      Address = B.CreatePHI(B.getInt64Ty(), Traps.size());
      if (P.getSubprogram())
        B.SetCurrentDebugLocation(DILocation::get(
            Ctx, P.getSubprogram()->getLine(), 0, P.getSubprogram()));
      B.CreateStore(Status, field(B, offsetof(cosy_function_ctx, status)));
      B.CreateStore(Line, field(B, offsetof(cosy_function_ctx, line)));
      B.CreateStore(Address, field(B, offsetof(cosy_function_ctx, address)));
      B.CreateRet(B.getInt32(0));
    }
    BasicBlock *BB = CI->getParent();
    Status->addIncoming(CI->getArgOperand(0), BB);
    Address->addIncoming(CI->getArgOperand(1), BB);
    Line->addIncoming(
        ConstantInt::get(Type::getInt32Ty(Ctx),
                         CI->getDebugLoc() ? CI->getDebugLoc().getLine() : 0),
        BB);
    while (&BB->back() != CI)
      BB->back().eraseFromParent();
    IRBuilder<> B(CI);
    B.CreateBr(Fail);
    CI->eraseFromParent();
  }
  // What is undefined natively has to end here, too.
  for (Instruction &I : make_early_inc_range(instructions(P)))
    if (isa<UnreachableInst>(I)) {
      IRBuilder<> B(&I);
      B.CreateRet(B.getInt32(0));
      I.eraseFromParent();
    }
}

/// A sum with a constant, which is as well computed anew as kept.
static bool isOffset(const Value *V) {
  auto *I = dyn_cast<Instruction>(V);
  return I &&
         (I->getOpcode() == Instruction::Add || isa<GetElementPtrInst>(I)) &&
         I->getNumOperands() == 2 && isa<Constant>(I->getOperand(1));
}

/// What a block needs that is reached from several others of its loop is put in
/// place on the way there, not before the branch: the target does not split
/// such edges. It also is computed there if that is simple, so that the usual
/// way need not have it. Not on the ways out of loops, of which the verifier
/// would then see more.
void Confine::splitEdges() {
  DominatorTree DT(P);
  LoopInfo LI(DT);
  SmallVector<std::pair<Instruction *, unsigned>, 32> Edges;
  for (BasicBlock &BB : P) {
    Instruction *End = BB.getTerminator();
    if (!isa<BranchInst, SwitchInst>(End))
      continue;
    for (auto [N, To] : enumerate(successors(&BB)))
      if (isa<PHINode>(To->front()) && To->hasNPredecessorsOrMore(3) &&
          LI.getLoopFor(&BB) == LI.getLoopFor(To) &&
          isCriticalEdge(End, N, true))
        Edges.push_back({End, N});
  }
  for (auto [End, N] : Edges) {
    BasicBlock *To = End->getSuccessor(N);
    BasicBlock *Edge = SplitCriticalEdge(
        End, N, CriticalEdgeSplittingOptions().setMergeIdenticalEdges());
    if (!Edge)
      continue;
    for (PHINode &Phi : To->phis()) {
      Value *V = Phi.getIncomingValueForBlock(Edge);
      if (!isOffset(V))
        continue;
      Instruction *New = cast<Instruction>(V)->clone();
      New->insertBefore(Edge->getTerminator());
      Phi.setIncomingValueForBlock(Edge, New);
    }
  }
}

void confine(Function &Program, FunctionProgram &Out) {
  Confine(Program, Out).run();
}

} // namespace cosy
