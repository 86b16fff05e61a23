// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Deferred.h - Compounds that are made when the program is linked ----===//
//
// With cosy-cc -flto, functions of other files can become a part of a compound.
// The compile step and the link step share the work:
//
// - The compile step does on unoptimised code what it always does, until the
//   callees of the same file have been inlined into the region's body. The body
//   stays in the object file, as a function that no optimisation may change,
//   with all that the link step has to know as attributes. The host calls
//   DeferredRun with the body and its inputs. To the optimisations this is a
//   call of an unknown function; they may copy, move or remove it.
// - The link step inlines the callees of other files, makes the compound and
//   replaces the calls. With full LTO it sees all functions; with ThinLTO those
//   that the linker has copied into the region's module.
//
// So what the optimisations did to the markers' surroundings does not matter,
// and the compound has the part of its own file in the same form as always.
// Callees of other files have been optimised, but not vectorised: the plugin
// leaves that to the link step, since vectors have no operations.
//
// All regions are deferred that can be, also those that call nothing of another
// file: a region of another file may take in the function they are in, which
// has to be without compounds then.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_DEFERRED_H
#define COSY_PLUGIN_DEFERRED_H

#include "body/State.h"
#include "region/Region.h"
#include "region/RegionPass.h"

namespace cosy {

/// A function that no region takes in when the program is linked.
constexpr llvm::StringLiteral NotInlinedAttribute = "cosy-not-inlined";

/// A function whose calls AutoPass redirects when the program is linked.
constexpr llvm::StringLiteral AutoAttribute = "cosy-auto";

/// \returns whether the compound of \p R may be made when the program is
/// linked.
bool canDefer(const Region &R);

/// Leaves R.Body, which has been described, to the link step: writes R's place
/// and warnings down in it, and makes sure that no optimisation changes it.
void deferBody(Region &R);

/// \returns whether \p F is the body of a deferred region.
bool isDeferredBody(const llvm::Function &F);

/// Keeps the names of \p Body and \p Descriptor, of a deferred region: so
/// ThinLTO copies no function that refers to them into another module.
void keepForLinkStep(llvm::Function &Body, llvm::GlobalVariable &Descriptor);

/// \returns whether keepForLinkStep() was called for \p C.
bool isKeptForLinkStep(const llvm::Constant &C);

/// Makes R.Body an ordinary body again. Sets R.Name, R.Loc and the number of
/// R.Exits. \returns what else its attributes say.
BodyDescription resumeBody(Region &R);

} // namespace cosy

#endif // COSY_PLUGIN_DEFERRED_H
