//===- Profile.cpp - places, transitions and loops ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"

#include "../tools/program.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace llvm;
using namespace cosy;

namespace {

constexpr struct {
  unsigned Number;
  const char *Name;
} Syscalls[] = {
#define COSY_SYSCALL(nr, name, args, nested) {nr, #name},
#include "syscalls.def"
#undef COSY_SYSCALL
};

StringRef baseName(StringRef Path) { return Path.rsplit('/').second; }

/// Return true for the dynamic linker, the parts of the C library, and
/// libraries of Cosy.
bool isLibrary(StringRef Path) {
  StringRef Name = baseName(Path);
  return Name.starts_with("libc.so") || Name.starts_with("libc-2") ||
         Name.starts_with("libpthread") || Name.starts_with("ld-") ||
         Name.starts_with("libcosy-preload") || Name.starts_with("libcosy.so");
}

/// Return a function's name without the parts that glibc adds for aliases:
/// "open" for "__open64".
StringRef plainName(StringRef Name) {
  while (Name.consume_front("_"))
    ;
  Name.consume_front("libc_");
  Name.consume_back("64");
  return Name;
}

/// Return true if the C library's function \p Name is a thin wrapper of a
/// system call.
bool isWrapper(StringRef Name, StringRef Syscall) {
  static const std::set<std::pair<StringRef, StringRef>> Wrappers = {
#define COSY_LIBC(function, name, map) {plainName(#function), #name},
#define COSY_LIBC_IF(function, name, map, arg, cond, value)                    \
  {plainName(#function), #name},
#include "syscalls.def"
#undef COSY_LIBC
#undef COSY_LIBC_IF
  };
  return Wrappers.count({plainName(Name), Syscall});
}

/// Return true for a function that a wrapper of glibc 2.41 or newer calls to
/// make a cancellable call: __syscall_cancel() and what that calls. Without
/// debug information, such a function has no name.
bool mayBeCancellation(const CodeAddress &Address) {
  StringRef Name = plainName(Address.Frames.back().Function);
  return isGlibc(Address.Module) &&
         (Name.empty() || Name.starts_with("syscall_cancel") ||
          Name == "internal_syscall_cancel");
}

/// Return the name of a function without "64", wherever that is: functions
/// have several names, of which one is found.
std::string without64(StringRef Name) {
  auto [Before, After] = Name.split("64");
  return (Before + After).str();
}

const StringSet<> &interposedFunctions() {
  static const StringSet<> Names = [] {
    StringSet<> Names;
    for (StringRef Name : {
#define COSY_PRELOAD_IF(function, name, condition, params, names, ...)         \
  #function,
#include "preload.def"
         })
      Names.insert(plainName(Name));
    return Names;
  }();
  return Names;
}

/// The system calls that syscall() makes through the module.
const StringSet<> &interposedCalls() {
  static const StringSet<> Names = {
#define COSY_PRELOAD_IF(function, name, condition, params, names, ...) #name,
#include "preload.def"
  };
  return Names;
}

const StringSet<> &realpathFunctions() {
  static const StringSet<> Names = [] {
    StringSet<> Names;
    for (StringRef Name : {
#define COSY_REALPATH(function) #function,
#include "../preload/realpath.def"
         })
      Names.insert(plainName(Name));
    return Names;
  }();
  return Names;
}

/// The functions of glibc that contain a place of sites.def, with its call.
const std::set<std::pair<std::string, std::string>> &redirectedPlaces() {
  static const std::set<std::pair<std::string, std::string>> Places = {
#define COSY_SITE(site, function, name, occurrence, prepare)                   \
  {without64(plainName(#function)), #name},
#include "../preload/sites.def"
  };
  return Places;
}

/// Return true if cosy run executes the program without its library. A program
/// with so many arguments that some are not recorded has many files.
bool isShort(const Program &Program) {
  std::vector<const char *> Arguments;
  for (const std::string &Argument : Program.Arguments)
    Arguments.push_back(Argument.c_str());
  Arguments.push_back(nullptr);
  return Arguments.size() > 1 && !Program.LacksArguments &&
         program_is_short(Arguments.data());
}

/// Return the programs that run without the library under cosy run: the short
/// ones, and all that these execute.
std::set<uint32_t> shortPrograms(const Recording &Recording) {
  std::set<uint32_t> Short;
  // A program has a higher number than the one that executed it.
  for (const auto &[Number, Program] : Recording.Programs)
    if (Short.count(Program.Parent) || isShort(Program))
      Short.insert(Number);
  return Short;
}

void add(profile_edge &Sum, const profile_edge &Edge) {
  Sum.count += Edge.count;
  Sum.failed += Edge.failed;
  Sum.slow += Edge.slow;
  Sum.missing += Edge.missing;
  Sum.walked += Edge.walked;
  Sum.one_component += Edge.one_component;
  Sum.in_directory += Edge.in_directory;
  Sum.empty_path += Edge.empty_path;
  Sum.time_zone += Edge.time_zone;
  Sum.resolves += Edge.resolves;
  Sum.resolving += Edge.resolving;
  Sum.same_descriptor += Edge.same_descriptor;
  Sum.kernel_ns += Edge.kernel_ns;
  Sum.wait_ns += Edge.wait_ns;
  Sum.user_ns += Edge.user_ns;
}

/// The strongly connected components of the graph of \p Edges that contain a
/// cycle (Tarjan's algorithm).
class Components {
public:
  Components(unsigned NumNodes,
             const std::vector<std::pair<unsigned, unsigned>> &Edges)
      : Successors(NumNodes), Index(NumNodes), Low(NumNodes), OnStack(NumNodes),
        SelfEdge(NumNodes) {
    for (auto [From, To] : Edges) {
      if (From == To)
        SelfEdge[From] = true;
      Successors[From].push_back(To);
    }
    for (unsigned Node = 0; Node < NumNodes; ++Node)
      if (!Index[Node])
        visit(Node);
  }

  std::vector<std::vector<unsigned>> Cyclic;

private:
  /// Not recursive, because the depth can be the number of sites.
  void visit(unsigned Root) {
    std::vector<std::pair<unsigned, unsigned>> Path = {{Root, 0}};
    enter(Root);
    while (!Path.empty()) {
      auto &[Node, Next] = Path.back();
      if (Next < Successors[Node].size()) {
        unsigned To = Successors[Node][Next++];
        if (!Index[To]) {
          enter(To);
          Path.push_back({To, 0});
        } else if (OnStack[To]) {
          Low[Node] = std::min(Low[Node], Index[To]);
        }
        continue;
      }
      unsigned Done = Node;
      if (Low[Done] == Index[Done])
        pop(Done);
      Path.pop_back();
      if (!Path.empty())
        Low[Path.back().first] = std::min(Low[Path.back().first], Low[Done]);
    }
  }

  void enter(unsigned Node) {
    Index[Node] = Low[Node] = ++Last;
    OnStack[Node] = true;
    Stack.push_back(Node);
  }

  void pop(unsigned Root) {
    std::vector<unsigned> Component;
    unsigned Node;
    do {
      Node = Stack.back();
      Stack.pop_back();
      OnStack[Node] = false;
      Component.push_back(Node);
    } while (Node != Root);
    if (Component.size() > 1 || SelfEdge[Root])
      Cyclic.push_back(std::move(Component));
  }

  std::vector<std::vector<unsigned>> Successors;
  std::vector<unsigned> Index, Low, Stack;
  std::vector<bool> OnStack, SelfEdge;
  unsigned Last = 0;
};

/// Return a text that identifies a function of the source.
std::string identityOf(const CodeAddress &Address, const Frame &Frame) {
  std::string Text;
  raw_string_ostream Stream(Text);
  Stream << Address.Module << '\n' << Frame.File << '\n' << Frame.Function;
  if (Frame.Function.empty())
    Stream << Address.Function;
  return Text;
}

} // namespace

std::string cosy::syscallName(unsigned Number) {
  for (const auto &Syscall : Syscalls)
    if (Syscall.Number == Number)
      return Syscall.Name;
  return "syscall " + std::to_string(Number);
}

Profile::Profile(const Recording &Recording) : Machine(Recording.Machine) {
  ProgramMap ByProgram = addExecutables(Recording);
  addTransitions(Recording, ByProgram, addSites(Recording, ByProgram));
  for (Executable &Executable : Executables) {
    findLoops(Executable);
    Processes += Executable.Forks;
    Calls += Executable.Calls;
    CpuNs += Executable.CpuNs;
  }
  llvm::sort(Executables, [](const Executable &A, const Executable &B) {
    return A.CpuNs != B.CpuNs ? A.CpuNs > B.CpuNs : A.Path < B.Path;
  });
}

Profile::ProgramMap Profile::addExecutables(const Recording &Recording) {
  ProgramMap ByProgram;
  std::map<std::string, unsigned> ByPath;
  std::set<uint32_t> Short = shortPrograms(Recording);
  for (const auto &[Number, Program] : Recording.Programs) {
    auto [Found, IsNew] = ByPath.try_emplace(Program.Path, Executables.size());
    if (IsNew) {
      Executables.emplace_back();
      Executables.back().Path = Program.Path;
      Executables.back().IsGo = Stacks.isGo(Program.Path);
    }
    Executable &Executable = Executables[Found->second];
    ByProgram[Number] = Found->second;
    ++Executable.Runs;
    Executable.ShortRuns += Short.count(Number);
    Executable.Forks += Program.Counts.forks;
    Executable.Threads += Program.Counts.threads;
    Executable.Calls += Program.Counts.calls;
    // The path into the tracepoints also takes time, outside of record_ns.
    double Recording =
        double(Program.Counts.record_ns) +
        Program.Counts.calls *
            std::max(0.0, Machine.RecordedUser + Machine.RecordedKernel -
                              Machine.PlainCall);
    Executable.CpuNs += std::max(0.0, Program.Counts.cpu_ns - Recording);
    for (const Mapping &Mapping : *Program.Space) {
      Executable.Preloadable |= isGlibc(Mapping.Path);
      Executable.Preloaded |=
          baseName(Mapping.Path).starts_with("libcosy-preload");
    }
  }
  return ByProgram;
}

Site Profile::siteOf(unsigned Number,
                     const std::vector<unsigned> &Stack) const {
  Site New;
  New.Number = Number;
  New.Syscall = syscallName(Number);
  New.Stack = Stack;
  while (New.Caller < Stack.size() &&
         isLibrary(Stacks.address(Stack[New.Caller]).Module))
    ++New.Caller;
  New.Within = libraryFunction(New);
  New.Reached = reachOf(New);
  return New;
}

/// Return how cosy run makes the calls of \p Site, by its stack.
Reach Profile::reachOf(const Site &Site) const {
  if (Site.Caller == 0 || Site.Caller == Site.Stack.size() ||
      !isGlibc(Stacks.address(Site.Stack[0]).Module))
    return Reach::None;
  StringRef Name =
      plainName(Stacks.address(Site.Stack[0]).Frames.back().Function);
  if (Site.Caller == 1)
    return interposedFunctions().contains(Name) ||
                   (Name == "syscall" &&
                    interposedCalls().contains(Site.Syscall))
               ? Reach::Function
               : Reach::None;
  // utime() makes the call of utimensat() in another function.
  if (interposedFunctions().contains(Site.Within))
    return Reach::Function;
  if (Site.Syscall == "readlink" && realpathFunctions().contains(Site.Within))
    return Reach::Realpath;
  return redirectedPlaces().count({without64(Name), Site.Syscall})
             ? Reach::Library
             : Reach::None;
}

std::vector<unsigned>
Profile::fromWrapper(unsigned Number,
                     const std::vector<unsigned> &Stack) const {
  auto Wrapper = llvm::find_if_not(Stack, [&](unsigned Index) {
    return mayBeCancellation(Stacks.address(Index));
  });
  if (Wrapper == Stack.end())
    return Stack;
  const CodeAddress &Address = Stacks.address(*Wrapper);
  if (!isGlibc(Address.Module) ||
      !isWrapper(Address.Frames.back().Function, syscallName(Number)))
    return Stack;
  return {Wrapper, Stack.end()};
}

Profile::PlaceMap Profile::addSites(const Recording &Recording,
                                    const ProgramMap &ByProgram) {
  const std::set<uint32_t> Short = shortPrograms(Recording);
  // Unwind the stack of each hash, and make a site of each different stack.
  std::map<Place, std::vector<unsigned>> Unwound;
  for (const StackCopy &Copy : Recording.Stacks) {
    auto Found = Recording.Programs.find(Copy.Head.event.program);
    if (Found != Recording.Programs.end())
      Unwound[{Found->first, Copy.Head.place}] =
          Stacks.unwind(Copy, *Found->second.Space);
  }
  PlaceMap ByPlace;
  std::map<std::tuple<unsigned, unsigned, std::vector<unsigned>>, unsigned>
      BySite;
  for (const auto &[Key, Edge] : Recording.Edges) {
    auto Of = ByProgram.find(Key.program);
    if (Of == ByProgram.end())
      continue;
    std::vector<Site> &Sites = Executables[Of->second].Sites;
    const std::vector<unsigned> Stack =
        fromWrapper(Key.nr, Unwound[{Key.program, Key.to}]);
    auto [Found, IsNew] =
        BySite.try_emplace({Of->second, Key.nr, Stack}, Sites.size());
    if (IsNew)
      Sites.push_back(siteOf(Key.nr, Stack));
    add(Sites[Found->second].Sum, Edge);
    if (!Short.count(Key.program))
      Sites[Found->second].WithLibrary += Edge.count;
    ByPlace[{Key.program, Key.to}] = Found->second;
  }
  return ByPlace;
}

void Profile::addTransitions(const Recording &Recording,
                             const ProgramMap &ByProgram,
                             const PlaceMap &ByPlace) {
  std::map<std::tuple<unsigned, int64_t, unsigned>, unsigned> ByEnds;
  for (const auto &[Key, Edge] : Recording.Edges) {
    auto Of = ByProgram.find(Key.program);
    if (Of == ByProgram.end())
      continue;
    std::vector<Transition> &All = Executables[Of->second].Transitions;
    auto From = ByPlace.find({Key.program, Key.from});
    unsigned To = ByPlace.at({Key.program, Key.to});
    bool IsKnown = Key.from && From != ByPlace.end();
    auto [Found, IsNew] = ByEnds.try_emplace(
        {Of->second, IsKnown ? int64_t(From->second) : -1, To}, All.size());
    if (IsNew) {
      All.emplace_back();
      if (IsKnown)
        All.back().From = From->second;
      All.back().To = To;
    }
    All[Found->second].Count += Edge.count;
    All[Found->second].UserNs += Edge.user_ns;
  }
}

/// Return the function of the C library that the program calls, if that makes
/// the call of \p Site somewhere inside.
std::string Profile::libraryFunction(const Site &Site) const {
  if (Site.Caller < 2 || Site.Caller == Site.Stack.size() ||
      !isGlibc(Stacks.address(Site.Stack[0]).Module))
    return {};
  // The outermost one. It has no name if the program calls a function whose
  // last action is to call this one.
  for (unsigned I = Site.Caller; I-- > 0;) {
    const CodeAddress &Address = Stacks.address(Site.Stack[I]);
    if (!isGlibc(Address.Module))
      continue;
    StringRef Name = plainName(Address.Frames.back().Function);
    return Name.empty() ? "?" : Name.str();
  }
  return {};
}

/// Find loops, inner loops first: first the loops of the most frequent
/// transitions, then those that rarer transitions add.
void Profile::findLoops(Executable &Executable) {
  constexpr unsigned Step = 4;
  constexpr uint64_t MinIterations = 4;
  uint64_t MaxCount = 0;
  for (const Transition &Transition : Executable.Transitions)
    MaxCount = std::max(MaxCount, Transition.Count);

  std::vector<std::optional<unsigned>> LoopOf(Executable.Sites.size());
  for (uint64_t MinCount = MaxCount; MinCount >= MinIterations / 2;
       MinCount /= Step) {
    std::vector<std::pair<unsigned, unsigned>> Edges;
    for (const Transition &Transition : Executable.Transitions)
      if (Transition.From && Transition.Count * 2 > MinCount)
        Edges.push_back({*Transition.From, Transition.To});
    for (std::vector<unsigned> &Nodes :
         Components(Executable.Sites.size(), Edges).Cyclic) {
      Loop New;
      std::set<unsigned> Inner;
      for (unsigned Node : Nodes) {
        if (!LoopOf[Node]) {
          New.Sites.push_back(Node);
          continue;
        }
        // The outermost loop so far that contains it.
        Inner.insert(*LoopOf[Node]);
      }
      if (New.Sites.empty() && Inner.size() < 2)
        continue;
      New.Inner.assign(Inner.begin(), Inner.end());
      for (unsigned Node : New.Sites)
        if (uint64_t Count = Executable.Sites[Node].Sum.count;
            !New.Iterations || Count < New.Iterations)
          New.Iterations = Count;
      std::set<unsigned> All(Nodes.begin(), Nodes.end());
      std::map<unsigned, uint64_t> FromOutside;
      for (const Transition &Transition : Executable.Transitions)
        if (All.count(Transition.To) &&
            (!Transition.From || !All.count(*Transition.From))) {
          New.Entries += Transition.Count;
          FromOutside[Transition.To] += Transition.Count;
        }
      // No site counts the iterations of a loop that contains only loops.
      if (New.Sites.empty())
        New.Iterations = MinCount;
      if (New.Iterations < MinIterations || New.Iterations < 2 * New.Entries) {
        continue;
      }
      // Put the sites into the order of the calls, from the loop's entry on.
      std::vector<unsigned> Order;
      std::set<unsigned> Left(New.Sites.begin(), New.Sites.end());
      std::optional<unsigned> Next;
      for (unsigned Node : New.Sites)
        if (!Next || FromOutside[Node] > FromOutside[*Next])
          Next = Node;
      while (Next) {
        Order.push_back(*Next);
        Left.erase(*Next);
        const Transition *Best = nullptr;
        for (const Transition &Transition : Executable.Transitions)
          if (Transition.From == Next && Left.count(Transition.To) &&
              (!Best || Transition.Count > Best->Count))
            Best = &Transition;
        if (Best)
          Next = Best->To;
        else if (!Left.empty())
          Next = *Left.begin();
        else
          Next.reset();
      }
      New.Sites = std::move(Order);
      findSource(Executable, New);
      for (unsigned Node : Nodes)
        LoopOf[Node] = Executable.Loops.size();
      Executable.Loops.push_back(std::move(New));
    }
  }
}

void Profile::findSource(const Executable &Executable, Loop &Loop) const {
  if (Loop.Sites.empty())
    return;
  // Visit a site's functions outside of the C library, the innermost first.
  auto ForEachFrame = [&](const Site &Site, auto Function) {
    for (unsigned I = Site.Caller; I < Site.Stack.size(); ++I) {
      const CodeAddress &Address = Stacks.address(Site.Stack[I]);
      for (const Frame &Frame : Address.Frames)
        if (!Function(Address, Frame))
          return;
    }
  };
  std::map<std::string, unsigned> Common;
  for (unsigned Node : Loop.Sites) {
    std::set<std::string> Seen;
    ForEachFrame(Executable.Sites[Node],
                 [&](const CodeAddress &Address, const Frame &Frame) {
                   if (Seen.insert(identityOf(Address, Frame)).second)
                     ++Common[identityOf(Address, Frame)];
                   return true;
                 });
  }
  std::string Chosen;
  ForEachFrame(Executable.Sites[Loop.Sites.front()],
               [&](const CodeAddress &Address, const Frame &Frame) {
                 if (Common[identityOf(Address, Frame)] < Loop.Sites.size())
                   return true;
                 Chosen = identityOf(Address, Frame);
                 return false;
               });
  if (Chosen.empty())
    return;
  Loop.InOneFile = true;
  for (unsigned Node : Loop.Sites) {
    std::vector<const Frame *> Callees;
    ForEachFrame(Executable.Sites[Node], [&](const CodeAddress &Address,
                                             const Frame &Frame) {
      if (identityOf(Address, Frame) != Chosen) {
        Callees.push_back(&Frame);
        return true;
      }
      for (const cosy::Frame *Callee : Callees)
        Loop.InOneFile &= !Frame.File.empty() && Callee->File == Frame.File;
      Loop.Function.Function = Frame.Function;
      Loop.Function.File = Frame.File;
      if (Frame.Function.empty()) {
        raw_string_ostream(Loop.Function.Function)
            << baseName(Address.Module) << "+0x"
            << utohexstr(Address.Function, true);
      }
      if (Frame.Line) {
        if (!Loop.Function.Line || Frame.Line < Loop.Function.Line)
          Loop.Function.Line = Frame.Line;
        Loop.LastLine = std::max(Loop.LastLine, Frame.Line);
      }
      return false;
    });
  }
}

SourceLine Profile::source(const Site &Site) const {
  SourceLine Result;
  for (unsigned I = Site.Caller; I < Site.Stack.size(); ++I) {
    const CodeAddress &Address = Stacks.address(Site.Stack[I]);
    const Frame &Frame = Address.Frames.front();
    if (I == Site.Caller || Frame.Line)
      Result = {Frame.Function, Frame.File, Frame.Line};
    if (I == Site.Caller && Result.Function.empty())
      raw_string_ostream(Result.Function) << baseName(Address.Module) << "+0x"
                                          << utohexstr(Address.Address, true);
    if (Result.Line)
      break;
  }
  return Result;
}

std::string Profile::describe(const Site &Site) const {
  SourceLine Source = source(Site);
  std::string Text;
  raw_string_ostream Stream(Text);
  if (Source.Line)
    Stream << baseName("/" + Source.File) << ':' << Source.Line << " ("
           << Source.Function << ')';
  else if (!Source.Function.empty())
    Stream << Source.Function;
  else if (!Site.Stack.empty())
    Stream << baseName(Stacks.address(Site.Stack.front()).Module);
  else
    Stream << "?";
  return Text;
}
