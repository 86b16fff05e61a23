//===- Recorder.h - record the system calls of programs ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads record.bpf.c, runs a command or watches a process, and returns the
// counts. The kernel counts. perf's records of mappings, forks and execs give
// the files of the addresses, also of processes that have ended.
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_RECORDER_H
#define COSY_PROFILE_RECORDER_H

#include "record.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cosy {

/// An executable mapping of a process: of a file, or of something with a name
/// in brackets.
struct Mapping {
  uint64_t Start, End;
  uint64_t FileOffset;
  std::string Path;
};

/// The mappings of a process, the newest last.
using AddressSpace = std::vector<Mapping>;

/// The stack of one place.
struct StackCopy {
  profile_stack_head Head;
  std::vector<unsigned char> Bytes;
};

/// One execution of an executable.
struct Program {
  profile_program Counts;
  std::shared_ptr<AddressSpace> Space;
  /// The executable's path; "[process N]" if that is unknown.
  std::string Path;
  /// The number of the program that executed it; 0 if that is not recorded.
  uint32_t Parent = 0;
  /// Its arguments, the name first; without the last ones if they are long.
  std::vector<std::string> Arguments;
  bool LacksArguments = false;
};

/// The time of system calls on this machine, in nanoseconds.
struct Calibration {
  /// A getppid() and an iteration of its loop, without and with recording.
  double PlainCall, RecordedCall;
  /// The recorded times of the same: in user mode and in the call.
  double RecordedUser, RecordedKernel;
  /// An fstatat() of a name in a directory in memory, without recording.
  double Status;
};

struct Recording {
  std::map<uint32_t, Program> Programs;
  std::vector<std::pair<profile_edge_key, profile_edge>> Edges;
  std::vector<StackCopy> Stacks;
  uint64_t Lost[PROFILE_LOST_COUNTERS] = {};
  /// Records of perf, such as mappings, that did not fit in the buffers.
  uint64_t LostRecords = 0;
  Calibration Machine;
  /// The command's status from waitpid().
  int Status = 0;
  /// Ended by a signal to this program, not by the end of the process.
  bool Interrupted = false;
};

/// Execute \p Command, and record it and the processes that it starts until it
/// ends. Ends this process with status 125 if recording is not possible, 126 or
/// 127 if the command cannot be executed.
Recording recordCommand(char **Command);

/// Record the process \p Pid and the processes that it starts until it ends, or
/// until this process gets SIGINT or SIGTERM.
Recording recordProcess(pid_t Pid);

} // namespace cosy

#endif // COSY_PROFILE_RECORDER_H
