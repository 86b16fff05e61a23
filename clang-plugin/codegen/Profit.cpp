// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Profit.cpp - The gain of a region ----------------------------------===//
#include "codegen/Profit.h"
#include "body/FastPaths.h"
#include "body/IndirectCalls.h"
#include "body/LibraryCalls.h"
#include "body/OneUpCall.h"
#include "body/Outline.h"
#include "region/Remark.h"
#include "support/Costs.h"
#include "support/Diagnostics.h"
#include "support/Names.h"
#include "support/SystemCalls.h"
#include "support/UserFunctions.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/CFG.h"

#include <cosy/calls.h>

#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace cosy {

/// Returns the cost of \p I as an operation, beyond its native cost.
static unsigned operationCost(const Inst &I) {
  switch (I.Op) {
  case COSY_OP_LOAD:
  case COSY_OP_STORE:
  case COSY_OP_CMPXCHG:
    return MemoryCost;
  case COSY_OP_LOOP:
    return LoopCost;
  case COSY_OP_SYS:
  case COSY_OP_LIBC:
  case COSY_OP_UPCALL:
  case COSY_OP_CALL:
  case COSY_OP_EXIT:
    return 0; // counted separately
  default:
    return OperationCost;
  }
}

/// Returns the cost of \p I if it is an operation on many bytes; else 0.
static unsigned bulkCost(const Inst &I) {
  switch (I.Op) {
#define OPERATION(Name, Cost)                                                  \
  case COSY_OP_##Name:                                                         \
    return Cost;
    COSY_BULK_COSTS(OPERATION)
#undef OPERATION
  default:
    return 0;
  }
}

/// Returns the maximum that the system call \p I saves.
static unsigned maxSaved(const Inst &I) {
  const SystemCall *Call = findSystemCall(I.Imm);
  if (!Call)
    return CallSaves;
  if (Call->Args.contains('s'))
    return Call->Args.count('s') * NameCallSaves;
#define FILE_CALL(Name) .Case(#Name, FileCallSaves)
  return StringSwitch<unsigned>(Call->Name) COSY_FILE_CALLS(FILE_CALL).Default(
      CallSaves);
#undef FILE_CALL
}

/// Returns true if \p I is a system call named \p Name.
static bool isCallOf(const Inst &I, StringRef Name) {
  if (I.Op != COSY_OP_SYS && I.Op != COSY_OP_LIBC)
    return false;
  const SystemCall *Call = findSystemCall(I.Imm);
  return Call && Call->Name == Name;
}

/// Returns argument \p N of the system call \p I if it is a constant.
static std::optional<int64_t> constantArgument(const Inst &I, unsigned N) {
  if (N >= I.Ops.size() || I.Ops[N].R != NoReg)
    return std::nullopt;
  return I.Ops[N].Imm;
}

/// Returns true if \p I sets the position in a file, other than to its end.
static bool seeksInside(const Inst &I) {
  return isCallOf(I, "lseek") && constantArgument(I, 2) != SEEK_END;
}

/// Returns true if \p I opens a file in a way for which the module walks its
/// path as the kernel does: COSY_PRELOAD_WALKS().
static bool walksToOpen(const Inst &I) {
  bool HasDirectory = isCallOf(I, "openat");
  if (!HasDirectory && !isCallOf(I, "open"))
    return false;
  std::optional<int64_t> Flags = constantArgument(I, HasDirectory ? 2 : 1);
  return Flags && COSY_PRELOAD_WALKS(*Flags);
}

/// Returns true if \p I is a call of programs that read pipes or connections.
static bool waits(const Inst &I) {
  for (StringRef Name : {"accept", "accept4", "epoll_pwait", "epoll_pwait2",
                         "epoll_wait", "poll", "ppoll", "pselect6", "recvfrom",
                         "recvmsg", "select", "sendmsg", "sendto"})
    if (isCallOf(I, Name))
      return true;
  return false;
}

/// Returns what the system call \p I usually saves. A write extends its file
/// unless the compound \p Seeks. What is read and written is no file if the
/// compound \p Waits.
static unsigned usualSaving(const Inst &I, bool Seeks, bool Waits) {
  const SystemCall *Call = findSystemCall(I.Imm);
  if (!Call || I.Hints & COSY_HINT_PLAIN)
    return CallSaves;
  if (Waits && (isCallOf(I, "read") || isCallOf(I, "write")))
    return StreamCallSaves;
  if (!Seeks && isCallOf(I, "write"))
    return CallSaves;
  if (I.Hints & COSY_HINT_JOIN)
    return JoinedSeekSaves;
  return walksToOpen(I) ? WalkedOpenSaves : usualCallSaves(Call->Name);
}

/// Returns what native code also saves for \p I, if it makes it as a single
/// call through the module.
static unsigned singleSaving(const Inst &I) {
  const SystemCall *Call = findSystemCall(I.Imm);
  if (!Call)
    return 0;
  return walksToOpen(I) ? WalkSaves : singleCallSaves(Call->Name);
}

//===----------------------------------------------------------------------===//
// Paths through a region
//===----------------------------------------------------------------------===//

namespace {

/// Bounds over all paths through a piece of code. Each figure is the maximum or
/// the minimum over all paths.
struct PathBounds {
  unsigned MaxCalls = 0; ///< system calls
  unsigned MinCalls = 0;
  unsigned MaxSaved = 0;  ///< by system calls, with all possible fast paths
  unsigned MaxUsual = 0;  ///< by system calls, in the usual case
  unsigned MaxSingle = 0; ///< also saved by native code: singleSaving()
  unsigned MinUpCalls = 0;
  unsigned MaxUpCalls = 0;
  unsigned UsualUpCalls = 0; ///< without those that are unlikely
  unsigned MaxPublish = 0;   ///< the cost of files that up-calls make public
  unsigned UsualPublish = 0;
  unsigned MaxCost = 0;   ///< of operations
  unsigned UsualCost = 0; ///< the same, as often as they are executed
  bool AnyNumber = false; ///< it contains a loop with calls or up-calls

  /// Extends the maxima by those of another path.
  void extendMaxima(const PathBounds &Other) {
    MaxCalls = std::max(MaxCalls, Other.MaxCalls);
    MaxSaved = std::max(MaxSaved, Other.MaxSaved);
    MaxUsual = std::max(MaxUsual, Other.MaxUsual);
    MaxSingle = std::max(MaxSingle, Other.MaxSingle);
    MaxCost = std::max(MaxCost, Other.MaxCost);
    UsualCost = std::max(UsualCost, Other.UsualCost);
    MaxUpCalls = std::max(MaxUpCalls, Other.MaxUpCalls);
    UsualUpCalls = std::max(UsualUpCalls, Other.UsualUpCalls);
    MaxPublish = std::max(MaxPublish, Other.MaxPublish);
    UsualPublish = std::max(UsualPublish, Other.UsualPublish);
  }
  /// Extends the minima by those of another path.
  void extendMinima(const PathBounds &Other) {
    MinCalls = std::min(MinCalls, Other.MinCalls);
    MinUpCalls = std::min(MinUpCalls, Other.MinUpCalls);
  }

  /// The largest and the smallest gain; a loss is negative.
  int best() const { return int(MaxSaved) - int(MinUpCalls * UpCallCost); }
  int usual() const {
    return int(MaxUsual) - int(UsualCost) - int(UsualPublish) -
           int(std::max(UsualUpCalls, MinUpCalls) * UpCallCost);
  }
  /// The usual gain compared with native code that makes single calls through
  /// the module.
  int usualBeyondSingle() const { return usual() - int(MaxSingle); }
  int worst() const {
    return int(MinCalls * CallSaves) - int(MaxCost) - int(MaxPublish) -
           int(MaxUpCalls * UpCallCost);
  }
};

/// Returns true if \p Is holds for a call of \p Sel.
template <typename Fn> bool anyCall(const Selection &Sel, Fn Is) {
  return any_of(Sel.C.Blocks,
                [&](const Block &B) { return any_of(B.Insts, Is); });
}

class Estimate {
public:
  Estimate(const Selection &Sel, LoopInfo &LI, BlockFrequencyInfo &BFI,
           ScalarEvolution &SE, const Function &Body)
      : LI(LI), BFI(BFI), SE(SE) {
    bool Seeks = anyCall(Sel, seeksInside);
    bool Waits = anyCall(Sel, waits);
    for (const Block &B : Sel.C.Blocks)
      for (const Inst &I : B.Insts) {
        PathBounds &W = Of[B.Source];
        if (I.Op == COSY_OP_SYS || I.Op == COSY_OP_LIBC) {
          ++W.MaxCalls;
          ++W.MinCalls;
          unsigned Usual = usualSaving(I, Seeks, Waits);
          W.MaxUsual += Usual;
          W.MaxSaved += std::max(maxSaved(I), Usual);
          W.MaxSingle += singleSaving(I);
        } else if (I.Op == COSY_OP_UPCALL) {
          ++W.MinUpCalls;
          ++W.MaxUpCalls;
        } else if (I.Op == COSY_OP_CALL) {
          W.AnyNumber = true; // a user function, whose saving is not known
        }
        unsigned Bulk = bulkCost(I);
        W.MaxCost += Bulk ? Bulk : operationCost(I);
      }
    for (const BasicBlock &BB : Body)
      for (const Instruction &I : BB)
        if (publishesFile(I))
          Of[&BB].MaxPublish += PublishCost;
    unsigned N = 0;
    for (const BasicBlock *BB :
         ReversePostOrderTraversal<const Function *>(&Body)) {
      Order[BB] = N++;
      All.push_back(BB);
    }
  }

  /// Returns the bounds of one iteration of \p L, or of the whole code if \p L
  /// is null.
  PathBounds of(const Loop *L) const;

private:
  double timesPerIteration(const BasicBlock *BB, const Loop *L,
                           const BasicBlock *Header) const;

  LoopInfo &LI;
  BlockFrequencyInfo &BFI;
  ScalarEvolution &SE;
  DenseMap<const BasicBlock *, PathBounds> Of;
  DenseMap<const BasicBlock *, unsigned> Order;
  std::vector<const BasicBlock *> All;
};

} // namespace

/// Returns how often \p BB is executed in an iteration of \p L, which begins
/// with \p Header. LLVM assumes the same trip count for all loops.
double Estimate::timesPerIteration(const BasicBlock *BB, const Loop *L,
                                   const BasicBlock *Header) const {
  auto Frequency = [&](const BasicBlock *BB) {
    return double(std::max<uint64_t>(BFI.getBlockFreq(BB).getFrequency(), 1));
  };
  double Times = Frequency(BB) / Frequency(Header);
  for (const Loop *Inner = LI.getLoopFor(BB); Inner != L;
       Inner = Inner->getParentLoop()) {
    const BasicBlock *Before = Inner->getLoopPreheader();
    if (unsigned Trips = Before ? SE.getSmallConstantTripCount(Inner) : 0)
      Times *= Trips * Frequency(Before) / Frequency(Inner->getHeader());
  }
  return Times;
}

PathBounds Estimate::of(const Loop *L) const {
  std::vector<const BasicBlock *> Blocks;
  if (!L) {
    Blocks = All;
  } else {
    Blocks.assign(L->block_begin(), L->block_end());
    llvm::sort(Blocks, [&](auto *A, auto *B) {
      return Order.lookup(A) < Order.lookup(B);
    });
  }
  DenseMap<const BasicBlock *, PathBounds> AtEnd;
  PathBounds Result;
  Result.MinUpCalls = Result.MinCalls = ~0u;
  for (const BasicBlock *BB : Blocks) {
    bool First = BB == Blocks.front();
    PathBounds W;
    W.MinUpCalls = W.MinCalls = First ? 0 : ~0u;
    for (const BasicBlock *P : predecessors(BB)) {
      if (First || !Order.count(P) || (L && !L->contains(P)))
        continue;
      if (Order.lookup(P) >= Order.lookup(BB)) {
        // A back-edge. If it is not that of a loop, the number of iterations is
        // unknown.
        W.AnyNumber |= !LI.isLoopHeader(BB);
        continue;
      }
      const PathBounds &Before = AtEnd[P];
      W.extendMaxima(Before);
      W.extendMinima(Before);
    }
    if (W.MinUpCalls == ~0u)
      W.MinUpCalls = W.MinCalls = 0;
    PathBounds Own = Of.lookup(BB);
    W.MaxCalls += Own.MaxCalls;
    W.MaxSaved += Own.MaxSaved;
    W.MaxUsual += Own.MaxUsual;
    W.MaxSingle += Own.MaxSingle;
    W.MaxCost += Own.MaxCost;
    W.AnyNumber |= Own.AnyNumber;
    bool Inner = LI.getLoopFor(BB) != L;
    W.MaxUpCalls += Own.MaxUpCalls;
    W.MaxPublish += Own.MaxPublish;
    // A block is unlikely if less than half of the iterations execute it.
    double Times = timesPerIteration(BB, L, Blocks.front());
    bool Likely = Times >= 0.5;
    W.UsualCost += unsigned(Own.MaxCost * (Likely && Times < 1 ? 1 : Times));
    if (Likely) {
      W.UsualUpCalls += Own.MaxUpCalls;
      W.UsualPublish += Own.MaxPublish;
    }
    if (!Inner) {
      W.MinUpCalls += Own.MinUpCalls;
      W.MinCalls += Own.MinCalls;
    } else if (Own.MaxCalls || Own.MinUpCalls) {
      W.AnyNumber = true;
    }
    Result.AnyNumber |= W.AnyNumber;
    Result.extendMaxima(W);
    // A path ends at the back-edge, or at an exit.
    bool Ends =
        L ? is_contained(successors(BB), L->getHeader()) : succ_empty(BB);
    if (Ends)
      Result.extendMinima(W);
    AtEnd[BB] = W;
  }
  if (Result.MinUpCalls == ~0u)
    Result.MinUpCalls = Result.MinCalls = 0;
  return Result;
}

//===----------------------------------------------------------------------===//
// Remarks and warnings
//===----------------------------------------------------------------------===//

static std::string callsText(const PathBounds &W) {
  return W.MaxCalls ? "at most " + count(W.MaxCalls, "system call")
                    : std::string("no system call");
}

static std::string upCallsText(const PathBounds &W) {
  if (W.MinUpCalls == W.MaxUpCalls)
    return count(W.MaxUpCalls, "up-call");
  return std::to_string(W.MinUpCalls) + " to " + count(W.MaxUpCalls, "up-call");
}

/// \returns "100 less" or "100 more".
static std::string gainText(int Gain) {
  return std::to_string(std::abs(Gain)) + (Gain >= 0 ? " less" : " more");
}

/// Appends the gain of \p What, of which \p Entry has to be subtracted.
static void explainGain(OptimizationRemarkAnalysis &Rem, const PathBounds &W,
                        StringRef What, int Entry) {
  Rem << "; as a compound " << What << " usually takes "
      << ore::NV("Usually", gainText(W.usual() - Entry)) << " ("
      << ore::NV("Best", gainText(W.best() - Entry)) << " to "
      << ore::NV("Worst", gainText(W.worst() - Entry)) << ")";
}

/// Appends what native code gains by itself.
static void explainSingle(OptimizationRemarkAnalysis &Rem,
                          const PathBounds &W) {
  if (W.MaxSingle)
    Rem << "; its native code saves up to "
        << ore::NV("SavedSingly", W.MaxSingle)
        << " by single calls through the module";
}

/// Returns true if \p L and the loop around it are one loop in the source. LLVM
/// splits a loop with `continue` into two.
static bool isPartOfLoop(const Loop &L) {
  const Loop *Outer = L.getParentLoop();
  return Outer && L.getStartLoc() && L.getStartLoc() == Outer->getStartLoc();
}

static void explainLoop(const Region &R, const Loop &L, const Estimate &E,
                        const UpCallList &UpCalls) {
  if (isPartOfLoop(L))
    return;
  PathBounds W = E.of(&L);
  DebugLoc Loc = L.getStartLoc();
  if (!W.MaxCalls && !W.MaxUpCalls)
    return;
  remark<OptimizationRemarkAnalysis>(R, Loc, "Loop", [&](auto &Rem) {
    Rem << "an iteration of this loop makes "
        << ore::NV("SystemCalls", callsText(W))
        << (W.AnyNumber ? ", if inner loops iterate once" : "")
        << ", to save about " << ore::NV("Saved", W.MaxCalls * CallSaves);
    if (W.MaxSaved > W.MaxCalls * CallSaves)
      Rem << ", with fast paths up to " << ore::NV("FastSaved", W.MaxSaved);
    Rem << " instructions; its operations cost up to "
        << ore::NV("Operations", W.MaxCost + W.MaxPublish);
    if (W.MaxUpCalls)
      Rem << ", its " << ore::NV("UpCalls", upCallsText(W)) << " about "
          << ore::NV("UpCallCost", W.MaxUpCalls * UpCallCost);
    if (!W.AnyNumber)
      explainGain(Rem, W, "it", 0);
    explainSingle(Rem, W);
  });
  // Without up-calls, libcosy decides, because calls differ much.
  bool Loses = W.MaxSaved < W.MinUpCalls * UpCallCost;
  if (W.AnyNumber || !W.MinUpCalls || (!Loses && W.usualBeyondSingle() >= 0))
    return;
  for (const UpCall &U : UpCalls.Calls)
    if (L.contains(U.Insts.front()) && !isUserFunctionCall(*U.Culprit)) {
      reportWarning(
          Warning::UpCallInLoop, *R.Host,
          U.Culprit->getDebugLoc() ? U.Culprit->getDebugLoc().get() : R.Loc,
          "each iteration of this loop leaves the kernel, here for the " +
              describe(*U.Culprit) + ", and makes " + callsText(W) + ": it " +
              (Loses ? "" : "usually ") +
              "takes longer than natively; move that out of the "
              "loop, or the loop out of the region");
      return;
    }
}

void explainProfit(const Region &R, const Selection &Sel,
                   const UpCallList &UpCalls, LoopInfo &LI,
                   BlockFrequencyInfo &BFI, ScalarEvolution &SE) {
  Estimate E(Sel, LI, BFI, SE, *R.Body);
  PathBounds W = E.of(nullptr);
  remark<OptimizationRemarkAnalysis>(R, R.Loc, "Region", [&](auto &Rem) {
    Rem << "entering and leaving costs about " << ore::NV("Entry", EntryCost)
        << " instructions, a system call saves about "
        << ore::NV("Saved", CallSaves) << "; the region makes "
        << ore::NV("SystemCalls", callsText(W));
    if (W.AnyNumber)
      Rem << " if its loops iterate once, and its operations then cost up to ";
    else
      Rem << ", and its operations cost up to ";
    Rem << ore::NV("Operations", W.MaxCost + W.MaxPublish);
    if (W.AnyNumber)
      return;
    if (W.MaxUpCalls)
      Rem << ", its " << ore::NV("UpCalls", upCallsText(W)) << " about "
          << ore::NV("UpCallCost", W.MaxUpCalls * UpCallCost);
    explainGain(Rem, W, "the region", EntryCost);
    explainSingle(Rem, W);
  });
  bool Loses = W.MaxSaved < EntryCost + W.MinUpCalls * UpCallCost;
  bool UsuallyLoses = W.usualBeyondSingle() < int(EntryCost);
  if (!W.AnyNumber && W.MaxCalls && (Loses || UsuallyLoses)) {
    std::string Also;
    if (W.MinUpCalls)
      Also = " and at least " + count(W.MinUpCalls, "up-call");
    reportWarning(
        Warning::FewCalls, *R.Host, R.Loc,
        "region makes " + callsText(W) + Also +
            " each time it is entered: as a compound it " +
            (Loses ? "" : "usually ") + "takes longer than " +
            (Loses || W.usual() < int(EntryCost)
                 ? "natively; "
                 : "single calls through the module, which its native code "
                   "makes; ") +
            (W.MinUpCalls ? "move what leaves the kernel out of it, " : "") +
            "take the loop around it into the region, or keep it "
            "native by COSY_START_NATIVE");
  }
  for (const Loop *L : LI.getLoopsInPreorder())
    explainLoop(R, *L, E, UpCalls);
}

/// \returns the remedy for a call of the C library's function \p Name in \p
/// Around, or an empty string.
static std::string libraryAdvice(StringRef Name, const std::string &Around) {
  if (Name.starts_with("readdir"))
    return "read the directory by getdents64, or collect its names by "
           "COSY_BATCH or cosy_dir_read";
  if (Name == "dirfd" || Name == "fileno")
    return "its result does not change: call it before the " + Around;
  if (Name.contains("printf") || Name.contains("put") || Name == "perror" ||
      Name == "fwrite" || Name == "fflush" || Name.starts_with("err") ||
      Name.starts_with("warn"))
    return "collect the output, and print it after the " + Around;
  if (Name.contains("alloc") || Name == "free" || Name == "strdup" ||
      Name.starts_with("_Zn") || Name.starts_with("_Zd"))
    return "allocate before the " + Around + ", and free after it";
  if (Name.ends_with("_chk"))
    return "without _FORTIFY_SOURCE it may be an operation";
  return "call it before or after the " + Around +
         "; a function defined in this file, or with cosy-cc -flto in another, "
         "can be taken in";
}

std::string upCallAdvice(const Instruction &I, bool IsAsync) {
  std::string Around = IsAsync ? "function" : "region";
  std::string Cost = "it costs about " + std::to_string(UpCallCost) +
                     " instructions, what " +
                     std::to_string((UpCallCost + CallSaves - 1) / CallSaves) +
                     " system calls save; ";
  std::string Elsewhere = Cost + "do it before or after the " + Around;
  if (outlinedPieceOf(I))
    return Elsewhere;
  auto *CB = dyn_cast<CallBase>(&I);
  if (!CB)
    return I.isAtomic() ? Cost + "atomic accesses to aligned integers and "
                                 "pointers are operations"
                        : Elsewhere;
  const Function *F = CB->getCalledFunction();
  if (CB->isInlineAsm())
    return Elsewhere;
  if (!F && !comparedWith(*CB).empty())
    return Cost + "a profile can name the functions that are called most";
  if (!F)
    return Cost + "a call by name can be taken into the " + Around +
           ", and so can calls of few small functions of this type";
  if (!F->isDeclaration() && isCheaperAsOneUpCall(*F))
    return Cost + "taken into the " + Around +
           ", its own calls would cost as much or more";
  if (!F->isDeclaration())
    return Cost + "a function is taken into the " + Around +
           " if it is small, neither recursive nor variadic, and nothing in it "
           "is tied to its frame";
  LibcFunction LF = findLibcFunction(F->getName());
  if (LF.Call && !libraryFunction(*CB))
    return Cost + "it is not taken for the C library's function: it is "
                  "declared differently, or -fno-builtin or COSY_OWN says so";
  if (LF.Call && LF.Call->Nested && CB->hasFnAttr(ThinAttribute))
    return Cost + "only with arguments with which it is not only a system call";
  if (LF.Call && LF.Call->Nested)
    return Cost + "with these arguments it is not only a system call";
  if (LF.Call)
    return Cost +
           "this system call cannot be made inside another; make it "
           "outside of the " +
           Around;
  return Cost + libraryAdvice(F->getName(), Around);
}

//===----------------------------------------------------------------------===//
// Parts of COSY_ASYNC functions
//===----------------------------------------------------------------------===//

/// \returns the name of the call that \p I makes to wait for a request, or to
/// answer it; or an empty string.
static StringRef callOfRequest(const Inst &I) {
  if (I.Op != COSY_OP_SYS && I.Op != COSY_OP_LIBC)
    return "";
  const SystemCall *Call = findSystemCall(I.Imm);
  return Call && cosy_call_parks(I.Imm) && Call->Name != "close"
             ? StringRef(Call->Name)
             : StringRef();
}

void judgePart(Region &R, const Selection &Sel, BlockFrequencyInfo &BFI) {
  uint64_t Requests = 0; // the frequency of the most frequent receive
  bool Answers = false;
  for (const Block &B : Sel.C.Blocks) {
    for (const Inst &I : B.Insts) {
      StringRef Name = callOfRequest(I);
      if (Name.empty())
        continue;
      if (!Name.starts_with("rec") && !Name.starts_with("read") &&
          !Name.starts_with("accept")) {
        Answers = true;
        continue;
      }
      Requests = std::max(Requests, BFI.getBlockFreq(B.Source).getFrequency());
    }
  }
  if (!Requests && Answers) {
    // The loop that sends the rest of an answer has one iteration.
    R.Loses = true;
    remark<OptimizationRemarkMissed>(R, R.Loc, "PartAnswers", [&](auto &Rem) {
      Rem << "this part runs natively, with an operation of the loop for each "
             "call: it only answers, and its compound would cost more than one "
             "operation; only COSY_EXECUTOR=kernel runs it";
    });
    return;
  }
  if (!Requests)
    return;
  double Operations = 0, UpCalls = 0;
  for (const Block &B : Sel.C.Blocks) {
    double Times =
        double(BFI.getBlockFreq(B.Source).getFrequency()) / double(Requests);
    for (const Inst &I : B.Insts) {
      Operations += Times * operationCost(I);
      if (I.Op != COSY_OP_UPCALL)
        continue;
      // Frequencies are halved by each check of a request, also if it is seldom
      // true. So what comes after a few of them is taken for what each request
      // does: natively, up-calls cost nothing.
      UpCalls += Times >= 1.0 / 64 ? std::max(Times, 1.0) : Times;
    }
  }
  unsigned Cost = Operations + UpCalls * AsyncUpCallCost;
  if (Cost <= MaxAsyncCost)
    return;
  R.Loses = true;
  remark<OptimizationRemarkMissed>(R, R.Loc, "PartLoses", [&](auto &Rem) {
    Rem << "this part runs natively, with an operation of the loop for each "
           "call: its compound would cost about "
        << ore::NV("Cost", Cost) << " instructions for each request";
    if (UpCalls * AsyncUpCallCost >= MaxAsyncCost / 2)
      Rem << ", most of them for up-calls";
    Rem << "; only COSY_EXECUTOR=kernel runs it";
  });
}

} // namespace cosy
