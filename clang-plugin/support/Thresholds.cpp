// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Thresholds.cpp - Sizes and counts that limit the stages ------------===//
#include "support/Thresholds.h"

using namespace llvm;

namespace cosy {

/// The limit for one function of the same file, before it is simplified.
/// Compile time grows with it, and so does the compound, which the kernel has
/// to load.
cl::opt<unsigned> MaxCallee(
    "cosy-max-callee", cl::Hidden, cl::init(2000),
    cl::desc("Instructions of a function that is inlined into a body"));

/// The limit for all inlined functions of the same file together, for the same
/// reasons.
cl::opt<unsigned> MaxInlined(
    "cosy-max-inlined", cl::Hidden, cl::init(20000),
    cl::desc("Instructions of all functions that are inlined into a body"));

/// A region can often reach the whole program by rare paths: 11,000 operations
/// around the lstat() of git status, with the limits for one file. Loading an
/// operation takes 500 instructions. So large functions remain up-calls, which
/// cost little on rare paths.
cl::opt<unsigned> MaxLinkedCallee(
    "cosy-max-linked-callee", cl::Hidden, cl::init(300),
    cl::desc("The same as cosy-max-callee when the program is linked"));

cl::opt<unsigned> MaxLinkedInlined(
    "cosy-max-linked-inlined", cl::Hidden, cl::init(1500),
    cl::desc("The same as cosy-max-inlined when the program is linked"));

/// Smaller variables are not shared, because SROA can promote them to
/// registers.
cl::opt<unsigned> SharedLocalSize(
    "cosy-shared-local-size", cl::Hidden, cl::init(256),
    cl::desc("Bytes from which on inlined calls share a local variable"));

/// They are in the frame of the region's function while it runs other code,
/// too.
cl::opt<unsigned>
    MaxLocals("cosy-max-locals", cl::Hidden, cl::init(64 << 10),
              cl::desc("Bytes of local variables of inlined functions"));

/// Such a function has its frame once for each recursive call.
cl::opt<unsigned> MaxRecursiveLocals(
    "cosy-max-recursive-locals", cl::Hidden, cl::init(1 << 10),
    cl::desc("The same as cosy-max-locals in a function that calls itself"));

/// A comparison takes 7 instructions, an up-call 749. But each function
/// enlarges the compound, and loading an operation takes 500 instructions.
cl::opt<unsigned>
    MaxTargets("cosy-max-targets", cl::Hidden, cl::init(3),
               cl::desc("Functions with which a called pointer is compared"));

/// As for cosy-max-callee, but the function may never be called.
cl::opt<unsigned> MaxGuessed(
    "cosy-max-guessed", cl::Hidden, cl::init(300),
    cl::desc("Instructions of a function with which a pointer is compared"));

/// The analyses work on a copy of the module. For 250,000 instructions they
/// take 2 seconds, where clang -O2 takes 15, and 60 MB.
cl::opt<unsigned> MaxAnalysed(
    "cosy-max-analysed", cl::Hidden, cl::init(300000),
    cl::desc("Instructions of a module in which called pointers are followed"));

/// Copies of more bytes cost more than they gain.
cl::opt<unsigned> MaxCopiedLocal(
    "cosy-max-copied-local", cl::Hidden, cl::init(128),
    cl::desc("Bytes of a local variable that is passed by value"));

/// At most two loads and two stores of 8 bytes, or four of each of fewer bytes.
cl::opt<unsigned> MaxExpandedCopy(
    "cosy-max-expanded-copy", cl::Hidden, cl::init(16),
    cl::desc("Bytes that are copied or filled by loads and stores"));

/// Some loop passes visit the whole function for every loop.
cl::opt<unsigned> MaxLoopWork(
    "cosy-max-loop-work", cl::Hidden, cl::init(2000000),
    cl::desc("Loops times instructions of a body for which loop passes run"));

/// Some loop passes visit all predecessors of a block for each of them.
cl::opt<unsigned> MaxLoopPredecessors(
    "cosy-max-loop-predecessors", cl::Hidden, cl::init(1000),
    cl::desc("Predecessors of a block for which loop passes run"));

/// Pieces inside pieces are visited again.
cl::opt<unsigned> MaxOutlineWork(
    "cosy-max-outline-work", cl::Hidden, cl::init(300000),
    cl::desc("Blocks that are visited to find pieces that are better native"));

/// The time to compute a trip count grows with the code before the loop.
cl::opt<unsigned>
    MaxTripCounts("cosy-max-trip-counts", cl::Hidden, cl::init(128),
                  cl::desc("Loops whose trip counts are looked up"));

/// Each hoisted constant occupies a register.
cl::opt<unsigned>
    MaxHoistedConstants("cosy-max-hoisted-constants", cl::Hidden, cl::init(24),
                        cl::desc("Constants that are set before a loop"));

} // namespace cosy
