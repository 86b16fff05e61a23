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
#include <map>
#include <set>
#include <tuple>

using namespace llvm;
using namespace cosy;

namespace {

/// What a call saves, by the form of its name: see <cosy/costs.h>.
struct Savings {
  double Path, Here, InDirectory;
};

const StringMap<Savings> &preloadSavings() {
  static const StringMap<Savings> Table = {
#define CALL(name, ...) {#name, {__VA_ARGS__}},
      COSY_PRELOAD_SAVINGS(CALL)
#undef CALL
  };
  return Table;
}

/// Return what the module saves for calls with names, one at a time.
double savedByCalls(StringRef Syscall, const profile_edge &Sum,
                    const Savings &Each) {
  // The module does not make calls with an empty path. A name that is missing
  // takes the same with one component as with several. /etc/localtime is a
  // symbolic link on most systems.
  double Paths = double(Sum.count) - Sum.empty_path;
  double Slow = std::min<double>(Sum.slow, Paths);
  double Missing = std::min<double>(Sum.missing, Paths - Slow);
  double Walked = std::min<double>(Sum.walked, Paths - Slow - Missing);
  double Links =
      std::min<double>(Sum.time_zone, Paths - Slow - Missing - Walked);
  double Found = Paths - Slow - Missing - Walked - Links;
  double InDirectory = std::min<double>(Sum.in_directory, Found);
  double Here = std::min<double>(Sum.one_component - Sum.in_directory,
                                 Found - InDirectory);
  return Missing * (Syscall == "openat" ? COSY_PRELOAD_MISSING_OPEN_SAVES
                                        : COSY_PRELOAD_MISSING_SAVES) +
         Slow * COSY_PRELOAD_SLOW_SAVES + Walked * COSY_PRELOAD_WALK_SAVES +
         Links * COSY_PRELOAD_LINK_SAVES + InDirectory * Each.InDirectory +
         Here * Each.Here + (Found - InDirectory - Here) * Each.Path;
}

/// Return true if the C library makes the calls of \p Site in a function whose
/// calls are counted until its places are redirected.
bool isCounted(const Site &Site) {
  static const StringSet<> Names = {
#define COSY_LIBC(function) #function,
#include "../preload/libc.def"
  };
  // The outermost function has no name if it is only a jump to another, as
  // localtime() and fopen() are.
  return Names.contains(Site.Within) ||
         (Site.Within == "?" &&
          (Site.Sum.time_zone || Site.Syscall == "openat"));
}

/// Return the processes of \p Executable that have the library.
double processesWithLibrary(const Executable &Executable) {
  double Runs = Executable.Runs - Executable.ShortRuns;
  return Runs + Executable.Forks * Runs / Executable.Runs;
}

/// Return true if the places in the C library are redirected in the processes
/// of \p Executable.
bool redirectsLibrary(const Executable &Executable) {
  double Calls = 0;
  for (const Site &Site : Executable.Sites)
    if (isCounted(Site))
      Calls += Site.WithLibrary;
  return !Executable.Threads && Calls > 0 &&
         Calls >= (COSY_PRELOAD_NATIVE_CALLS + COSY_PRELOAD_LIBRARY_CALLS) *
                      processesWithLibrary(Executable);
}

const StringSet<> &fileCalls() {
  static const StringSet<> Table = {
#define CALL(name) #name,
      COSY_FILE_CALLS(CALL)
#undef CALL
  };
  return Table;
}

/// A batch function that can make calls of a loop.
struct BatchMatch {
  const char *Function;
  std::set<std::string> Calls;
  /// Its additional cost for each item.
  double Item = COSY_COST_BATCH_ITEM;
};

/// What the calls of a loop are.
struct LoopCalls {
  std::set<std::string> Names;
  /// Most of the writes go to the descriptor of the last read: it updates
  /// records, or answers requests.
  bool WritesBack = false;
};

std::optional<BatchMatch> matchBatch(const LoopCalls &Calls) {
  auto Has = [&](StringRef Name) { return Calls.Names.count(Name.str()) != 0; };
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
  if (Has("read") && Has("write") && !Has("lseek") && !Calls.WritesBack)
    return BatchMatch{"cosy_copy_file", {"read", "write"}};
  return std::nullopt;
}

/// Return true if a program that calls \p Function of the C library could call
/// a batch function instead.
bool isReplaceable(StringRef Function) {
  static const StringSet<> Names = {
      "fclose", "fgetc",   "fgets",    "fopen",  "fread",    "fts_children",
      "getc",   "ftw",     "fts_read", "fwrite", "getdelim", "getline",
      "nftw",   "readdir", "remove",   "scandir"};
  return Function.empty() || Names.contains(Function);
}

/// Return the sites of \p Loop and of its inner loops.
std::vector<unsigned> allSites(const Executable &Executable, const Loop &Loop) {
  std::vector<unsigned> All = Loop.Sites;
  for (unsigned Inner : Loop.Inner)
    append_range(All, allSites(Executable, Executable.Loops[Inner]));
  return All;
}

} // namespace

Adviser::Adviser(const cosy::Profile &Profile)
    : Profile(Profile), Scale(Profile.Machine.Status / COSY_STATUS_CALL) {
  adviseRun();
  adviseTimeZone();
  for (unsigned E = 0; E < Profile.Executables.size(); ++E)
    for (unsigned L = 0; L < Profile.Executables[E].Loops.size(); ++L)
      adviseLoop(E, L);
  llvm::sort(All, [](const Advice &A, const Advice &B) {
    return std::make_tuple(-A.SavedNs, A.Kind, A.Executable, A.Loop) <
           std::make_tuple(-B.SavedNs, B.Kind, B.Executable, B.Loop);
  });
  findAlternatives();
}

/// Each call is changed by one advice, the best one. Other advice for it is an
/// alternative to that.
void Adviser::findAlternatives() {
  std::vector<std::vector<Advice>> Groups;
  std::map<std::pair<unsigned, unsigned>, unsigned> GroupOf;
  for (Advice &Advice : All) {
    std::map<unsigned, unsigned> Shared;
    if (Advice.SavedNs > 0)
      for (const auto &Site : Advice.Sites)
        if (auto Found = GroupOf.find(Site); Found != GroupOf.end())
          ++Shared[Found->second];
    if (!Shared.empty()) {
      auto Most = std::max_element(
          Shared.begin(), Shared.end(),
          [](const auto &A, const auto &B) { return A.second < B.second; });
      Groups[Most->first].push_back(std::move(Advice));
      continue;
    }
    if (Advice.SavedNs > 0)
      for (const auto &Site : Advice.Sites)
        GroupOf[Site] = Groups.size();
    Groups.emplace_back();
    Groups.back().push_back(std::move(Advice));
  }
  All.clear();
  for (std::vector<Advice> &Group : Groups) {
    unsigned First = All.size();
    for (Advice &Advice : Group) {
      if (All.size() != First)
        Advice.AlternativeTo = First;
      All.push_back(std::move(Advice));
    }
  }
}

bool Adviser::isSmall(const Advice &Advice) const {
  constexpr double MinPart = 0.005;
  return Advice.Kind != Advice::Run &&
         std::abs(Advice.SavedNs) < MinPart * Profile.CpuNs;
}

double Adviser::atMost(const Site &Site, double Instructions) const {
  return std::min(Instructions,
                  instructions(double(Site.Sum.kernel_ns) / Site.Sum.count) +
                      COSY_CALL_SAVES);
}

double Adviser::savedByRun(const Executable &Executable,
                           const Site &Site) const {
  auto Found = preloadSavings().find(Site.Syscall);
  if (!Executable.Preloadable || Executable.Preloaded || !Site.Sum.count ||
      Found == preloadSavings().end())
    return 0;
  double Count = Site.Sum.count, Saved = 0;
  switch (Site.Reached) {
  case Reach::None:
    return 0;
  case Reach::Realpath:
    Saved = savedByRealpath(Executable, Site);
    break;
  case Reach::Library:
    if (!redirectsLibrary(Executable))
      return 0;
    [[fallthrough]];
  case Reach::Function:
    Saved = savedByCalls(Site.Syscall, Site.Sum, Found->second);
    break;
  }
  return nanoseconds(atMost(Site, Saved / Count)) * Site.WithLibrary / Count;
}

/// Return what is saved for the absolute names that are what realpath()
/// returns. Others with a link take a call of the module, too.
double Adviser::savedByRealpath(const Executable &Executable,
                                const Site &Site) const {
  double Calls = Site.Sum.count, Names = Site.Sum.resolves;
  double Asked = Site.Sum.resolving;
  // A readlink() that succeeds has found a link.
  double Links = std::min(Names, Calls - Site.Sum.failed);
  double Resolved = Names ? Asked * (Names - Links) / Names : 0;
  double Each = instructions(double(Site.Sum.kernel_ns) / Site.Sum.count) +
                COSY_CALL_SAVES;
  // For names that the module has not resolved, the C library makes the calls.
  double Other = redirectsLibrary(Executable)
                     ? savedByCalls("readlink", Site.Sum,
                                    preloadSavings().lookup("readlink"))
                     : 0;
  return Resolved * Each + Other * (Calls - Resolved) / Calls -
         (Names * COSY_PRELOAD_REALPATH +
          Asked * COSY_PRELOAD_REALPATH_COMPONENT);
}

double Adviser::savedByRun(const Executable &Executable) const {
  if (!Executable.Preloadable || Executable.Preloaded)
    return 0;
  // Of calls that programs make, and of those that the C library makes.
  double Saved = 0, Calls = 0, LibrarySaved = 0, LibraryCalls = 0;
  for (const Site &Site : Executable.Sites) {
    if (double Each = savedByRun(Executable, Site)) {
      bool IsLibrary = Site.Reached == Reach::Library;
      (IsLibrary ? LibrarySaved : Saved) += Each * Site.Sum.count;
      (IsLibrary ? LibraryCalls : Calls) +=
          double(Site.Sum.count - Site.Sum.empty_path) * Site.WithLibrary /
          Site.Sum.count;
    }
  }
  // The first calls are native, and opening the device costs as much as they
  // would have saved.
  double Processes = processesWithLibrary(Executable);
  double Lost = 2.0 * COSY_PRELOAD_NATIVE_CALLS * Processes;
  Saved *= Calls > Lost ? (Calls - Lost) / Calls : 0;
  double LibraryLost =
      (COSY_PRELOAD_NATIVE_CALLS + COSY_PRELOAD_LIBRARY_CALLS) * Processes;
  if (LibraryCalls > 0)
    Saved += LibrarySaved * std::max(0.0, 1 - LibraryLost / LibraryCalls) -
             nanoseconds(COSY_PRELOAD_LIBRARY_START) * Processes;
  return Saved - nanoseconds(COSY_PRELOAD_START) *
                     (Executable.Runs - Executable.ShortRuns);
}

double Adviser::savedInCompound(const Site &Site) const {
  double Count = Site.Sum.count;
  if (!Count)
    return 0;
  double Each = COSY_CALL_SAVES;
  auto Found = preloadSavings().find(Site.Syscall);
  if (Found != preloadSavings().end()) {
    Each += savedByCalls(Site.Syscall, Site.Sum, Found->second) / Count;
  } else if (fileCalls().contains(Site.Syscall)) {
    Each = COSY_FILE_CALL_USUALLY_SAVES;
  }
  return atMost(Site, Each);
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
  uint64_t LeftAlone = 0, Short = 0;
  for (unsigned E = 0; E < Profile.Executables.size(); ++E) {
    const Executable &Executable = Profile.Executables[E];
    New.SavedNs += savedByRun(Executable);
    Already |= Executable.Preloaded;
    if (!Executable.Preloadable)
      LeftAlone += Executable.Runs;
    else
      Short += Executable.ShortRuns;
    std::map<std::string, std::pair<uint64_t, double>> Sums;
    for (unsigned S = 0; S < Executable.Sites.size(); ++S) {
      const Site &Site = Executable.Sites[S];
      double Each = savedByRun(Executable, Site);
      if (!Each)
        continue;
      New.Sites.insert({E, S});
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
  if (Short && !Already)
    New.Details.push_back("no change for " + countText(Short) +
                          " short programs that cosy run executes without it");
  All.push_back(std::move(New));
}

/// The C library looks at /etc/localtime at each call of some functions, if TZ
/// is not set.
void Adviser::adviseTimeZone() {
  Advice New;
  New.Kind = Advice::Environment;
  New.Title = "TZ=:/etc/localtime in the environment";
  uint64_t Calls = 0;
  std::set<std::string> Names, Functions;
  for (unsigned E = 0; E < Profile.Executables.size(); ++E) {
    const Executable &Executable = Profile.Executables[E];
    for (unsigned S = 0; S < Executable.Sites.size(); ++S) {
      const Site &Site = Executable.Sites[S];
      // With TZ, too, a process looks at it once.
      uint64_t Looks = Site.Sum.time_zone;
      uint64_t Processes = Executable.Runs + Executable.Forks;
      if (Site.Within.empty() || Looks <= Processes)
        continue;
      Calls += Looks - Processes;
      New.SavedNs += double(Looks - Processes) / Site.Sum.count *
                     (double(Site.Sum.kernel_ns) +
                      nanoseconds(COSY_CALL_SAVES) * Site.Sum.count);
      New.Sites.insert({E, S});
      Names.insert(Executable.name().str());
      Functions.insert(Site.Within == "?" ? "localtime" : Site.Within);
    }
  }
  if (!Calls)
    return;
  New.Details.push_back("without rebuilding; " + join(Names, ", ") + ": " +
                        join(Functions, "(), ") + "() looks at the file " +
                        countText(Calls) + " times, because TZ is not set");
  All.push_back(std::move(New));
}

void Adviser::adviseLoop(unsigned ExecutableIndex, unsigned LoopIndex) {
  const Executable &Executable = Profile.Executables[ExecutableIndex];
  const Loop &Loop = Executable.Loops[LoopIndex];
  if (Loop.Sites.empty() || Executable.IsGo)
    return;
  std::vector<std::string> Order;
  for (unsigned Node : Loop.Sites) {
    const Site &Site = Executable.Sites[Node];
    uint64_t Times = (Site.Sum.count + Loop.Iterations / 2) /
                     std::max<uint64_t>(1, Loop.Iterations);
    Order.push_back(Site.Syscall +
                    (Times > 1 ? " x" + std::to_string(Times) : "") +
                    (Site.Within.empty() || Site.Within == "?"
                         ? ""
                         : " in " + Site.Within + "()"));
  }
  std::string Where;
  raw_string_ostream Stream(Where);
  if (Loop.Function.Line) {
    Stream << Loop.Function.File << ':' << Loop.Function.Line;
    if (Loop.LastLine != Loop.Function.Line)
      Stream << '-' << Loop.LastLine;
    Stream << ", function " << Loop.Function.Function;
  } else if (!Loop.Function.Function.empty()) {
    Stream << Executable.name() << ", function " << Loop.Function.Function
           << " (compile with -g to see lines)";
  } else {
    Stream << Executable.name() << ", place unknown";
  }
  std::string What =
      countText(Loop.Iterations) + " iterations of " + join(Order, ", ");
  // Markers are put into a source file.
  if (Loop.Function.Line)
    adviseMarkers(ExecutableIndex, LoopIndex, Where, What);
  adviseBatch(ExecutableIndex, LoopIndex, Where, What);
}

/// Markers: the savings of the calls, minus the costs of the code between.
void Adviser::adviseMarkers(unsigned ExecutableIndex, unsigned LoopIndex,
                            StringRef Where, StringRef What) {
  const Executable &Executable = Profile.Executables[ExecutableIndex];
  const Loop &Loop = Executable.Loops[LoopIndex];
  std::set<unsigned> Sites(Loop.Sites.begin(), Loop.Sites.end());
  Advice New;
  New.Kind = Advice::Markers;
  New.Executable = ExecutableIndex;
  New.Loop = LoopIndex;
  double Saved = -double(Loop.Entries) * COSY_COST_ENTRY -
                 double(Loop.Iterations) * COSY_COST_LOOP;
  double UserTotal = 0, UserCount = 0;
  uint64_t UpCalls = 0;
  std::set<std::string> Within;
  for (unsigned Node : Loop.Sites) {
    const Site &Site = Executable.Sites[Node];
    // A function of the C library that is not only a call is native code.
    if (!Site.Within.empty()) {
      Within.insert(Site.Within);
      continue;
    }
    New.Sites.insert({ExecutableIndex, Node});
    Saved += Site.Sum.count * savedInCompound(Site);
  }
  // None of the calls can become part of a compound.
  if (New.Sites.empty())
    return;
  for (const Transition &Transition : Executable.Transitions) {
    if (!Transition.From || !Sites.count(Transition.To) || !Transition.Count)
      continue;
    double User = userInstructions(Transition);
    UserTotal += User * Transition.Count;
    UserCount += Transition.Count;
    double AsOperations = User * COSY_COST_OPERATION;
    bool IsNative = !Executable.Sites[Transition.To].Within.empty();
    // Functions of other files run as up-calls.
    if (AsOperations < COSY_COST_UPCALL && Loop.InOneFile && !IsNative) {
      Saved -= AsOperations * Transition.Count;
    } else {
      Saved -= COSY_COST_UPCALL * Transition.Count;
      UpCalls += Transition.Count;
    }
  }
  std::string Between;
  raw_string_ostream(Between)
      << "; user code between calls: "
      << countText(uint64_t(UserCount ? UserTotal / UserCount : 0))
      << " instructions on average";

  New.SavedNs = nanoseconds(Saved);
  New.Title = "markers around the loop";
  New.Details.push_back(Where.str());
  New.Details.push_back(What.str() + Between);
  if (Saved < 0) {
    New.Title = "no markers around this loop: they would lose";
    New.Details.push_back(
        "the code between the calls would leave the kernel " +
        countText(UpCalls) + " times" +
        (Within.count("readdir")
             ? ": read the directory by getdents64() or cosy_dir_read(3)"
             : "; collect the names first, then make the calls"));
  } else {
    std::string Lines;
    raw_string_ostream(Lines)
        << "COSY_START; before the loop that contains line "
        << Loop.Function.Line << ", COSY_END; after it"
        << (Loop.LastLine != Loop.Function.Line
                ? ", which contains line " + std::to_string(Loop.LastLine)
                : "")
        << "; see cosy-cc(1)";
    New.Details.push_back(Lines);
  }
  All.push_back(std::move(New));
}

/// A batch function: makes the calls of many iterations in one entry.
void Adviser::adviseBatch(unsigned ExecutableIndex, unsigned LoopIndex,
                          StringRef Where, StringRef What) {
  const Executable &Executable = Profile.Executables[ExecutableIndex];
  const Loop &Loop = Executable.Loops[LoopIndex];
  auto Is = [&](unsigned Node, StringRef Name) {
    return Executable.Sites[Node].Syscall == Name;
  };
  std::vector<unsigned> Batched = Loop.Sites;
  uint64_t Items = Loop.Iterations;
  // If an iteration reads a directory, inner loops process the entries.
  if (any_of(Loop.Sites, [&](unsigned N) { return Is(N, "getdents64"); })) {
    Batched = allSites(Executable, Loop);
    for (unsigned Node : ArrayRef(Batched).drop_front(Loop.Sites.size()))
      // The advice is for the inner loop then.
      if (Is(Node, "getdents64"))
        return;
    for (unsigned Inner : Loop.Inner)
      Items += Executable.Loops[Inner].Iterations;
  }
  LoopCalls Calls;
  uint64_t Writes = 0, Back = 0;
  for (unsigned Node : Batched) {
    const Site &Site = Executable.Sites[Node];
    if (!isReplaceable(Site.Within))
      continue;
    Calls.Names.insert(Site.Syscall);
    Writes += Is(Node, "write") ? Site.Sum.count : 0;
    Back += Site.Sum.same_descriptor;
  }
  Calls.WritesBack = Back * 2 > Writes;
  std::optional<BatchMatch> Match = matchBatch(Calls);
  if (!Match)
    return;
  Advice New;
  New.Kind = Advice::Batch;
  New.Executable = ExecutableIndex;
  New.Loop = LoopIndex;
  double Saved = -double(Loop.Entries) * COSY_COST_ENTRY;
  for (unsigned Node : Batched) {
    const Site &Site = Executable.Sites[Node];
    if (!Match->Calls.count(Site.Syscall) || !isReplaceable(Site.Within))
      continue;
    New.Sites.insert({ExecutableIndex, Node});
    Saved += Site.Sum.count * savedInCompound(Site);
  }
  Saved -= double(Items) * Match->Item;
  if (Saved <= 0)
    return;
  New.SavedNs = nanoseconds(Saved);
  New.Title = std::string(Match->Function) + "(3) in place of the loop";
  New.Details.push_back(Where.str());
  New.Details.push_back(What.str());
  All.push_back(std::move(New));
}
