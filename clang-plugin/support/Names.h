// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Names.h - Names that several layers use in the IR ------------------===//
//
// The markers, annotations and attributes by which one stage tells another
// something. Bitcode of other versions has them, too, so they do not change.
// Names that only one file uses are in that file.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_SUPPORT_NAMES_H
#define COSY_PLUGIN_SUPPORT_NAMES_H

#include "llvm/ADT/StringRef.h"

namespace cosy {

//===----------------------------------------------------------------------===//
// Markers: functions that the source or a stage calls, and that a stage
// replaces
//===----------------------------------------------------------------------===//

/// The markers of <cosy.h> that begin and end a region.
constexpr llvm::StringLiteral StartMarker = "__cosy_region_start";
constexpr llvm::StringLiteral StartWithMarker = "__cosy_region_start_with";
constexpr llvm::StringLiteral StartNativeMarker = "__cosy_region_start_native";
constexpr llvm::StringLiteral EndMarker = "__cosy_region_end";
constexpr const llvm::StringLiteral *AllMarkers[] = {
    &StartMarker, &StartWithMarker, &StartNativeMarker, &EndMarker};

/// void __cosy_batch(uint64_t size, uint64_t id): the loop is to be split.
/// BatchCheck has given each marker a number, the id.
constexpr llvm::StringLiteral BatchMarker = "__cosy_batch";
/// void __cosy_batch_step(uint64_t id): the step of the loop begins here.
constexpr llvm::StringLiteral BatchStepMarker = "__cosy_batch_step";

/// bool SplitGate(): whether a loop that is split without COSY_BATCH runs so.
/// It is true if the region of the loop runs as a compound, which is only known
/// when the program runs. The call and the marker of the region have the same
/// metadata SplitGateKind.
constexpr llvm::StringLiteral SplitGate = "cosy.split.runs";
constexpr llvm::StringLiteral SplitGateKind = "cosy.split";

/// bool cosy.stopped() returns true if the region has reached a limit at which
/// it ends. It is called at the beginning of each iteration of its loops.
constexpr llvm::StringLiteral StoppedMarker = "cosy.stopped";

/// The function that a body calls where the region is left:
/// void cosy.exit(i32 exit, outputs...).
constexpr llvm::StringLiteral ExitMarker = "cosy.exit";

/// int64_t cosy.async.run(region, frame) replaces cosy_region_run() in a part
/// of a COSY_ASYNC function. Coroutine.cpp replaces it by code that suspends
/// the coroutine until the part has run.
constexpr llvm::StringLiteral AsyncRunMarker = "cosy.async.run";
/// int *cosy.async.errno() is the address of errno while the part runs.
constexpr llvm::StringLiteral AsyncErrnoMarker = "cosy.async.errno";
/// The address of the flag by which libcosy has a function ask again how to
/// continue, in a coroutine that is not lowered yet.
constexpr llvm::StringLiteral AsyncAsksMarker = "cosy.async.asks";
/// void cosy.async.ask(flag) is where the function asks again, and clears that
/// flag: outside all parts.
constexpr llvm::StringLiteral AsyncAskMarker = "cosy.async.ask";

/// int64_t DeferredRun(region, body, outputs, inputs...) runs a deferred
/// region, as cosy_region_run() does. If the link step does not replace it, the
/// linker's error contains this name, which is the remedy.
constexpr llvm::StringLiteral DeferredRun =
    "__cosy_region_not_compiled__link_by_cosy_cc_with_flto";

/// int cosy_task_start(struct cosy_spawn *): the call before it is spawned.
constexpr llvm::StringLiteral SpawnFunction = "cosy_task_start";

//===----------------------------------------------------------------------===//
// Annotations: attributes of the source, which Annotations.h reads
//===----------------------------------------------------------------------===//

/// The annotation of COSY_FUNCTION.
constexpr llvm::StringLiteral FunctionAnnotation = "cosy_function";

/// The annotation of COSY_ASYNC.
constexpr llvm::StringLiteral AsyncAnnotation = "cosy_async";
/// The function's result is extended with zeros. The IR has no unsigned types.
constexpr llvm::StringLiteral AsyncUnsignedAnnotation = "cosy_async_unsigned";
/// The function's result is a _BitInt of the number of bits that follows.
constexpr llvm::StringLiteral AsyncBitsAnnotation = "cosy_async_bits_";
/// The function is of C++ with exceptions. None leaves it: the program ends.
constexpr llvm::StringLiteral AsyncTerminateAnnotation = "cosy_async_terminate";

/// Annotation of a local variable, followed by the id of the loop in whose body
/// it is declared, or 0, a colon, and its name.
constexpr llvm::StringLiteral BatchVariableAnnotation = "cosy_batch_variable:";

/// The annotation of COSY_OWN: the function is the program's own, whatever its
/// name is.
constexpr llvm::StringLiteral OwnAnnotation = "cosy_own";

/// Prefix of the annotation of a function that may be compiled from bitcode. A
/// WarningLevel for each warning follows.
constexpr llvm::StringLiteral WarningAnnotation = "cosy_warnings:";

//===----------------------------------------------------------------------===//
// Attributes of functions and calls
//===----------------------------------------------------------------------===//

/// The attribute of a COSY_ASYNC function, until it becomes a coroutine.
constexpr llvm::StringLiteral AsyncAttribute = "cosy-async";

/// An attribute of functions, and of their thunks, that no exception of C++ may
/// leave, until this is a part of their code.
constexpr llvm::StringLiteral TerminateAttribute = "cosy-terminate";

/// An attribute of calls whose argument a comparison has checked: "yes" if the
/// function only makes a system call with it, otherwise "no".
constexpr llvm::StringLiteral ThinAttribute = "cosy-thin";

/// An attribute of the native functions of up-calls.
constexpr llvm::StringLiteral ThunkAttribute = "cosy-thunk";

/// An attribute of functions that have a program.
constexpr llvm::StringLiteral ProgramAttribute = "cosy-program";

/// An attribute of functions that no region inlines in the link step.
constexpr llvm::StringLiteral NotInlinedAttribute = "cosy-not-inlined";

/// An attribute of functions whose calls AutoPass redirects in the link step.
constexpr llvm::StringLiteral AutoAttribute = "cosy-auto";

/// An attribute of a deferred body.
constexpr llvm::StringLiteral DeferredAttribute = "cosy-deferred";

/// The same as an attribute, for regions whose compounds are made in the link
/// step.
constexpr llvm::StringLiteral WarningAttribute = "cosy-warnings";

} // namespace cosy

#endif // COSY_PLUGIN_SUPPORT_NAMES_H
