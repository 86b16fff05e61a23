// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionCompile.cpp - A user function's way to its ELF file --------===//
#include "Diagnostics.h"
#include "bpf/Function.h"
#include "bpf/FunctionAddresses.h"
#include "bpf/FunctionPaths.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Binary.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/ConstraintElimination.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"
#include "llvm/Transforms/Scalar/LowerConstantIntrinsics.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopPeel.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

extern "C" {
#include <cosy/function.h>

void LLVMInitializeBPFTargetInfo(void);
void LLVMInitializeBPFTarget(void);
void LLVMInitializeBPFTargetMC(void);
void LLVMInitializeBPFAsmPrinter(void);
void LLVMInitializeBPFAsmParser(void);
}

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cosy {

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

static const unsigned char Library[] = {
#include "function-library.inc"
};

std::unique_ptr<Module> loadFunctionLibrary(LLVMContext &Ctx) {
  StringRef Bytes(reinterpret_cast<const char *>(Library), sizeof(Library));
  return cantFail(
      parseBitcodeFile(MemoryBufferRef(Bytes, "function-library"), Ctx));
}

bool isInFunctionLibrary(StringRef Name, LLVMContext &Ctx) {
  std::unique_ptr<Module> M = loadFunctionLibrary(Ctx);
  Function *F = M->getFunction(Name);
  return F && !F->isDeclaration();
}

//===----------------------------------------------------------------------===//
// Options of LLVM
//===----------------------------------------------------------------------===//

namespace {

/// Sets an option of LLVM that has no other interface, for a while.
class ScopedOption {
public:
  ScopedOption(StringRef Name, StringRef Value) {
    auto &All = cl::getRegisteredOptions();
    auto It = All.find(Name);
    assert(It != All.end() && "unknown option of LLVM");
    Option = It->second;
    Option->addOccurrence(0, Name, Value);
  }
  ~ScopedOption() { Option->setDefault(); }

private:
  cl::Option *Option;
};

} // namespace

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

/// Attributes that would make the code another than BPF's.
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
  Lib->setTargetTriple(M.getTargetTriple());
  Lib->setDataLayout(M.getDataLayout());
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
// Optimisation
//===----------------------------------------------------------------------===//

namespace {

/// Loops are unrolled up to so many instructions.
constexpr unsigned MostCode = 400;

/// How often an innermost loop is to be unrolled, if it may have \p Branches.
/// One in another loop that may be left early is: it seldom takes many rounds.
static unsigned countFor(const Loop &L, ScalarEvolution &SE, unsigned Own,
                         unsigned Branches) {
  unsigned Size = sizeOf(L), Count = 1;
  unsigned Most = SE.getSmallConstantMaxTripCount(&L);
  // It may be anything up to 2^32 - 1.
  if (Most && Most <= MostCode / Size && Most * Own <= Branches)
    return Most;
  bool Short = L.getParentLoop() && !L.getExitingBlock();
  while (Count < 32 && 2 * Count * Size <= (Short ? MostCode / 4 : MostCode) &&
         2 * Count * Own <= Branches)
    Count *= 2;
  return Count;
}

/// A search often is a loop in a loop, of which the inner one ends in its first
/// round. That round becomes part of the outer loop, whose usual way then is
/// without the inner.
class PeelSearch : public PassInfoMixin<PeelSearch> {
public:
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    Loop *L = findSearch(F, FAM);
    if (!L)
      return PreservedAnalyses::all();
    ValueToValueMapTy Map;
    peelLoop(L->getSubLoops().front(), 1, &FAM.getResult<LoopAnalysis>(F),
             &FAM.getResult<ScalarEvolutionAnalysis>(F),
             FAM.getResult<DominatorTreeAnalysis>(F),
             &FAM.getResult<AssumptionAnalysis>(F), true, Map);
    FAM.invalidate(F, PreservedAnalyses::none());
    // What the first round finds out, and what stays the same, is not asked
    // again.
    FunctionPassManager Simplify;
    LoopPassManager Hoist;
    Hoist.addPass(LICMPass(LICMOptions()));
    Hoist.addPass(SimpleLoopUnswitchPass(true));
    Simplify.addPass(SimplifyCFGPass());
    Simplify.addPass(JumpThreadingPass());
    Simplify.addPass(SimplifyCFGPass());
    Simplify.addPass(createFunctionToLoopPassAdaptor(std::move(Hoist), true));
    Simplify.addPass(CorrelatedValuePropagationPass());
    Simplify.addPass(GVNPass());
    Simplify.addPass(SimplifyCFGPass());
    Simplify.addPass(
        createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
    Simplify.addPass(CorrelatedValuePropagationPass());
    Simplify.addPass(InstCombinePass());
    Simplify.addPass(SimplifyCFGPass());
    Simplify.addPass(LoopSimplifyPass());
    Simplify.addPass(LCSSAPass());
    Simplify.run(F, FAM);
    FAM.invalidate(F, PreservedAnalyses::none());
    JumpThreadingPass().run(F, FAM);
    return PreservedAnalyses::none();
  }

private:
  /// What is larger, or has more branches, is too much for the verifier.
  static constexpr unsigned MostSearch = 60, MostSearchBranches = 4;

  /// \returns the outer loop if the function is a small search.
  static Loop *findSearch(Function &F, FunctionAnalysisManager &FAM) {
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    auto Loops = LI.getLoopsInPreorder();
    if (Loops.size() != 2 || Loops[0] != Loops[1]->getParentLoop())
      return nullptr;
    Loop *L = Loops[0], *Inner = Loops[1];
    bool Fits = !Inner->getExitingBlock() && L->isLoopSimplifyForm() &&
                Inner->isLoopSimplifyForm() && sizeOf(*L) <= MostSearch &&
                branchesIn(F, LI) <= MostSearchBranches;
    return Fits ? L : nullptr;
  }
};

/// The same computed in two ways is computed twice.
class OrToAdd : public PassInfoMixin<OrToAdd> {
public:
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (auto *Or = dyn_cast<PossiblyDisjointInst>(&I);
          Or && Or->isDisjoint()) {
        Value *Add =
            IRBuilder<>(Or).CreateAdd(Or->getOperand(0), Or->getOperand(1));
        Or->replaceAllUsesWith(Add);
        Or->eraseFromParent();
      }
    return PreservedAnalyses::none();
  }
};

/// Bytes are compared as the words they are in, once for all: a register that
/// is kept for another block would be cut to a byte there each time.
class WidenCompares : public PassInfoMixin<WidenCompares> {
public:
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    Type *I32 = Type::getInt32Ty(F.getContext());
    DenseMap<Value *, Value *> Wide;
    auto Widen = [&](Value *V) -> Value * {
      if (auto *C = dyn_cast<ConstantInt>(V))
        return ConstantInt::get(I32, C->getZExtValue());
      auto *I = dyn_cast<Instruction>(V);
      if (!I)
        return nullptr;
      Value *&W = Wide[V];
      if (!W)
        W = IRBuilder<>(&**I->getInsertionPointAfterDef()).CreateZExt(V, I32);
      return W;
    };
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      auto *Cmp = dyn_cast<ICmpInst>(&I);
      Type *Ty = Cmp ? Cmp->getOperand(0)->getType() : nullptr;
      if (!Cmp || !(Ty->isIntegerTy(8) || Ty->isIntegerTy(16)))
        continue;
      ICmpInst::Predicate Pred = Cmp->getPredicate();
      Value *Y = Cmp->getOperand(1);
      // Test whether it is negative.
      auto *Half = ConstantInt::get(I32, 1u << (Ty->getIntegerBitWidth() - 1));
      if (Pred == ICmpInst::ICMP_SGT && match(Y, m_AllOnes())) {
        Pred = ICmpInst::ICMP_ULT;
        Y = Half;
      } else if (Pred == ICmpInst::ICMP_SLT && match(Y, m_Zero())) {
        Pred = ICmpInst::ICMP_UGE;
        Y = Half;
      } else if (!ICmpInst::isSigned(Pred)) {
        Y = Widen(Y);
      } else {
        continue;
      }
      Value *X = Widen(Cmp->getOperand(0));
      if (!X || !Y)
        continue;
      Cmp->replaceAllUsesWith(IRBuilder<>(Cmp).CreateICmp(Pred, X, Y));
      Cmp->eraseFromParent();
    }
    return PreservedAnalyses::none();
  }
};

/// Unrolls inner loops, so that there is one check of the budget, and mostly
/// one of the address, for a block of iterations.
class UnrollInner : public PassInfoMixin<UnrollInner> {
public:
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    auto &AC = FAM.getResult<AssumptionAnalysis>(F);
    auto &TTI = FAM.getResult<TargetIRAnalysis>(F);
    auto &ORE = FAM.getResult<OptimizationRemarkEmitterAnalysis>(F);
    // A loop whose inner loop has become straight code is an inner one.
    SmallPtrSet<BasicBlock *, 16> Done;
    unsigned Most = mostBranches(LI);
    while (Loop *L = nextLoop(LI, Done, true)) {
      // Those that are left share what there may still be.
      unsigned Left =
          1 + count_if(LI.getLoopsInPreorder(), [&](const Loop *Other) {
            return Other->isInnermost() && !Done.contains(Other->getHeader());
          });
      unsigned All = branchesIn(F, LI), Own = branchesIn(F, LI, L);
      // Rounds that are counted in advance share their way out.
      BasicBlock *Exit = L->getExitBlock();
      if (Exit && LI.getLoopFor(Exit) && L->getExitingBlock() &&
          SE.hasLoopInvariantBackedgeTakenCount(L))
        --Own;
      unsigned More = All < Most ? (Most - All) / Left : 0;
      unsigned Count = countFor(*L, SE, Own, Own + More);
      if (Count < 2 || !L->isLoopSimplifyForm() || !L->isLCSSAForm(DT))
        continue;
      // Of others only that is repeated.
      if (Count != SE.getSmallConstantMaxTripCount(L) && hasUsualWay(*L, LI))
        continue;
      UnrollLoopOptions ULO = {};
      ULO.Count = Count;
      ULO.Force = true;
      ULO.Runtime = L->getExitingBlock() != nullptr;
      ULO.AllowExpensiveTripCount = true;
      Loop *Rest = nullptr;
      UnrollLoop(L, ULO, &LI, &SE, &DT, &AC, &TTI, &ORE, true, &Rest);
      if (Rest)
        Done.insert(Rest->getHeader());
    }
    return PreservedAnalyses::none();
  }
};

} // namespace

namespace {

/// Does nothing but call checkAddresses().
class CheckAddresses : public PassInfoMixin<CheckAddresses> {
public:
  CheckAddresses(const Function &User, bool &Good) : User(User), Good(Good) {}
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    if (F.getName() == COSY_FUNCTION_PROGRAM)
      Good &= checkAddresses(F, User);
    return PreservedAnalyses::all();
  }

private:
  const Function &User;
  bool &Good;
};

} // namespace

/// \returns false after an error.
static bool optimize(Module &M, TargetMachine &TM, bool Unroll,
                     const Function &User) {
  bool Good = true;
  // Not loop counts in closed form, which need wider integers than BPF has.
  ScopedOption NoClosedForm("replexitval", "never");
  PipelineTuningOptions Tuning;
  PassBuilder PB(&TM, Tuning);
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  TargetLibraryInfoImpl TLII{Triple(M.getTargetTriple())};
  TLII.disableAllFunctions();
  FAM.registerPass([&] { return TargetLibraryAnalysis(TLII); });
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);

  auto Cfg = SimplifyCFGOptions().convertSwitchToLookupTable(false);
  ModulePassManager MPM;
  MPM.addPass(AlwaysInlinerPass(false));
  MPM.addPass(GlobalDCEPass());
  FunctionPassManager FPM;
  FPM.addPass(LowerExpectIntrinsicPass());
  FPM.addPass(SROAPass(SROAOptions::ModifyCFG));
  FPM.addPass(EarlyCSEPass(true));
  FPM.addPass(CheckAddresses(User, Good));
  FPM.addPass(LowerConstantIntrinsicsPass());
  FPM.addPass(SimplifyCFGPass(Cfg));
  FPM.addPass(InstCombinePass());
  FPM.addPass(SROAPass(SROAOptions::ModifyCFG));
  FPM.addPass(JumpThreadingPass());
  FPM.addPass(SimplifyCFGPass(Cfg));
  FPM.addPass(ReassociatePass());
  LoopPassManager Rotate;
  Rotate.addPass(LoopRotatePass());
  Rotate.addPass(LICMPass(LICMOptions()));
  FPM.addPass(createFunctionToLoopPassAdaptor(std::move(Rotate), true));
  FPM.addPass(SimplifyCFGPass(Cfg));
  FPM.addPass(InstCombinePass());
  FPM.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
  FPM.addPass(GVNPass());
  FPM.addPass(ADCEPass());
  FPM.addPass(SimplifyCFGPass(Cfg));
  FPM.addPass(LoopSimplifyPass());
  FPM.addPass(LCSSAPass());
  if (Unroll) {
    FPM.addPass(PeelSearch());
    FPM.addPass(SeparatePaths());
    FPM.addPass(LoopSimplifyPass());
    FPM.addPass(LCSSAPass());
    FPM.addPass(UnrollInner());
    FPM.addPass(RepeatPaths());
    FPM.addPass(ConstraintEliminationPass());
  }
  FPM.addPass(SimplifyCFGPass(Cfg));
  FPM.addPass(EarlyCSEPass(true));
  FPM.addPass(InstCombinePass());
  FPM.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
  FPM.addPass(SeparateConstOffsetFromGEPPass());
  FPM.addPass(EarlyCSEPass(true));
  FPM.addPass(createFunctionToLoopPassAdaptor(LoopStrengthReducePass()));
  FPM.addPass(OrToAdd());
  FPM.addPass(WidenCompares());
  FPM.addPass(EarlyCSEPass(true));
  FPM.addPass(ADCEPass());
  FPM.addPass(SimplifyCFGPass(Cfg));
  MPM.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
  MPM.addPass(GlobalDCEPass());
  MPM.run(M, MAM);
  return Good;
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
  const char *Name = "bpfel-unknown-none";
  std::string Error;
  const Target *T = TargetRegistry::lookupTarget(Name, Error);
  if (!T)
    return nullptr;
  // Linux 6.12 does not sign-extend when it loads from an arena. The target
  // looks at the option once.
  ScopedOption NoSignedLoads("disable-ldsx", "true");
  // v4 for signed division.
  return std::unique_ptr<TargetMachine>(
      T->createTargetMachine(Name, "v4", "", TargetOptions(), std::nullopt,
                             std::nullopt, CodeGenOptLevel::Default));
}

namespace {

/// The target says of each access that there is no room on the stack, and with
/// a remedy that is none here. Everything else is for who was there before.
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
  // It has run, and would make counters that begin with a constant.
  ScopedOption NoStrengthReduction("disable-lsr", "true");
  // It would compute and translate addresses anew in every block.
  ScopedOption NoSinking("disable-cgp", "true");
  // What only an exit of a loop needs is computed on the way out.
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
  // Lines are in .BTF.ext; for debuggers there is nothing here.
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

/// Compiles \p User with or without unrolling loops, for which the stack may
/// have no room. \returns nothing, and leaves \p NoRoom unset if there was an
/// error.
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

  // Nothing but the code: no machine, no flags of the host.
  for (NamedMDNode &Node : make_early_inc_range(M->named_metadata()))
    if (Node.getName() != "llvm.dbg.cu")
      Node.eraseFromParent();
  M->addModuleFlag(Module::Warning, "Debug Info Version",
                   DEBUG_METADATA_VERSION);
  M->setModuleInlineAsm("");
  for (GlobalVariable &GV : make_early_inc_range(M->globals()))
    if (GV.getName().starts_with("llvm.") && GV.use_empty())
      GV.eraseFromParent();
  // Debug information that is only places, and is written: clang may have made
  // it for messages alone.
  stripNonLineTableDebugInfo(*M);
  M->setTargetTriple(TM->getTargetTriple().str());
  M->setDataLayout(TM->createDataLayout());

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
  if (!optimize(*M, *TM, Unroll, User))
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
