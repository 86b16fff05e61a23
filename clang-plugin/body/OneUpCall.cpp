// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OneUpCall.cpp - Functions that are cheaper as one up-call ----------===//
//
// Estimates the least cost of a function in a compound: that of the cheapest
// path to a return, counted as up-calls less the savings of system calls. What
// may become an operation costs nothing, so the estimate is too low rather than
// too high.
//
//===----------------------------------------------------------------------===//
#include "body/OneUpCall.h"
#include "body/Body.h"
#include "body/LibraryCalls.h"
#include "body/Recognise.h"
#include "support/Costs.h"
#include "support/SystemCalls.h"
#include "support/UserFunctions.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>

using namespace llvm;

namespace cosy {

/// The depth to which callees of callees are judged.
constexpr unsigned MaxDepth = 4;

namespace {

/// The costs of functions, each by the depth at which it is called.
class Costs {
public:
  /// \returns the least cost of a path through \p F to a return, or none if
  /// there is no such path, or nothing is known about it.
  std::optional<int64_t> least(const Function &F, unsigned Depth);

private:
  std::optional<int64_t> least(const Instruction &I, unsigned Depth);
  std::optional<int64_t> compute(const Function &F, unsigned Depth);

  DenseMap<std::pair<const Function *, unsigned>, std::optional<int64_t>> Known;
};

} // namespace

/// \returns the least cost of \p I, or none if nothing is known about it.
std::optional<int64_t> Costs::least(const Instruction &I, unsigned Depth) {
  auto *CB = dyn_cast<CallBase>(&I);
  if (!CB || isa<IntrinsicInst>(CB) || CB->isInlineAsm())
    return 0;
  const Function *F = CB->getCalledFunction();
  // It may be compared with functions that make system calls.
  if (!F)
    return std::nullopt;
  if (const SystemCall *Call = systemCallShape(*CB).Call)
    return -int64_t(usualCallSaves(Call->Name));
  // A marker: regions and loops in the function are its own.
  if (F->getName().starts_with("__cosy_"))
    return std::nullopt;
  if (isUserFunctionCall(I) || libraryFunction(*CB))
    return 0;
  if (F->isDeclaration())
    return UpCallCost;
  std::optional<int64_t> Inside =
      Depth < MaxDepth ? least(*F, Depth + 1) : std::nullopt;
  // It is an up-call itself if it is not taken in.
  return Inside ? std::optional(std::min<int64_t>(*Inside, UpCallCost))
                : std::nullopt;
}

std::optional<int64_t> Costs::least(const Function &F, unsigned Depth) {
  auto [It, IsNew] = Known.try_emplace({&F, Depth});
  if (!IsNew)
    return It->second;
  std::optional<int64_t> Cost = compute(F, Depth);
  Known[{&F, Depth}] = Cost;
  return Cost;
}

std::optional<int64_t> Costs::compute(const Function &F, unsigned Depth) {
  DenseMap<const BasicBlock *, int64_t> AtEnd;
  std::optional<int64_t> Least;
  bool MakesSystemCalls = false;
  ReversePostOrderTraversal<const Function *> Blocks(&F);
  // An edge back in a loop leads to a block that was seen, and a loop without
  // system calls costs no less if it iterates.
  for (const BasicBlock *BB : Blocks) {
    std::optional<int64_t> Here;
    if (BB == &F.getEntryBlock())
      Here = 0;
    for (const BasicBlock *Pred : predecessors(BB))
      if (auto It = AtEnd.find(Pred); It != AtEnd.end())
        Here = Here ? std::min(*Here, It->second) : It->second;
    for (const Instruction &I : *BB) {
      std::optional<int64_t> Cost = least(I, Depth);
      if (!Cost)
        return std::nullopt;
      MakesSystemCalls |= *Cost < 0;
      *Here += *Cost;
    }
    AtEnd[BB] = *Here;
    if (isa<ReturnInst>(BB->getTerminator()))
      Least = Least ? std::min(*Least, *Here) : *Here;
  }
  if (MakesSystemCalls && hasLoop(F))
    return std::nullopt;
  return Least;
}

bool isCheaperAsOneUpCall(const Function &F) {
  std::optional<int64_t> Least = Costs().least(F, 0);
  return Least && *Least >= int64_t(UpCallCost);
}

} // namespace cosy
