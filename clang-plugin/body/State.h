// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- State.h - The state of a body --------------------------------------===//
//
// A body has everything that the later stages need as attributes and metadata,
// so that each stage can run alone. Its state tells which stages have run. A
// stage takes bodies in one state, and verifyBody() checks the promise of a
// state.
//
// | state      | promise                                                      |
// |------------|--------------------------------------------------------------|
// | body       | it is a function of its inputs, which ends at cosy.exit      |
// | legal      | intrinsics, addresses and odd sizes are plain instructions   |
// | recognised | system calls are calls of cosy.sys.*                         |
// | grouped    | what has no operation belongs to an up-call                  |
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_BODY_STATE_H
#define COSY_PLUGIN_BODY_STATE_H

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

#include <string>

namespace cosy {

enum class BodyState { None, Body, Legal, Recognised, Grouped };

/// \returns the state of \p F, or None if it is not a body.
BodyState stateOf(const llvm::Function &F);

/// Sets the state of \p Body to \p S.
void setState(llvm::Function &Body, BodyState S);

/// An attribute of a body. Its value is the state.
constexpr llvm::StringLiteral StateAttribute = "cosy-state";
/// An attribute of a body: no fast paths.
constexpr llvm::StringLiteral NoFastAttribute = "cosy-no-fast";
/// An attribute of a body: only code without an operation runs natively.
constexpr llvm::StringLiteral NoOutlineAttribute = "cosy-no-outline";

/// The other attributes of a body.
struct BodyDescription {
  std::string Name;         ///< of the function it was written in
  unsigned NumExits = 0;    ///< of the region
  unsigned NumOutputs = 0;  ///< at each exit
  uint64_t Limit = 0;       ///< operations of one entry; 0: the usual number
  bool IsPart = false;      ///< of what was marked
  bool IsOptimized = false; ///< the host is compiled with optimisations
  bool Dump = false;        ///< print the compound
  bool NoFast = false;
  bool NoOutline = false;

  void write(llvm::Function &Body) const;
  static BodyDescription read(const llvm::Function &Body);
};

/// \returns a description of the first violation of the promise of the state of
/// \p Body, with the instruction, or "".
std::string verifyBody(const llvm::Function &Body);

/// Reports an error if the exits of \p Body, or their outputs, are not as many
/// as its attributes say. \returns whether the stage \p Pass can run.
bool expectExits(const llvm::Function &Body, llvm::StringRef Pass);

/// Reports an error if \p F is a body whose state is not \p Expected, which the
/// stage \p Pass needs. \returns whether the stage can run.
bool expectState(const llvm::Function &F, BodyState Expected,
                 llvm::StringRef Pass);

/// Reports an error if verifyBody() finds a violation after the stage \p Pass.
void expectSound(const llvm::Function &Body, llvm::StringRef Pass);

/// A stage. Takes bodies in the state \p From, leaves them in the state \p To,
/// and does not change other functions. DerivedT has a Name and a runOnBody().
template <typename DerivedT, BodyState From, BodyState To = From>
class BodyPass : public llvm::PassInfoMixin<DerivedT> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM) {
    if (stateOf(F) == BodyState::None || !expectState(F, From, DerivedT::Name))
      return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses PA =
        static_cast<DerivedT *>(this)->runOnBody(F, FAM);
    if (To != From)
      setState(F, To);
    expectSound(F, DerivedT::Name);
    return PA;
  }
  /// Bodies in bitcode have optnone.
  static bool isRequired() { return true; }
};

/// Reports the violations that verifyBody() finds in each body.
class VerifyBodyPass : public llvm::PassInfoMixin<VerifyBodyPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
  static bool isRequired() { return true; }
};

} // namespace cosy

#endif // COSY_PLUGIN_BODY_STATE_H
