//===- Advice.h - what would help a program ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicts what cosy run, markers and batch functions would save, by the costs
// of <cosy/costs.h>. These are instructions. A call of known cost, measured on
// this machine, tells how long such an instruction takes here.
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_ADVICE_H
#define COSY_PROFILE_ADVICE_H

#include "Profile.h"

#include <string>
#include <vector>

namespace cosy {

/// One thing that could be done.
struct Advice {
  enum KindTy { Run, Batch, Markers } Kind;
  /// Indices of Profile::Executables and Executable::Loops; Run is about all
  /// executables, and has neither.
  unsigned Executable = 0, Loop = 0;
  /// Of CPU time; negative if it loses.
  double SavedNs = 0;
  /// What to do, in a few words.
  std::string Title;
  /// Why and where, a line each.
  std::vector<std::string> Details;
};

class Adviser {
public:
  explicit Adviser(const Profile &Profile);

  /// What is predicted to gain, best first, then what would lose.
  std::vector<Advice> All;

  /// What a call at the site saves on average by cosy run, in nanoseconds; 0
  /// for those that libcosy-preload.so does not make.
  double savedByRun(const Executable &Executable, const Site &Site) const;

  double nanoseconds(double Instructions) const { return Instructions * Scale; }
  double instructions(double Nanoseconds) const { return Nanoseconds / Scale; }

  /// What cosy run saves for one executable, the starts of its processes
  /// included.
  double savedByRun(const Executable &Executable) const;

private:
  void adviseRun();
  void adviseLoop(unsigned Executable, unsigned Loop);
  double savedInCompound(const Site &Site) const;
  /// User mode after the call before, without what every call takes.
  double userInstructions(const Transition &Transition) const;

  const Profile &Profile;
  double Scale;
};

} // namespace cosy

#endif // COSY_PROFILE_ADVICE_H
