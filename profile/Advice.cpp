//===- Advice.cpp - predict what changes would save -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Advice.h"
#include "Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cosy/costs.h>

#include <algorithm>
#include <set>
#include <tuple>

using namespace llvm;
using namespace cosy;

namespace {

struct Savings {
  double Usual, Near;
};

const StringMap<Savings> &preloadSavings() {
  static const StringMap<Savings> Table = {
#define CALL(name, usual, near) {#name, {usual, near}},
      COSY_PRELOAD_SAVINGS(CALL)
#undef CALL
  };
  return Table;
}

const StringSet<> &fileCalls() {
  static const StringSet<> Table = {
#define CALL(name) #name,
      COSY_FILE_CALLS(CALL)
#undef CALL
  };
  return Table;
}

/// Advice below this part of the CPU time is dropped as noise.
constexpr double MinPart = 0.005;

/// A batch function that can make calls of a loop.
struct BatchMatch {
  const char *Function;
  std::set<std::string> Calls;
  /// Its additional cost for each item.
  double Item = COSY_COST_BATCH_ITEM;
};

std::optional<BatchMatch> matchBatch(const std::set<std::string> &Calls) {
  auto Has = [&](StringRef Name) { return Calls.count(Name.str()) != 0; };
  bool Status = Has("newfstatat") || Has("statx");
  if (Has("openat") && Has("read") && Has("close") && !Has("write"))
    return BatchMatch{"cosy_read_many",
                      {"openat", "read", "close"},
                      COSY_COST_BATCH_ITEM + COSY_COST_READ_MANY};
  if (Has("getdents64") && Status)
    return BatchMatch{"cosy_dir_read", {"getdents64", "newfstatat", "statx"}};
  if (Status)
    return BatchMatch{"cosy_stat_many", {"newfstatat", "statx"}};
  if (Has("unlink") || Has("unlinkat"))
    return BatchMatch{"cosy_unlink_many", {"unlink", "unlinkat"}};
  if (Has("read") && Has("write"))
    return BatchMatch{"cosy_copy_file", {"read", "write"}};
  return std::nullopt;
}

/// Return the sites of \p Loop and of its inner loops.
std::vector<unsigned> allSites(const Executable &Executable, const Loop &Loop) {
  std::vector<unsigned> All = Loop.Sites;
  for (unsigned Inner : Loop.Inner)
    append_range(All, allSites(Executable, Executable.Loops[Inner]));
  return All;
}

/// Return the place of \p Loop in the source, as far as it is known.
std::string placeOf(const Executable &Executable, const Loop &Loop) {
  const SourceLine &Function = Loop.Function;
  if (Function.Line) {
    std::string Where = Function.File + ":" + std::to_string(Function.Line);
    if (Loop.LastLine != Function.Line)
      Where += "-" + std::to_string(Loop.LastLine);
    return Where + ", function " + Function.Function;
  }
  if (!Function.Function.empty())
    return Executable.name().str() + ", function " + Function.Function +
           " (compile with -g to see lines)";
  return Executable.name().str() + ", place unknown";
}

/// Return the number of iterations of \p Loop, and the calls of each.
std::string contentsOf(const Executable &Executable, const Loop &Loop) {
  std::vector<std::string> Calls;
  for (unsigned Node : Loop.Sites) {
    const Site &Site = Executable.Sites[Node];
    uint64_t Times = (Site.Sum.count + Loop.Iterations / 2) /
                     std::max<uint64_t>(1, Loop.Iterations);
    Calls.push_back(Site.Syscall +
                    (Times > 1 ? " x" + std::to_string(Times) : ""));
  }
  return countText(Loop.Iterations) + " iterations of " + join(Calls, ", ");
}

} // namespace

Adviser::Adviser(const cosy::Profile &Profile)
    : Profile(Profile), Scale(Profile.Machine.Status / COSY_STATUS_CALL) {
  adviseRun();
  for (unsigned E = 0; E < Profile.Executables.size(); ++E)
    for (unsigned L = 0; L < Profile.Executables[E].Loops.size(); ++L)
      adviseLoop(E, L);
  double MinNs = MinPart * Profile.CpuNs;
  llvm::erase_if(All, [&](const Advice &Advice) {
    return Advice.Kind != Advice::Run && Advice.SavedNs < MinNs &&
           Advice.SavedNs > -MinNs;
  });
  llvm::sort(All, [](const Advice &A, const Advice &B) {
    return std::make_tuple(-A.SavedNs, A.Kind, A.Executable, A.Loop) <
           std::make_tuple(-B.SavedNs, B.Kind, B.Executable, B.Loop);
  });
}

double Adviser::savedByRun(const Executable &Executable,
                           const Site &Site) const {
  auto Found = preloadSavings().find(Site.Syscall);
  if (!Site.Interposed || !Executable.Preloadable || Executable.Preloaded ||
      Found == preloadSavings().end() || !Site.Sum.count)
    return 0;
  const Savings &Savings = Found->second;
  double Count = Site.Sum.count;
  // The module does not make calls with an empty path. Failed calls save the
  // same with one component as with several.
  double Failed =
      std::min<double>(Site.Sum.failed, Count - Site.Sum.empty_path);
  double Good = Count - Site.Sum.empty_path - Failed;
  double Near = std::min<double>(Site.Sum.one_component, Good);
  double Saved = Failed * COSY_PRELOAD_FAILED_SAVES + Near * Savings.Near +
                 (Good - Near) * Savings.Usual;
  return nanoseconds(Saved / Count);
}

double Adviser::savedByRun(const Executable &Executable) const {
  if (!Executable.Preloadable || Executable.Preloaded)
    return 0;
  double Saved = 0, Calls = 0;
  for (const Site &Site : Executable.Sites) {
    if (double Each = savedByRun(Executable, Site)) {
      Saved += Each * Site.Sum.count;
      Calls += Site.Sum.count - Site.Sum.empty_path;
    }
  }
  // The first calls are native, and opening the device costs as much as they
  // would have saved.
  double Lost =
      2.0 * COSY_PRELOAD_NATIVE_CALLS * (Executable.Runs + Executable.Forks);
  Saved *= Calls > Lost ? (Calls - Lost) / Calls : 0;
  return Saved - nanoseconds(COSY_PRELOAD_START) * Executable.Runs;
}

double Adviser::savedInCompound(const Site &Site) const {
  double Count = Site.Sum.count;
  if (!Count)
    return 0;
  double Each = COSY_CALL_SAVES;
  auto Found = preloadSavings().find(Site.Syscall);
  if (Found != preloadSavings().end()) {
    double Named = (Count - Site.Sum.empty_path) / Count;
    double Near = std::min(Site.Sum.one_component / Count, Named);
    Each += Near * Found->second.Near + (Named - Near) * Found->second.Usual;
  } else if (fileCalls().contains(Site.Syscall)) {
    Each = COSY_FILE_CALL_USUALLY_SAVES;
  }
  return Each;
}

double Adviser::userInstructions(const Transition &Transition) const {
  return std::max(0.0,
                  instructions(double(Transition.UserNs) / Transition.Count -
                               Profile.Machine.RecordedUser));
}

void Adviser::adviseRun() {
  Advice New;
  New.Kind = Advice::Run;
  New.Title = "cosy run";
  std::vector<std::pair<double, std::string>> ByCall;
  bool Already = false;
  uint64_t LeftAlone = 0;
  for (const Executable &Executable : Profile.Executables) {
    New.SavedNs += savedByRun(Executable);
    Already |= Executable.Preloaded;
    if (!Executable.Preloadable)
      LeftAlone += Executable.Runs;
    std::map<std::string, std::pair<uint64_t, double>> Sums;
    for (const Site &Site : Executable.Sites)
      if (double Each = savedByRun(Executable, Site)) {
        Sums[Site.Syscall].first += Site.Sum.count - Site.Sum.empty_path;
        Sums[Site.Syscall].second += Each * Site.Sum.count;
      }
    for (const auto &[Name, Sum] : Sums)
      ByCall.push_back({Sum.second, countText(Sum.first) + " " + Name + " of " +
                                        Executable.name().str()});
  }
  llvm::sort(ByCall, std::greater<>());
  std::vector<std::string> Calls;
  for (const auto &[Saved, Text] : ByCall)
    if (Calls.size() < 3)
      Calls.push_back(Text);
  if (Already)
    New.Details.push_back("it runs under cosy run already");
  else if (Calls.empty())
    New.Details.push_back("none of its calls gains");
  else
    New.Details.push_back("without rebuilding; " + join(Calls, ", "));
  if (LeftAlone && !Already)
    New.Details.push_back(
        "no change for " + countText(LeftAlone) +
        " programs into which cosy run cannot preload a library");
  All.push_back(std::move(New));
}

void Adviser::adviseLoop(unsigned ExecutableIndex, unsigned LoopIndex) {
  const Executable &Executable = Profile.Executables[ExecutableIndex];
  const Loop &Loop = Executable.Loops[LoopIndex];
  if (Loop.Sites.empty())
    return;
  Advice About;
  About.Executable = ExecutableIndex;
  About.Loop = LoopIndex;
  About.Details = {placeOf(Executable, Loop), contentsOf(Executable, Loop)};
  adviseMarkers(Executable, Loop, About);
  adviseBatch(Executable, Loop, About);
}

/// Markers save at the calls, and cost at the code between them.
void Adviser::adviseMarkers(const Executable &Executable, const Loop &Loop,
                            Advice Markers) {
  double Saved = -double(Loop.Entries) * COSY_COST_ENTRY -
                 double(Loop.Iterations) * COSY_COST_LOOP;
  for (unsigned Node : Loop.Sites)
    Saved += Executable.Sites[Node].Sum.count *
             savedInCompound(Executable.Sites[Node]);
  double UserTotal = 0, UserCount = 0;
  uint64_t UpCalls = 0;
  for (const Transition &Transition : Executable.Transitions) {
    if (!Transition.From || !is_contained(Loop.Sites, Transition.To) ||
        !Transition.Count)
      continue;
    double User = userInstructions(Transition);
    UserTotal += User * Transition.Count;
    UserCount += Transition.Count;
    double AsOperations = User * COSY_COST_OPERATION;
    // Functions of other files run as up-calls.
    if (AsOperations < COSY_COST_UPCALL && Loop.InOneFile) {
      Saved -= AsOperations * Transition.Count;
    } else {
      Saved -= COSY_COST_UPCALL * Transition.Count;
      UpCalls += Transition.Count;
    }
  }

  Markers.Kind = Advice::Markers;
  Markers.SavedNs = nanoseconds(Saved);
  Markers.Title = "markers around the loop";
  Markers.Details.back() +=
      "; user code between calls: " +
      countText(uint64_t(UserCount ? UserTotal / UserCount : 0)) +
      " instructions on average";
  if (Saved < 0) {
    Markers.Title = "no markers around this loop: they would lose";
    Markers.Details.push_back(
        "the code between the calls would leave the kernel " +
        countText(UpCalls) +
        " times; collect the names first, then make the calls");
  } else if (unsigned First = Loop.Function.Line) {
    std::string Lines = "COSY_START; before the loop that contains line " +
                        std::to_string(First) + ", COSY_END; after it";
    if (Loop.LastLine != First)
      Lines += ", which contains line " + std::to_string(Loop.LastLine);
    Markers.Details.push_back(Lines + "; see cosy-cc(1)");
  }
  All.push_back(std::move(Markers));
}

/// A batch function makes the calls of many iterations in one entry.
void Adviser::adviseBatch(const Executable &Executable, const Loop &Loop,
                          Advice Batch) {
  std::vector<unsigned> Sites = Loop.Sites;
  uint64_t Items = Loop.Iterations;
  std::set<std::string> Calls;
  for (unsigned Node : Sites)
    Calls.insert(Executable.Sites[Node].Syscall);
  // If an iteration reads a directory, inner loops process the entries.
  if (Calls.count("getdents64")) {
    Sites = allSites(Executable, Loop);
    for (unsigned Node : ArrayRef(Sites).drop_front(Loop.Sites.size())) {
      // The advice is for the inner loop then.
      if (Executable.Sites[Node].Syscall == "getdents64")
        return;
      Calls.insert(Executable.Sites[Node].Syscall);
    }
    for (unsigned Inner : Loop.Inner)
      Items += Executable.Loops[Inner].Iterations;
  }
  std::optional<BatchMatch> Match = matchBatch(Calls);
  if (!Match)
    return;
  double Saved = -double(Loop.Entries) * COSY_COST_ENTRY;
  for (unsigned Node : Sites) {
    const Site &Site = Executable.Sites[Node];
    if (Match->Calls.count(Site.Syscall))
      Saved += Site.Sum.count * savedInCompound(Site);
  }
  Saved -= double(Items) * Match->Item;
  if (Saved <= 0)
    return;
  Batch.Kind = Advice::Batch;
  Batch.SavedNs = nanoseconds(Saved);
  Batch.Title = std::string(Match->Function) + "(3) in place of the loop";
  All.push_back(std::move(Batch));
}
