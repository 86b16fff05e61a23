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

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cosy {

/// A change to a program, or to how it is started, and its predicted effect.
struct Advice {
  enum KindTy { Run, Environment, Batch, Markers } Kind;
  /// Indices of Profile::Executables and Executable::Loops; unused for Run and
  /// Environment, which are for all executables.
  unsigned Executable = 0, Loop = 0;
  /// The index in Adviser::All of a better advice that changes some of the same
  /// calls. The gains of advice without it can be added up.
  std::optional<unsigned> AlternativeTo;
  /// CPU time; negative for a loss.
  double SavedNs = 0;
  /// The change, in a few words.
  std::string Title;
  /// Lines with the place and the reason.
  std::vector<std::string> Details;
  /// The changed calls: indices of Profile::Executables and Executable::Sites.
  std::set<std::pair<unsigned, unsigned>> Sites;
};

class Adviser {
public:
  explicit Adviser(const Profile &Profile);

  /// Gains first, the largest first, each followed by its alternatives; then
  /// losses.
  std::vector<Advice> All;

  /// Return true if the effect is too small to be worth a change.
  bool isSmall(const Advice &Advice) const;

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
  void adviseTimeZone();
  void adviseLoop(unsigned Executable, unsigned Loop);
  void adviseMarkers(unsigned Executable, unsigned Loop, llvm::StringRef Where,
                     llvm::StringRef What);
  void adviseBatch(unsigned Executable, unsigned Loop, llvm::StringRef Where,
                   llvm::StringRef What);
  void findAlternatives();
  double savedInCompound(const Site &Site) const;
  double savedByRealpath(const Executable &Executable, const Site &Site) const;
  /// Return \p Instructions, or what a call at the site takes if that is less.
  double atMost(const Site &Site, double Instructions) const;
  /// Return the average instructions in user mode since the previous call,
  /// without those of recording.
  double userInstructions(const Transition &Transition) const;

  const Profile &Profile;
  double Scale;
};

} // namespace cosy

#endif // COSY_PROFILE_ADVICE_H
