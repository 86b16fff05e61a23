// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pass.cpp - Single calls go through the module ----------------------===//
#include "auto/Pass.h"
#include "body/IndirectCalls.h"
#include "body/LibraryCalls.h"
#include "support/Costs.h"
#include "support/Names.h"
#include "support/Target.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <set>
#include <tuple>

using namespace llvm;

namespace cosy {

/// \returns the system call of the function \p Name, if a call gains even in an
/// entry of its own; otherwise an empty name.
static StringRef singleSystemCall(StringRef Name) {
  return StringSwitch<StringRef>(Name)
#define COSY_PRELOAD_IF(Function, Call, ...) .Case(#Function, #Call)
#include "preload.def"
      .Default({});
}

/// \returns what \p CB, a call that makes the system call \p Call, usually
/// saves.
static unsigned usualSaving(const CallBase &CB, StringRef Call) {
  auto Constant = [&](unsigned N) {
    return dyn_cast<ConstantInt>(CB.getArgOperand(N));
  };
  bool HasDirectory = CB.getArgOperand(0)->getType()->isIntegerTy();
  bool InDirectory =
      HasDirectory && !(Constant(0) && Constant(0)->getSExtValue() == AT_FDCWD);
  unsigned Saving = singleCallSaves(Call, InDirectory ? NameForm::InDirectory
                                                      : NameForm::Path);
  if (Call != "openat")
    return Saving;
  // Without constant flags it may open files or create them.
  const ConstantInt *Flags = Constant(HasDirectory ? 2 : 1);
  if (!Flags)
    return (Saving + WalkSaves) / 2;
  return COSY_PRELOAD_WALKS(Flags->getZExtValue()) ? WalkSaves : Saving;
}

/// \returns the function cosy_before_...() of libcosy that must be called
/// before \p Name, or an empty string.
static StringRef noticeBefore(StringRef Name) {
  return StringSwitch<StringRef>(Name)
#define COSY_WATCHED(Function, Notice) .Case(#Function, "cosy_before_" #Notice)
#include "watched.def"
      // libcosy does not see libseccomp's own calls of syscall() and prctl().
      .Case("seccomp_load", "cosy_before_filter")
      .Default({});
}

/// The library that contains the wrappers.
enum class Library {
  Archive, ///< in libcosy.a, hence in the same program or shared library
  Any      ///< in libcosy.a or libcosy.so
};

/// A function of libcosy with the type \p Ty.
static Function *libcosyFunction(Module &M, const Twine &Name, FunctionType *Ty,
                                 Library From) {
  std::string FullName = Name.str();
  if (Function *F = M.getFunction(FullName))
    return F;
  auto *F = Function::Create(Ty, GlobalValue::ExternalLinkage, FullName, M);
  if (From == Library::Archive) {
    F->setVisibility(GlobalValue::HiddenVisibility);
    F->setDSOLocal(true);
  }
  return F;
}

namespace {

/// The calls that have got a remark: function, file, line and column. Copies of
/// a call, by inlining or unrolling, have one place.
class RemarkedCalls {
  std::set<std::tuple<StringRef, StringRef, unsigned, unsigned>> Calls;

public:
  /// \returns whether the call of \p Name at \p Loc is new. It is if its place
  /// is not known.
  bool insert(StringRef Name, const DebugLoc &Loc) {
    return !Loc || Calls
                       .insert({Name, Loc->getFilename(), Loc->getLine(),
                                Loc->getColumn()})
                       .second;
  }
};

} // namespace

/// Redirects \p CB, a call of the function \p Name of the C library.
static void redirect(CallBase &CB, StringRef Name, Library From,
                     RemarkedCalls &Remarked) {
  const Function &F = *CB.getCalledFunction();
  Function *Wrapper = libcosyFunction(*CB.getModule(), "cosy_auto_" + Name,
                                      CB.getFunctionType(), From);
  Wrapper->setAttributes(F.getAttributes());
  CB.setCalledOperand(Wrapper);
  if (!Remarked.insert(Name, CB.getDebugLoc()))
    return;
  OptimizationRemarkEmitter(CB.getFunction()).emit([&] {
    return OptimizationRemark("cosy", "SingleCall", &CB)
           << "the call of '" << ore::NV("Function", Name)
           << "' goes through the module, if that is loaded, and usually saves "
           << ore::NV("Saved", usualSaving(CB, singleSystemCall(Name)))
           << " instructions";
  });
}

/// \returns the function \p Notice of libcosy.
static Function *noticeFunction(Module &M, StringRef Notice, Library From) {
  unsigned NumArgs = StringSwitch<unsigned>(Notice)
                         .Case("cosy_before_prctl", 1)
                         .Case("cosy_before_syscall", 2)
                         .Default(0);
  LLVMContext &Ctx = M.getContext();
  SmallVector<Type *, 2> Types(NumArgs, Type::getInt64Ty(Ctx));
  return libcosyFunction(
      M, Notice, FunctionType::get(Type::getVoidTy(Ctx), Types, false), From);
}

/// \returns the argument \p N of \p CB as a 64-bit number, or 0 if it is not an
/// integer.
static Value *numberArgument(IRBuilder<> &B, CallBase &CB, unsigned N) {
  if (N >= CB.arg_size() || !CB.getArgOperand(N)->getType()->isIntegerTy())
    return B.getInt64(0);
  return B.CreateSExtOrTrunc(CB.getArgOperand(N), B.getInt64Ty());
}

/// Inserts a call of \p Notice before \p CB, unless the arguments show that
/// libcosy does not need it.
static bool notify(CallBase &CB, StringRef Notice, Library From) {
  IRBuilder<> B(&CB);
  Function *F = noticeFunction(*CB.getModule(), Notice, From);
  SmallVector<Value *, 2> Args;
  for (unsigned N = 0; N < F->arg_size(); ++N)
    Args.push_back(numberArgument(B, CB, N));
  auto *Code = Args.empty() ? nullptr : dyn_cast<ConstantInt>(Args[0]);
  static constexpr int64_t Options[] = {
#define COSY_WATCHED_OPTION(Name, Number) Number,
#include "watched.def"
  };
  static constexpr int64_t Calls[] = {
#define COSY_WATCHED_CALL(Name, Notice) SYS_##Name,
#include "watched.def"
  };
  if (Code && Notice == "cosy_before_prctl" &&
      !is_contained(Options, Code->getSExtValue()))
    return false;
  if (Code && Notice == "cosy_before_syscall" &&
      !is_contained(Calls, Code->getSExtValue()))
    return false;
  B.CreateCall(F, Args);
  return true;
}

/// The calls in \p F of functions that the C library could define.
static SmallVector<CallBase *, 8> namedCalls(Function &F) {
  SmallVector<CallBase *, 8> Calls;
  for (Instruction &I : instructions(F))
    if (auto *CB = dyn_cast<CallBase>(&I);
        CB && CB->getCalledFunction() &&
        !CB->getCalledFunction()->isIntrinsic() && !CB->isNoBuiltin())
      Calls.push_back(CB);
  return Calls;
}

/// \returns the function of preload.def that \p CB calls, or an empty name.
static StringRef singleCall(const CallBase &CB) {
  // A weak function may be missing, and then the reference of the wrapper would
  // fail.
  if (CB.getCalledFunction()->hasExternalWeakLinkage())
    return {};
  LibraryFunction L = libraryFunction(CB);
  return L && !singleSystemCall(L.Name).empty() ? L.Name : StringRef();
}

/// The attribute of a call that goes through the module although its function
/// has no AutoAttribute.
static constexpr StringLiteral SingleAttribute = "cosy-single";

/// Compares the called pointers in \p F with functions of preload.def, those of
/// all calls if \p All, otherwise of those with SingleAttribute.
static bool guardCalls(Function &F, bool All) {
  SmallVector<CallBase *, 8> Calls;
  for (Instruction &I : instructions(F))
    if (auto *CB = dyn_cast<CallBase>(&I);
        CB && CB->isIndirectCall() && (All || CB->hasFnAttr(SingleAttribute)))
      Calls.push_back(CB);
  bool Changed = false;
  for (CallBase *CB : Calls)
    Changed |= !guardTargets(*CB, [&](Function &Target) {
                  return Target.isDeclaration() &&
                         asCallOf(Target, *CB, [](const CallBase &Call) {
                           return !singleCall(Call).empty();
                         });
                }).empty();
  return Changed;
}

/// Redirects all calls in \p F if \p All, otherwise those with SingleAttribute.
static bool redirectCalls(Function &F, bool All, RemarkedCalls &Remarked) {
  bool Changed = guardCalls(F, All);
  for (CallBase *CB : namedCalls(F)) {
    if (!All && !CB->hasFnAttr(SingleAttribute))
      continue;
    if (StringRef Name = singleCall(*CB); !Name.empty()) {
      redirect(*CB, Name, All ? Library::Archive : Library::Any, Remarked);
      Changed = true;
    }
  }
  return Changed;
}

/// The attribute of a function with notices, because posix_spawn() and similar
/// functions keep their names.
static constexpr StringLiteral NotifiedAttribute = "cosy-notified";

static bool notifyCalls(Function &F, Library From) {
  if (F.hasFnAttribute(NotifiedAttribute))
    return false;
  bool Changed = false;
  for (CallBase *CB : namedCalls(F)) {
    const Function &Callee = *CB->getCalledFunction();
    if (StringRef Notice = noticeBefore(Callee.getName());
        !Notice.empty() && Callee.isDeclaration())
      Changed |= notify(*CB, Notice, From);
  }
  if (Changed)
    F.addFnAttr(NotifiedAttribute);
  return Changed;
}

/// Refers to a symbol of libcosy.a whose name is a remedy: linkers print it if
/// libcosy.a is missing. The reference needs no relocation at run time.
static void nameRemedy(Module &M) {
  constexpr StringLiteral Name = "cosy_is_not_linked__use_cosy_cc";
  if (M.getNamedValue(Name))
    return;
  LLVMContext &Ctx = M.getContext();
  Type *Offset = Type::getInt32Ty(Ctx), *Address = Type::getInt64Ty(Ctx);
  auto *Remedy =
      new GlobalVariable(M, Type::getInt8Ty(Ctx), true,
                         GlobalValue::ExternalLinkage, nullptr, Name);
  Remedy->setVisibility(GlobalValue::HiddenVisibility);
  Remedy->setDSOLocal(true);
  auto *Reference = new GlobalVariable(
      M, Offset, true, GlobalValue::PrivateLinkage, nullptr, "cosy.is_linked");
  Reference->setInitializer(ConstantExpr::getTrunc(
      ConstantExpr::getSub(ConstantExpr::getPtrToInt(Remedy, Address),
                           ConstantExpr::getPtrToInt(Reference, Address)),
      Offset));
  appendToCompilerUsed(M, {Reference});
}

PreservedAnalyses AutoPass::run(Module &M, ModuleAnalysisManager &) {
  if (!canHaveCompounds(M))
    return PreservedAnalyses::all();
  bool Redirected = false, Changed = false;
  auto TakesAll = [&](const Function &F) {
    return All || F.hasFnAttribute(AutoAttribute);
  };
  RemarkedCalls Remarked;
  for (Function &F : M)
    Redirected |= redirectCalls(F, TakesAll(F), Remarked);
  for (Function &F : M)
    if (TakesAll(F) || Redirected)
      Changed |= notifyCalls(F, TakesAll(F) ? Library::Archive : Library::Any);
  if (!Redirected && !Changed)
    return PreservedAnalyses::all();
  // In the link step, the linker has resolved the libraries already. Without
  // -fcosy-auto, the message for regions names the remedy.
  if (All)
    nameRemedy(M);
  return PreservedAnalyses::none();
}

/// Declares the wrappers in libcosy of the functions that \p M calls, and keeps
/// the declarations. \returns whether there are any.
static bool declareForLinkStep(Module &M, Library From) {
  SmallVector<GlobalValue *, 8> Callees;
  for (Function &F : M) {
    if (!F.isDeclaration())
      continue;
    if (StringRef Notice = noticeBefore(F.getName()); !Notice.empty())
      Callees.push_back(noticeFunction(M, Notice, From));
    else if (!singleSystemCall(F.getName()).empty())
      Callees.push_back(libcosyFunction(M, "cosy_auto_" + F.getName(),
                                        F.getFunctionType(), From));
  }
  appendToCompilerUsed(M, Callees);
  return !Callees.empty();
}

void deferToLinkStep(Module &M) {
  for (Function &F : M)
    F.addFnAttr(AutoAttribute);
  if (declareForLinkStep(M, Library::Archive))
    nameRemedy(M);
}

bool markSingleCalls(ArrayRef<BasicBlock *> Blocks) {
  SmallVector<BasicBlock *, 32> Work(Blocks);
  SmallPtrSet<Function *, 8> Seen;
  bool Any = false;
  while (!Work.empty())
    for (Instruction &I : *Work.pop_back_val()) {
      auto *CB = dyn_cast<CallBase>(&I);
      Function *Callee = CB ? CB->getCalledFunction() : nullptr;
      if (CB && CB->isIndirectCall() && !CB->isNoBuiltin()) {
        CB->addFnAttr(Attribute::get(CB->getContext(), SingleAttribute));
        Any = true;
        continue;
      }
      if (!Callee || Callee->isIntrinsic())
        continue;
      if (!Callee->isDeclaration()) {
        if (Seen.insert(Callee).second)
          for (BasicBlock &BB : *Callee)
            Work.push_back(&BB);
        continue;
      }
      if (CB->isNoBuiltin() || singleCall(*CB).empty())
        continue;
      CB->addFnAttr(Attribute::get(CB->getContext(), SingleAttribute));
      Any = true;
    }
  return Any;
}

void deferSingleCalls(Module &M) { declareForLinkStep(M, Library::Any); }

} // namespace cosy
