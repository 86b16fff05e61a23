// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Version.cpp - Check the version of LLVM ----------------------------===//
#include "support/Version.h"

#include "llvm-c/Core.h"
#include "llvm/Config/llvm-config.h"

#include <cstdio>
#include <cstdlib>

namespace cosy {

bool checkVersion(const char *Plugin, const char *Loader, const char *Package) {
  unsigned Major, Minor, Patch;
  LLVMGetVersion(&Major, &Minor, &Patch);
  if (Major == LLVM_VERSION_MAJOR && Minor == LLVM_VERSION_MINOR)
    return true;
  fprintf(stderr,
          "error: %s was built for %s %d.%d, this is %s %u.%u; use %s-%d or "
          "build the plugin for this one\n",
          Plugin, Loader, LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, Loader, Major,
          Minor, Package, LLVM_VERSION_MAJOR);
  exit(1);
}

} // namespace cosy
