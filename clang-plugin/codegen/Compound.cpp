// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compound.cpp - The steps from a body to its image ------------------===//
#include "codegen/Compound.h"
#include "body/Body.h"
#include "body/LibraryCalls.h"
#include "body/Outline.h"
#include "body/Recognise.h"
#include "codegen/Profit.h"
#include "codegen/RegAlloc.h"
#include "codegen/Thunk.h"
#include "region/Remark.h"
#include "support/Diagnostics.h"
#include "support/UserFunctions.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/BreakCriticalEdges.h"

extern "C" {
#include <cosy/asm.h>
}

using namespace llvm;

namespace cosy {

/// Runs grouping, selection and allocation. \returns false if there are too few
/// registers.
static bool generate(Function &Body, Compound &C,
                     FunctionAnalysisManager &FAM) {
  FunctionPassManager FPM;
  addGrouping(FPM);
  FAM.invalidate(Body, FPM.run(Body, FAM));
  // Later steps do not change the body.
  C.UpCalls = readUpCalls(Body);
  BodyDescription D = BodyDescription::read(Body);
  C.Sel =
      select(Body, FAM.getResult<LoopAnalysis>(Body), C.UpCalls, D.NumOutputs);
  C.Sel.C.Name = D.Name;
  C.Sel.C.NumExits = D.NumExits;
  if (D.Limit)
    C.Sel.C.Limit = D.Limit;
  return allocateRegisters(C.Sel.C);
}

/// Prints the text of \p C on standard error.
static void dump(const Compound &C) {
  cosy_diag Diag;
  cosy_disassemble(C.Img.Bytes.data(), C.Img.Bytes.size(), 0, stderr, &Diag);
}

/// Reports that \p R stays native because it has \p TooMany. \returns false.
static bool stayNative(const Region &R, const Twine &TooMany) {
  if (R.IsAsync)
    return false;
  if (R.Options.countsRuns())
    reportError(*R.Host, R.Loc,
                "region with a limit has " + TooMany +
                    ", too many for a compound; divide it into several");
  else
    reportWarning(Warning::StaysNative, *R.Host, R.Loc,
                  "region stays native: it has " + TooMany +
                      ", too many for a compound; divide it into several");
  return false;
}

static bool compile(Region &R, Compound &C, FunctionAnalysisManager &FAM) {
  if (!generate(*R.Body, C, FAM)) {
    FAM.invalidate(*R.Body, SpillPass().run(*R.Body, FAM));
    if (!generate(*R.Body, C, FAM))
      return stayNative(R, "more than " + Twine(COSY_MAX_REGS) +
                               " values that are live at once");
  }
  C.Img = emitImage(C.Sel.C);
  if (std::string TooMany = exceededLimit(C.Img); !TooMany.empty())
    return stayNative(R, TooMany);
  if (std::string Why = verifyImage(C.Img); !Why.empty()) {
    reportError(*R.Host, R.Loc,
                "internal error: region became an invalid compound (" + Why +
                    "); please report this with the source file");
    return false;
  }
  std::vector<const Inst *> Calls(C.UpCalls.Calls.size());
  for (const Block &B : C.Sel.C.Blocks)
    for (const Inst &I : B.Insts)
      if (I.Op == COSY_OP_UPCALL)
        Calls[I.Imm] = &I;
      else if (I.Op == COSY_OP_CALL)
        Calls[I.UpCall] = &I;
  for (auto [N, Call] : enumerate(C.UpCalls.Calls)) {
    SmallVector<Reg, 8> Uses;
    ArrayRef<Reg> Defs;
    if (const Inst *I = Calls[N]; I && I->Op == COSY_OP_CALL) {
      auto *CB = cast<CallBase>(Call.Culprit);
      for (Value *V : Call.Uses)
        Uses.push_back(I->Ops[find(CB->args(), V) - CB->arg_begin()].R);
      if (!Call.Defs.empty())
        Defs = I->Dst;
    } else if (I) {
      for (const Operand &O : I->Ops)
        Uses.push_back(O.R);
      Defs = I->Defs;
    }
    C.Thunks.push_back(createThunk(Call, Uses, Defs,
                                   R.Body->getName() + ".upcall." + Twine(N),
                                   *R.Host, R.IsAsync));
  }
  return true;
}

void explainBuffers(const Region &R, ArrayRef<ReadBuffer> Buffers) {
  for (const ReadBuffer &B : Buffers) {
    if (B.Why.empty())
      remark<OptimizationRemark>(R, B.Loc, "Borrow", [&](auto &Rem) {
        Rem << (B.Written
                    ? "what is read is copied only to where it is written"
                    : "what is read is not copied: nothing uses the buffer");
      });
    else if (B.Written)
      remark<OptimizationRemarkMissed>(R, B.Loc, "Borrow", [&](auto &Rem) {
        Rem << "what is read and then written is copied twice: "
            << ore::NV("Why", B.Why);
      });
  }
}

static void explain(const Region &R, const Compound &C, bool IsPart,
                    FunctionAnalysisManager &FAM) {
  unsigned NumUserCalls = count_if(C.UpCalls.Calls, [](const UpCall &Call) {
    return isUserFunctionCall(*Call.Culprit);
  });
  unsigned NumUpCalls = C.UpCalls.Calls.size() - NumUserCalls;
  remark<OptimizationRemark>(R, R.Loc, "Compound", [&](auto &Rem) {
    Rem << (R.IsAsync ? "part of the function"
            : IsPart  ? "part of the region"
                      : "region")
        << " became a compound: "
        << ore::NV("Operations", count(C.Img.NumOps, "operation")) << ", "
        << ore::NV("SystemCalls", count(C.Sel.NumSystemCalls, "system call"))
        << ", " << ore::NV("Inputs", count(C.Sel.C.Inputs.size(), "input"))
        << ", " << ore::NV("Outputs", count(C.Sel.C.NumOut, "output")) << ", "
        << ore::NV("Registers", count(C.Sel.C.NumRegs, "register"));
    if (NumUserCalls)
      Rem << ", "
          << ore::NV("FunctionCalls",
                     count(NumUserCalls, "user function call"));
    if (NumUpCalls)
      Rem << ", " << ore::NV("UpCalls", count(NumUpCalls, "up-call"));
    if (R.Exits.size() > 1)
      Rem << ", " << ore::NV("Exits", count(R.Exits.size(), "exit"));
  });
  StringSet<> Own, &Explained = R.Explained ? *R.Explained : Own;
  for (const UpCall &Call : C.UpCalls.Calls) {
    if (isUserFunctionCall(*Call.Culprit))
      continue;
    const DILocation *Loc = Call.Culprit->getDebugLoc();
    // Unrolling and inlining copy calls, and so do the parts of a function.
    if (Loc && !Explained
                    .insert((Loc->getFilename() + ":" + Twine(Loc->getLine()) +
                             ":" + describe(*Call.Culprit))
                                .str())
                    .second)
      continue;
    remark<OptimizationRemarkMissed>(R, Loc, "UpCall", [&](auto &Rem) {
      Rem << "leaves the kernel for an up-call: "
          << ore::NV("Why", describe(*Call.Culprit)) << "; "
          << ore::NV("Advice", upCallAdvice(*Call.Culprit, R.IsAsync));
    });
    // A part has no markers that could be moved.
    if (!R.IsAsync)
      suggestMovingMarker(*R.Host, Loc);
  }
  explainBuffers(R, C.Buffers);
  for (const FastNote &Note : fastNotesOf(*R.Body)) {
    auto Fill = [&](auto &Rem) { Rem << Note.Text; };
    if (Note.Chosen)
      remark<OptimizationRemark>(R, Note.Loc, "FastPath", Fill);
    else
      remark<OptimizationRemarkMissed>(R, Note.Loc, "FastPath", Fill);
  }
  if (!C.Sel.NumSystemCalls && !NumUserCalls && !IsPart)
    reportWarning(Warning::NoSystemCall, *R.Host, R.Loc,
                  "region makes no system call; as a compound it always "
                  "takes longer than natively: remove its markers");
  if (!IsPart)
    explainProfit(R, C.Sel, C.UpCalls, FAM.getResult<LoopAnalysis>(*R.Body),
                  FAM.getResult<BlockFrequencyAnalysis>(*R.Body),
                  FAM.getResult<ScalarEvolutionAnalysis>(*R.Body));
}

bool isWorthwhile(Function &Body, FunctionAnalysisManager &FAM) {
  unsigned NumCalls = 0;
  for (BasicBlock &BB : Body)
    for (Instruction &I : BB)
      if (makesSystemCall(I)) {
        ++NumCalls;
        if (FAM.getResult<LoopAnalysis>(Body).getLoopFor(&BB))
          return true;
      }
  return NumCalls > 1;
}

bool makeCompound(Region &R, Compound &C, FunctionAnalysisManager &FAM) {
  Function &Body = *R.Body;
  BodyDescription D = BodyDescription::read(Body);
  if (!D.IsOptimized) {
    // Native code calls the functions that the source names. The analyses keep
    // what they know about the library.
    Body.addFnAttr("no-builtins");
    FAM.clear(Body, Body.getName());
  }
  FunctionPassManager FPM;
  addSimplification(FPM);
  FAM.invalidate(Body, FPM.run(Body, FAM));
  if (R.IsAsync && !accessesErrnoDirectly(Body))
    return false;
  FAM.invalidate(Body, OutlinePass().run(Body, FAM));
  if (!compile(R, C, FAM))
    return false;
  explain(R, C, D.IsPart, FAM);
  if (R.IsAsync)
    judgePart(R, C.Sel, FAM.getResult<BlockFrequencyAnalysis>(Body));
  if (D.Dump)
    dump(C);
  return true;
}

PreservedAnalyses PrintCompoundPass::runOnBody(Function &Body,
                                               FunctionAnalysisManager &FAM) {
  if (!expectExits(Body, Name))
    return PreservedAnalyses::all();
  BodyDescription D = BodyDescription::read(Body);
  Region R;
  R.Body = R.Host = &Body;
  R.Before = &Body.getEntryBlock();
  R.Name = D.Name;
  R.Exits.resize(D.NumExits);
  Compound C;
  if (compile(R, C, FAM)) {
    explain(R, C, D.IsPart, FAM);
    dump(C);
  }
  return PreservedAnalyses::none();
}

void eraseBody(Region &R, FunctionAnalysisManager &FAM) {
  SmallVector<Function *, 0> Pieces = outlinedPieces(*R.Body);
  FAM.clear(*R.Body, R.Body->getName());
  R.Body->eraseFromParent();
  for (Function *Piece : Pieces)
    Piece->eraseFromParent();
}

} // namespace cosy
