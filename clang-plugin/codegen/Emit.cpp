// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emit.cpp - The image of a compound ---------------------------------===//
#include "codegen/Emit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

extern "C" {
#include <cosy/verify.h>
}

using namespace llvm;

namespace cosy {

namespace {

/// The offsets of strings in the image.
class Strings {
public:
  Strings() { Text.push_back('\0'); }
  unsigned add(StringRef S) {
    auto [It, New] = Index.try_emplace(S, Text.size());
    if (!New || S.empty())
      return S.empty() ? 0 : It->second;
    Text.append(S.begin(), S.end());
    Text.push_back('\0');
    return It->second;
  }
  std::string Text;

private:
  StringMap<unsigned> Index;
};

} // namespace

static unsigned invert(unsigned Cond) {
  static const unsigned Inverse[COSY_NR_CONDS] = {
      COSY_COND_NE,  COSY_COND_EQ,  COSY_COND_UGE, COSY_COND_UGT,
      COSY_COND_ULE, COSY_COND_ULT, COSY_COND_SGE, COSY_COND_SGT,
      COSY_COND_SLE, COSY_COND_SLT};
  return Inverse[Cond];
}

/// Returns the block that a jump to block \p B reaches through empty blocks.
static unsigned finalTarget(const Code &C, unsigned B) {
  for (unsigned Steps = 0; Steps < C.Blocks.size(); ++Steps) {
    const Inst &I = C.Blocks[B].Insts.front();
    if (I.Op != COSY_OP_JMP || I.Target == B)
      break;
    B = I.Target;
  }
  return B;
}

/// Redirects jumps to empty blocks, and removes unreachable blocks.
static std::vector<unsigned> threadJumps(Code &C) {
  std::vector<bool> Reached(C.Blocks.size());
  SmallVector<unsigned, 32> Work{finalTarget(C, 0)};
  unsigned First = Work[0];
  while (!Work.empty()) {
    unsigned B = Work.pop_back_val();
    if (Reached[B])
      continue;
    Reached[B] = true;
    for (Inst &I : C.Blocks[B].Insts) {
      if (I.Target != ~0u)
        Work.push_back(I.Target = finalTarget(C, I.Target));
      if (I.isSwitch())
        for (unsigned &T : I.Defs)
          Work.push_back(T = finalTarget(C, T));
    }
  }
  std::vector<unsigned> Order{First};
  for (unsigned B = 0; B < C.Blocks.size(); ++B)
    if (Reached[B] && B != First)
      Order.push_back(B);
  return Order;
}

/// Removes or inverts the jump at the end of a block that is followed by \p
/// Next.
static void finishBlock(std::vector<Inst> &Insts, unsigned Next) {
  if (Insts.back().Op != COSY_OP_JMP)
    return;
  if (Insts.back().Target == Next) {
    Insts.pop_back();
    return;
  }
  if (Insts.size() < 2)
    return;
  Inst &Br = Insts[Insts.size() - 2];
  if (Br.Op == COSY_OP_BR && Br.Target == Next) {
    Br.Cond = invert(Br.Cond);
    Br.Target = Insts.back().Target;
    Insts.pop_back();
  }
}

/// Fuses "r += c; if (r COND s) goto back" into one operation.
static void formLoops(std::vector<Inst> &Insts,
                      function_ref<bool(unsigned)> IsBackward) {
  for (size_t I = 0; I + 1 < Insts.size(); ++I) {
    Inst &Add = Insts[I], &Br = Insts[I + 1];
    if (Add.Op != COSY_OP_ADD || Br.Op != COSY_OP_BR || Add.Dst != Add.A ||
        Add.B != NoReg || Br.A != Add.Dst || Br.B == NoReg || Br.B == Add.Dst ||
        Br.Width != Add.Width || !IsBackward(Br.Target))
      continue;
    Br.Op = COSY_OP_LOOP;
    Br.Dst = Add.Dst;
    Br.A = NoReg;
    Br.Imm = Add.Imm;
    Insts.erase(Insts.begin() + I);
  }
}

static cosy_op encode(const Inst &I) {
  auto Number = [](Reg R) -> cosy_u16 { return R == NoReg ? 0 : R; };
  cosy_op Op = {};
  Op.code = I.Op;
  Op.width = I.Width;
  Op.cond = I.Cond;
  Op.dst = Number(I.Dst);
  Op.a = Number(I.A);
  Op.b = Number(I.B);
  Op.c = Number(I.C);
  Op.imm = I.Imm;
  switch (I.Op) {
  case COSY_OP_LOAD:
  case COSY_OP_STORE:
    if (I.A == NoReg)
      Op.a = COSY_NONE;
    break;
  case COSY_OP_SWITCH:
    Op.c = I.Ops.size();
    break;
  case COSY_OP_EXIT:
    Op.a = 0; // only keeps Code::Stop live
    break;
  case COSY_OP_LIBC:
    Op.c = I.Hints;
    break;
  case COSY_OP_CALL:
    Op.c = I.UpCall;
    break;
  case COSY_OP_UPCALL:
    Op.a = I.LiveFirst;
    Op.c = I.LiveCount;
    break;
  default:
    // ALU, SET and BR: no second register means a constant.
    if ((I.Op >= COSY_OP_ADD && I.Op <= COSY_OP_SET) || I.Op == COSY_OP_BR)
      if (I.B == NoReg)
        Op.b = COSY_NONE;
    break;
  }
  return Op;
}

template <typename T> static void append(std::vector<char> &Out, const T &V) {
  auto *P = reinterpret_cast<const char *>(&V);
  Out.insert(Out.end(), P, P + sizeof(T));
}

Image emitImage(Code &C) {
  std::vector<unsigned> Order = threadJumps(C);
  std::vector<unsigned> Place(C.Blocks.size(), ~0u);
  for (auto [N, B] : enumerate(Order))
    Place[B] = N;
  for (auto [N, B] : enumerate(Order)) {
    finishBlock(C.Blocks[B].Insts, N + 1 < Order.size() ? Order[N + 1] : ~0u);
    formLoops(C.Blocks[B].Insts,
              [&, N = N](unsigned T) { return Place[T] <= N; });
  }

  Image Out;
  std::vector<cosy_op> Ops;
  std::vector<cosy_line> Lines;
  std::vector<unsigned> BlockPc(C.Blocks.size());
  std::vector<std::pair<unsigned, unsigned>> Fixups; // slot, block
  Strings Text;
  cosy_header H = {};
  H.name = Text.add(C.Name);
  for (unsigned B : Order) {
    BlockPc[B] = Ops.size();
    for (const Inst &I : C.Blocks[B].Insts) {
      unsigned Line = I.Loc ? I.Loc->getLine() : 0;
      unsigned File = I.Loc ? Text.add(I.Loc->getFilename()) : 0;
      if (Line && (Lines.empty() || Lines.back().line != Line ||
                   Lines.back().file != File))
        Lines.push_back({(cosy_u32)Ops.size(), File, Line});
      if (I.Target != ~0u)
        Fixups.push_back({Ops.size(), I.Target});
      Ops.push_back(encode(I));
      ++Out.NumOps;
      if (I.isSwitch()) {
        for (auto [V, T] : zip(I.Ops, I.Defs)) {
          cosy_op Case = {};
          Case.code = COSY_OP_CASE;
          Case.imm = V.Imm;
          Fixups.push_back({Ops.size(), T});
          Ops.push_back(Case);
        }
      } else if (I.Op == COSY_OP_LIBC || I.Op == COSY_OP_CALL) {
        for (const Operand &A : I.Ops) {
          cosy_op Arg = {};
          Arg.code = COSY_OP_ARG;
          Arg.a = A.R == NoReg ? COSY_NONE : A.R;
          Arg.imm = A.Imm;
          Ops.push_back(Arg);
        }
      }
    }
  }
  for (auto [Slot, B] : Fixups)
    Ops[Slot].target = BlockPc[B];

  H.magic = COSY_MAGIC;
  H.version = COSY_VERSION;
  H.nregs = C.NumRegs;
  H.nops = Ops.size();
  H.nlines = Lines.size();
  H.strings_size = Text.Text.size();
  H.ninputs = C.Inputs.size();
  H.out_first = C.OutFirst;
  H.nout = C.NumOut;
  H.nexits = C.NumExits;
  H.nupcalls = C.NumUpCalls;
  H.nfunctions = C.Functions.size();
  H.limit = C.Limit;
  H.size = sizeof(H) + Ops.size() * sizeof(cosy_op) +
           Lines.size() * sizeof(cosy_line) + Text.Text.size();
  append(Out.Bytes, H);
  for (const cosy_op &Op : Ops)
    append(Out.Bytes, Op);
  for (const cosy_line &L : Lines)
    append(Out.Bytes, L);
  Out.Bytes.insert(Out.Bytes.end(), Text.Text.begin(), Text.Text.end());
  return Out;
}

std::string exceededLimit(const Image &I) {
  cosy_header H;
  memcpy(&H, I.Bytes.data(), sizeof(H));
  auto MoreThan = [](uint64_t Maximum, const Twine &What) {
    return ("more than " + Twine(Maximum) + " " + What).str();
  };
  if (H.nops > COSY_MAX_OPS)
    return MoreThan(COSY_MAX_OPS, "operations");
  if (H.nexits > COSY_MAX_EXITS)
    return MoreThan(COSY_MAX_EXITS, "exits");
  if (H.nupcalls > COSY_MAX_UPCALLS)
    return MoreThan(COSY_MAX_UPCALLS, "up-calls");
  if (I.Bytes.size() > COSY_MAX_SIZE)
    return MoreThan(COSY_MAX_SIZE, "bytes");
  return "";
}

std::string verifyImage(const Image &I) {
  std::vector<uint64_t> Aligned((I.Bytes.size() + 7) / 8);
  memcpy(Aligned.data(), I.Bytes.data(), I.Bytes.size());
  cosy_diag Diag;
  if (cosy_verify(Aligned.data(), I.Bytes.size(), &Diag) == 0)
    return "";
  return "offset " + std::to_string(Diag.offset) + ": " + Diag.reason;
}

} // namespace cosy
