// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegAlloc.cpp - Registers of a compound -----------------------------===//
//
// Live ranges are lists of segments over the linear order of the code. Copies
// are coalesced if the two ranges do not overlap, innermost loops first. Then
// every class takes the lowest register that is free in all its segments.
// Registers live across an up-call are allocated contiguously, because a
// compound that leaves for the up-call and resumes copies this range of
// registers.
//
// Operation i reads at position 2i, and writes at position 2i + 1.
//
//===----------------------------------------------------------------------===//
#include "codegen/RegAlloc.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

#include <map>
#include <numeric>

using namespace llvm;

namespace cosy {

namespace {

/// Segments by their start: [first, second).
using Range = std::map<unsigned, unsigned>;

class Allocator {
public:
  explicit Allocator(Code &C) : C(C) {}
  bool run();

private:
  void number();
  void computeRanges();
  void coalesce();
  bool isAcross(Reg Cl) const;
  bool assign();
  void findLive();
  void rename();
  void sequentialize(std::vector<Inst> &Out, const Inst &Copies);

  Reg find(Reg R) {
    while (Class[R] != R)
      R = Class[R] = Class[Class[R]];
    return R;
  }

  Code &C;
  std::vector<unsigned> Begin; ///< first operation of each block, and the end
  std::vector<Range> Ranges;
  std::vector<unsigned> UpCalls; ///< their positions, ascending
  std::vector<Reg> Class;        ///< union-find
  std::vector<Reg> Assigned;     ///< by class
  std::vector<Range> Files;      ///< live ranges by allocated register
};

} // namespace

static bool overlap(const Range &A, const Range &B) {
  const Range &Small = A.size() < B.size() ? A : B;
  const Range &Large = A.size() < B.size() ? B : A;
  for (auto [S, E] : Small) {
    auto It = Large.lower_bound(S);
    if (It != Large.end() && It->first < E)
      return true;
    if (It != Large.begin() && std::prev(It)->second > S)
      return true;
  }
  return false;
}

/// Adds the segments of \p From, which does not overlap \p To.
static void merge(Range &To, Range &From) {
  if (To.size() < From.size())
    std::swap(To, From);
  for (auto [S, E] : From) {
    auto It = To.lower_bound(S);
    if (It != To.end() && It->first == E) {
      E = It->second;
      It = To.erase(It);
    }
    if (It != To.begin() && std::prev(It)->second == S)
      std::prev(It)->second = E;
    else
      To.emplace_hint(It, S, E);
  }
  From.clear();
}

void Allocator::number() {
  unsigned Pos = 1; // inputs are written at 0
  Begin.push_back(0);
  for (unsigned B = 0; B < C.Blocks.size(); ++B) {
    Pos += C.Blocks[B].Insts.size();
    Begin.push_back(Pos);
  }
}

namespace {

/// Computes live ranges, of one register after the other.
class Liveness {
public:
  Liveness(const Code &C, ArrayRef<unsigned> Begin)
      : C(C), Begin(Begin), LiveInOf(C.Blocks.size(), NoReg),
        Through(C.Blocks.size()) {}

  struct Place {
    unsigned Block, Pos;
  };

  /// \returns the live range of \p R. \p Defs is sorted by position.
  Range rangeOf(Reg R, ArrayRef<Place> Defs, ArrayRef<Place> Uses);

private:
  const Place *defBefore(ArrayRef<Place> Defs, unsigned B, unsigned Pos) const;
  void setLiveIn(Reg R, unsigned B);
  void findBlocks(Reg R, ArrayRef<Place> Defs);
  void addThrough();

  const Code &C;
  ArrayRef<unsigned> Begin; ///< as Allocator::Begin
  /// By block: the last register that was found live-in.
  std::vector<unsigned> LiveInOf;
  SmallVector<unsigned, 32> Work; ///< blocks at whose end the register is live
  std::vector<std::pair<unsigned, unsigned>> Segments;
  /// The blocks through which the register is live. Most segments of a long
  /// live range are whole blocks, which need not be sorted.
  BitVector Through;
  bool IsThrough = false; ///< there is one
};

} // namespace

/// \returns the last definition in block \p B before \p Pos, or null.
const Liveness::Place *Liveness::defBefore(ArrayRef<Place> Defs, unsigned B,
                                           unsigned Pos) const {
  auto It = llvm::lower_bound(
      Defs, Pos, [](const Place &L, unsigned P) { return L.Pos < P; });
  if (It == Defs.begin() || std::prev(It)->Block != B)
    return nullptr;
  return std::prev(It);
}

void Liveness::setLiveIn(Reg R, unsigned B) {
  if (LiveInOf[B] == R)
    return;
  LiveInOf[B] = R;
  Work.append(C.Blocks[B].Preds.begin(), C.Blocks[B].Preds.end());
}

/// Follows \p R from the ends of the blocks in Work back to its definitions.
void Liveness::findBlocks(Reg R, ArrayRef<Place> Defs) {
  while (!Work.empty()) {
    unsigned B = Work.pop_back_val();
    unsigned End = Begin[B + 1];
    if (const Place *P = defBefore(Defs, B, End)) {
      Segments.push_back({2 * P->Pos + 1, 2 * End});
    } else {
      Through.set(B);
      IsThrough = true;
      setLiveIn(R, B);
    }
  }
}

/// Adds a segment for each sequence of blocks in Through, and empties it.
void Liveness::addThrough() {
  for (int B = IsThrough ? Through.find_first() : -1; B >= 0;) {
    int Next = Through.find_next_unset(B);
    unsigned End = Next < 0 ? C.Blocks.size() : Next;
    Segments.push_back({2 * Begin[B], 2 * Begin[End]});
    B = Next < 0 ? -1 : Through.find_next(Next);
  }
  if (IsThrough)
    Through.reset();
  IsThrough = false;
}

Range Liveness::rangeOf(Reg R, ArrayRef<Place> Defs, ArrayRef<Place> Uses) {
  Segments.clear();
  for (const Place &U : Uses) {
    if (const Place *P = defBefore(Defs, U.Block, U.Pos)) {
      Segments.push_back({2 * P->Pos + 1, 2 * U.Pos + 1});
    } else {
      Segments.push_back({2 * Begin[U.Block], 2 * U.Pos + 1});
      setLiveIn(R, U.Block);
    }
    findBlocks(R, Defs);
  }
  for (const Place &P : Defs)
    Segments.push_back({2 * P.Pos + 1, 2 * P.Pos + 2});
  addThrough();
  llvm::sort(Segments);
  Range Out;
  for (auto [S, E] : Segments) {
    if (!Out.empty() && std::prev(Out.end())->second >= S)
      std::prev(Out.end())->second = std::max(std::prev(Out.end())->second, E);
    else
      Out.emplace_hint(Out.end(), S, E);
  }
  return Out;
}

void Allocator::computeRanges() {
  std::vector<SmallVector<Liveness::Place, 2>> Defs(C.NumRegs), Uses(C.NumRegs);
  for (Reg R : C.Inputs)
    Defs[R].push_back({0, 0});
  unsigned Pos = 1;
  for (unsigned B = 0; B < C.Blocks.size(); ++B)
    for (Inst &I : C.Blocks[B].Insts) {
      I.forEachUse([&](Reg R) { Uses[R].push_back({B, Pos}); });
      I.forEachDef([&](Reg R) { Defs[R].push_back({B, Pos}); });
      if (I.Op == COSY_OP_UPCALL)
        UpCalls.push_back(2 * Pos);
      ++Pos;
    }

  Liveness Live(C, Begin);
  Ranges.reserve(C.NumRegs);
  for (Reg R = 0; R < C.NumRegs; ++R)
    Ranges.push_back(Live.rangeOf(R, Defs[R], Uses[R]));
}

void Allocator::coalesce() {
  struct Copy {
    unsigned Depth;
    Reg Dst, Src;
  };
  std::vector<Copy> Copies;
  for (Block &B : C.Blocks)
    for (Inst &I : B.Insts)
      if (I.Op == OpCopies)
        for (auto [D, S] : zip(I.Defs, I.Ops))
          if (S.R != NoReg)
            Copies.push_back({B.Depth, D, S.R});
  // Innermost first, otherwise in order of the code.
  llvm::sort(Copies, [](const Copy &A, const Copy &B) {
    return std::tie(B.Depth, A.Dst, A.Src) < std::tie(A.Depth, B.Dst, B.Src);
  });
  Class.resize(C.NumRegs);
  std::iota(Class.begin(), Class.end(), 0);
  for (const Copy &X : Copies) {
    Reg A = find(X.Dst), B = find(X.Src);
    if (A == B || overlap(Ranges[A], Ranges[B]))
      continue;
    merge(Ranges[A], Ranges[B]);
    Class[B] = A;
  }
}

/// \returns true if an up-call reads or writes \p Cl, or \p Cl is live across
/// it.
bool Allocator::isAcross(Reg Cl) const {
  return any_of(Ranges[Cl], [&](const auto &Segment) {
    // An up-call occupies two positions.
    auto It = llvm::lower_bound(UpCalls, Segment.first & ~1u);
    return It != UpCalls.end() && *It < Segment.second;
  });
}

/// \returns false if there are too few registers.
bool Allocator::assign() {
  Assigned.assign(C.NumRegs, NoReg);
  std::vector<bool> Across(C.NumRegs);
  for (Reg R = 0; R < C.NumRegs; ++R)
    Across[R] = find(R) == R && isAcross(R);
  unsigned FirstAcross = ~0u;
  auto Take = [&](Reg Cl, unsigned R) {
    if (R >= Files.size())
      Files.resize(R + 1);
    merge(Files[R], Ranges[Cl]);
    Assigned[Cl] = R;
    if (Across[Cl])
      FirstAcross = std::min(FirstAcross, R);
  };
  // Allocate inputs first, those that are also outputs last. Then allocate the
  // other outputs. So inputs and outputs are contiguous ranges.
  SmallSet<Reg, 16> Outs;
  for (Reg R : C.Outputs)
    if (!Ranges[find(R)].empty())
      Outs.insert(find(R));
  unsigned Next = 0;
  for (bool Now : {false, true})
    for (Reg R : C.Inputs)
      if (!Outs.count(find(R)) && Across[find(R)] == Now)
        Take(find(R), Next++);
  C.OutFirst = Next;
  for (bool Now : {true, false})
    for (Reg R : C.Inputs)
      if (Outs.count(find(R)) && Across[find(R)] == Now)
        Take(find(R), Next++);
  for (bool Now : {true, false})
    for (Reg R : C.Outputs) {
      Reg Cl = find(R);
      if (Outs.count(Cl) && Assigned[Cl] == NoReg && Across[Cl] == Now)
        Take(Cl, Next++);
    }
  C.NumOut = Next - C.OutFirst;

  std::vector<Reg> Rest;
  for (Reg R = 0; R < C.NumRegs; ++R)
    if (find(R) == R && Assigned[R] == NoReg && !Ranges[R].empty())
      Rest.push_back(R);
  llvm::sort(Rest, [&](Reg A, Reg B) {
    return std::tuple(!Across[A], Ranges[A].begin()->first, A) <
           std::tuple(!Across[B], Ranges[B].begin()->first, B);
  });
  for (Reg Cl : Rest) {
    auto IsFree = [&](unsigned R) { return !overlap(Files[R], Ranges[Cl]); };
    // Take the nearest free register to the others that are live across
    // up-calls.
    unsigned Begin = Across[Cl] && FirstAcross != ~0u ? FirstAcross : 0;
    unsigned R = Begin;
    while (R < Files.size() && !IsFree(R))
      ++R;
    if (R == Files.size()) {
      unsigned Below = Begin;
      while (Below && !IsFree(Below - 1))
        --Below;
      if (Below)
        R = Below - 1;
    }
    if (R >= COSY_MAX_REGS)
      return false;
    Take(Cl, R);
  }
  C.NumRegs = Files.size();
  return C.NumRegs <= COSY_MAX_REGS;
}

/// Finds, for each up-call, the range of registers that are live across it.
void Allocator::findLive() {
  unsigned Pos = 1;
  for (Block &B : C.Blocks)
    for (Inst &I : B.Insts) {
      if (I.Op == COSY_OP_UPCALL) {
        const Range Here{{2 * Pos, 2 * Pos + 2}};
        Reg First = 0, End = 0;
        for (Reg R = 0; R < Files.size(); ++R)
          if (overlap(Here, Files[R])) {
            First = End ? First : R;
            End = R + 1;
          }
        // A count of 0 would mean all registers.
        I.LiveFirst = First;
        I.LiveCount = std::max(End - First, std::min(C.NumRegs, 1u));
      }
      ++Pos;
    }
}

/// Orders the moves of \p Copies so that none overwrites a register that a
/// later one reads. Cycles become exchanges.
void Allocator::sequentialize(std::vector<Inst> &Out, const Inst &Copies) {
  std::map<Reg, Reg> Pending; // destination -> source
  std::map<Reg, unsigned> Readers;
  auto Emit = [&](unsigned Op, Reg Dst, Reg A, int64_t Imm) -> Inst & {
    Inst I;
    I.Op = Op;
    I.Dst = Dst;
    I.A = A;
    I.Imm = Imm;
    I.Loc = Copies.Loc;
    Out.push_back(std::move(I));
    return Out.back();
  };
  for (auto [D, S] : zip(Copies.Defs, Copies.Ops))
    if (S.R != NoReg && S.R != D) {
      Pending[D] = S.R;
      ++Readers[S.R];
    }
  SmallVector<Reg, 8> Ready;
  for (auto [D, S] : Pending)
    if (!Readers.count(D))
      Ready.push_back(D);
  while (!Pending.empty()) {
    while (!Ready.empty()) {
      Reg D = Ready.pop_back_val();
      Reg S = Pending[D];
      Pending.erase(D);
      Emit(COSY_OP_MOV, D, S, 0);
      if (--Readers[S] == 0 && Pending.count(S))
        Ready.push_back(S);
    }
    if (Pending.empty())
      break;
    // Only cycles are left. Exchange two registers of a cycle. One of them then
    // has its final value, and its old value is in the other one.
    auto [D, S] = *Pending.begin();
    for (auto [X, Y] : {std::pair(D, S), std::pair(S, D), std::pair(D, S)}) {
      Inst &I = Emit(COSY_OP_XOR, X, X, 0);
      I.B = Y;
      I.Width = 8;
    }
    Pending.erase(D);
    for (auto &[D2, S2] : Pending)
      if (S2 == D) {
        S2 = S;
        break;
      }
    if (Pending.count(S) && Pending[S] == S)
      Pending.erase(S);
  }
  for (auto [D, S] : zip(Copies.Defs, Copies.Ops))
    if (S.R == NoReg)
      Emit(COSY_OP_CONST, D, NoReg, S.Imm);
}

void Allocator::rename() {
  auto Final = [&](Reg &R) { R = Assigned[find(R)]; };
  for (Block &B : C.Blocks) {
    std::vector<Inst> Out;
    Out.reserve(B.Insts.size());
    for (Inst &I : B.Insts) {
      I.forEachUse(Final);
      I.forEachDef(Final);
      if (I.Op == OpCopies)
        sequentialize(Out, I);
      else
        Out.push_back(std::move(I));
    }
    B.Insts = std::move(Out);
  }
  for (Reg &R : C.Inputs)
    Final(R);
  for (Reg &R : C.Outputs)
    Final(R);
  if (C.Stop != NoReg)
    Final(C.Stop);
}

bool Allocator::run() {
  number();
  computeRanges();
  coalesce();
  if (!assign())
    return false;
  findLive();
  rename();
  return true;
}

bool allocateRegisters(Code &C) { return Allocator(C).run(); }

} // namespace cosy
