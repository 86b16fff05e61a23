//===- Report.cpp - the report on the terminal, and JSON ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <sys/wait.h>

using namespace llvm;
using namespace cosy;

namespace {

/// The numbers of entries that fit on a screen with the headings.
constexpr unsigned ShownAdvice = 5, ShownSites = 6, ShownLosses = 1;

struct SiteOf {
  const Executable *Executable;
  const Site *Site;
  double Ns;
};

/// Return all sites, by time in the kernel, the largest first.
std::vector<SiteOf> sortedSites(const Profile &Profile) {
  std::vector<SiteOf> Sites;
  for (const Executable &Executable : Profile.Executables)
    for (const Site &Site : Executable.Sites)
      Sites.push_back({&Executable, &Site, double(Site.Sum.kernel_ns)});
  llvm::sort(Sites, [](const SiteOf &A, const SiteOf &B) {
    return A.Ns != B.Ns ? A.Ns > B.Ns : A.Site < B.Site;
  });
  return Sites;
}

const char *kindName(Advice::KindTy Kind) {
  switch (Kind) {
  case Advice::Run:
    return "run";
  case Advice::Environment:
    return "environment";
  case Advice::Batch:
    return "batch";
  case Advice::Markers:
    return "markers";
  }
  return "";
}

} // namespace

std::vector<std::string> cosy::warnings(const Recording &Recording) {
  std::vector<std::string> Result;
  auto Add = [&](uint64_t Count, const char *What) {
    if (Count)
      Result.push_back(countText(Count) + " " + What);
  };
  Add(Recording.Lost[PROFILE_LOST_EDGES],
      "calls were not recorded: too many places and sequences");
  Add(Recording.Lost[PROFILE_LOST_PROGRAMS],
      "programs are counted as the program that started them: too many");
  Add(Recording.Lost[PROFILE_LOST_THREADS],
      "threads were not recorded: too many threads");
  Add(Recording.Lost[PROFILE_LOST_COMPAT],
      "calls of 32-bit code were not recorded");
  Add(Recording.Lost[PROFILE_LOST_PLACES],
      "calls are of unknown functions: too many different stacks");
  Add(Recording.LostRecords,
      "records were lost: the functions of some places may be missing");
  return Result;
}

void cosy::writeText(raw_ostream &Stream, const Profile &Profile,
                     const Adviser &Adviser, const Recording &Recording,
                     bool All) {
  double Kernel = 0, Waited = 0;
  for (const Executable &Executable : Profile.Executables)
    for (const Site &Site : Executable.Sites) {
      Kernel += Site.Sum.kernel_ns;
      Waited += Site.Sum.wait_ns;
    }
  Stream << "cosy profile: " << countText(Profile.Calls) << " system calls of "
         << countText(Profile.Processes)
         << (Profile.Processes == 1 ? " process" : " processes") << ", "
         << timeText(Profile.CpuNs) << " of CPU time, " << timeText(Kernel)
         << " of it in the calls. The calls waited " << timeText(Waited)
         << ".\n";
  for (const std::string &Warning : warnings(Recording))
    Stream << "warning: " << Warning << '\n';

  Stream << "\nPredicted gains, largest first:\n";
  unsigned Number = 0, Losses = 0, Shown = 0;
  for (const Advice &Advice : Adviser.All) {
    bool Loses = Advice.SavedNs <= 0;
    bool Alternative = Advice.AlternativeTo.has_value();
    if (!All && (Adviser.isSmall(Advice) ||
                 (Loses ? Losses >= ShownLosses : Shown >= ShownAdvice)))
      continue;
    ++(Loses ? Losses : Shown);
    Number += !Loses && !Alternative;
    Stream << format("%3s ", Loses         ? "-"
                             : Alternative ? "or"
                                           : std::to_string(Number).c_str())
           << format("%6s  ", changeText(Advice.SavedNs, Profile.CpuNs).c_str())
           << printable(Advice.Title) << '\n';
    for (const std::string &Line : Advice.Details)
      Stream << "            " << printable(Line) << '\n';
  }

  if (llvm::any_of(Adviser.All, [](const Advice &Advice) {
        return Advice.AlternativeTo.has_value();
      }))
    Stream
        << "  \"or\": an alternative, which changes calls of the advice above; "
           "its gain is not added.\n";

  Stream << "\nThe calls that take most time:\n"
         << "      count   in each  user code before  call, place\n";
  Shown = 0;
  for (const SiteOf &Entry : sortedSites(Profile)) {
    const Site &Site = *Entry.Site;
    if (!All && Shown++ == ShownSites)
      break;
    if (!Site.Sum.count)
      continue;
    Stream << format(
                  "%11s %9s %17s", countText(Site.Sum.count).c_str(),
                  timeText(Entry.Ns / Site.Sum.count).c_str(),
                  timeText(double(Site.Sum.user_ns) / Site.Sum.count).c_str())
           << "  " << Site.Syscall << ", "
           << printable(Entry.Executable->name()) << ": "
           << printable(Profile.describe(Site)) << '\n';
  }
}

namespace {

/// cosy::writeJson()
class JsonReport {
public:
  JsonReport(raw_ostream &Stream, const Profile &Profile,
             const Adviser &Adviser)
      : Json(Stream, 1), Profile(Profile), Adviser(Adviser) {}
  void write(const Recording &Recording, ArrayRef<std::string> Command);

private:
  /// Names of files may contain any bytes, but JSON is UTF-8.
  static std::string text(StringRef Bytes) { return json::fixUTF8(Bytes); }
  void number(StringRef Name, double Value) {
    Json.attribute(Name, std::round(Value));
  }
  /// Writes an array whose elements are what \p Write writes of \p Items.
  template <typename Range, typename Writer>
  void array(StringRef Name, const Range &Items, Writer Write) {
    Json.attributeArray(Name, [&] {
      for (const auto &Item : Items)
        Write(Item);
    });
  }
  template <typename Range, typename Writer>
  void objects(StringRef Name, const Range &Items, Writer Write) {
    array(Name, Items,
          [&](const auto &Item) { Json.object([&] { Write(Item); }); });
  }
  void texts(StringRef Name, ArrayRef<std::string> Texts) {
    array(Name, Texts, [&](StringRef Text) { Json.value(text(Text)); });
  }
  void numbers(StringRef Name, ArrayRef<unsigned> Numbers) {
    array(Name, Numbers, [&](unsigned Number) { Json.value(Number); });
  }
  void advice(const Advice &Advice);
  void executable(const Executable &Executable);
  void site(const Executable &Executable, const Site &Site);
  void stack(const Site &Site);
  void transition(const Transition &Transition);
  void loop(const Loop &Loop);

  json::OStream Json;
  const Profile &Profile;
  const Adviser &Adviser;
};

} // namespace

void JsonReport::advice(const Advice &Advice) {
  Json.attribute("kind", kindName(Advice.Kind));
  number("saved_ns", Advice.SavedNs);
  if (Advice.Kind == Advice::Batch || Advice.Kind == Advice::Markers) {
    Json.attribute("executable", Advice.Executable);
    Json.attribute("loop", Advice.Loop);
  }
  if (Advice.AlternativeTo)
    Json.attribute("alternative_to", *Advice.AlternativeTo);
  Json.attribute("title", text(Advice.Title));
  texts("details", Advice.Details);
}

void JsonReport::stack(const Site &Site) {
  Json.attributeArray("stack", [&] {
    for (unsigned Index : Site.Stack) {
      const CodeAddress &Address = Profile.Stacks.address(Index);
      for (const Frame &Frame : Address.Frames)
        Json.object([&] {
          Json.attribute("module", text(Address.Module));
          Json.attribute("address", Address.Address);
          Json.attribute("function", text(Frame.Function));
          Json.attribute("file", text(Frame.File));
          Json.attribute("line", Frame.Line);
        });
    }
  });
}

void JsonReport::site(const Executable &Executable, const Site &Site) {
  Json.attribute("syscall", Site.Syscall);
  Json.attribute("count", Site.Sum.count);
  Json.attribute("failed", Site.Sum.failed);
  Json.attribute("slow", Site.Sum.slow);
  Json.attribute("kernel_ns", Site.Sum.kernel_ns);
  Json.attribute("wait_ns", Site.Sum.wait_ns);
  Json.attribute("user_ns", Site.Sum.user_ns);
  number("run_saves_ns", Adviser.savedByRun(Executable, Site) * Site.Sum.count);
  if (!Site.Within.empty())
    Json.attribute("within", text(Site.Within));
  SourceLine Source = Profile.source(Site);
  Json.attribute("function", text(Source.Function));
  Json.attribute("file", text(Source.File));
  Json.attribute("line", Source.Line);
  stack(Site);
}

void JsonReport::transition(const Transition &Transition) {
  if (Transition.From)
    Json.attribute("from", *Transition.From);
  else
    Json.attribute("from", nullptr);
  Json.attribute("to", Transition.To);
  Json.attribute("count", Transition.Count);
  Json.attribute("user_ns", Transition.UserNs);
}

void JsonReport::loop(const Loop &Loop) {
  numbers("sites", Loop.Sites);
  numbers("inner", Loop.Inner);
  Json.attribute("iterations", Loop.Iterations);
  Json.attribute("entries", Loop.Entries);
  Json.attribute("function", text(Loop.Function.Function));
  Json.attribute("file", text(Loop.Function.File));
  Json.attribute("first_line", Loop.Function.Line);
  Json.attribute("last_line", Loop.LastLine);
}

void JsonReport::executable(const Executable &Executable) {
  Json.attribute("path", text(Executable.Path));
  Json.attribute("runs", Executable.Runs);
  Json.attribute("short_runs", Executable.ShortRuns);
  Json.attribute("forks", Executable.Forks);
  Json.attribute("threads", Executable.Threads);
  Json.attribute("calls", Executable.Calls);
  number("cpu_ns", Executable.CpuNs);
  number("run_saves_ns", Adviser.savedByRun(Executable));
  objects("sites", Executable.Sites,
          [&](const Site &Site) { site(Executable, Site); });
  objects("transitions", Executable.Transitions,
          [&](const Transition &Transition) { transition(Transition); });
  objects("loops", Executable.Loops, [&](const Loop &Loop) { loop(Loop); });
}

void JsonReport::write(const Recording &Recording,
                       ArrayRef<std::string> Command) {
  Json.object([&] {
    Json.attribute("version", 1);
    texts("command", Command);
    if (!Command.empty())
      Json.attribute("status", WIFEXITED(Recording.Status)
                                   ? WEXITSTATUS(Recording.Status)
                                   : 128 + WTERMSIG(Recording.Status));
    number("cpu_ns", Profile.CpuNs);
    Json.attribute("calls", Profile.Calls);
    Json.attribute("processes", Profile.Processes);
    Json.attribute("ns_per_instruction", Adviser.nanoseconds(1));
    texts("warnings", warnings(Recording));
    objects("advice", Adviser.All,
            [&](const Advice &Advice) { advice(Advice); });
    objects("executables", Profile.Executables,
            [&](const Executable &Executable) { executable(Executable); });
  });
}

void cosy::writeJson(raw_ostream &Stream, const Profile &Profile,
                     const Adviser &Adviser, const Recording &Recording,
                     ArrayRef<std::string> Command) {
  JsonReport(Stream, Profile, Adviser).write(Recording, Command);
  Stream << '\n';
}
