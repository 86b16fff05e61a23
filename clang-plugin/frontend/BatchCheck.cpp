// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BatchCheck.cpp - COSY_BATCH in the source --------------------------===//
//
// The split of a loop (Batch.cpp) works on the IR. Two facts are known only
// from the source: which code is the step of the loop, to which `continue`
// leads, and which variables belong to one iteration. The step gets its own
// marker, and all variables of the function get an annotation.
//
//===----------------------------------------------------------------------===//
#include "frontend/BatchCheck.h"
#include "batch/Batch.h"
#include "frontend/Frontend.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using llvm::StringRef;

namespace cosy {

namespace {

class BatchCheck {
public:
  BatchCheck(FunctionDecl &F, Frontend &FE) : F(F), FE(FE), Ctx(FE.context()) {}

  void check() {
    findMarkers(F.getBody(), nullptr);
    if (Loops.empty())
      return;
    for (ParmVarDecl *P : F.parameters())
      annotate(*P, 0);
    visitVariables(F.getBody(), nullptr, 0);
  }

private:
  void error(const Stmt &S, StringRef Text) {
    FE.error(S.getBeginLoc(), S.getSourceRange(), Text);
  }

  static Stmt *bodyOf(Stmt *S) {
    if (auto *L = dyn_cast<ForStmt>(S))
      return L->getBody();
    if (auto *L = dyn_cast<WhileStmt>(S))
      return L->getBody();
    if (auto *L = dyn_cast<DoStmt>(S))
      return L->getBody();
    if (auto *L = dyn_cast<CXXForRangeStmt>(S))
      return L->getBody();
    return nullptr;
  }

  /// Looks for markers in \p S; \p Loop is the innermost loop whose body
  /// contains it.
  void findMarkers(Stmt *S, Stmt *Loop) {
    if (!S)
      return;
    if (auto *L = dyn_cast<LambdaExpr>(S))
      return findMarkers(L->getBody(), nullptr);
    if (auto *Call = dyn_cast<CallExpr>(S))
      if (FunctionDecl *Callee = Call->getDirectCallee();
          Callee && Callee->getIdentifier() &&
          Callee->getName() == BatchMarker && Call->getNumArgs() == 2)
        return marker(*Call, Loop);
    Stmt *Body = bodyOf(S);
    for (Stmt *Child : S->children())
      findMarkers(Child, Child == Body ? S : Loop);
  }

  void marker(CallExpr &Call, Stmt *Loop) {
    if (!stepMarker())
      return error(Call, "COSY_BATCH needs cosy.h to be included outside of "
                         "namespaces and functions");
    if (F.isDependentContext())
      return error(Call, "COSY_BATCH in a template; move the loop to a "
                         "function that is not a template");
    if (!Loop)
      return error(Call, "COSY_BATCH is in no loop; write it in the body of "
                         "the for, while or do loop that contains COSY_START");
    if (Loops.count(Loop))
      return error(Call, "second COSY_BATCH in the same loop; remove one");
    Expr::EvalResult R;
    uint64_t Size = 0;
    bool IsConstant =
        Call.getArg(0)->EvaluateAsInt(R, Ctx) && !R.Val.getInt().isNegative();
    if (IsConstant)
      Size = R.Val.getInt().getZExtValue();
    if (!IsConstant || Size > MaxBatch)
      return error(Call,
                   ("the size of COSY_BATCH has to be a constant of 1 "
                    "to " +
                    llvm::Twine(MaxBatch) + ", or 0 for the compiler's choice")
                       .str());
    unsigned Id = ++LastId;
    if (!markStep(Call, Loop, Id))
      return;
    Loops[Loop] = Id;
    Call.setArg(0, literal(Size, *Call.getArg(0)));
    Call.setArg(1, literal(Id, *Call.getArg(1)));
  }

  /// Returns the declaration of the step marker in cosy.h, or null.
  FunctionDecl *stepMarker() {
    auto Found = Ctx.getTranslationUnitDecl()->lookup(
        DeclarationName(&Ctx.Idents.get(BatchStepMarker)));
    return Found.empty() ? nullptr : dyn_cast<FunctionDecl>(Found.front());
  }

  Expr *literal(uint64_t V, const Expr &Like) {
    return IntegerLiteral::Create(
        Ctx, llvm::APInt(Ctx.getIntWidth(Like.getType()), V), Like.getType(),
        Like.getBeginLoc());
  }

  /// Inserts the step marker before the step of \p Loop: the third expression
  /// of a for loop, the condition of other loops.
  bool markStep(CallExpr &Marker, Stmt *Loop, unsigned Id) {
    if (auto *L = dyn_cast<ForStmt>(Loop)) {
      L->setInc(withMarker(L->getInc(), Marker, Id));
      return true;
    }
    if (auto *L = dyn_cast<CXXForRangeStmt>(Loop)) {
      L->setInc(withMarker(L->getInc(), Marker, Id));
      return true;
    }
    if (auto *L = dyn_cast<WhileStmt>(Loop)) {
      if (L->getConditionVariable()) {
        error(Marker, "COSY_BATCH in a while loop that declares a variable in "
                      "its condition; declare it before the loop");
        return false;
      }
      L->setCond(withMarker(L->getCond(), Marker, Id));
      return true;
    }
    auto *L = cast<DoStmt>(Loop);
    bool Again;
    if (L->getCond()->EvaluateAsBooleanCondition(Again, Ctx) && !Again) {
      error(Marker, "the innermost loop around COSY_BATCH runs only once; "
                    "write COSY_BATCH outside of it");
      return false;
    }
    L->setCond(withMarker(L->getCond(), Marker, Id));
    return true;
  }

  /// \returns `step marker, E`, or only the marker if \p E is null.
  Expr *withMarker(Expr *E, CallExpr &Marker, unsigned Id) {
    SourceLocation Loc = E ? E->getExprLoc() : Marker.getBeginLoc();
    FunctionDecl *Step = stepMarker();
    Expr *Ref =
        DeclRefExpr::Create(Ctx, NestedNameSpecifierLoc(), SourceLocation(),
                            Step, false, Loc, Step->getType(), VK_LValue);
    Ref = ImplicitCastExpr::Create(Ctx, Ctx.getPointerType(Step->getType()),
                                   CK_FunctionToPointerDecay, Ref, nullptr,
                                   VK_PRValue, FPOptionsOverride());
    Expr *Call =
        CallExpr::Create(Ctx, Ref, {literal(Id, *Marker.getArg(1))}, Ctx.VoidTy,
                         VK_PRValue, Loc, FPOptionsOverride());
    if (!E)
      return Call;
    return BinaryOperator::Create(Ctx, Call, E, BO_Comma, E->getType(),
                                  E->getValueKind(), E->getObjectKind(), Loc,
                                  FPOptionsOverride());
  }

  /// Annotates the variables declared in \p S. \p Id is the number of the loop
  /// with a COSY_BATCH around it, or 0.
  void visitVariables(Stmt *S, Stmt *Parent, unsigned Id) {
    if (!S || isa<LambdaExpr>(S))
      return;
    if (auto *D = dyn_cast<DeclStmt>(S))
      for (Decl *Child : D->decls())
        if (auto *V = dyn_cast<VarDecl>(Child); V && V->hasLocalStorage())
          annotate(*V, Id);
    if (Id)
      checkObject(*S, Parent);
    Stmt *Body = bodyOf(S);
    unsigned Inner = Loops.lookup(S);
    for (Stmt *Child : S->children())
      visitVariables(Child, S, Child == Body && Inner ? Inner : Id);
  }

  /// Reports objects without a declaration, because in the IR they look like
  /// variables outside the loop.
  void checkObject(const Stmt &S, const Stmt *Parent) {
    if (auto *L = dyn_cast<CompoundLiteralExpr>(&S)) {
      auto *Cast = dyn_cast_or_null<CastExpr>(Parent);
      if (L->isGLValue() && !(Cast && Cast->getCastKind() == CK_LValueToRValue))
        error(S, "a compound literal whose address is used, in a loop with "
                 "COSY_BATCH; declare a variable in the loop's body instead");
    } else if (auto *T = dyn_cast<MaterializeTemporaryExpr>(&S)) {
      if (T->getExtendingDecl())
        error(S, "a reference to a temporary object, in a loop with "
                 "COSY_BATCH; declare a variable in the loop's body instead");
    }
  }

  void annotate(VarDecl &V, unsigned Id) {
    std::string Text =
        (BatchVariableAnnotation + llvm::Twine(Id) + ":" + V.getNameAsString())
            .str();
    V.addAttr(AnnotateAttr::CreateImplicit(Ctx, Text, nullptr, 0));
  }

  FunctionDecl &F;
  Frontend &FE;
  ASTContext &Ctx;
  llvm::DenseMap<Stmt *, unsigned> Loops; ///< those with a COSY_BATCH
  static unsigned LastId;                 ///< unique in the module
};

unsigned BatchCheck::LastId;

} // namespace

void checkBatches(FunctionDecl &F, Frontend &FE) { BatchCheck(F, FE).check(); }

} // namespace cosy
