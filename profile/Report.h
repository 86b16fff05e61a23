//===- Report.h - write a profile as text or JSON ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_REPORT_H
#define COSY_PROFILE_REPORT_H

#include "Advice.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace cosy {

/// Write the advice and the most expensive sites. At most a screen, except if
/// \p All.
void writeText(llvm::raw_ostream &Stream, const Profile &Profile,
               const Adviser &Adviser, const Recording &Recording, bool All);

/// Write everything as one JSON object; cosy-profile(1) describes it.
void writeJson(llvm::raw_ostream &Stream, const Profile &Profile,
               const Adviser &Adviser, const Recording &Recording,
               llvm::ArrayRef<std::string> Command);

/// Return a sentence for each kind of data that was not recorded.
std::vector<std::string> warnings(const Recording &Recording);

} // namespace cosy

#endif // COSY_PROFILE_REPORT_H
