//===- cosy-profile.cpp - cosy profile ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records the system calls of a command or a process, and predicts what Cosy
// would gain. cosy(1) executes this for `cosy profile`; cosy-profile(1)
// describes it.
//
//===----------------------------------------------------------------------===//

#include "Fail.h"
#include "Html.h"
#include "Report.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace cosy;

/// Exit. If standard error cannot be written, its destructor would exit with
/// another status.
[[noreturn]] static void exitWith(int Status) {
  errs().clear_error();
  exit(Status);
}

void cosy::fail(int Status, const Twine &What, const Twine &Why,
                const Twine &Hint) {
  errs() << "cosy profile: " << What << ": " << Why << '\n';
  if (!Hint.isTriviallyEmpty())
    errs() << "  HINT: " << Hint << '\n';
  exitWith(Status);
}

namespace {

constexpr char Usage[] =
    "usage: cosy profile [OPTION...] [--] COMMAND [ARGUMENT...]\n"
    "       cosy profile [OPTION...] -p PID\n"
    "\n"
    "Records the system calls of COMMAND, or of the process PID, and of the\n"
    "processes that it starts. Predicts what cosy run, markers or batch "
    "functions\n"
    "would gain.\n"
    "\n"
    "  -p, --pid PID      record a running process until it ends, or until "
    "Ctrl-C\n"
    "  -a, --all          report all advice and places; the default fits on a "
    "screen\n"
    "  -o, --output FILE  write the report to FILE, not to standard error\n"
    "      --json FILE    also write all results as JSON; - is standard "
    "output\n"
    "      --html FILE    also write a page with a flame graph\n"
    "  -h, --help         print this text\n"
    "      --version      print the version\n"
    "\n"
    "It needs root, or CAP_BPF and CAP_PERFMON. See cosy-profile(1).\n";

struct Options {
  pid_t Pid = 0;
  bool All = false;
  std::string Output, Json, Html;
  char **Command = nullptr;
};

[[noreturn]] void badUsage(const Twine &Message) {
  errs() << "cosy profile: " << Message << '\n' << Usage;
  exitWith(OwnFailure);
}

[[noreturn]] void printAndExit(StringRef Text) {
  outs() << Text;
  outs().flush();
  if (std::error_code Error = outs().error()) {
    outs().clear_error();
    fail(OwnFailure, "standard output", Error.message());
  }
  exit(0);
}

Options parse(char **Arguments) {
  Options Result;
  for (; *Arguments; ++Arguments) {
    StringRef Option = *Arguments;
    if (Option == "--") {
      ++Arguments;
      break;
    }
    if (!Option.starts_with("-"))
      break;
    if (Option == "-h" || Option == "--help")
      printAndExit(Usage);
    if (Option == "--version")
      printAndExit("cosy-profile " COSY_RELEASE "\n");
    if (Option == "-a" || Option == "--all") {
      Result.All = true;
      continue;
    }
    bool IsPid = Option == "-p" || Option == "--pid";
    std::string *File = Option == "-o" || Option == "--output" ? &Result.Output
                        : Option == "--json"                   ? &Result.Json
                        : Option == "--html"                   ? &Result.Html
                                                               : nullptr;
    if (!IsPid && !File)
      badUsage("unknown option " + Option);
    if (!*++Arguments || !**Arguments)
      badUsage(Option + " needs a value");
    if (File)
      *File = *Arguments;
    else if (StringRef(*Arguments).getAsInteger(10, Result.Pid) ||
             Result.Pid <= 0)
      badUsage(Twine("'") + *Arguments + "' is not the number of a process");
  }
  Result.Command = Arguments;
  if (Result.Pid && *Arguments)
    badUsage("a command and -p cannot be combined");
  if (!Result.Pid && !*Arguments)
    badUsage("no command given");
  return Result;
}

/// Occupy the standard descriptors that are closed. Otherwise a file would get
/// such a number, and messages would be written into it. The command starts
/// without them, as natively.
void occupyStandardDescriptors() {
  int Fd;
  do
    Fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  while (Fd >= 0 && Fd <= STDERR_FILENO);
  close(Fd);
}

/// A file that is opened before the command runs, so that a wrong name is
/// reported before the run.
class Output {
public:
  explicit Output(const std::string &Path) : Path(Path) {
    if (Path.empty())
      return;
    std::error_code Error;
    Stream = std::make_unique<raw_fd_ostream>(Path, Error);
    if (Error)
      fail(OwnFailure, Path, Error.message());
  }

  template <typename Callable> void write(Callable Function) {
    if (!Stream)
      return;
    Function(*Stream);
    Stream->flush();
    if (std::error_code Error = Stream->error()) {
      Stream->clear_error();
      fail(OwnFailure, Path, Error.message());
    }
  }

private:
  std::string Path;
  std::unique_ptr<raw_fd_ostream> Stream;
};

} // namespace

int main(int, char **Arguments) {
  occupyStandardDescriptors();
  Options Options = parse(Arguments + 1);
  Output Text(Options.Output), Json(Options.Json), Html(Options.Html);
  Recording Recording =
      Options.Pid ? recordProcess(Options.Pid) : recordCommand(Options.Command);
  std::vector<std::string> Command;
  for (char **Word = Options.Command; *Word; ++Word)
    Command.push_back(*Word);
  Profile Profile(Recording);
  Adviser Adviser(Profile);

  Json.write([&](raw_ostream &Stream) {
    writeJson(Stream, Profile, Adviser, Recording, Command);
  });
  Html.write([&](raw_ostream &Stream) {
    writeHtml(Stream, Profile, Adviser, Recording, Command);
  });
  if (Options.Output.empty()) {
    writeText(errs(), Profile, Adviser, Recording, Options.All);
    if (std::error_code Error = errs().error())
      fail(OwnFailure, "standard error", Error.message());
  }
  Text.write([&](raw_ostream &Stream) {
    writeText(Stream, Profile, Adviser, Recording, Options.All);
  });

  if (Options.Pid)
    exitWith(0);
  exitWith(WIFEXITED(Recording.Status) ? WEXITSTATUS(Recording.Status)
                                       : 128 + WTERMSIG(Recording.Status));
}
