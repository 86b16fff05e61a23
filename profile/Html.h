//===- Html.h - the report as a page with a flame graph ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef COSY_PROFILE_HTML_H
#define COSY_PROFILE_HTML_H

#include "Advice.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace cosy {

/// Write a page with the advice and a flame graph. It needs no other file.
void writeHtml(llvm::raw_ostream &Stream, const Profile &Profile,
               const Adviser &Adviser, const Recording &Recording,
               llvm::ArrayRef<std::string> Command);

} // namespace cosy

#endif // COSY_PROFILE_HTML_H
