// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Deferred.h - Compounds that the link step makes --------------------===//
//
// With cosy-cc -flto, functions of other files can become a part of a compound.
// Such regions are deferred: the compile step and the link step share the work.
//
// - The compile step processes unoptimised code as without -flto, until the
//   callees of the same file have been inlined into the region's body. The body
//   stays in the object file, as a function that no optimisation may change.
//   Its attributes have all the data for the link step. The host calls
//   DeferredRun with the body and its inputs. To the optimisations this is a
//   call of an unknown function. They may copy, move or remove it.
// - The link step inlines the callees of other files, makes the compound and
//   replaces the calls. With full LTO it sees all functions. With ThinLTO it
//   sees those that the linker has copied into the region's module.
//
// So optimisations around the markers have no effect on the compound, and its
// code from its own file has the same form as without -flto. Callees of other
// files have been optimised, but not vectorised. The plugin leaves
// vectorisation to the link step, because vectors have no operations.
//
// All regions that can be are deferred, also those that call no function of
// another file. A region of another file may inline the function that contains
// them, which must not contain compounds then.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_LINK_DEFERRED_H
#define COSY_PLUGIN_LINK_DEFERRED_H

#include "body/State.h"
#include "region/Region.h"

namespace cosy {

/// \returns whether the link step can make the compound of \p R.
bool canDefer(const Region &R);

/// Leaves R.Body, which has been described, to the link step. Stores the place
/// and the warnings of \p R in it, and protects it from optimisations.
void deferBody(Region &R);

/// Makes R.Body an ordinary body again. Sets R.Name, R.Loc and the number of
/// R.Exits. \returns the rest of the description from its attributes.
BodyDescription resumeBody(Region &R);

} // namespace cosy

#endif // COSY_PLUGIN_LINK_DEFERRED_H
