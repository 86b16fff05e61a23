//===- Advice.h - predict what changes would save ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicts what cosy run, markers and batch functions would save, by the costs
// of <cosy/costs.h>. These are instructions. A call of known cost is measured,
// which gives the time of an instruction on this machine.
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_ADVICE_H
#define COSY_PROFILE_ADVICE_H

#include "Profile.h"

#include <string>
#include <vector>

namespace cosy {

/// A change to a program, or to how it is started, and its predicted effect.
struct Advice {
  enum KindTy { Run, Batch, Markers } Kind;
  /// Indices of Profile::Executables and Executable::Loops; unused for Run,
  /// which is for all executables.
  unsigned Executable = 0, Loop = 0;
  /// CPU time; negative for a loss.
  double SavedNs = 0;
  /// The change, in a few words.
  std::string Title;
  /// Lines with the place and the reason.
  std::vector<std::string> Details;
};

class Adviser {
public:
  explicit Adviser(const Profile &Profile);

  /// Gains first, the largest first, then losses.
  std::vector<Advice> All;

  /// Return what a call at the site saves on average with cosy run, in
  /// nanoseconds; 0 for calls that libcosy-preload.so does not make.
  double savedByRun(const Executable &Executable, const Site &Site) const;

  double nanoseconds(double Instructions) const { return Instructions * Scale; }
  double instructions(double Nanoseconds) const { return Nanoseconds / Scale; }

  /// Return what cosy run saves for one executable, minus the costs of the
  /// starts of its processes.
  double savedByRun(const Executable &Executable) const;

private:
  void adviseRun();
  void adviseLoop(unsigned Executable, unsigned Loop);
  /// Add advice for the loop to All. The last argument has its place.
  void adviseMarkers(const Executable &Executable, const Loop &Loop,
                     Advice Markers);
  void adviseBatch(const Executable &Executable, const Loop &Loop,
                   Advice Batch);
  double savedInCompound(const Site &Site) const;
  /// Return the average instructions in user mode since the previous call,
  /// without those of recording.
  double userInstructions(const Transition &Transition) const;

  const Profile &Profile;
  double Scale;
};

} // namespace cosy

#endif // COSY_PROFILE_ADVICE_H
