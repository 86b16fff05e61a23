// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FunctionCheck.cpp - Check the types of user functions --------------===//
//
// Checks the types of a COSY_FUNCTION on the source, where they are known
// exactly. bpf/Legal.cpp checks the code on the IR.
//
//===----------------------------------------------------------------------===//
#include "frontend/FunctionCheck.h"
#include "support/Names.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"

extern "C" {
#include <cosy/format.h>
}

using namespace clang;
using llvm::StringRef;

namespace cosy {

static bool isMarked(const FunctionDecl &F) {
  for (const auto *A : F.specific_attrs<AnnotateAttr>())
    if (A->getAnnotation() == StringRef(FunctionAnnotation))
      return true;
  return false;
}

/// Returns true if a value of \p Ty is passed in one integer register.
static bool isPlain(ASTContext &Ctx, QualType Ty) {
  Ty = Ty.getCanonicalType();
  if (Ty->isPointerType())
    return !Ty->isFunctionPointerType();
  return Ty->isIntegralOrEnumerationType() && Ctx.getTypeSize(Ty) <= 64;
}

void checkFunctionDecl(FunctionDecl &F) {
  if (!isMarked(F) || F.isDependentContext())
    return;
  ASTContext &Ctx = F.getASTContext();
  DiagnosticsEngine &Diags = Ctx.getDiagnostics();
  auto Error = [&](SourceLocation Loc, SourceRange Range,
                   const llvm::Twine &Text) {
    Diags.Report(Loc, Diags.getCustomDiagID(DiagnosticsEngine::Error, "%0"))
        << Text.str() << CharSourceRange::getTokenRange(Range);
  };
  if (F.isVariadic())
    return Error(
        F.getLocation(), F.getSourceRange(),
        "a COSY_FUNCTION cannot have variable arguments; pass an array and "
        "its length");
  if (F.getNumParams() > COSY_MAX_ARGS)
    return Error(F.getParamDecl(COSY_MAX_ARGS)->getLocation(),
                 F.getParamDecl(COSY_MAX_ARGS)->getSourceRange(),
                 "a COSY_FUNCTION has at most " + llvm::Twine(COSY_MAX_ARGS) +
                     " arguments; put them into a structure in memory from "
                     "cosy_malloc() and pass its address");
  QualType Result = F.getReturnType();
  if (!Result->isVoidType() && !isPlain(Ctx, Result))
    Error(F.getReturnTypeSourceRange().getBegin(), F.getReturnTypeSourceRange(),
          "a COSY_FUNCTION returns an integer of at most 64 bits, a pointer or "
          "nothing; write the result to memory from cosy_malloc()");
  for (ParmVarDecl *P : F.parameters())
    if (!isPlain(Ctx, P->getType()))
      Error(P->getLocation(), P->getSourceRange(),
            "an argument of a COSY_FUNCTION is an integer of at most 64 bits "
            "or a "
            "pointer to data; pass the address of a copy in memory from "
            "cosy_malloc()");
}

} // namespace cosy
