// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Copyable.cpp - Instructions that only their function can execute ---===//
#include "support/Copyable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>

using namespace llvm;

namespace cosy {

void markCallsThatReturnTwice(Module &M) {
  for (StringRef Name :
       {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "getcontext", "vfork",
        "__vfork", "llvm.eh.sjlj.setjmp"})
    if (Function *F = M.getFunction(Name); F && F->isDeclaration())
      F->addFnAttr(Attribute::ReturnsTwice);
}

/// An attribute of functions whose result may depend on the code that calls
/// them.
static constexpr StringLiteral SeesCallerAttribute = "cosy-sees-caller";

/// \returns how many levels above its function the frame is whose code or
/// address \p I asks for, or nothing.
static std::optional<uint64_t> levelOfFrame(const Instruction &I) {
  auto *II = dyn_cast<IntrinsicInst>(&I);
  switch (II ? II->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::returnaddress:
    return cast<ConstantInt>(II->getArgOperand(0))->getZExtValue() + 1;
  case Intrinsic::frameaddress:
    return cast<ConstantInt>(II->getArgOperand(0))->getZExtValue();
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::sponentry:
  case Intrinsic::eh_dwarf_cfa:
  case Intrinsic::read_register: // such as the stack pointer
  case Intrinsic::read_volatile_register:
  case Intrinsic::write_register:
    return 0;
  default:
    return std::nullopt;
  }
}

void markFunctionsThatSeeCallers(Module &M) {
  // The highest level that each function sees. Level 0 is its own frame, which
  // is that of its caller if it is inlined there.
  DenseMap<Function *, uint64_t> Levels;
  SmallVector<std::pair<Function *, uint64_t>, 8> Work;
  auto Sees = [&](Function &F, uint64_t Level) {
    auto [It, New] = Levels.try_emplace(&F, Level);
    if (!New && It->second >= Level)
      return;
    It->second = Level;
    Work.push_back({&F, Level});
  };
  for (Function &Intrinsic : M)
    if (Intrinsic.isIntrinsic())
      for (User *U : Intrinsic.users())
        if (auto *I = dyn_cast<Instruction>(U))
          if (std::optional<uint64_t> Level = levelOfFrame(*I))
            Sees(*I->getFunction(), *Level);
  while (!Work.empty()) {
    auto [F, Level] = Work.pop_back_val();
    // LLVM does not inline __builtin_setjmp(), which uses the frame's address.
    bool IsInlined = !F->hasFnAttribute(Attribute::NoInline) &&
                     !F->callsFunctionThatReturnsTwice();
    if (!IsInlined && Level-- == 0)
      continue;
    F->addFnAttr(SeesCallerAttribute);
    for (User *U : F->users())
      if (auto *CB = dyn_cast<CallBase>(U); CB && CB->getCalledOperand() == F)
        Sees(*CB->getFunction(), Level);
  }
}

/// Returns true if \p ID acts on the coroutine that calls it. Other intrinsics
/// act on a handle, which can be that of any coroutine.
static bool isPartOfCoroutine(Intrinsic::ID ID) {
  switch (ID) {
  case Intrinsic::coro_resume:
  case Intrinsic::coro_destroy:
  case Intrinsic::coro_done:
  case Intrinsic::coro_promise:
  case Intrinsic::coro_noop:
    return false;
  default:
    return Intrinsic::getBaseName(ID).starts_with("llvm.coro.");
  }
}

/// Returns true if \p CB is inline assembly with a variable operand where the
/// constraint requires a constant, such as "i". It is a constant after
/// inlining.
static bool lacksConstant(const CallBase &CB) {
  constexpr StringLiteral Constants = "insEFIJKLMNOGCeZ";
  auto *Asm = dyn_cast<InlineAsm>(CB.getCalledOperand());
  if (!Asm)
    return false;
  unsigned Arg = 0;
  for (const InlineAsm::ConstraintInfo &Info : Asm->ParseConstraints()) {
    if (!Info.hasArg())
      continue;
    if (!isa<Constant>(CB.getArgOperand(Arg++)) &&
        all_of(Info.Codes, [&](const std::string &Code) {
          return Code.size() == 1 && Constants.contains(Code[0]);
        }))
      return true;
  }
  return false;
}

const char *whyNotMovable(const Instruction &I) {
  if (auto *AI = dyn_cast<AllocaInst>(&I))
    return AI->isStaticAlloca() ? nullptr : "a variable-length array or alloca";
  if (isa<IndirectBrInst>(I))
    return "a computed goto";
  if (isa<CallBrInst>(I))
    return "an asm goto";
  if (I.isEHPad() || isa<InvokeInst>(I) || isa<ResumeInst>(I))
    return "a cleanup or an exception handler";
  if (isa<VAArgInst>(I))
    return "va_arg";
  auto *CB = dyn_cast<CallBase>(&I);
  if (!CB)
    return nullptr;
  if (isPartOfCoroutine(CB->getIntrinsicID()))
    return "a point where the coroutine is suspended";
  if (CB->hasFnAttr(Attribute::ReturnsTwice))
    return "a call that returns twice, such as setjmp or vfork";
  if (CB->isMustTailCall())
    return "a call marked musttail";
  if (lacksConstant(*CB))
    return "inline assembly whose operand is a constant only after inlining";
  switch (CB->getIntrinsicID()) {
  case Intrinsic::vastart:
    return "va_start";
  case Intrinsic::eh_sjlj_longjmp:
    return "a call of longjmp";
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
    return "a variable-length array or alloca";
  case Intrinsic::frameaddress:
  case Intrinsic::returnaddress:
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::sponentry:
  case Intrinsic::eh_dwarf_cfa:
  case Intrinsic::get_dynamic_area_offset:
    return "the address of the function's own stack frame";
  case Intrinsic::read_register:
  case Intrinsic::read_volatile_register:
  case Intrinsic::write_register:
    return "a register variable";
  case Intrinsic::localescape:
  case Intrinsic::eh_typeid_for:
    return "an exception handler";
  default:
    return nullptr;
  }
}

/// What expandOperands() writes for %=, which makes a name unique.
static constexpr StringLiteral UniqueNumber = "%=";

/// \returns the text of \p Asm in its dialect. Operands become question marks.
static std::string expandOperands(const InlineAsm &Asm) {
  const int Dialect = Asm.getDialect() == InlineAsm::AD_Intel;
  int Alternative = -1; // outside of alternatives
  std::string Result;
  auto Add = [&](StringRef Text) {
    if (Alternative == -1 || Alternative == Dialect)
      Result += Text;
  };
  for (StringRef Rest = Asm.getAsmString(); !Rest.empty();) {
    if (Rest.consume_front("$$")) {
      Add("$");
    } else if (Rest.consume_front("$(")) {
      Alternative = 0;
    } else if (Rest.consume_front("$|")) {
      ++Alternative;
    } else if (Rest.consume_front("$)")) {
      Alternative = -1;
    } else if (Rest.consume_front("${:uid}")) {
      Add(UniqueNumber);
    } else if (Rest.consume_front("$")) {
      Rest = Rest.consume_front("{") ? Rest.split('}').second
                                     : Rest.drop_while(isDigit);
      Add("?");
    } else {
      Add(Rest.take_front());
      Rest = Rest.drop_front();
    }
  }
  return Result;
}

/// \returns the statements of \p Asm without comments, and without the contents
/// of strings and characters.
static std::string statementsOf(StringRef Asm) {
  std::string Result;
  while (!Asm.empty()) {
    size_t Size = 1;
    if (Asm.starts_with("/*")) {
      Size = Asm.find("*/", 2);
      Size = Size == StringRef::npos ? Asm.size() : Size + 2;
      Result += ' ';
    } else if (Asm.starts_with("'")) { // a character: 'c, '\c or 'c'
      Size = Asm.starts_with("'\\") ? 3 : 2;
      Size += Asm.substr(Size).starts_with("'");
      Result += '0';
    } else if (Asm.starts_with("#")) {
      Size = std::min(Asm.find('\n'), Asm.size());
    } else if (Asm.starts_with("\"")) {
      while (Size < Asm.size() && Asm[Size] != '"')
        Size += Asm[Size] == '\\' ? 2 : 1;
      ++Size;
      Result += "\"\"";
    } else {
      Result += Asm.front();
    }
    Asm = Asm.drop_front(std::min(Size, Asm.size()));
  }
  return Result;
}

/// \returns true if \p C can be in a name, or in an argument of a macro that is
/// a part of a name.
static bool isInName(char C) {
  return isAlnum(C) || StringRef("_.$@?%=\"\\()").contains(C);
}

/// \returns true if \p Text, which is before a colon or an equals sign, ends
/// with the name of a symbol that exists once. Every such name counts, unless
/// it is known to be something else: a local label, which is a number, a name
/// with a unique number, or a segment register.
static bool endsWithSymbol(StringRef Text) {
  Text = Text.rtrim(" \t");
  size_t Size = 0;
  while (Size < Text.size() && isInName(Text[Text.size() - Size - 1]))
    ++Size;
  StringRef Name = Text.take_back(Size);
  bool IsNumber = !Name.empty() && all_of(Name, isDigit);
  bool IsSegment = Name.size() == 3 && Name[0] == '%' && Name[2] == 's';
  return !IsNumber && !IsSegment && Name != "." && !Name.contains(UniqueNumber);
}

/// \returns why the \p Statement of inline assembly, without its labels, must
/// exist once, or null.
static const char *whyUnique(StringRef Statement) {
  auto [Name, Operands] = getToken(Statement);
  std::string Directive = Name.lower();
  if (is_contained({".set", ".equ", ".equiv", ".comm", ".lcomm"}, Directive) &&
      endsWithSymbol(Operands.split(',').first))
    return "inline assembly that defines a symbol";
  if (is_contained({".macro", ".altmacro", ".irp", ".irpc"}, Directive))
    return "inline assembly with a macro";
  if (is_contained({".section", ".pushsection", ".previous", ".subsection",
                    ".text", ".data", ".bss", ".rodata", ".tdata", ".tbss",
                    ".data.rel", ".data.rel.ro", ".eh_frame"},
                   Directive))
    return "inline assembly that adds to another section";
  return nullptr;
}

/// \returns why \p I is inline assembly that must exist once, or null.
static const char *whyUnique(const Instruction &I) {
  auto *CB = dyn_cast<CallBase>(&I);
  auto *Asm = CB ? dyn_cast<InlineAsm>(CB->getCalledOperand()) : nullptr;
  if (!Asm)
    return nullptr;
  std::string Text = statementsOf(expandOperands(*Asm));
  for (size_t At = 0; At < Text.size(); ++At) {
    bool IsUnique = At && StringRef(Text).substr(At - 1, 2) == UniqueNumber;
    if ((Text[At] == ':' || Text[At] == '=') && !IsUnique &&
        endsWithSymbol(StringRef(Text).take_front(At)))
      return "inline assembly that defines a symbol";
  }
  SmallVector<StringRef, 8> Statements;
  SplitString(Text, Statements, "\n;:");
  for (StringRef S : Statements)
    if (const char *Why = whyUnique(S))
      return Why;
  return nullptr;
}

const char *whyNotCopyable(const Instruction &I) {
  if (const char *Why = whyNotMovable(I))
    return Why;
  if (auto *CB = dyn_cast<CallBase>(&I);
      CB && CB->hasFnAttr(SeesCallerAttribute))
    return "a call of a function that sees the address of its caller";
  return whyUnique(I);
}

} // namespace cosy
