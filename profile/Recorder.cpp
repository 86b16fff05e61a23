//===- Recorder.cpp - record the system calls of programs -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recorder.h"
#include "Fail.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

using namespace llvm;
using namespace cosy;

extern "C" const unsigned char cosy_record_bpf[], cosy_record_bpf_end[];

namespace {

/// Programs with a fixed number: the tool's child before it executes the
/// command; the tool itself, which measures the costs of recording; and a
/// process that ran before.
enum { ProgramOfChild = 0, ProgramOfTool = 1, ProgramOfProcess = 2 };

/// Pages of the buffers for records: of all CPUs together, of one CPU, and of
/// one CPU without CAP_IPC_LOCK, as the kernel allows by default. The buffers
/// are read every PollMilliseconds.
constexpr size_t TotalPages = 16384, MaxPages = 2048, UnprivilegedPages = 128;
constexpr int PollMilliseconds = 100;

/// The number of calls that are measured. The fastest batch counts.
constexpr int Batches = 10, CallsPerBatch = 200;
/// The CPU time of a measurement if the clock is coarse.
constexpr uint64_t CoarseNanoseconds = 100000000;

/// A look-up that takes more than this many times what it takes in a directory
/// in memory is slow.
constexpr int SlowFactor = 3;

/// The bytes of stacks that are kept. Programs need a few MB.
constexpr size_t MaxStackBytes = 512 << 20;

volatile sig_atomic_t StopRequested;

void requestStop(int) { StopRequested = 1; }

/// The arguments that are paths, by number of system call.
constexpr struct {
  unsigned Number;
  const char *Arguments;
} Calls[] = {
#define COSY_SYSCALL(nr, name, args, nested) {nr, args},
#include "syscalls.def"
#undef COSY_SYSCALL
};

/// The calls that only look up the path, or open it, too.
constexpr unsigned LookUps[] = {
    SYS_open,
    SYS_openat,
#define COSY_QUERY(name, flags, bits) SYS_##name,
#include "syscalls.def"
};

/// An event of a process.
struct ProcessEvent {
  enum { Fork, NewSpace, Map, Exec, Stack } Kind;
  uint64_t Time;
  /// Parent is a process for Fork, a program for Exec.
  uint32_t Process, Parent, Program;
  Mapping New;
  std::vector<std::string> Arguments;
  bool LacksArguments;
  size_t Order;
};

uint64_t now(clockid_t Clock) {
  timespec Time;
  clock_gettime(Clock, &Time);
  return 1000000000ull * Time.tv_sec + Time.tv_nsec;
}

/// Return the CPU time of a call of \p Function in nanoseconds.
template <typename Callable> double measure(Callable Function) {
  double Best = 0;
  for (int Batch = 0; Batch < Batches; ++Batch) {
    uint64_t Begin = now(CLOCK_THREAD_CPUTIME_ID);
    for (int I = 0; I < CallsPerBatch; ++I)
      Function();
    double Took = double(now(CLOCK_THREAD_CPUTIME_ID) - Begin) / CallsPerBatch;
    if (!Batch || Took < Best)
      Best = Took;
  }
  if (Best > 0)
    return Best;
  // The clock advances only with the timer's ticks, as in some virtual
  // machines.
  uint64_t Begin = now(CLOCK_THREAD_CPUTIME_ID), Calls = 0, Took;
  do {
    for (int I = 0; I < CallsPerBatch; ++I)
      Function();
    Calls += CallsPerBatch;
    Took = now(CLOCK_THREAD_CPUTIME_ID) - Begin;
  } while (Took < CoarseNanoseconds);
  return double(Took) / Calls;
}

/// Return true if this process has the capability.
bool hasCapability(unsigned Capability) {
  __user_cap_header_struct Header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct Data[2] = {};
  return !syscall(SYS_capget, &Header, Data) &&
         (Data[Capability / 32].effective >> Capability % 32 & 1);
}

/// Print the probable cause of a failure to record, and exit.
[[noreturn]] void failToRecord(const Twine &What, int Error) {
  if (access("/sys/kernel/btf/vmlinux", R_OK))
    fail(OwnFailure, "/sys/kernel/btf/vmlinux", strerror(errno),
         "the kernel has to be built with CONFIG_DEBUG_INFO_BTF");
  if (Error == EPERM || Error == EACCES)
    fail(OwnFailure, What, strerror(Error),
         "kernel lockdown, or the container, forbids BPF: see "
         "/sys/kernel/security/lockdown");
  fail(OwnFailure, What, strerror(Error),
       "Linux 6.1 or newer is needed, with CONFIG_BPF_EVENTS and "
       "CONFIG_FTRACE_SYSCALLS");
}

/// Print libbpf's messages only for developers of record.bpf.c.
int libbpfMessage(libbpf_print_level, const char *Format, va_list List) {
  return getenv("COSY_PROFILE_DEBUG") ? vfprintf(stderr, Format, List) : 0;
}

class Recorder {
public:
  Recorder();
  ~Recorder();

  Recording runCommand(char **Command);
  Recording watchProcess(pid_t Pid, int PidFd);

private:
  void measurePlain();
  template <typename T> void initialize(const char *Section, T Value);
  void attach();
  void measureRecorded();
  void addThread(uint32_t Tid, uint32_t Program);
  void readRecords() { perf_buffer__consume(Buffer); }
  void addMappings(pid_t Pid, uint64_t Time);
  void handleRecord(const perf_event_header *Record);
  void handleSample(const unsigned char *Data, size_t Size);
  bool knowsProcess(uint32_t Pid) const { return Processes.count(Pid); }
  void showProgress(bool Last);
  void detach();
  void collect();
  void orderEvents();
  int mapFd(const char *Name) const {
    return bpf_object__find_map_fd_by_name(Object, Name);
  }

  bpf_object *Object = nullptr;
  std::vector<bpf_link *> Links;
  perf_buffer *Buffer = nullptr;
  Recording Result;
  std::vector<ProcessEvent> Events;
  /// The processes whose records are kept: a superset of the recorded ones.
  std::set<uint32_t> Processes;
  bool Progress = isatty(STDERR_FILENO);
  uint64_t Shown = 0;
  /// The bytes of Result.Stacks, and the stacks that were too many.
  uint64_t StackBytes = 0, LostStacks = 0;
};

Recorder::Recorder() {
  if (!hasCapability(CAP_SYS_ADMIN) &&
      !(hasCapability(CAP_BPF) && hasCapability(CAP_PERFMON)))
    fail(OwnFailure, "recording system calls", "Operation not permitted",
         "it needs root, or CAP_BPF and CAP_PERFMON: sudo cosy profile ...");
  libbpf_set_print(libbpfMessage);
  measurePlain();
  bpf_object_open_opts Options = {};
  Options.sz = sizeof(Options);
  Options.object_name = "cosy_profile";
  Object = bpf_object__open_mem(
      cosy_record_bpf, cosy_record_bpf_end - cosy_record_bpf, &Options);
  if (!Object)
    failToRecord("opening the recorder", errno);
  initialize(".data.last_program", uint32_t(ProgramOfProcess));
  initialize(".rodata.slow_ns", uint64_t(SlowFactor * Result.Machine.Status));
  if (int Error = bpf_object__load(Object))
    failToRecord("loading the recorder into the kernel", -Error);
  for (const auto &Call : Calls) {
    const char *Path = strchr(Call.Arguments, 's');
    if (!Path || Call.Number >= PROFILE_MAX_SYSCALLS)
      continue;
    uint8_t Argument = 1 + (Path - Call.Arguments);
    if (is_contained(LookUps, Call.Number))
      Argument |= PROFILE_LOOKS_UP;
    bpf_map_update_elem(mapFd("path_arguments"), &Call.Number, &Argument,
                        BPF_ANY);
  }

  perf_event_attr Attributes = {};
  Attributes.size = sizeof(Attributes);
  Attributes.type = PERF_TYPE_SOFTWARE;
  Attributes.config = PERF_COUNT_SW_BPF_OUTPUT;
  Attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
  Attributes.sample_period = 1;
  Attributes.mmap = Attributes.mmap2 = 1;
  Attributes.comm = Attributes.comm_exec = 1;
  Attributes.task = 1;
  Attributes.sample_id_all = 1;
  Attributes.use_clockid = 1;
  Attributes.clockid = CLOCK_MONOTONIC;
  Attributes.watermark = 1;
  Attributes.wakeup_watermark = UnprivilegedPages * 4096 / 2;
  auto Handle = [](void *Self, int, perf_event_header *Record) {
    static_cast<Recorder *>(Self)->handleRecord(Record);
    return LIBBPF_PERF_EVENT_CONT;
  };
  size_t Pages =
      bit_floor(TotalPages / std::max(1, libbpf_num_possible_cpus()));
  Pages = std::clamp(Pages, UnprivilegedPages, MaxPages);
  if (!hasCapability(CAP_IPC_LOCK))
    Pages = UnprivilegedPages;
  Buffer = perf_buffer__new_raw(mapFd("events"), Pages, &Attributes, Handle,
                                this, nullptr);
  if (!Buffer)
    failToRecord("buffers for the recorder", errno);
  attach();
  measureRecorded();
}

Recorder::~Recorder() {
  detach();
  perf_buffer__free(Buffer);
  bpf_object__close(Object);
}

/// Set a variable of record.bpf.c, which has a section of its own. The kernel
/// gets its value when the program is loaded.
template <typename T> void Recorder::initialize(const char *Section, T Value) {
  bpf_map *Variable = bpf_object__find_map_by_name(Object, Section);
  assert(Variable && "no such section in record.bpf.c");
  if (int Error = bpf_map__set_initial_value(Variable, &Value, sizeof(Value)))
    failToRecord(Twine("setting ") + Section, -Error);
}

void Recorder::attach() {
  bpf_program *Program;
  bpf_object__for_each_program(Program, Object) {
    bpf_link *Link = bpf_program__attach(Program);
    if (!Link)
      failToRecord(Twine("the tracepoint of ") + bpf_program__name(Program),
                   errno);
    Links.push_back(Link);
  }
}

void Recorder::detach() {
  for (bpf_link *Link : Links)
    bpf_link__destroy(Link);
  Links.clear();
}

void Recorder::measurePlain() {
  // A name in a directory in memory, as for the costs in costs.h.
  int Directory = open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat Status;
  Result.Machine.Status = measure(
      [&] { fstatat(Directory, "null", &Status, AT_SYMLINK_NOFOLLOW); });
  close(Directory);
  Result.Machine.PlainCall = measure([] { syscall(SYS_getppid); });
}

void Recorder::measureRecorded() {
  uint32_t Tid = gettid();
  addThread(Tid, ProgramOfTool);
  // The first recorded call has no time in user mode before it.
  syscall(SYS_getppid);
  Result.Machine.RecordedCall = measure([] { syscall(SYS_getppid); });
  bpf_map_delete_elem(mapFd("threads"), &Tid);

  profile_edge_key Key, *Previous = nullptr;
  uint64_t MaxCount = 0;
  while (!bpf_map_get_next_key(mapFd("edges"), Previous, &Key)) {
    profile_edge Edge;
    Previous = &Key;
    if (Key.program != ProgramOfTool || Key.nr != SYS_getppid ||
        bpf_map_lookup_elem(mapFd("edges"), &Key, &Edge) ||
        Edge.count <= MaxCount)
      continue;
    MaxCount = Edge.count;
    Result.Machine.RecordedUser = double(Edge.user_ns) / Edge.count;
    Result.Machine.RecordedKernel = double(Edge.kernel_ns) / Edge.count;
  }
  if (!MaxCount)
    fail(OwnFailure, "the recorder", "records no system calls",
         "another program may have changed the kernel's tracepoints");
}

void Recorder::addThread(uint32_t Tid, uint32_t Program) {
  int Map = mapFd("threads");
  bpf_map_info Info = {};
  uint32_t Size = sizeof(Info);
  if (bpf_obj_get_info_by_fd(Map, &Info, &Size))
    failToRecord("the recorder's threads", errno);
  // The first member of struct thread is its program; all others are 0.
  std::vector<unsigned char> Thread(Info.value_size);
  memcpy(Thread.data(), &Program, sizeof(Program));
  if (bpf_map_update_elem(Map, &Tid, Thread.data(), BPF_NOEXIST) &&
      errno != EEXIST)
    failToRecord("the recorder's threads", errno);
}

/// Read an object of a type without alignment.
template <typename T> T get(const unsigned char *From) {
  T Value;
  memcpy(&Value, From, sizeof(Value));
  return Value;
}

void Recorder::handleRecord(const perf_event_header *Record) {
  auto *Bytes = reinterpret_cast<const unsigned char *>(Record);
  const unsigned char *Body = Bytes + sizeof(*Record);
  const unsigned char *End = Bytes + Record->size;
  // sample_id_all appends the thread and the time.
  auto TimeAtEnd = [&] { return get<uint64_t>(End - 8); };
  ProcessEvent Event = {};
  Event.Process = get<uint32_t>(Body);

  switch (Record->type) {
  case PERF_RECORD_SAMPLE:
    // Skip the thread, the time and the size of the data.
    handleSample(Body + 20, get<uint32_t>(Body + 16));
    return;
  case PERF_RECORD_LOST:
    Result.LostRecords += get<uint64_t>(Body + 8);
    return;
  case PERF_RECORD_FORK:
    Event.Parent = get<uint32_t>(Body + 4);
    if (!knowsProcess(Event.Parent) || Event.Process == Event.Parent)
      return;
    Processes.insert(Event.Process);
    Event.Kind = ProcessEvent::Fork;
    break;
  case PERF_RECORD_COMM:
    if (!(Record->misc & PERF_RECORD_MISC_COMM_EXEC) ||
        !knowsProcess(Event.Process))
      return;
    Event.Kind = ProcessEvent::NewSpace;
    break;
  case PERF_RECORD_MMAP2: {
    if (!knowsProcess(Event.Process))
      return;
    Event.Kind = ProcessEvent::Map;
    Event.New.Start = get<uint64_t>(Body + 8);
    Event.New.End = Event.New.Start + get<uint64_t>(Body + 16);
    Event.New.FileOffset = get<uint64_t>(Body + 24);
    auto *Name = reinterpret_cast<const char *>(Body + 64);
    Event.New.Path.assign(Name,
                          strnlen(Name, End - Body > 64 ? End - Body - 64 : 0));
    break;
  }
  default:
    return;
  }
  Event.Time = TimeAtEnd();
  Events.push_back(std::move(Event));
}

void Recorder::handleSample(const unsigned char *Data, size_t Size) {
  profile_event Head;
  if (Size < sizeof(Head))
    return;
  memcpy(&Head, Data, sizeof(Head));
  ProcessEvent Event = {};
  Event.Process = Head.tgid;
  Event.Program = Head.program;
  Event.Time = Head.time;
  if (Head.type == PROFILE_EXEC) {
    profile_exec Exec;
    if (Size < sizeof(Exec))
      return;
    memcpy(&Exec, Data, sizeof(Exec));
    Event.Kind = ProcessEvent::Exec;
    Event.Parent = Exec.parent;
    Event.LacksArguments = Exec.bytes >= sizeof(Exec.arguments);
    StringRef Left(Exec.arguments,
                   std::min<size_t>(Exec.bytes, sizeof(Exec.arguments)));
    while (!Left.empty()) {
      auto [Argument, Others] = Left.split('\0');
      Event.Arguments.push_back(Argument.str());
      Left = Others;
    }
  } else {
    constexpr size_t HeadSize = offsetof(profile_stack, stack);
    StackCopy Copy;
    if (Head.type != PROFILE_STACK || Size < HeadSize)
      return;
    memcpy(&Copy.Head, Data, HeadSize);
    if (Copy.Head.bytes > Size - HeadSize)
      return;
    if (StackBytes + Copy.Head.bytes > MaxStackBytes) {
      ++LostStacks;
      return;
    }
    StackBytes += Copy.Head.bytes;
    Copy.Bytes.assign(Data + HeadSize, Data + HeadSize + Copy.Head.bytes);
    Event.Kind = ProcessEvent::Stack;
    Result.Stacks.push_back(std::move(Copy));
  }
  Events.push_back(std::move(Event));
}

void Recorder::showProgress(bool Last) {
  uint64_t Time = now(CLOCK_MONOTONIC);
  if (!Progress || (!Last && Time - Shown < 1000000000))
    return;
  if (Last && !Shown)
    return;
  uint32_t Only = 0;
  uint64_t Calls = 0;
  if (Last)
    errs() << "\r\033[K";
  else if (Shown &&
           !bpf_map_lookup_elem(mapFd(".bss.calls_so_far"), &Only, &Calls))
    errs() << "\rcosy profile: " << Calls << " system calls so far";
  errs().flush();
  Shown = Time;
}

Recording Recorder::runCommand(char **Command) {
  int Go[2], Failed[2];
  if (pipe2(Go, O_CLOEXEC) || pipe2(Failed, O_CLOEXEC))
    fail(OwnFailure, "pipe", strerror(errno));
  pid_t Child = fork();
  if (Child < 0)
    fail(OwnFailure, "fork", strerror(errno));
  if (!Child) {
    char Byte;
    close(Go[1]);
    if (read(Go[0], &Byte, 1) != 1)
      _exit(OwnFailure);
    execvp(*Command, Command);
    int Error = errno;
    if (write(Failed[1], &Error, sizeof(Error)) < 0)
      _exit(OwnFailure);
    _exit(OwnFailure);
  }
  close(Go[0]);
  close(Failed[1]);
  // The terminal sends these signals to the command, too, which handles them.
  auto Interrupt = signal(SIGINT, SIG_IGN), Quit = signal(SIGQUIT, SIG_IGN);
  Processes.insert(Child);
  addThread(Child, ProgramOfChild);
  if (write(Go[1], "", 1) != 1)
    fail(OwnFailure, "starting the command", strerror(errno));
  close(Go[1]);
  int Error;
  if (read(Failed[0], &Error, sizeof(Error)) == sizeof(Error)) {
    waitpid(Child, nullptr, 0);
    fail(Error == ENOENT ? 127 : 126, *Command, strerror(Error));
  }
  close(Failed[0]);

  while (true) {
    perf_buffer__poll(Buffer, PollMilliseconds);
    readRecords();
    pid_t Ended = waitpid(Child, &Result.Status, WNOHANG);
    if (Ended == Child || (Ended < 0 && errno != EINTR))
      break;
    showProgress(false);
  }
  showProgress(true);
  // The process leaves its CPU shortly after waitpid() returned. Then
  // record.bpf.c deletes its thread. Wait for that, at most 2 seconds.
  for (int Attempt = 0; Attempt < 200; ++Attempt) {
    std::vector<unsigned char> Thread(4096);
    if (bpf_map_lookup_elem(mapFd("threads"), &Child, Thread.data()))
      break;
    usleep(10000);
  }
  // What follows needs this process only.
  signal(SIGINT, Interrupt);
  signal(SIGQUIT, Quit);
  collect();
  return std::move(Result);
}

Recording Recorder::watchProcess(pid_t Pid, int PidFd) {
  struct sigaction Action = {}, Interrupt, Terminate;
  Action.sa_handler = requestStop;
  sigaction(SIGINT, &Action, &Interrupt);
  sigaction(SIGTERM, &Action, &Terminate);
  std::string Directory = "/proc/" + std::to_string(Pid);
  profile_program Counts = {};
  Counts.tgid = Pid;
  auto Stat = MemoryBuffer::getFileAsStream(Directory + "/stat");
  if (Stat) {
    // Fields 26 and 27 are the addresses of the code. The name before the last
    // ')' may contain any characters.
    SmallVector<StringRef, 64> Fields;
    (*Stat)->getBuffer().rsplit(')').second.split(Fields, ' ', -1, false);
    if (Fields.size() > 25) {
      Fields[23].getAsInteger(10, Counts.code_start);
      Fields[24].getAsInteger(10, Counts.code_end);
    }
  }
  uint64_t Time = now(CLOCK_MONOTONIC);
  Processes.insert(Pid);
  addMappings(Pid, Time);
  for (const ProcessEvent &Event : Events) {
    if (Event.Kind != ProcessEvent::Map ||
        (Event.New.Start < Counts.code_end &&
         Event.New.End > Counts.code_start) ||
        Event.New.Path.find(".so") == std::string::npos)
      continue;
    if (!Counts.libraries_start || Event.New.Start < Counts.libraries_start)
      Counts.libraries_start = Event.New.Start;
    Counts.libraries_end =
        std::max<uint64_t>(Counts.libraries_end, Event.New.End);
  }
  uint32_t Number = ProgramOfProcess;
  if (bpf_map_update_elem(mapFd("programs"), &Number, &Counts, BPF_ANY))
    failToRecord("the recorder's programs", errno);
  // Threads may start meanwhile. Recorded threads pass the recording on to the
  // threads that they start.
  std::set<uint32_t> Threads;
  for (size_t Before = ~size_t(0); Before != Threads.size();) {
    Before = Threads.size();
    std::error_code Error;
    for (sys::fs::directory_iterator Entry(Directory + "/task", Error), End;
         !Error && Entry != End; Entry.increment(Error)) {
      uint32_t Tid;
      StringRef Name = StringRef(Entry->path()).rsplit('/').second;
      if (!Name.getAsInteger(10, Tid) && Threads.insert(Tid).second)
        addThread(Tid, ProgramOfProcess);
    }
  }
  errs() << "cosy profile: recording process " << Pid
         << "; Ctrl-C ends the recording and prints the report\n";

  pollfd Ended = {PidFd, POLLIN, 0};
  while (!StopRequested && poll(&Ended, 1, 0) == 0) {
    perf_buffer__poll(Buffer, PollMilliseconds);
    readRecords();
    showProgress(false);
  }
  showProgress(true);
  Result.Interrupted = StopRequested;
  // A second one ends the report.
  sigaction(SIGINT, &Interrupt, nullptr);
  sigaction(SIGTERM, &Terminate, nullptr);
  close(PidFd);
  collect();
  return std::move(Result);
}

void Recorder::addMappings(pid_t Pid, uint64_t Time) {
  std::string Directory = "/proc/" + std::to_string(Pid);
  auto Maps = MemoryBuffer::getFileAsStream(Directory + "/maps");
  if (!Maps)
    return;
  SmallVector<StringRef, 0> Lines;
  (*Maps)->getBuffer().split(Lines, '\n', -1, false);
  for (StringRef Line : Lines) {
    SmallVector<StringRef, 6> Fields;
    Line.split(Fields, ' ', 5, false);
    ProcessEvent Event = {};
    Event.Kind = ProcessEvent::Map;
    Event.Process = Pid;
    Event.Time = Time;
    if (Fields.size() < 6 || !Fields[1].contains('x') ||
        Fields[0].split('-').first.getAsInteger(16, Event.New.Start) ||
        Fields[0].split('-').second.getAsInteger(16, Event.New.End) ||
        Fields[2].getAsInteger(16, Event.New.FileOffset))
      continue;
    Event.New.Path = Fields[5].ltrim().str();
    Events.push_back(std::move(Event));
  }
  ProcessEvent Exec = {};
  Exec.Kind = ProcessEvent::Exec;
  Exec.Process = Pid;
  Exec.Program = ProgramOfProcess;
  Exec.Time = Time;
  Events.push_back(Exec);
}

void Recorder::collect() {
  detach();
  readRecords();
  profile_edge_key Key, *Previous = nullptr;
  while (!bpf_map_get_next_key(mapFd("edges"), Previous, &Key)) {
    profile_edge Edge;
    if (Key.program > ProgramOfTool &&
        !bpf_map_lookup_elem(mapFd("edges"), &Key, &Edge))
      Result.Edges.push_back({Key, Edge});
    Previous = &Key;
  }
  uint32_t Last = ProgramOfProcess;
  for (const ProcessEvent &Event : Events)
    Last = std::max(Last, Event.Program);
  for (uint32_t Number = ProgramOfProcess;
       Number <= Last && Number < PROFILE_MAX_PROGRAMS; ++Number) {
    profile_program Counts;
    if (!bpf_map_lookup_elem(mapFd("programs"), &Number, &Counts) &&
        Counts.tgid)
      Result.Programs[Number].Counts = Counts;
  }
  for (uint32_t What = 0; What < PROFILE_LOST_COUNTERS; ++What)
    bpf_map_lookup_elem(mapFd("lost"), &What, &Result.Lost[What]);
  Result.Lost[PROFILE_LOST_PLACES] += LostStacks;
  orderEvents();
}

/// Find the address space of each program. The records are in the order of the
/// CPUs, so sort them by time first.
void Recorder::orderEvents() {
  for (size_t I = 0; I < Events.size(); ++I)
    Events[I].Order = I;
  llvm::sort(Events, [](const ProcessEvent &A, const ProcessEvent &B) {
    return std::make_pair(A.Time, A.Order) < std::make_pair(B.Time, B.Order);
  });
  std::map<uint32_t, std::shared_ptr<AddressSpace>> Spaces;
  auto SpaceOf = [&](uint32_t Process) -> std::shared_ptr<AddressSpace> & {
    std::shared_ptr<AddressSpace> &Space = Spaces[Process];
    if (!Space)
      Space = std::make_shared<AddressSpace>();
    return Space;
  };
  for (ProcessEvent &Event : Events) {
    switch (Event.Kind) {
    case ProcessEvent::Fork:
      // Mappings of the child are added to its program's address space.
      Spaces[Event.Process] = SpaceOf(Event.Parent);
      break;
    case ProcessEvent::NewSpace:
      Spaces[Event.Process] = std::make_shared<AddressSpace>();
      break;
    case ProcessEvent::Map:
      SpaceOf(Event.Process)->push_back(std::move(Event.New));
      break;
    case ProcessEvent::Exec: {
      auto Found = Result.Programs.find(Event.Program);
      if (Found != Result.Programs.end()) {
        Found->second.Space = SpaceOf(Event.Process);
        Found->second.Parent = Event.Parent;
        Found->second.Arguments = std::move(Event.Arguments);
        Found->second.LacksArguments = Event.LacksArguments;
      }
      break;
    }
    case ProcessEvent::Stack:
      break;
    }
  }
  for (auto &[Number, Program] : Result.Programs) {
    if (!Program.Space)
      Program.Space = std::make_shared<AddressSpace>();
    for (const Mapping &Mapping : *Program.Space)
      if (Mapping.Start < Program.Counts.code_end &&
          Mapping.End > Program.Counts.code_start)
        Program.Path = Mapping.Path;
    if (Program.Path.empty())
      Program.Path = "[process " + std::to_string(Program.Counts.tgid) + "]";
  }
}

} // namespace

Recording cosy::recordCommand(char **Command) {
  // Report a misspelt name also to users who may not record.
  if (auto Found = sys::findProgramByName(*Command); !Found)
    fail(127, *Command, Found.getError().message());
  return Recorder().runCommand(Command);
}

Recording cosy::recordProcess(pid_t Pid) {
  int PidFd = syscall(SYS_pidfd_open, Pid, 0);
  if (PidFd < 0)
    fail(OwnFailure, "process " + Twine(Pid),
         strerror(errno == EINVAL ? ESRCH : errno),
         "give the number of a running process, not of a thread");
  return Recorder().watchProcess(Pid, PidFd);
}
