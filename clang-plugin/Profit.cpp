// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Profit.cpp - What a region gains from being a compound -------------===//
#include "Profit.h"
#include "Costs.h"
#include "Diagnostics.h"
#include "Function.h"
#include "Outline.h"
#include "SystemCalls.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/CFG.h"

using namespace llvm;

namespace cosy {

/// What \p I costs more than natively.
static unsigned operationCost(const Inst &I) {
  switch (I.Op) {
  case COSY_OP_LOAD:
  case COSY_OP_STORE:
    return MemoryCost;
  case COSY_OP_LOOP:
    return LoopCost;
  case COSY_OP_SYS:
  case COSY_OP_LIBC:
  case COSY_OP_UPCALL:
  case COSY_OP_CALL:
  case COSY_OP_EXIT:
    return 0; // counted as such
  default:
    return OperationCost;
  }
}

/// At most so much a system call saves.
static unsigned mostSaved(const Inst &I) {
  const SystemCall *Call = findSystemCall(I.Imm);
  if (!Call)
    return CallSaves;
  if (Call->Args.contains('s'))
    return NameCallSaves;
  return StringSwitch<unsigned>(Call->Name)
      .Cases("read", "write", "close", "fstat", "getdents64", FileCallSaves)
      .Default(CallSaves);
}

//===----------------------------------------------------------------------===//
// Ways through a region
//===----------------------------------------------------------------------===//

namespace {

/// What happens on the ways through a piece of code.
struct Ways {
  unsigned MaxCalls = 0;   ///< system calls on the way with most of them
  unsigned MaxSaved = 0;   ///< what they may save, there
  unsigned MinUpCalls = 0; ///< up-calls on the way with fewest of them
  unsigned MaxCost = 0;    ///< operations, on the way with most
  bool AnyNumber = false;  ///< calls or up-calls are in a loop of it
};

class Estimate {
public:
  Estimate(const Selection &Sel, LoopInfo &LI, const Function &Source)
      : LI(LI) {
    for (const Block &B : Sel.C.Blocks)
      for (const Inst &I : B.Insts) {
        Ways &W = Of[B.Source];
        if (I.Op == COSY_OP_SYS || I.Op == COSY_OP_LIBC) {
          ++W.MaxCalls;
          W.MaxSaved += mostSaved(I);
        } else if (I.Op == COSY_OP_UPCALL) {
          ++W.MinUpCalls;
        } else if (I.Op == COSY_OP_CALL) {
          W.AnyNumber = true; // a user function: what it saves is not known
        }
        W.MaxCost += operationCost(I);
      }
    unsigned N = 0;
    for (const BasicBlock *BB :
         ReversePostOrderTraversal<const Function *>(&Source)) {
      Order[BB] = N++;
      All.push_back(BB);
    }
  }

  /// Of \p L from where a round begins to where the next one does, or of all if
  /// \p L is null.
  Ways of(const Loop *L) const;

private:
  LoopInfo &LI;
  DenseMap<const BasicBlock *, Ways> Of;
  DenseMap<const BasicBlock *, unsigned> Order;
  std::vector<const BasicBlock *> All;
};

} // namespace

Ways Estimate::of(const Loop *L) const {
  std::vector<const BasicBlock *> Blocks;
  if (!L) {
    Blocks = All;
  } else {
    Blocks.assign(L->block_begin(), L->block_end());
    llvm::sort(Blocks, [&](auto *A, auto *B) {
      return Order.lookup(A) < Order.lookup(B);
    });
  }
  DenseMap<const BasicBlock *, Ways> Until; // to the end of a block
  Ways Result;
  Result.MinUpCalls = ~0u;
  for (const BasicBlock *BB : Blocks) {
    bool First = BB == Blocks.front();
    Ways W;
    W.MinUpCalls = First ? 0 : ~0u;
    for (const BasicBlock *P : predecessors(BB)) {
      if (First || !Order.count(P) || (L && !L->contains(P)))
        continue;
      if (Order.lookup(P) >= Order.lookup(BB)) {
        // A jump back inside; if it is not a loop's, what it repeats is
        // unknown.
        W.AnyNumber |= !LI.isLoopHeader(BB);
        continue;
      }
      const Ways &Before = Until[P];
      W.MaxCalls = std::max(W.MaxCalls, Before.MaxCalls);
      W.MaxSaved = std::max(W.MaxSaved, Before.MaxSaved);
      W.MaxCost = std::max(W.MaxCost, Before.MaxCost);
      W.MinUpCalls = std::min(W.MinUpCalls, Before.MinUpCalls);
    }
    if (W.MinUpCalls == ~0u)
      W.MinUpCalls = 0;
    Ways Own = Of.lookup(BB);
    W.MaxCalls += Own.MaxCalls;
    W.MaxSaved += Own.MaxSaved;
    W.MaxCost += Own.MaxCost;
    W.AnyNumber |= Own.AnyNumber;
    bool Inner = LI.getLoopFor(BB) != L;
    if (!Inner)
      W.MinUpCalls += Own.MinUpCalls;
    else if (Own.MaxCalls || Own.MinUpCalls)
      W.AnyNumber = true;
    Result.AnyNumber |= W.AnyNumber;
    Result.MaxCalls = std::max(Result.MaxCalls, W.MaxCalls);
    Result.MaxSaved = std::max(Result.MaxSaved, W.MaxSaved);
    Result.MaxCost = std::max(Result.MaxCost, W.MaxCost);
    // Where a way ends: at the next round, or at an exit.
    bool Ends =
        L ? is_contained(successors(BB), L->getHeader()) : succ_empty(BB);
    if (Ends)
      Result.MinUpCalls = std::min(Result.MinUpCalls, W.MinUpCalls);
    Until[BB] = W;
  }
  if (Result.MinUpCalls == ~0u)
    Result.MinUpCalls = 0;
  return Result;
}

//===----------------------------------------------------------------------===//
// Explaining it
//===----------------------------------------------------------------------===//

static std::string callsText(const Ways &W) {
  return W.MaxCalls ? "at most " + count(W.MaxCalls, "system call")
                    : std::string("no system call");
}

static void explainLoop(const Region &R, const Loop &L, const Estimate &E,
                        const UpCallList &UpCalls) {
  Ways W = E.of(&L);
  DebugLoc Loc = L.getStartLoc();
  if (!W.MaxCalls && !W.MinUpCalls)
    return;
  remark<OptimizationRemarkAnalysis>(R, Loc, "Loop", [&](auto &Rem) {
    int Gain = int(W.MaxCalls * CallSaves) - int(W.MaxCost) -
               int(W.MinUpCalls * UpCallCost);
    Rem << "a round of this loop makes " << ore::NV("SystemCalls", callsText(W))
        << (W.AnyNumber ? ", if loops inside go round once" : "")
        << ", to save about " << ore::NV("Saved", W.MaxCalls * CallSaves)
        << " instructions; its operations cost up to "
        << ore::NV("Operations", W.MaxCost);
    if (W.MinUpCalls)
      Rem << ", at least " << ore::NV("UpCalls", count(W.MinUpCalls, "up-call"))
          << " about " << ore::NV("UpCallCost", W.MinUpCalls * UpCallCost);
    if (!W.AnyNumber)
      Rem << (Gain >= 0 ? "; as a compound it takes about "
                        : "; as a compound it takes up to ")
          << ore::NV("Difference", unsigned(std::abs(Gain)))
          << (Gain >= 0 ? " less" : " more");
  });
  if (W.AnyNumber || W.MaxSaved >= W.MinUpCalls * UpCallCost)
    return;
  for (const UpCall &U : UpCalls.Calls)
    if (L.contains(U.Insts.front()) && !isUserFunctionCall(*U.Culprit)) {
      reportWarning(Warning::UpCallInLoop, *R.Host,
                    U.Culprit->getDebugLoc() ? U.Culprit->getDebugLoc().get()
                                             : R.Loc,
                    "each round of this loop leaves the kernel, here for the " +
                        describe(*U.Culprit) + ", and makes " + callsText(W) +
                        ": it takes longer than natively; move that out of the "
                        "loop, or the loop out of the region");
      return;
    }
}

void explainProfit(const Region &R, const Selection &Sel,
                   const UpCallList &UpCalls, LoopInfo &LI) {
  Estimate E(Sel, LI, *R.Source);
  Ways W = E.of(nullptr);
  remark<OptimizationRemarkAnalysis>(R, R.Loc, "Region", [&](auto &Rem) {
    Rem << "entering and leaving costs about " << ore::NV("Entry", EntryCost)
        << " instructions, a system call saves about "
        << ore::NV("Saved", CallSaves) << "; the region makes "
        << ore::NV("SystemCalls", callsText(W));
    if (W.AnyNumber)
      Rem << " if its loops go round once, and its operations then cost up to ";
    else
      Rem << ", and its operations cost up to ";
    Rem << ore::NV("Operations", W.MaxCost);
  });
  if (!W.AnyNumber && W.MaxCalls &&
      W.MaxSaved < EntryCost + W.MinUpCalls * UpCallCost) {
    std::string Also;
    if (W.MinUpCalls)
      Also = " and at least " + count(W.MinUpCalls, "up-call");
    reportWarning(Warning::FewCalls, *R.Host, R.Loc,
                  "region makes " + callsText(W) + Also +
                      " each time it is entered: as a compound it takes longer "
                      "than natively; take the loop around it into the region, "
                      "or keep it native by COSY_START_NATIVE");
  }
  for (const Loop *L : LI.getLoopsInPreorder())
    explainLoop(R, *L, E, UpCalls);
}

std::string upCallAdvice(const Instruction &I) {
  std::string Cost = "it costs about " + std::to_string(UpCallCost) +
                     " instructions, what " +
                     std::to_string((UpCallCost + CallSaves - 1) / CallSaves) +
                     " system calls save; ";
  if (outlinedPieceOf(I))
    return Cost + "do it before or behind the region";
  auto *CB = dyn_cast<CallBase>(&I);
  if (!CB)
    return Cost + (I.isAtomic() ? "plain and relaxed accesses are operations"
                                : "do it before or behind the region");
  const Function *F = CB->getCalledFunction();
  if (CB->isInlineAsm())
    return Cost + "do it before or behind the region";
  if (!F)
    return Cost + "a call by name can be taken into the region";
  if (!F->isDeclaration())
    return Cost +
           "a function is taken into the region if it is small, neither "
           "recursive nor variadic, and nothing in it is tied to its frame";
  StringRef Name = F->getName();
  if (LibcFunction LF = findLibcFunction(Name); LF.Call)
    return Cost + (LF.Call->Nested ? "with these arguments it is not only a "
                                     "system call"
                                   : "this system call cannot be made inside "
                                     "another; make it outside of the region");
  if (Name.contains("printf") || Name.contains("put") || Name == "perror" ||
      Name == "fwrite" || Name == "fflush" || Name.starts_with("err") ||
      Name.starts_with("warn"))
    return Cost +
           "collect what there is to say, and print it behind the region";
  if (Name.contains("alloc") || Name == "free" || Name == "strdup" ||
      Name.starts_with("_Zn") || Name.starts_with("_Zd"))
    return Cost + "allocate before the region, and free behind it";
  if (Name.ends_with("_chk"))
    return Cost + "without _FORTIFY_SOURCE it may be an operation";
  return Cost +
         "call it before or behind the region; a function defined in this "
         "file can be taken in";
}

} // namespace cosy
