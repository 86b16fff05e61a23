// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Version.h - Check the version of LLVM ------------------------------===//
#ifndef COSY_PLUGIN_SUPPORT_VERSION_H
#define COSY_PLUGIN_SUPPORT_VERSION_H

namespace cosy {

/// Ends the process with a message if \p Plugin was built for another version
/// of LLVM, because it would crash. \p Loader is the program that has loaded
/// it. \p Package is the package that exists for each version of LLVM.
bool checkVersion(const char *Plugin, const char *Loader, const char *Package);

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_VERSION_H
