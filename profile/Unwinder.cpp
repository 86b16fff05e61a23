//===- Unwinder.cpp - find the source lines of a copied stack -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Unwinder.h"

#include "../tools/regular.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugFrame.h"
#include "llvm/DebugInfo/Symbolize/SymbolizableObjectFile.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"

#include <algorithm>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace llvm::dwarf;
using namespace cosy;

namespace {

/// DWARF's register numbers on x86-64.
enum { RBX = 3, RBP = 6, RSP = 7, R12 = 12, ReturnAddress = 16 };
constexpr unsigned NumRegisters = 17;

constexpr unsigned MaxDepth = 128;

/// \returns the table for a function. This is a function of LLVM's namespace
/// since 21 or 22, a member of UnwindTable before.
template <typename Entry>
auto unwindTable(const Entry *E, int) -> decltype(createUnwindTable(E)) {
  return createUnwindTable(E);
}
template <typename Entry, typename Table = UnwindTable>
auto unwindTable(const Entry *E, long) -> decltype(Table::create(E)) {
  return Table::create(E);
}

/// A regular file that stays open, with the name in /proc by which LLVM opens
/// it. Since it was mapped, its name may have got another file.
struct OpenFile {
  int Descriptor;
  std::string Name;
  object::OwningBinary<object::ObjectFile> Binary;

  explicit OpenFile(const std::string &Path)
      : Descriptor(regular_open(Path.c_str(), 0)) {
    if (Descriptor < 0)
      return;
    Name = "/proc/self/fd/" + std::to_string(Descriptor);
    auto Opened = object::ObjectFile::createObjectFile(Name);
    if (Opened)
      Binary = std::move(*Opened);
    else
      consumeError(Opened.takeError());
  }
  OpenFile(const OpenFile &) = delete;
  ~OpenFile() {
    if (Descriptor >= 0)
      close(Descriptor);
  }

  const object::ELF64LEObjectFile *elf() const {
    return dyn_cast_or_null<object::ELF64LEObjectFile>(Binary.getBinary());
  }
};

/// Return the contents of a section, empty if there is none.
StringRef sectionOf(const object::ObjectFile &Elf, StringRef Wanted) {
  for (const object::SectionRef &Section : Elf.sections()) {
    Expected<StringRef> Name = Section.getName();
    if (!Name) {
      consumeError(Name.takeError());
      continue;
    }
    if (*Name != Wanted)
      continue;
    if (Expected<StringRef> Contents = Section.getContents())
      return *Contents;
    else
      consumeError(Contents.takeError());
  }
  return {};
}

/// Return the file with the debug information of the ELF file at \p Path that
/// its build ID names, or its .gnu_debuglink; null if there is none. LLVM would
/// open such files whatever they are.
std::unique_ptr<OpenFile> findDebugFile(const object::ELF64LEObjectFile &Elf,
                                        StringRef Path) {
  const std::string Root = "/usr/lib/debug";
  object::BuildIDRef Id = object::getBuildID(&Elf);
  if (Id.size() > 1) {
    auto File = std::make_unique<OpenFile>(
        Root + "/.build-id/" + toHex(Id.take_front(), true) + '/' +
        toHex(Id.drop_front(), true) + ".debug");
    if (File->elf())
      return File;
  }
  // A name, its end, and the file's checksum at a multiple of four bytes.
  StringRef Link = sectionOf(Elf, ".gnu_debuglink");
  std::string Name = Link.take_until([](char C) { return !C; }).str();
  size_t At = alignTo(Name.size() + 1, 4);
  if (Name.empty() || StringRef(Name).contains('/') || Link.size() < At + 4)
    return nullptr;
  std::string Folder = Path.rsplit('/').first.str();
  for (const std::string &Place : {Folder, Folder + "/.debug", Root + Folder}) {
    auto File = std::make_unique<OpenFile>(Place + '/' + Name);
    if (File->elf() && crc32(arrayRefFromStringRef(File->elf()->getData())) ==
                           support::endian::read32le(Link.data() + At))
      return File;
  }
  return nullptr;
}

} // namespace

bool cosy::isGlibc(const std::string &Path) {
  StringRef Name = StringRef(Path).rsplit('/').second;
  return Name == "libc.so.6" || Name.starts_with("libc-2");
}

struct Unwinder::Registers {
  uint64_t Value[NumRegisters] = {};
  bool Known[NumRegisters] = {};

  void set(unsigned Number, uint64_t To) {
    Value[Number] = To;
    Known[Number] = true;
  }
};

/// A file. If it cannot be read, or is not an ELF file, it has no functions.
struct Unwinder::Module {
  struct Segment {
    uint64_t FileOffset, Size, Address;
  };

  std::string Path;
  OpenFile File;
  /// The file with the debug information, if it is another one; and the package
  /// of split DWARF.
  std::unique_ptr<OpenFile> Debug;
  OpenFile Package;
  std::unique_ptr<DWARFContext> Context;
  std::unique_ptr<symbolize::SymbolizableObjectFile> Symbols;
  std::vector<Segment> Segments;
  std::vector<const FDE *> Functions;
  std::map<uint64_t, unsigned> Known;
  bool IsGo = false;

  explicit Module(const std::string &Path)
      : Path(Path), File(Path), Package(Path + ".dwp") {
    auto *Elf = File.elf();
    if (!Elf)
      return;
    auto Headers = Elf->getELFFile().program_headers();
    if (!Headers) {
      consumeError(Headers.takeError());
      return;
    }
    for (const auto &Header : *Headers)
      if (Header.p_type == ELF::PT_LOAD)
        Segments.push_back({Header.p_offset, Header.p_filesz, Header.p_vaddr});
    for (const object::SectionRef &Section : Elf->sections()) {
      Expected<StringRef> Name = Section.getName();
      if (Name)
        IsGo |= *Name == ".go.buildinfo" || *Name == ".note.go.buildid";
      else
        consumeError(Name.takeError());
    }
    Context = DWARFContext::create(*Elf);
    addFunctions(Context->getEHFrame());
    // Compilers write this section without -fasynchronous-unwind-tables.
    if (Functions.empty())
      addFunctions(Context->getDebugFrame());
    llvm::sort(Functions, [](const FDE *A, const FDE *B) {
      return A->getInitialLocation() < B->getInitialLocation();
    });
    readSymbols(*Elf);
  }

  void readSymbols(const object::ELF64LEObjectFile &Elf) {
    // A call of a libc function is told by the name that the program used,
    // and not by those of functions inside, which only its package of debug
    // information has.
    if (!isGlibc(Path))
      Debug = findDebugFile(Elf, Path);
    // Without a package, LLVM would open the files that the debug information
    // names. The file itself is a package that contains nothing.
    auto Read = symbolize::SymbolizableObjectFile::create(
        &Elf,
        DWARFContext::create(Debug ? *Debug->elf() : Elf,
                             DWARFContext::ProcessDebugRelocations::Process,
                             nullptr, Package.elf() ? Package.Name : File.Name),
        false);
    if (Read)
      Symbols = std::move(*Read);
    else
      consumeError(Read.takeError());
  }

  void addFunctions(Expected<const DWARFDebugFrame *> Section) {
    if (!Section) {
      consumeError(Section.takeError());
      return;
    }
    for (const FrameEntry &Entry : (*Section)->entries())
      if (auto *Function = dyn_cast<FDE>(&Entry))
        Functions.push_back(Function);
  }

  const FDE *functionAt(uint64_t Address) const {
    auto After = llvm::upper_bound(
        Functions, Address, [](uint64_t Address, const FDE *Function) {
          return Address < Function->getInitialLocation();
        });
    if (After == Functions.begin())
      return nullptr;
    const FDE *Function = *std::prev(After);
    return Address - Function->getInitialLocation() <
                   Function->getAddressRange()
               ? Function
               : nullptr;
  }

  /// Return the address of the byte at an offset in the file.
  uint64_t addressOfOffset(uint64_t Offset) const {
    for (const Segment &Segment : Segments)
      if (Offset - Segment.FileOffset < Segment.Size)
        return Offset - Segment.FileOffset + Segment.Address;
    return Offset;
  }
};

/// Each file stays open until its symbols are not needed any more.
Unwinder::Unwinder() {
  rlimit Limit;
  if (!getrlimit(RLIMIT_NOFILE, &Limit)) {
    Limit.rlim_cur = Limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &Limit);
  }
}
Unwinder::~Unwinder() = default;

Unwinder::Module &Unwinder::moduleOf(const std::string &Path) {
  std::unique_ptr<Module> &Found = Modules[Path];
  if (!Found)
    Found = std::make_unique<Module>(Path);
  return *Found;
}

bool Unwinder::isGo(const std::string &Path) { return moduleOf(Path).IsGo; }

unsigned Unwinder::addressOf(Module &Module, uint64_t Address) {
  auto [Found, IsNew] = Module.Known.try_emplace(Address, Addresses.size());
  if (!IsNew)
    return Found->second;
  CodeAddress New;
  New.Module = Module.Path;
  New.Address = Address;
  // The call is before the address, which may already belong to the next line.
  uint64_t Inside = Address - 1;
  if (const FDE *Function = Module.functionAt(Inside))
    New.Function = Function->getInitialLocation();
  if (Module.Symbols) {
    DIInliningInfo Inlined = Module.Symbols->symbolizeInlinedCode(
        {Inside, object::SectionedAddress::UndefSection},
        {DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
         DINameKind::LinkageName},
        true);
    for (unsigned I = 0; I < Inlined.getNumberOfFrames(); ++I) {
      const DILineInfo &Info = Inlined.getFrame(I);
      Frame Frame;
      if (Info.FunctionName != DILineInfo::BadString)
        Frame.Function = symbolize::LLVMSymbolizer::DemangleName(
            Info.FunctionName, Module.Symbols.get());
      if (Info.FileName != DILineInfo::BadString) {
        Frame.File = Info.FileName;
        Frame.Line = Info.Line;
      }
      New.Frames.push_back(std::move(Frame));
    }
  }
  if (New.Frames.empty())
    New.Frames.emplace_back();
  Addresses.push_back(std::move(New));
  return Found->second;
}

/// Set the registers to the values in the caller. Return false if these are
/// unknown.
bool Unwinder::step(Module &Module, uint64_t Address, const StackCopy &Stack,
                    Registers &Registers) {
  const FDE *Function = Module.functionAt(Address);
  if (!Function || !Function->getLinkedCIE())
    return false;
  Expected<UnwindTable> Table = unwindTable(Function, 0);
  if (!Table) {
    consumeError(Table.takeError());
    return false;
  }
  const UnwindRow *Row = nullptr;
  for (const UnwindRow &Candidate : *Table)
    if (Candidate.hasAddress() && Candidate.getAddress() <= Address)
      Row = &Candidate;
  if (!Row)
    return false;
  const UnwindLocation &Rule = Row->getCFAValue();
  if (Rule.getLocation() != UnwindLocation::RegPlusOffset ||
      Rule.getRegister() >= NumRegisters ||
      !Registers.Known[Rule.getRegister()])
    return false;
  uint64_t Frame =
      Registers.Value[Rule.getRegister()] + int64_t(Rule.getOffset());
  auto Load = [&](uint64_t From, uint64_t &Value) {
    uint64_t Offset = From - Stack.Head.sp;
    if (Offset > Stack.Bytes.size() || Stack.Bytes.size() - Offset < 8)
      return false;
    memcpy(&Value, Stack.Bytes.data() + Offset, 8);
    return true;
  };

  struct Registers Caller;
  for (unsigned Number : {3u, 6u, 12u, 13u, 14u, 15u, 16u}) {
    auto Location = Row->getRegisterLocations().getRegisterLocation(Number);
    uint64_t Value;
    if (!Location || Location->getLocation() == UnwindLocation::Same ||
        Location->getLocation() == UnwindLocation::Unspecified) {
      if (Number != ReturnAddress && Registers.Known[Number])
        Caller.set(Number, Registers.Value[Number]);
    } else if (Location->getLocation() == UnwindLocation::CFAPlusOffset) {
      if (Load(Frame + int64_t(Location->getOffset()), Value))
        Caller.set(Number, Value);
    }
  }
  Caller.set(RSP, Frame);
  Registers = Caller;
  return Registers.Known[ReturnAddress];
}

std::vector<unsigned> Unwinder::unwind(const StackCopy &Stack,
                                       const AddressSpace &Space) {
  std::vector<unsigned> Result;
  Registers Registers;
  const profile_stack_head &Head = Stack.Head;
  Registers.set(RBX, Head.bx);
  Registers.set(RBP, Head.bp);
  Registers.set(RSP, Head.sp);
  Registers.set(R12, Head.r12);
  Registers.set(R12 + 1, Head.r13);
  Registers.set(R12 + 2, Head.r14);
  Registers.set(R12 + 3, Head.r15);
  uint64_t Address = Head.ip;
  while (Address && Result.size() < MaxDepth) {
    // Newer mappings replace older ones.
    auto Found =
        std::find_if(Space.rbegin(), Space.rend(), [&](const Mapping &M) {
          return Address >= M.Start && Address < M.End;
        });
    if (Found == Space.rend())
      break;
    Module &Module = moduleOf(Found->Path);
    uint64_t InFile =
        Module.addressOfOffset(Address - Found->Start + Found->FileOffset);
    Result.push_back(addressOf(Module, InFile));
    uint64_t Before = Registers.Value[RSP];
    // A call that does not return may be the last instruction of its function.
    if (!step(Module, InFile - 1, Stack, Registers) ||
        Registers.Value[RSP] <= Before)
      break;
    Address = Registers.Value[ReturnAddress];
  }
  return Result;
}
