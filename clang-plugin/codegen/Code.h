// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Code.h - A compound between selection and emission -----------------===//
//
// The operations of a compound in basic blocks, with any number of registers.
// Selection produces it, register allocation renames its registers, emission
// encodes it as an image.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_CODEGEN_CODE_H
#define COSY_PLUGIN_CODEGEN_CODE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"

#include <cosy/format.h>

#include <string>
#include <vector>

namespace cosy {

/// A register: virtual until allocation, then one of the compound's.
using Reg = unsigned;
constexpr Reg NoReg = ~0u;

/// An operation that exists only before emission: Defs = Ops, in parallel.
constexpr unsigned OpCopies = COSY_NR_OPS;

/// A register plus a constant, or only a constant.
struct Operand {
  Reg R = NoReg;
  int64_t Imm = 0;
};

/// One operation. Members have the names of those of struct cosy_op where they
/// have the same meaning. Target is the number of a block.
struct Inst {
  unsigned Op = 0;
  unsigned Width = 0;
  unsigned Cond = 0;
  Reg Dst = NoReg;
  Reg A = NoReg;
  Reg B = NoReg;
  Reg C = NoReg;
  unsigned Target = ~0u;
  int64_t Imm = 0;
  unsigned Hints = 0; ///< of a system call, COSY_HINT_*
  const llvm::DILocation *Loc = nullptr;
  /// Further operands that are read: arguments of a call, operands of an
  /// up-call, outputs of an exit, sources of copies, constants of a switch.
  llvm::SmallVector<Operand, 0> Ops;
  /// Further registers that are written: results of an up-call, destinations
  /// of copies. For a switch, the blocks of its cases.
  llvm::SmallVector<Reg, 0> Defs;
  unsigned UpCall = 0; ///< of a CALL: the up-call that does the same natively
  /// For an up-call: the range of registers that it or later code reads.
  Reg LiveFirst = 0;
  unsigned LiveCount = 0;

  bool isSwitch() const { return Op == COSY_OP_SWITCH; }

  /// Calls \p F with every register that the operation reads.
  template <typename Fn> void forEachUse(Fn F) {
    for (Reg *R : {&A, &B, &C})
      if (*R != NoReg)
        F(*R);
    if (!isSwitch())
      for (Operand &O : Ops)
        if (O.R != NoReg)
          F(O.R);
  }

  /// Calls \p F with every register that the operation writes.
  template <typename Fn> void forEachDef(Fn F) {
    if (Dst != NoReg)
      F(Dst);
    if (!isSwitch())
      for (Reg &R : Defs)
        F(R);
  }
};

/// A basic block. It ends with JMP, SWITCH or EXIT. BR occurs only directly
/// before that.
struct Block {
  std::vector<Inst> Insts;
  llvm::SmallVector<unsigned, 2> Preds;
  unsigned Depth = 0;                       ///< number of loops that contain it
  const llvm::BasicBlock *Source = nullptr; ///< the block of the body
};

/// A compound. Blocks are in the order of their code. The first is the entry.
struct Code {
  std::string Name;
  std::vector<Block> Blocks;
  unsigned NumRegs = 0;
  /// Registers that the caller sets.
  std::vector<Reg> Inputs;
  /// Registers returned to the host: Outputs[I] is the host's output number I.
  /// An exit may leave some of them unset.
  std::vector<Reg> Outputs;
  /// libcosy sets it to 1 when the region must end. May be NoReg.
  Reg Stop = NoReg;
  unsigned NumExits = 0;
  unsigned NumUpCalls = 0;
  /// User functions, indexed by the number in CALL.
  llvm::SmallVector<const llvm::Function *, 0> Functions;
  uint64_t Limit = COSY_DEFAULT_LIMIT; ///< operations of one entry
  unsigned OutFirst = 0; ///< after allocation: first output register
  unsigned NumOut = 0;   ///< after allocation: number of output registers

  Reg newReg() { return NumRegs++; }
  void computePreds();
};

} // namespace cosy

#endif // COSY_PLUGIN_CODEGEN_CODE_H
