// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Confine.h - The state of confining a program -----------------------===//
#ifndef COSY_PLUGIN_BPF_CONFINE_H
#define COSY_PLUGIN_BPF_CONFINE_H

#include "bpf/Function.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace cosy {

struct Access {
  llvm::Instruction *I;
  llvm::Use *Pointer;
  bool Write;   ///< to memory that other code can access
  bool Unknown; ///< the upper half of the address is not known
};

class Confine {
public:
  Confine(llvm::Function &P, FunctionProgram &Out)
      : P(P), M(*P.getParent()), Ctx(P.getContext()), DL(P.getDataLayout()),
        Out(Out), Context(P.getArg(0)) {
    llvm::BasicBlock &First = P.getEntryBlock();
    llvm::SplitBlock(&First, First.getFirstInsertionPt());
    Entry = First.getTerminator();
  }

  void run() {
    lowerAtomics();
    flattenConditions();
    collectConstants();
    findAccesses();
    loadContext();
    guard();
    placeConstants();
    placeLocals();
    lowerFences();
    boundLoops(P, Entry, Zero);
    translate();
    lowerTraps();
    splitEdges();
  }

private:
  void lowerAtomics();
  llvm::Value *bitOf(llvm::IRBuilderBase &B, llvm::Value *C);
  void keepBits();
  void flattenConditions();
  void collectConstants();
  void findAccesses();
  void loadContext();
  void guard();
  void placeConstants();
  void placeLocals();
  void lowerFences();
  llvm::Value *translated(llvm::Value *Base);
  void translate();
  void lowerTraps();
  void splitEdges();

  void serialize(llvm::Constant *C, uint64_t At);
  void store(uint64_t V, uint64_t At, unsigned Bytes);
  llvm::Value *field(llvm::IRBuilderBase &B, size_t Offset) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Context, Offset);
  }
  llvm::Value *load(llvm::IRBuilderBase &B, size_t Offset,
                    const llvm::Twine &Name) {
    llvm::LoadInst *L = B.CreateLoad(B.getInt64Ty(), field(B, Offset), Name);
    Own.insert(L);
    return L;
  }

  llvm::Function &P;
  llvm::Module &M;
  llvm::LLVMContext &Ctx;
  const llvm::DataLayout &DL;
  FunctionProgram &Out;
  llvm::Instruction *Entry; ///< the user function's code begins here
  llvm::Argument *Context;
  llvm::SetVector<llvm::GlobalVariable *> Constants;
  llvm::DenseMap<llvm::GlobalVariable *, uint64_t> Place;
  std::vector<Access> Accesses;
  llvm::DenseMap<llvm::Value *, llvm::Value *> Translated;
  llvm::SmallPtrSet<llvm::Value *, 16>
      Compared; ///< bases needed as a number, too
  llvm::SmallPtrSet<llvm::Instruction *, 32> Own; ///< accesses to the context
  llvm::SmallPtrSet<llvm::Value *, 16> Bits; ///< conditions as numbers, 0 or 1
  llvm::Value *UpperHalf = nullptr;
  llvm::Value *Zero = nullptr;
  llvm::Value *DataBase = nullptr;
  llvm::BasicBlock *Fail = nullptr; ///< traps lead here
};

} // namespace cosy

#endif // COSY_PLUGIN_BPF_CONFINE_H
