// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.cpp - Compiles a user function to an ELF file --------------===//
#include "bpf/Addresses.h"
#include "bpf/Function.h"
#include "bpf/ScopedOption.h"
#include "support/Diagnostics.h"
#include "support/LlvmCompat.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Binary.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

extern "C" {
#include <cosy/function.h>

void LLVMInitializeBPFTargetInfo(void);
void LLVMInitializeBPFTarget(void);
void LLVMInitializeBPFTargetMC(void);
void LLVMInitializeBPFAsmPrinter(void);
void LLVMInitializeBPFAsmParser(void);
}

using namespace llvm;

namespace cosy {
//===----------------------------------------------------------------------===//
// A module with the program
//===----------------------------------------------------------------------===//

static SetVector<Function *> reachableFrom(Function &Root) {
  SetVector<Function *> List;
  List.insert(&Root);
  for (unsigned N = 0; N < List.size(); ++N)
    for (Instruction &I : instructions(*List[N]))
      if (auto *CB = dyn_cast<CallBase>(&I))
        if (auto *F =
                dyn_cast<Function>(CB->getCalledOperand()->stripPointerCasts()))
          if (!F->isDeclaration())
            List.insert(F);
  return List;
}

/// Removes attributes that would change the code for BPF.
static void stripAttributes(Function &F) {
  AttributeList Old = F.getAttributes();
  F.setAttributes(AttributeList());
  for (unsigned N = 0; N < F.arg_size(); ++N)
    for (Attribute::AttrKind Kind : {Attribute::ByVal, Attribute::StructRet})
      if (Old.hasParamAttr(N, Kind))
        F.addParamAttr(N, Old.getParamAttr(N, Kind));
  F.addFnAttr(Attribute::NoUnwind);
  F.setCallingConv(CallingConv::C);
  F.setComdat(nullptr);
  F.setSection("");
  F.setPersonalityFn(nullptr);
  for (Instruction &I : instructions(F)) {
    if (auto *CB = dyn_cast<CallBase>(&I)) {
      CB->setCallingConv(CallingConv::C);
      if (!isa<IntrinsicInst>(CB)) {
        AttributeList Args = CB->getAttributes();
        CB->setAttributes(AttributeList());
        for (unsigned N = 0; N < CB->arg_size(); ++N)
          for (Attribute::AttrKind Kind :
               {Attribute::ByVal, Attribute::StructRet})
            if (Args.hasParamAttr(N, Kind))
              CB->addParamAttr(N, Args.getParamAttr(N, Kind));
      }
    }
  }
}

static void linkLibrary(Module &M) {
  bool Missing = false;
  for (Function &F : M)
    Missing |= F.isDeclaration() && !F.isIntrinsic() && F.getName() != TrapName;
  if (!Missing)
    return;
  std::unique_ptr<Module> Lib = loadFunctionLibrary(M.getContext());
  copyTarget(*Lib, M);
  if (NamedMDNode *Flags = Lib->getModuleFlagsMetadata())
    Flags->eraseFromParent();
  for (Function &F : *Lib)
    ignoreAddresses(F);
  Linker::linkModules(M, std::move(Lib), Linker::Flags::LinkOnlyNeeded);
}

/// int cosy_function(struct cosy_function_ctx *ctx)
static Function *createProgram(Function &User) {
  Module &M = *User.getParent();
  LLVMContext &Ctx = M.getContext();
  IRBuilder<> B(Ctx);
  Type *I64 = B.getInt64Ty();
  Function *P =
      Function::Create(FunctionType::get(B.getInt32Ty(), {B.getPtrTy()}, false),
                       GlobalValue::ExternalLinkage, COSY_FUNCTION_PROGRAM, M);
  P->setSection(COSY_FUNCTION_SECTION);
  P->setDoesNotThrow();
  P->addParamAttr(0, Attribute::NoAlias);
  Argument *C = P->getArg(0);
  B.SetInsertPoint(BasicBlock::Create(Ctx, "", P));

  DISubprogram *Sub = User.getSubprogram();
  if (Sub) {
    DIBuilder DIB(M, false, Sub->getUnit());
    DISubprogram *SP = DIB.createFunction(
        Sub->getFile(), COSY_FUNCTION_PROGRAM, COSY_FUNCTION_PROGRAM,
        Sub->getFile(), Sub->getLine(),
        DIB.createSubroutineType(DIB.getOrCreateTypeArray(
            {DIB.createBasicType("int", 32, dwarf::DW_ATE_signed)})),
        Sub->getLine(), DINode::FlagPrototyped,
        DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized);
    P->setSubprogram(SP);
    DIB.finalize();
    B.SetCurrentDebugLocation(DILocation::get(Ctx, Sub->getLine(), 0, SP));
  }
  auto Field = [&](size_t Offset) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), C, Offset);
  };
  SmallVector<Value *, 6> Args;
  for (Argument &A : User.args()) {
    Value *V = B.CreateLoad(
        I64, Field(offsetof(cosy_function_ctx, args) + 8 * A.getArgNo()));
    Args.push_back(A.getType()->isPointerTy() ? B.CreateIntToPtr(V, A.getType())
                                              : B.CreateTrunc(V, A.getType()));
  }
  Value *R = B.CreateCall(&User, Args);
  if (!R->getType()->isVoidTy()) {
    R = R->getType()->isPointerTy() ? B.CreatePtrToInt(R, I64)
                                    : B.CreateZExt(R, I64);
    B.CreateStore(R, Field(offsetof(cosy_function_ctx, result)));
  }
  B.CreateRet(B.getInt32(0));
  return P;
}

//===----------------------------------------------------------------------===//
// Code generation
//===----------------------------------------------------------------------===//

static std::unique_ptr<TargetMachine> createTarget() {
  static const bool Initialized = [] {
    LLVMInitializeBPFTargetInfo();
    LLVMInitializeBPFTarget();
    LLVMInitializeBPFTargetMC();
    LLVMInitializeBPFAsmPrinter();
    LLVMInitializeBPFAsmParser();
    return true;
  }();
  (void)Initialized;
  // Linux 6.12 does not sign-extend loads from an arena. The target reads the
  // option only once.
  ScopedOption NoSignedLoads("disable-ldsx", "true");
  // v4 for signed division.
  return createMachine("bpfel-unknown-none", "v4");
}

namespace {

/// The target reports each access without room on the stack, with a remedy that
/// does not apply here. All other messages go to the previous handler.
class StackErrors : public DiagnosticHandler {
public:
  StackErrors(DiagnosticHandler *Before, bool &StackUsedUp)
      : Before(Before), StackUsedUp(StackUsedUp) {}

  bool handleDiagnostics(const DiagnosticInfo &DI) override {
    std::string Message;
    raw_string_ostream OS(Message);
    DiagnosticPrinterRawOStream Printer(OS);
    if (DI.getKind() == DK_Unsupported)
      DI.print(Printer);
    if (!StringRef(Message).contains("BPF stack limit is exceeded"))
      return Before && Before->handleDiagnostics(DI);
    StackUsedUp = true;
    return true;
  }

private:
  DiagnosticHandler *Before;
  bool &StackUsedUp;
};

} // namespace

namespace {
enum class Emitted { Yes, NoRoom, No };
} // namespace

/// Writes the object file of \p M, if the stack has room for its values.
static Emitted emitObject(Module &M, TargetMachine &TM, std::string &Out) {
  // LLVM makes them since 22. libbpf 1.1 cannot load them, and the function
  // would run natively.
  for (Function &F : M)
    F.addFnAttr("no-jump-tables", "true");
  // The pass has already run. It would create counters that begin with a
  // constant.
  ScopedOption NoStrengthReduction("disable-lsr", "true");
  // The pass would compute and translate addresses again in every block.
  ScopedOption NoSinking("disable-cgp", "true");
  // Values that only an exit of a loop needs are computed on the exit edge.
  ScopedOption SplitEdges("phi-elim-split-all-critical-edges", "true");
  SmallVector<char, 0> Bytes;
  raw_svector_ostream OS(Bytes);
  legacy::PassManager PM;
  if (TM.addPassesToEmitFile(PM, OS, nullptr, CodeGenFileType::ObjectFile))
    return Emitted::No;
  LLVMContext &Context = M.getContext();
  std::unique_ptr<DiagnosticHandler> Before = Context.getDiagnosticHandler();
  bool StackUsedUp = false;
  Context.setDiagnosticHandler(
      std::make_unique<StackErrors>(Before.get(), StackUsedUp));
  PM.run(M);
  Context.setDiagnosticHandler(std::move(Before));
  if (StackUsedUp)
    return Emitted::NoRoom;
  // Lines are in .BTF.ext. No section for debuggers is needed.
  auto Object = object::createBinary(
      MemoryBufferRef(StringRef(Bytes.data(), Bytes.size()), "program"));
  if (!Object) {
    consumeError(Object.takeError());
    return Emitted::No;
  }
  objcopy::ConfigManager Config;
  Config.Common.StripDebug = true;
  SmallVector<char, 0> Stripped;
  raw_svector_ostream StrippedOS(Stripped);
  if (Error E = objcopy::executeObjcopyOnBinary(Config, **Object, StrippedOS)) {
    consumeError(std::move(E));
    return Emitted::No;
  }
  Out.assign(Stripped.begin(), Stripped.end());
  return Emitted::Yes;
}

/// Compiles \p User with or without unrolling loops, because unrolled loops may
/// need too much stack. \returns nothing after an error. \p NoRoom is set if
/// the stack was too small, and unset if there was another error.
static std::optional<FunctionProgram> compileFor(Function &User, bool Unroll,
                                                 bool &NoRoom) {
  Module &Host = *User.getParent();
  std::unique_ptr<TargetMachine> TM = createTarget();
  if (!TM) {
    reportError(
        User, nullptr,
        "this clang has no BPF target, which COSY_FUNCTION needs; use a "
        "clang built with it, as Debian's is");
    return std::nullopt;
  }
  SetVector<Function *> Needed = reachableFrom(User);
  ValueToValueMapTy Map;
  std::unique_ptr<Module> M =
      CloneModule(Host, Map, [&](const GlobalValue *GV) {
        if (auto *F = dyn_cast<Function>(GV))
          return Needed.contains(const_cast<Function *>(F));
        auto *Var = dyn_cast<GlobalVariable>(GV);
        return Var && Var->isConstant() && Var->hasDefinitiveInitializer() &&
               !Var->getName().starts_with("llvm.");
      });
  auto *F = cast<Function>(Map[&User]);

  // Keep only the code, without the target and the module flags of the host.
  for (NamedMDNode &Node : make_early_inc_range(M->named_metadata()))
    if (Node.getName() != "llvm.dbg.cu")
      Node.eraseFromParent();
  M->addModuleFlag(Module::Warning, "Debug Info Version",
                   DEBUG_METADATA_VERSION);
  removeModuleAsm(*M);
  for (GlobalVariable &GV : make_early_inc_range(M->globals()))
    if (GV.getName().starts_with("llvm.") && GV.use_empty())
      GV.eraseFromParent();
  // Keep only line tables, because clang may have made the debug information
  // only for messages.
  stripNonLineTableDebugInfo(*M);
  setTarget(*M, *TM);

  for (Function &Fn : *M)
    if (!Fn.isDeclaration())
      expandForBpf(Fn);
  linkLibrary(*M);
  lowerOverflows(*M);
  Function *Program = createProgram(*F);
  for (Function &Fn : *M) {
    if (Fn.isDeclaration() || &Fn == Program)
      continue;
    stripAttributes(Fn);
    Fn.setLinkage(GlobalValue::InternalLinkage);
    Fn.setVisibility(GlobalValue::DefaultVisibility);
    Fn.addFnAttr(Attribute::AlwaysInline);
    guardDivisions(Fn);
  }
  for (GlobalVariable &GV : M->globals()) {
    GV.setComdat(nullptr);
    GV.setSection("");
    GV.setLinkage(GlobalValue::InternalLinkage);
  }
  if (!optimizeProgram(*M, *TM, Unroll, User))
    return std::nullopt;

  FunctionProgram Out;
  expandForBpf(*Program);
  confine(*Program, Out);
  addLoaderData(*Program);
  if (verifyModule(*M)) {
    reportError(
        User, nullptr,
        "internal error: the function became an invalid program; please "
        "report this with the source file");
    return std::nullopt;
  }
  Emitted Result = emitObject(*M, *TM, Out.Object);
  NoRoom = Result == Emitted::NoRoom;
  if (Result == Emitted::No)
    reportError(User, nullptr, "cannot write BPF programs");
  if (Result != Emitted::Yes)
    return std::nullopt;
  return Out;
}

std::optional<FunctionProgram> compileUserFunction(Function &User) {
  for (bool Unroll : {true, false}) {
    bool NoRoom = false;
    std::optional<FunctionProgram> Program = compileFor(User, Unroll, NoRoom);
    if (!NoRoom)
      return Program;
  }
  reportError(User, nullptr,
              "too many values live at once for a BPF function, which has room "
              "for about 60; keep some of them in an array");
  return std::nullopt;
}

} // namespace cosy
