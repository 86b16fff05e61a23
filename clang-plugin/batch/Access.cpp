// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Access.cpp - Record a program's accesses, for the check ------------===//
//
// Inserts calls of libcosy before loads, stores and calls of the C library, in
// all functions of the module, because a loop with COSY_BATCH may call any of
// them. Loads and stores of variables whose address is not taken are omitted.
// So are atomic accesses, and functions with the attribute
// disable_sanitizer_instrumentation: programs use these to exempt counters and
// caches that iterations share on purpose.
//
//===----------------------------------------------------------------------===//
#include "batch/Loop.h"
#include "batch/Runtime.h"
#include "body/LibraryCalls.h"
#include "body/Recognise.h"
#include "support/LlvmCompat.h"
#include "support/Markers.h"
#include "support/Names.h"
#include "support/SystemCalls.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <cosy/batch-check.h>
#include <fcntl.h>
#include <sys/stat.h>

using namespace llvm;

namespace cosy {

namespace {

/// Finds uses of an address other than accesses. For LLVM, volatile accesses
/// are such uses.
class AddressUses : public AddressVisitor {
public:
  bool isEscape(const Use &U) override {
    const User *I = U.getUser();
    return !isa<LoadInst, MemIntrinsic, VAStartInst, VACopyInst, VAEndInst>(
               I) &&
           !(isa<StoreInst>(I) && U.getOperandNo() == 1);
  }
};

class Recorder {
public:
  explicit Recorder(Function &F) : F(F) {}
  void run();

private:
  bool isPrivate(Value *P);
  void systemCall(CallInst &CI, const CallShape &Shape);
  void libraryCall(CallInst &CI, StringRef Letters);
  void newBlock(CallInst &CI, StringRef Letters);
  /// Calls \p Name with \p Args and the site of \p I.
  void record(IRBuilderBase &B, const Instruction &I, StringRef Name,
              ArrayRef<Value *> Args) {
    SmallVector<Value *, 5> All(Args);
    All.push_back(batchSite(F, I.getDebugLoc()));
    callBatchRuntime(B, Name, All);
  }

  Function &F;
  DenseMap<Value *, bool> Private; ///< variables: no other code has the address
};

} // namespace

/// Returns true if only instructions of this function access \p P, by its name.
/// The split itself handles such variables.
bool Recorder::isPrivate(Value *P) {
  Value *Object = getUnderlyingObject(P, /*MaxLookup=*/0);
  if (auto *G = dyn_cast<GlobalVariable>(Object))
    return G->isConstant();
  if (isa<CallBase>(Object))
    return isErrnoAddress(Object);
  auto *A = dyn_cast<Argument>(Object);
  if (!isa<AllocaInst>(Object) &&
      !(A && (A->hasByValAttr() || A->hasStructRetAttr())))
    return false;
  auto [It, Inserted] = Private.try_emplace(Object, false);
  if (Inserted) {
    AddressUses Uses;
    PointerMayBeCaptured(Object, &Uses);
    It->second = !Uses.Found;
  }
  return It->second;
}

/// \returns the load of `*p += n`, whose store is \p S, if the old and the new
/// value are not used otherwise. Such additions commute, so a counter is not a
/// dependence.
static LoadInst *additionOf(const StoreInst &S) {
  auto *Sum = dyn_cast<BinaryOperator>(S.getValueOperand());
  if (!Sum || !Sum->hasOneUse() ||
      (Sum->getOpcode() != Instruction::Add &&
       Sum->getOpcode() != Instruction::Sub))
    return nullptr;
  for (unsigned N = 0; N < (Sum->getOpcode() == Instruction::Add ? 2 : 1); ++N)
    if (auto *L = dyn_cast<LoadInst>(Sum->getOperand(N));
        L && L->hasOneUse() && !L->isAtomic() &&
        L->getPointerOperand() == S.getPointerOperand())
      return L;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// System calls
//===----------------------------------------------------------------------===//

/// \returns true if the system call \p Name changes the file that \p Arg names.
static bool changesFile(StringRef Name, unsigned Arg) {
  static const StringSet<> Names = {
      "chmod",     "chown",       "creat",     "fchmodat", "fchownat",
      "futimesat", "lchown",      "link",      "linkat",   "lremovexattr",
      "lsetxattr", "mkdir",       "mkdirat",   "mknod",    "mknodat",
      "mount",     "removexattr", "rename",    "renameat", "renameat2",
      "rmdir",     "setxattr",    "truncate",  "umount2",  "unlink",
      "unlinkat",  "utime",       "utimensat", "utimes"};
  // The first string is the target.
  if (Name == "symlink" || Name == "symlinkat")
    return Arg > 0;
  return Names.contains(Name);
}

/// Returns true if the system call \p Name changes the file of the descriptor
/// \p Arg, or a property of the descriptor such as its offset.
static bool changesDescriptor(StringRef Name, unsigned Arg) {
  static const StringSet<> Names = {
      "fallocate", "fchmod",   "fchown",     "fremovexattr", "fsetxattr",
      "ftruncate", "getdents", "getdents64", "lseek",        "pwrite64",
      "pwritev",   "pwritev2", "read",       "readv",        "sendfile",
      "splice",    "write",    "writev"};
  if (Name == "dup2" || Name == "dup3")
    return Arg == 1;
  return Names.contains(Name);
}

static bool returnsDescriptor(StringRef Name) {
  static const StringSet<> Names = {
      "accept",   "accept4",       "creat",        "dup",    "epoll_create1",
      "eventfd2", "inotify_init1", "memfd_create", "open",   "openat",
      "openat2",  "pidfd_open",    "signalfd4",    "socket", "timerfd_create"};
  return Names.contains(Name);
}

/// Returns the bytes that a system call writes, if the table has no size.
static uint64_t resultSize(StringRef Name) {
  return StringSwitch<uint64_t>(Name)
      .Case("stat", sizeof(struct stat))
      .Case("lstat", sizeof(struct stat))
      .Case("fstat", sizeof(struct stat))
      .Case("newfstatat", sizeof(struct stat))
      .Case("statx", sizeof(struct statx))
      .Default(1);
}

void Recorder::systemCall(CallInst &CI, const CallShape &Shape) {
  IRBuilder<> B(&CI), A(CI.getNextNode());
  A.SetCurrentDebugLocation(CI.getDebugLoc());
  StringRef Name = Shape.Call->Name, Letters = Shape.Call->Args;
  auto Integer = [&](unsigned N, unsigned Bits) -> Value * {
    Type *Ty = B.getIntNTy(Bits);
    Value *V = Shape.Args[N];
    return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, Ty)
                                       : B.CreateSExtOrTrunc(V, Ty);
  };
  unsigned Size = std::min<size_t>(Letters.size(), Shape.Args.size());
  if (Name == "close")
    return record(B, CI, "cosy_batch_close", {Integer(0, 32)});
  Value *Directory = B.getInt32(AT_FDCWD);
  for (unsigned N = 0; N < Size; ++N) {
    Value *P = Shape.Args[N];
    size_t Number = Letters.find('n', N);
    bool Counted = Number < Size;
    switch (Letters[N]) {
    case 'd':
      if (Letters.substr(N + 1).starts_with("s")) {
        Directory = Integer(N, 32);
        break;
      }
      record(B, CI, "cosy_batch_object",
             {B.getInt32(COSY_BATCH_DESCRIPTOR), Integer(N, 64),
              B.getInt32(changesDescriptor(Name, N))});
      break;
    case 's': {
      if (!P->getType()->isPointerTy())
        break;
      Value *Change = B.getInt32(changesFile(Name, N));
      if (Name == "openat" || Name == "open")
        Change = B.CreateAnd(Integer(N + 1, 32), O_CREAT | O_TRUNC);
      record(B, CI, "cosy_batch_path", {Directory, P, Change});
      break;
    }
    case 'r':
    case 'w': {
      bool IsWrite = Letters[N] == 'w';
      if (!P->getType()->isPointerTy() || !(Counted || IsWrite))
        break;
      record(A, CI, "cosy_batch_result",
             {P, Counted ? Integer(Number, 64) : B.getInt64(resultSize(Name)),
              A.CreateSExtOrTrunc(&CI, A.getInt64Ty()), A.getInt32(IsWrite),
              A.getInt32(Counted)});
      break;
    }
    }
  }
  if (Name == "chdir" || Name == "fchdir")
    record(B, CI, "cosy_batch_chdir", {});
  if (returnsDescriptor(Name))
    callBatchRuntime(A, "cosy_batch_open",
                     {A.CreateSExtOrTrunc(&CI, A.getInt32Ty())});
}

//===----------------------------------------------------------------------===//
// Other functions
//===----------------------------------------------------------------------===//

StringRef libraryLetters(const CallInst &CI) {
  static const StringMap<StringRef> Table = {
#define COSY_BATCH_LIBRARY(name, args) {#name, args},
#include "batch/Library.def"
  };
  const Function *Callee = CI.getCalledFunction();
  if (!Callee || !Callee->isDeclaration() || Callee->isIntrinsic())
    return "";
  // glibc since 2.38 calls functions by other names if they follow C23.
  StringRef Name = Callee->getName();
  Name.consume_front("__isoc23_");
  return Table.lookup(Name);
}

/// Records that \p CI has allocated memory, to which no pointers exist yet.
void Recorder::newBlock(CallInst &CI, StringRef Letters) {
  IRBuilder<> A(CI.getNextNode());
  A.SetCurrentDebugLocation(CI.getDebugLoc());
  if (!CI.getType()->isPointerTy())
    return;
  Value *Size = A.getInt64(Letters.contains('M') ? -1 : 1);
  for (unsigned N = 0; N < Letters.size() && Letters.contains('m'); ++N)
    if (Letters[N] == 'n' && CI.getArgOperand(N)->getType()->isIntegerTy())
      Size = A.CreateMul(
          Size, A.CreateZExtOrTrunc(CI.getArgOperand(N), A.getInt64Ty()));
  callBatchRuntime(A, "cosy_batch_new", {&CI, Size});
}

void Recorder::libraryCall(CallInst &CI, StringRef Letters) {
  IRBuilder<> B(&CI), A(CI.getNextNode());
  A.SetCurrentDebugLocation(CI.getDebugLoc());
  for (unsigned N = 0; N < Letters.size(); ++N) {
    if (Letters[N] == 'o') {
      record(B, CI, "cosy_batch_object",
             {B.getInt32(COSY_BATCH_STREAM), B.getInt64(0), B.getInt32(1)});
      continue;
    }
    if (Letters[N] == 'm' || Letters[N] == 'M') {
      newBlock(CI, Letters);
      continue;
    }
    if (N >= CI.arg_size())
      return;
    Value *P = CI.getArgOperand(N);
    if (!P->getType()->isPointerTy())
      continue;
    Value *Size = B.getInt64(-1);
    if (size_t Number = Letters.find('n', N); Number < CI.arg_size())
      if (Value *V = CI.getArgOperand(Number); V->getType()->isIntegerTy())
        Size = B.CreateZExtOrTrunc(V, B.getInt64Ty());
    switch (Letters[N]) {
    case 's':
      record(B, CI, "cosy_batch_read_string", {P, B.getInt64(-1)});
      break;
    case 't':
      record(B, CI, "cosy_batch_read_string", {P, Size});
      break;
    case 'A':
      record(B, CI, "cosy_batch_read_string", {P, B.getInt64(-1)});
      [[fallthrough]];
    case 'S':
      record(A, CI, "cosy_batch_write_string", {P, B.getInt64(-1)});
      break;
    case 'T':
      record(A, CI, "cosy_batch_write_string", {P, Size});
      break;
    case 'r':
      record(B, CI, "cosy_batch_read", {P, Size});
      break;
    case 'w':
      record(B, CI, "cosy_batch_write", {P, Size});
      break;
    case 'f':
      record(B, CI, "cosy_batch_object",
             {B.getInt32(COSY_BATCH_STREAM),
              B.CreatePtrToInt(P, B.getInt64Ty()), B.getInt32(1)});
      break;
    case 'D':
      if (CI.getType()->isPointerTy())
        record(A, CI, "cosy_batch_entry", {P, &CI});
      break;
    case 'p':
      record(B, CI, "cosy_batch_free", {P});
      break;
    }
  }
}

void Recorder::run() {
  const DataLayout &DL = F.getDataLayout();
  // Found before the calls are inserted, because these capture addresses.
  struct Access {
    Instruction *I;
    Value *Address;
    Value *Size;
    StringRef Name; ///< of libcosy's function
  };
  SmallVector<Access, 32> Accesses;
  SmallVector<std::pair<CallInst *, CallShape>, 8> SystemCalls;
  SmallVector<std::pair<CallInst *, StringRef>, 8> LibraryCalls;
  Type *I64 = Type::getInt64Ty(F.getContext());
  auto Add = [&](Instruction &I, Value *P, Value *Size, StringRef Name) {
    if (P->getType()->getPointerAddressSpace() == 0 && !isPrivate(P))
      Accesses.push_back({&I, P, Size, Name});
  };
  auto SizeOf = [&](Type *Ty) {
    return ConstantInt::get(I64, DL.getTypeStoreSize(Ty).getKnownMinValue());
  };
  constexpr StringLiteral Read = "cosy_batch_read", Write = "cosy_batch_write";
  SmallPtrSet<Instruction *, 8> Additions;
  for (Instruction &I : instructions(F))
    if (auto *S = dyn_cast<StoreInst>(&I); S && !S->isAtomic())
      if (LoadInst *L = additionOf(*S)) {
        Additions.insert(L);
        Additions.insert(S);
      }
  for (Instruction &I : instructions(F)) {
    if (auto *L = dyn_cast<LoadInst>(&I); L && !L->isAtomic()) {
      if (!Additions.count(L))
        Add(I, L->getPointerOperand(), SizeOf(L->getType()), Read);
    } else if (auto *S = dyn_cast<StoreInst>(&I); S && !S->isAtomic()) {
      Add(I, S->getPointerOperand(), SizeOf(S->getValueOperand()->getType()),
          Additions.count(S) ? "cosy_batch_update" : Write);
    } else if (auto *MI = dyn_cast<MemIntrinsic>(&I)) {
      Add(I, MI->getRawDest(), MI->getLength(), Write);
      if (auto *MT = dyn_cast<MemTransferInst>(MI))
        Add(I, MT->getRawSource(), MI->getLength(), Read);
    } else if (auto *CI = dyn_cast<CallInst>(&I); CI && !CI->isMustTailCall()) {
      if (CallShape Shape = systemCallShape(*CI); Shape.Call)
        SystemCalls.push_back({CI, Shape});
      else if (StringRef Letters = libraryLetters(*CI); !Letters.empty())
        LibraryCalls.push_back({CI, Letters});
    }
  }
  for (const Access &A : Accesses) {
    IRBuilder<> B(A.I);
    record(B, *A.I, A.Name, {A.Address, A.Size});
  }
  for (auto &[CI, Shape] : SystemCalls)
    systemCall(*CI, Shape);
  for (auto &[CI, Letters] : LibraryCalls)
    libraryCall(*CI, Letters);
}

void recordAccesses(Module &M) {
  constexpr StringLiteral Done = "cosy.batch.check";
  if (M.getNamedMetadata(Done))
    return;
  M.getOrInsertNamedMetadata(Done);
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    SmallVector<CallInst *, 4> Starts = markersOf(F, StartMarker);
    bool HasOptions = any_of(Starts, [](CallInst *C) {
      return C->getCalledFunction()->getName() == StartWithMarker;
    });
    if (HasOptions || F.hasFnAttribute(Attribute::Naked) ||
        F.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
      continue;
    for (CallInst *Start : Starts)
      Start->setCalledFunction(
          M.getOrInsertFunction(StartNativeMarker, Start->getFunctionType()));
    // Variables of an inlined function could share memory with others.
    if (!F.hasFnAttribute(Attribute::AlwaysInline))
      F.addFnAttr(Attribute::NoInline);
    Recorder(F).run();
  }
}

} // namespace cosy
