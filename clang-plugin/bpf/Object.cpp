// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Object.cpp - The map and the types for the loader ------------------===//
#include "bpf/Function.h"

#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

extern "C" {
#include <cosy/function.h>
}

using namespace llvm;

namespace cosy {

namespace {

/// The definition of the map for libbpf: a structure of pointers to arrays,
/// whose lengths are the values.
class MapType {
public:
  MapType(DIBuilder &DIB, DIFile *File)
      : DIB(DIB), File(File),
        Int(DIB.createBasicType("int", 32, dwarf::DW_ATE_signed)) {}

  void add(StringRef Name, uint64_t Value) {
    DIType *Array = DIB.createArrayType(
        Value * 32, 32, Int,
        DIB.getOrCreateArray(
            {DIB.getOrCreateSubrange(0, static_cast<int64_t>(Value))}));
    Members.push_back(DIB.createMemberType(
        File, Name, File, 0, 64, 64, Members.size() * 64, DINode::FlagZero,
        DIB.createPointerType(Array, 64)));
  }
  DIType *finish() {
    return DIB.createStructType(File, "", File, 0, Members.size() * 64, 64,
                                DINode::FlagZero, nullptr,
                                DIB.getOrCreateArray(Members));
  }
  unsigned size() const { return Members.size(); }

private:
  DIBuilder &DIB;
  DIFile *File;
  DIType *Int;
  SmallVector<Metadata *, 4> Members;
};

} // namespace

// linux/bpf.h of Debian 12 does not define them.
constexpr uint64_t MapTypeArena = 33;
constexpr uint64_t MapMmapable = 1 << 10;
constexpr uint64_t SegmentPages = 1 << 20;

void addLoaderData(Function &Program) {
  Module &M = *Program.getParent();
  LLVMContext &Ctx = M.getContext();
  DISubprogram *SP = Program.getSubprogram();
  DIBuilder DIB(M, false, SP->getUnit());
  DIFile *File = SP->getFile();

  MapType Type(DIB, File);
  Type.add("type", MapTypeArena);
  Type.add("map_flags", MapMmapable);
  Type.add("max_entries", SegmentPages);
  DIType *Ty = Type.finish();
  auto *Bytes = ArrayType::get(Type::getInt64Ty(Ctx), Type.size());
  auto *Map =
      new GlobalVariable(M, Bytes, false, GlobalValue::ExternalLinkage,
                         Constant::getNullValue(Bytes), COSY_FUNCTION_SEGMENT);
  Map->setSection(".maps");
  Map->setAlignment(Align(8));
  Map->setDSOLocal(true);
  Map->addDebugInfo(DIB.createGlobalVariableExpression(
      SP->getUnit(), COSY_FUNCTION_SEGMENT, "", File, 0, Ty, false));
  // The reference connects the program with the segment.
  IRBuilder<> B(&*Program.getEntryBlock().getFirstInsertionPt());
  B.CreateCall(
      InlineAsm::get(FunctionType::get(B.getVoidTy(), {B.getPtrTy()}, false),
                     "", "r", true),
      {Map});

  Constant *Text = ConstantDataArray::getString(Ctx, COSY_FUNCTION_LICENSE);
  auto *License = new GlobalVariable(
      M, Text->getType(), true, GlobalValue::ExternalLinkage, Text, "_license");
  License->setSection("license");
  License->setAlignment(Align(1));

  DIB.finalize();
}

} // namespace cosy
