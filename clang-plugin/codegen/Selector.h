// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Selector.h - The state of instruction selection --------------------===//
//
// Values narrower than 64 bits are "clean", that is zero-extended, only if a
// user depends on the upper bits. Operations use only their low WIDTH bytes, so
// a truncation or the int result of a system call usually costs nothing. i1 and
// widths that are not a power of two are always clean.
//
// Constant offsets are folded into loads, stores and arguments, comparisons
// into branches. The users of an instruction decide first whether it is needed
// in a register.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PLUGIN_CODEGEN_SELECTOR_H
#define COSY_PLUGIN_CODEGEN_SELECTOR_H

#include "body/Operations.h"
#include "body/Recognise.h"
#include "codegen/Select.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Instructions.h"

namespace cosy {

/// An address as a base value and an offset. Without a base it is absolute.
struct Address {
  llvm::Value *Base;
  int64_t Offset;
};

class Selector {
public:
  Selector(llvm::Function &F, llvm::LoopInfo &LI, const UpCallList &UpCalls)
      : F(F), DL(F.getDataLayout()), LI(LI), UpCalls(UpCalls) {}

  Selection run(unsigned NumOutputs);

private:
  // Demanded values.
  void findDemand();
  void demand(llvm::Value *V);
  void demandAddress(llvm::Value *V);
  void demandClean(llvm::Value *V);
  void flattenCondition(llvm::Value *Cond, bool &And,
                        llvm::SmallVectorImpl<llvm::Value *> &Leaves);
  void demandCondition(llvm::Value *Cond);
  void demandOperands(llvm::Instruction &I);
  void findClean();

  // Blocks.
  void orderBlocks();
  void lowerBlock(llvm::BasicBlock &BB);
  void placeHoisted();

  // Instructions.
  void lower(llvm::Instruction &I);
  void lowerAlias(llvm::Instruction &I);
  void lowerBinary(llvm::BinaryOperator &I);
  void lowerCompare(llvm::ICmpInst &I);
  bool isCleanAnyway(const llvm::Value *V) const;
  void setComparison(Inst &I, const llvm::ICmpInst &Cmp,
                     llvm::CmpInst::Predicate P);
  void lowerCast(llvm::CastInst &I);
  void lowerSelect(llvm::SelectInst &I);
  void lowerMemoryCall(llvm::CallBase &CB, MemoryCall Kind);
  void lowerSystemCall(llvm::CallBase &CB, const SystemCall &Call);
  void lowerCompareExchange(llvm::CallBase &CB);
  void lowerExit(llvm::CallBase &CB);
  void lowerUpCall(unsigned N);
  void lowerUserCall(llvm::CallBase &CB, unsigned UpCall);
  void lowerBranch(llvm::BranchInst &I);
  void lowerSwitch(llvm::SwitchInst &I);
  void lowerUnreachable(llvm::Instruction &I);
  void copiesFor(llvm::BasicBlock &Succ);

  // Values.
  Address stripOnce(llvm::Value *V) const;
  Address strip(llvm::Value *V, bool AtMaterialised) const;
  bool isAlias(const llvm::Value *V) const;
  Reg reg(llvm::Value *V);
  Reg regForAddress(const Address &A);
  Reg constant(int64_t Imm);
  Reg define(llvm::Value *V);
  std::optional<int64_t> constantOf(const llvm::Value *V) const;
  Reg signExtended(llvm::Value *V, unsigned &Width);
  void mask(Reg R, unsigned Bits);

  Inst &emit(unsigned Op) {
    Inst I;
    I.Op = Op;
    I.Loc = Loc;
    Sel.C.Blocks[Cur].Insts.push_back(std::move(I));
    return Sel.C.Blocks[Cur].Insts.back();
  }
  void emitALU(unsigned Op, unsigned Width, Reg Dst, Reg A, Reg B, int64_t Imm);
  Inst makeBranch(llvm::Value *Cond, bool Negate, llvm::BasicBlock *Target);
  void emitJump(llvm::BasicBlock *Target) {
    emit(COSY_OP_JMP).Target = Number.lookup(Target);
  }

  llvm::Function &F;
  const llvm::DataLayout &DL;
  llvm::LoopInfo &LI;
  const UpCallList &UpCalls;
  Selection Sel;

  std::vector<llvm::BasicBlock *> Order;
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> Number;
  unsigned Cur = 0;
  const llvm::DILocation *Loc = nullptr;

  llvm::DenseSet<const llvm::Value *> Demanded;
  llvm::DenseSet<const llvm::Value *> Clean; ///< must be zero-extended
  llvm::SmallVector<llvm::Value *, 64> Work;
  std::vector<llvm::Value *> CleanWork;

  llvm::DenseMap<const llvm::Value *, Reg> Regs;
  llvm::DenseMap<const llvm::PHINode *, Reg>
      PhiRegs; ///< the registers that predecessors write

  llvm::DenseMap<std::pair<unsigned, int64_t>, Reg> Constants; ///< by block
  std::vector<std::vector<Inst>> Hoisted;                      ///< by block
  std::vector<size_t> TerminatorAt;                            ///< by block
};

} // namespace cosy

#endif // COSY_PLUGIN_CODEGEN_SELECTOR_H
