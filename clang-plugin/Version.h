// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Version.h - Is this the LLVM that a plugin was built for? ----------===//
#ifndef COSY_PLUGIN_VERSION_H
#define COSY_PLUGIN_VERSION_H

namespace cosy {

/// Ends the process with a message if \p Plugin was built for another version
/// of LLVM: it would crash in ways nobody understands. \p Loader is what has
/// loaded it, and \p Package what there is of it for each version.
bool checkVersion(const char *Plugin, const char *Loader, const char *Package);

} // namespace cosy

#endif // COSY_PLUGIN_VERSION_H
