// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Legal.cpp - Check the contents of user functions -------------------===//
#include "bpf/Function.h"
#include "support/Annotations.h"
#include "support/Diagnostics.h"
#include "support/Markers.h"
#include "support/Names.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

extern "C" {
#include <cosy/format.h>
}

#include <set>

using namespace llvm;

namespace cosy {

SmallVector<Function *, 4> findUserFunctions(Module &M) {
  SmallVector<Function *, 4> List;
  forEachAnnotation(M, [&](Function &F, StringRef Text) {
    if (Text == FunctionAnnotation && !F.isDeclaration() &&
        !is_contained(List, &F))
      List.push_back(&F);
  });
  return List;
}

bool isInstrumentation(const Function &F) {
  return F.getName().starts_with("__ubsan_handle_") ||
         F.getName().starts_with("__sanitizer_cov_") ||
         F.getName().starts_with("llvm.instrprof.");
}

/// \returns the name of \p F in the source, of C++ with its types.
static std::string nameOf(const Function &F) { return demangle(F.getName()); }

/// Adds a note at \p Loc, a call that leads to an error. \p IsFirst if the
/// marked function makes it.
static void noteCall(const Function &F, const DILocation *Loc, bool IsFirst) {
  if (!Loc)
    return;
  // A line table has only the name without types.
  reportNote(F, Loc,
             Twine("called by ") + (IsFirst ? "the COSY_FUNCTION '" : "'") +
                 Loc->getScope()->getSubprogram()->getName() + "'");
}

void noteInlinedCalls(const Instruction &I) {
  const DILocation *Loc = I.getDebugLoc();
  if (!Loc)
    return;
  // The outermost call is that of the marked function by the program.
  while ((Loc = Loc->getInlinedAt()) && Loc->getInlinedAt())
    noteCall(*I.getFunction(), Loc, !Loc->getInlinedAt()->getInlinedAt());
}

namespace {

class Checker {
public:
  explicit Checker(Function &Root) : Root(Root) {}

  bool run() {
    checkSignature();
    visit(Root, nullptr);
    return Good;
  }

private:
  void error(const Instruction *At, const Twine &Text);
  void checkSignature();
  void visit(Function &F, const CallBase *From);
  void check(Instruction &I);
  void checkCall(CallBase &CB);
  void checkIntrinsic(IntrinsicInst &II);
  void checkAtomic(Instruction &I, Type *Ty);
  void checkConstant(Instruction &I, Constant *C);
  bool checkType(Instruction &I, Type *Ty);

  Function &Root;
  bool Good = true;
  SetVector<Function *> Active;
  SmallVector<const DILocation *, 8> Calls; ///< of the functions in Active
  SmallPtrSet<Function *, 16> Done;
  SmallPtrSet<Constant *, 32> Seen;
  std::set<std::pair<const DIFile *, unsigned>> Lines; ///< with errors
};

} // namespace

void Checker::error(const Instruction *At, const Twine &Text) {
  Good = false;
  const Function &F = At ? *At->getFunction() : Root;
  const DILocation *Loc = At ? At->getDebugLoc().get() : nullptr;
  // Report only one error for each line.
  if (Loc && !Lines.insert({Loc->getFile(), Loc->getLine()}).second)
    return;
  reportError(F, Loc, "in a COSY_FUNCTION: " + Text);
  for (const DILocation *Call : reverse(Calls))
    noteCall(Root, Call, Call == Calls.front());
}

/// The frontend does not check functions that are compiled from bitcode.
void Checker::checkSignature() {
  auto IsPlain = [](Type *Ty) {
    return Ty->isPointerTy() ||
           (Ty->isIntegerTy() && Ty->getIntegerBitWidth() <= 64);
  };
  Type *Result = Root.getReturnType();
  bool Fits = Root.arg_size() <= COSY_MAX_ARGS && !Root.isVarArg() &&
              (Result->isVoidTy() || IsPlain(Result)) &&
              all_of(Root.args(), [&](Argument &A) {
                return IsPlain(A.getType()) && !A.hasByValAttr() &&
                       !A.hasStructRetAttr();
              });
  if (!Fits)
    error(nullptr,
          "its arguments are at most " + Twine(COSY_MAX_ARGS) +
              " integers of at most 64 bits or pointers, and so is what "
              "it returns; pass the address of a structure");
  else if (Root.isInterposable())
    error(nullptr, "another definition may replace it; make it static");
}

void Checker::visit(Function &F, const CallBase *From) {
  if (Active.contains(&F)) {
    error(From,
          "'" + nameOf(F) +
              "' calls itself; make it a loop, with a stack of its own in "
              "an array if need be");
    return;
  }
  if (!Done.insert(&F).second)
    return;
  Active.insert(&F);
  if (From)
    Calls.push_back(From->getDebugLoc());
  for (Instruction &I : instructions(F))
    check(I);
  if (From)
    Calls.pop_back();
  Active.remove(&F);
}

bool Checker::checkType(Instruction &I, Type *Ty) {
  if (Ty->isFPOrFPVectorTy()) {
    error(&I, "floating point; compute with integers, or outside the function");
    return false;
  }
  if (Ty->isVectorTy()) {
    error(&I, "vector; use plain integers");
    return false;
  }
  if (auto *IT = dyn_cast<IntegerType>(Ty); IT && IT->getBitWidth() > 64) {
    error(&I, "integer of more than 64 bits; use two of 64 bits");
    return false;
  }
  return true;
}

void Checker::checkConstant(Instruction &I, Constant *C) {
  if (isa<ConstantData>(C) || !Seen.insert(C).second)
    return;
  if (isa<BlockAddress>(C)) {
    error(&I, "address of a label; use a switch");
    return;
  }
  if (auto *F = dyn_cast<Function>(C)) {
    error(&I, "address of the function '" + nameOf(*F) +
                  "'; choose by a switch and call it by its name");
    return;
  }
  if (auto *GV = dyn_cast<GlobalVariable>(C)) {
    StringRef Name = GV->getName();
    if (GV->isThreadLocal())
      error(&I, "thread-local variable '" + Name +
                    "'; pass its value as an argument");
    else if (!GV->isConstant())
      error(&I,
            "variable '" + Name +
                "' is outside the segment; make it const, or pass a pointer "
                "to memory from cosy_malloc() as an argument");
    else if (!GV->hasDefinitiveInitializer())
      error(&I,
            "the value of '" + Name +
                "' is not known here; define it in this file, static const");
    else
      checkConstant(I, GV->getInitializer());
    return;
  }
  if (isa<GlobalValue>(C)) {
    error(&I, "'" + C->getName() + "' is an alias; use what it stands for");
    return;
  }
  for (Value *Op : C->operands())
    checkConstant(I, cast<Constant>(Op));
}

void Checker::checkAtomic(Instruction &I, Type *Ty) {
  if (!Ty->isIntegerTy(32) && !Ty->isIntegerTy(64) && !Ty->isPointerTy())
    error(&I, "atomic operation on other than 32 or 64 bits; use int or long");
}

void Checker::checkIntrinsic(IntrinsicInst &II) {
  switch (II.getIntrinsicID()) {
  case Intrinsic::memcpy:
  case Intrinsic::memmove:
  case Intrinsic::memset:
  case Intrinsic::memcpy_inline:
  case Intrinsic::memset_inline:
    if (auto *MI = dyn_cast<MemIntrinsic>(&II); MI && MI->isVolatile())
      error(&II, "volatile copy of a structure; copy its members one by one");
    return;
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::invariant_start:
  case Intrinsic::invariant_end:
  case Intrinsic::assume:
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::donothing:
  case Intrinsic::sideeffect:
  case Intrinsic::var_annotation:
  case Intrinsic::ptr_annotation:
  case Intrinsic::annotation:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::objectsize:
  case Intrinsic::is_constant:
  case Intrinsic::prefetch:
  case Intrinsic::threadlocal_address: // its operand is reported
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ptrmask:
  case Intrinsic::abs:
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::umax:
  case Intrinsic::umin:
  case Intrinsic::bswap:
  case Intrinsic::bitreverse:
  case Intrinsic::ctpop:
  case Intrinsic::ctlz:
  case Intrinsic::cttz:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::sadd_with_overflow:
  case Intrinsic::uadd_with_overflow:
  case Intrinsic::ssub_with_overflow:
  case Intrinsic::usub_with_overflow:
  case Intrinsic::smul_with_overflow:
  case Intrinsic::umul_with_overflow:
    return;
  case Intrinsic::vastart:
  case Intrinsic::vaend:
  case Intrinsic::vacopy:
    error(&II, "variable arguments; pass an array and its length");
    return;
  case Intrinsic::trap:
  case Intrinsic::debugtrap:
  case Intrinsic::ubsantrap:
    error(&II, "a trap; return a value that says what is wrong");
    return;
  case Intrinsic::frameaddress:
  case Intrinsic::returnaddress:
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::sponentry:
    error(&II, "address of the stack frame, which differs in the kernel; do "
               "without it");
    return;
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
    return; // of a variable-length array, which is reported there
  default:
    if (!isa<DbgInfoIntrinsic>(II))
      error(&II, "compiler builtin " +
                     Intrinsic::getBaseName(II.getIntrinsicID()) +
                     ", which has no counterpart in BPF; do without it");
  }
}

void Checker::checkCall(CallBase &CB) {
  if (auto *II = dyn_cast<IntrinsicInst>(&CB))
    return checkIntrinsic(*II);
  if (CB.isInlineAsm())
    return error(&CB, "inline assembly; write it in C");
  auto *F = dyn_cast<Function>(CB.getCalledOperand()->stripPointerCasts());
  if (!F)
    return error(&CB, "call through a pointer; choose by a switch and call by "
                      "name");
  if (CB.hasFnAttr(Attribute::ReturnsTwice))
    return error(&CB, "call of '" + nameOf(*F) +
                          "', which returns twice; return a value instead");
  if (any_of(AllMarkers,
             [&](const StringLiteral *Name) { return asMarker(CB, *Name); }))
    return error(&CB, "a region; put it into the caller");
  if (F->isDeclaration()) {
    if (!isInFunctionLibrary(F->getName(), F->getContext()))
      error(&CB, "call of '" + nameOf(*F) +
                     "', which is not defined in this file; define it here, or "
                     "call it outside the function");
    return;
  }
  if (F->isInterposable())
    return error(&CB, "call of '" + nameOf(*F) +
                          "', which another definition may replace; make it "
                          "static");
  if (F->isVarArg())
    return error(&CB, "call of '" + nameOf(*F) +
                          "' with variable arguments; pass an array and its "
                          "length");
  if (F->getFunctionType() != CB.getFunctionType())
    return error(&CB, "call of '" + nameOf(*F) +
                          "' as another type than its own; declare it before");
  visit(*F, &CB);
}

void Checker::check(Instruction &I) {
  if (!checkType(I, I.getType()))
    return;
  for (Value *Op : I.operands())
    if (!checkType(I, Op->getType()))
      return;
  if (auto *AI = dyn_cast<AllocaInst>(&I)) {
    if (!checkType(I, AI->getAllocatedType()))
      return;
    if (!AI->isStaticAlloca())
      error(&I, "variable-length array or alloca; give it a constant size");
    return;
  }
  if (I.isEHPad() || isa<InvokeInst>(I) || isa<ResumeInst>(I))
    return error(&I, "exceptions; return a value that says what is wrong");
  if (isa<IndirectBrInst>(I) || isa<CallBrInst>(I))
    return error(&I, "computed or asm goto; use a switch");
  if (isa<VAArgInst>(I))
    return error(&I, "variable arguments; pass an array and its length");
  if (auto *RMW = dyn_cast<AtomicRMWInst>(&I)) {
    switch (RMW->getOperation()) {
    case AtomicRMWInst::Xchg:
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::And:
    case AtomicRMWInst::Or:
    case AtomicRMWInst::Xor:
      checkAtomic(I, RMW->getValOperand()->getType());
      break;
    default:
      error(&I, "this atomic operation has no counterpart in BPF; use a loop "
                "around __atomic_compare_exchange_n");
    }
  }
  if (auto *X = dyn_cast<AtomicCmpXchgInst>(&I))
    checkAtomic(I, X->getCompareOperand()->getType());
  if (auto *CB = dyn_cast<CallBase>(&I)) {
    const Function *Callee = CB->getCalledFunction();
    if (Callee && isInstrumentation(*Callee))
      return;
    for (Value *A : CB->args())
      if (auto *C = dyn_cast<Constant>(A))
        if (!isa<IntrinsicInst>(CB) || !isa<Function>(C))
          checkConstant(I, C);
    return checkCall(*CB);
  }
  for (Value *Op : I.operands())
    if (auto *C = dyn_cast<Constant>(Op))
      checkConstant(I, C);
}

bool checkUserFunction(Function &F) { return Checker(F).run(); }

} // namespace cosy
