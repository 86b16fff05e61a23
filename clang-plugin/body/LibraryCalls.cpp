// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LibraryCalls.cpp - Calls of the C library --------------------------===//
#include "body/LibraryCalls.h"
#include "support/Annotations.h"
#include "support/Names.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace cosy {

namespace {

/// The types of a function as glibc's headers declare it: a letter for each,
/// the result first, see library-prototypes.cmake.
struct Prototype {
  LibraryFunction F;
  StringRef Types;
};

} // namespace

/// \returns the prototype of the function \p Name, or null.
static const Prototype *findPrototype(StringRef Name) {
  static const StringMap<Prototype> Index = [] {
    StringMap<Prototype> M;
    auto Add = [&](StringRef Name, StringRef Types) {
      bool IsVariadic = Types.consume_back(".");
      unsigned NumFixed = Types.size() - 1;
      M[Name] = {{Name, NumFixed, IsVariadic}, Types};
    };
#define COSY_PROTOTYPE(Name, Types) Add(#Name, Types);
#include "library-prototypes.inc"
    return M;
  }();
  auto It = Index.find(Name);
  return It == Index.end() ? nullptr : &It->second;
}

/// Returns the name of \p F in the object file.
static StringRef linkerName(const Function &F) {
  StringRef Name = F.getName();
  Name.consume_front("\1");
  return Name;
}

static bool hasType(const Type *Ty, char Letter) {
  switch (Letter) {
  case 'v':
    return Ty->isVoidTy();
  case 'i':
    return Ty->isIntegerTy(32);
  case 'l':
    return Ty->isIntegerTy(64);
  default:
    return Ty->isPointerTy() && Ty->getPointerAddressSpace() == 0;
  }
}

static bool matches(const CallBase &CB, const Prototype &P) {
  unsigned NumFixed = P.F.NumFixed;
  if (CB.arg_size() < NumFixed ||
      (CB.arg_size() > NumFixed && !P.F.IsVariadic) ||
      !hasType(CB.getType(), P.Types.front()))
    return false;
  for (unsigned N = 0; N < NumFixed; ++N)
    if (!hasType(CB.getArgOperand(N)->getType(), P.Types[N + 1]))
      return false;
  return true;
}

LibraryFunction libraryFunction(const CallBase &CB) {
  const Function *F = CB.getCalledFunction();
  // With _FORTIFY_SOURCE the function can also have an inline definition.
  if (!F || F->isIntrinsic() || F->hasLocalLinkage() ||
      !(F->isDeclaration() || F->hasAvailableExternallyLinkage()) ||
      CB.hasOperandBundles() || CB.isNoBuiltin())
    return {};
  const Prototype *P = findPrototype(linkerName(*F));
  return P && matches(CB, *P) ? P->F : LibraryFunction();
}

bool asCallOf(Function &F, CallBase &Call,
              function_ref<bool(const CallBase &)> Holds) {
  assert(F.getFunctionType() == Call.getFunctionType() && "of another type");
  Value *Pointer = Call.getCalledOperand();
  Call.setCalledOperand(&F);
  bool Does = Holds(Call);
  Call.setCalledOperand(Pointer);
  return Does;
}

bool isNoBuiltin(Attribute A) {
  return A.isStringAttribute() && A.getKindAsString().starts_with("no-builtin");
}

/// \returns true if \p Caller was compiled with -fno-builtin, or with
/// -fno-builtin-NAME for a function that the plugin knows.
static bool hasOwnFunctions(const Function &Caller) {
  return any_of(Caller.getAttributes().getFnAttrs(), [](Attribute A) {
    if (!A.isStringAttribute())
      return false;
    StringRef Name = A.getKindAsString();
    return Name == "no-builtins" ||
           (Name.consume_front("no-builtin-") && findPrototype(Name));
  });
}

void markOwnCalls(Module &M, ArrayRef<std::string> Own) {
  StringSet<> OwnNames;
  for (const std::string &Name : Own)
    OwnNames.insert(Name);
  SmallPtrSet<const Function *, 4> Declared;
  forEachAnnotation(M, [&](Function &F, StringRef Text) {
    if (Text == OwnAnnotation)
      Declared.insert(&F);
  });
  for (Function &F : M) {
    StringRef Name = linkerName(F);
    if (!findPrototype(Name))
      continue;
    bool IsOwn = OwnNames.contains(Name) || Declared.count(&F);
    std::string NoBuiltin = ("no-builtin-" + Name).str();
    for (User *U : F.users()) {
      auto *CB = dyn_cast<CallBase>(U);
      if (!CB || CB->getCalledOperand() != &F)
        continue;
      const Function &Caller = *CB->getFunction();
      if (IsOwn || Caller.hasFnAttribute("no-builtins") ||
          Caller.hasFnAttribute(NoBuiltin))
        CB->addFnAttr(Attribute::NoBuiltin);
    }
  }
  bool Any =
      any_of(OwnNames.keys(), [](StringRef N) { return findPrototype(N); }) ||
      any_of(Declared,
             [](const Function *F) { return findPrototype(linkerName(*F)); });
  for (Function &Caller : M)
    if (Any || hasOwnFunctions(Caller))
      for (Instruction &I : instructions(Caller))
        if (auto *CB = dyn_cast<CallBase>(&I); CB && CB->isIndirectCall())
          CB->addFnAttr(Attribute::NoBuiltin);
}

bool isReserved(StringRef Name) {
  return Name.starts_with("_") ||
         ((Name.consume_front("str") || Name.consume_front("mem")) &&
          !Name.empty() && isLower(Name.front()));
}

bool isErrnoAddress(const Value *V) {
  auto *CB = dyn_cast<CallBase>(V);
  const Function *F = CB ? CB->getCalledFunction() : nullptr;
  return F && F->isDeclaration() && linkerName(*F) == "__errno_location";
}

bool isAccess(const Use &U) {
  return isa<LoadInst>(U.getUser()) ||
         (isa<StoreInst>(U.getUser()) &&
          U.getOperandNo() == StoreInst::getPointerOperandIndex());
}

bool isAccessedDirectly(const Instruction &Errno) {
  return all_of(Errno.uses(), isAccess);
}

bool accessesErrnoDirectly(const Function &Body) {
  return all_of(instructions(Body), [](const Instruction &I) {
    return !isErrnoAddress(&I) || isAccessedDirectly(I);
  });
}

SmallVector<Function *, 8> findLibraryFunctions(const Function &Body) {
  SmallSetVector<Function *, 8> Found;
  for (const Instruction &I : instructions(Body))
    if (auto *CB = dyn_cast<CallBase>(&I))
      if (LibraryFunction F = libraryFunction(*CB); F && !isReserved(F.Name))
        Found.insert(CB->getCalledFunction());
  return Found.takeVector();
}

} // namespace cosy
