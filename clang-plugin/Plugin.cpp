// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Plugin.cpp - The entry points for clang ----------------------------===//
//
// -fplugin=cosy-plugin.so checks regions and compiles them to compounds.
// -fpass-plugin= of the same file adds only the second part, for compiling from
// bitcode (-save-temps). If both flags are given, -fpass-plugin= has an effect
// for bitcode only.
//
//===----------------------------------------------------------------------===//
#include "Passes.h"
#include "RegionPass.h"
#include "auto/Pass.h"
#include "frontend/Frontend.h"
#include "frontend/RegionCheck.h"
#include "host/Unreached.h"
#include "support/LlvmCompat.h"
#include "support/Version.h"

#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"

using namespace llvm;

namespace cosy {

static const bool RightVersion =
    checkVersion("cosy-plugin.so", "clang", "clang");

const bool PlacesAreInText = false;

namespace {

/// Makes the stages report at places of the source.
class SourceMessagesPass : public PassInfoMixin<SourceMessagesPass> {
public:
  explicit SourceMessagesPass(SourceMessages &Messages) : Messages(Messages) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    setSourceMessages(M.getContext(), Messages);
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  SourceMessages &Messages;
};

/// Drops the places of instructions. Otherwise the following passes and the
/// code generation take 8 % more time.
class DropPlacesPass : public PassInfoMixin<DropPlacesPass> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    return StripDebugInfo(M) ? PreservedAnalyses::none()
                             : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

} // namespace

static void addPasses(PassBuilder &PB, const RegionOptions &Options) {
  registerPasses(PB);
  PB.registerPipelineStartEPCallback(
      [Options](ModulePassManager &MPM, OptimizationLevel Level) {
        RegionOptions WithLevel = Options;
        WithLevel.Level = Level;
        MPM.addPass(RegionPass(WithLevel));
      });
  if (!Options.Defer)
    atOptimizerLast(PB, [All = Options.Auto](ModulePassManager &MPM) {
      MPM.addPass(AutoPass(All));
      MPM.addPass(UnreachedPass());
    });
}

/// Whether clang compiles source with this file as its plugin. Then the stages
/// are added with the options, and this file as a pass plugin adds none. It
/// cannot be removed from clang's list, which 22 has read before.
static bool IsPluginOfSource;

namespace {

class CosyAction : public clang::PluginASTAction {
protected:
  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance &CI, StringRef) override {
    clang::Preprocessor &PP = CI.getPreprocessor();
    // Before the files of -include.
    PP.setPredefines("#define __COSY_PLUGIN__ 1\n" + PP.getPredefines());
    IsPluginOfSource = true;
    clang::CodeGenOptions &CG = CI.getCodeGenOpts();
    // Instructions need places, for messages and for the compound's lines.
    bool AddsPlaces = CG.getDebugInfo() == codegenoptions::NoDebugInfo;
    if (AddsPlaces)
      CG.setDebugInfo(codegenoptions::LocTrackingOnly);
    if (CG.hasProfileClangInstr()) {
      // The options that clang uses. RegionPass::run() applies them before the
      // regions.
      InstrProfOptions &Profile = Options.Profile.emplace();
      Profile.NoRedZone = CG.DisableRedZone;
      Profile.InstrProfileOutput = CG.InstrProfileOutput;
      Profile.Atomic = CG.AtomicProfileUpdate;
    }
    if (!CG.CoverageNotesFile.empty() || !CG.CoverageDataFile.empty()) {
      GCOVOptions &Coverage = Options.Coverage.emplace();
      Coverage.EmitNotes = !CG.CoverageNotesFile.empty();
      Coverage.EmitData = !CG.CoverageDataFile.empty();
      copy(CG.CoverageVersion, std::begin(Coverage.Version));
      Coverage.NoRedZone = CG.DisableRedZone;
      Coverage.Filter = CG.ProfileFilterFiles;
      Coverage.Exclude = CG.ProfileExcludeFiles;
      Coverage.Atomic = CG.AtomicProfileUpdate;
    }
    Options.MemorySanitizer =
        CI.getLangOpts().Sanitize.has(clang::SanitizerKind::Memory);
    // It would not see what the module writes, such as a struct stat.
    Options.Auto &= !Options.MemorySanitizer;
    // Any linker can link objects that contain both bitcode and machine code.
    Options.Defer = WantsLinkStep && CG.PrepareForLTO && !CG.FatLTO;
    if (Options.Defer) {
      // Vectors have no operations. The link step vectorises the native code.
      CG.VectorizeLoop = false;
      CG.VectorizeSLP = false;
    }
    auto Source = std::make_unique<Frontend>(CI, Warnings);
    // The link step still needs the places, no other pass does.
    bool DropPlaces = AddsPlaces && !Options.Defer;
    CG.PassBuilderCallbacks.push_back([DropPlaces, Options = Options,
                                       Messages = Source.get(),
                                       &CG](PassBuilder &PB) {
      // RegionPass adds the counters of --coverage; clang's own pass would
      // add them again.
      CG.CoverageNotesFile.clear();
      CG.CoverageDataFile.clear();
      PB.registerPipelineStartEPCallback(
          [Messages](ModulePassManager &MPM, OptimizationLevel) {
            MPM.addPass(SourceMessagesPass(*Messages));
          });
      addPasses(PB, Options);
      if (DropPlaces)
        PB.registerPipelineStartEPCallback(
            [](ModulePassManager &MPM, OptimizationLevel) {
              MPM.addPass(DropPlacesPass());
            });
    });
    return createRegionCheck(CI, std::move(Source));
  }

  bool ParseArgs(const clang::CompilerInstance &CI,
                 const std::vector<std::string> &Args) override {
    if (CI.getLangOpts().Sanitize.has(clang::SanitizerKind::DataFlow)) {
      clang::DiagnosticsEngine &D = CI.getDiagnostics();
      D.Report(D.getCustomDiagID(
          clang::DiagnosticsEngine::Error,
          "compounds cannot be used with -fsanitize=dataflow, which follows "
          "values only in native code; use clang without the cosy plugin, then "
          "regions are native"));
      return false;
    }
    for (const std::string &Arg : Args) {
      if (Arg == "dump") {
        Options.Dump = true;
        continue;
      }
      if (StringRef Flag = Arg; Flag.consume_front("W") && Warnings.set(Flag))
        continue;
      if (Arg == "no-fast") {
        Options.NoFast = true;
        continue;
      }
      if (Arg == "no-outline") {
        Options.NoOutline = true;
        continue;
      }
      if (Arg == "lto") {
        WantsLinkStep = true;
        continue;
      }
      if (Arg == "batch-check") {
        Options.BatchCheck = true;
        continue;
      }
      if (Arg == "auto") {
        Options.Auto = true;
        checkAutoTarget(CI);
        continue;
      }
      if (StringRef Name = Arg; Name.consume_front("no-builtin-")) {
        Options.OwnFunctions.push_back(Name.str());
        continue;
      }
      clang::DiagnosticsEngine &D = CI.getDiagnostics();
      D.Report(D.getCustomDiagID(
          clang::DiagnosticsEngine::Error,
          "unknown option '%0' of the cosy plugin; there are "
          "-fplugin-arg-cosy-auto, -fplugin-arg-cosy-batch-check, "
          "-fplugin-arg-cosy-dump, -fplugin-arg-cosy-lto, "
          "-fplugin-arg-cosy-no-fast, "
          "-fplugin-arg-cosy-no-outline, -fplugin-arg-cosy-no-builtin-* and "
          "-fplugin-arg-cosy-Wcosy-*, see "
          "cosy-regions(7)"))
          << Arg;
      return false;
    }
    return true;
  }

  ActionType getActionType() override { return AddBeforeMainAction; }

private:
  static void checkAutoTarget(const clang::CompilerInstance &CI) {
    llvm::Triple Target(CI.getTargetOpts().Triple);
    if (Target.getArch() == Triple::x86_64 && !Target.isX32())
      return;
    clang::DiagnosticsEngine &D = CI.getDiagnostics();
    D.Report(D.getCustomDiagID(
        clang::DiagnosticsEngine::Warning,
        "-fcosy-auto has no effect: the module makes calls for x86-64 with "
        "64-bit pointers only"));
  }

  RegionOptions Options; ///< of -fplugin-arg-cosy-
  WarningState Warnings;
  bool WantsLinkStep = false; ///< with -flto
};

} // namespace

} // namespace cosy

static clang::FrontendPluginRegistry::Add<cosy::CosyAction>
    Register("cosy", "marked C regions become compounds");

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "cosy", LLVM_VERSION_STRING,
          [](PassBuilder &PB) {
            if (!cosy::IsPluginOfSource)
              cosy::addPasses(PB, {});
          }};
}
