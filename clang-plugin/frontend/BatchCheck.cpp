// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BatchCheck.cpp - COSY_BATCH in the source --------------------------===//
//
// The split of a loop (Batch.cpp) works on the IR. Two facts are known only
// from the source: which code is the step of the loop, to which `continue`
// leads, and which variables belong to one iteration. The step gets its own
// marker, and all variables of the function get an annotation. Loops without
// COSY_BATCH that contain one region get them, too, because Batch.cpp splits
// such loops if it can prove that their iterations are independent.
//
//===----------------------------------------------------------------------===//
#include "frontend/BatchCheck.h"
#include "frontend/Frontend.h"
#include "support/Markers.h"
#include "support/Names.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/StmtOpenMP.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace clang;
using llvm::StringRef;

namespace cosy {

namespace {

class BatchCheck {
public:
  BatchCheck(Decl &Function, Frontend &FE)
      : Function(Function), FE(FE), Ctx(FE.context()) {}

  void check(ArrayRef<ParmVarDecl *> Parameters) {
    findMarkers(Function.getBody(), nullptr);
    for (auto [Start, Loop] : Starts)
      if (isCandidate(Loop))
        markStep(Loop, Start->getBeginLoc(), Loops[Loop] = ++LastId);
    if (Loops.empty())
      return;
    for (ParmVarDecl *P : Parameters)
      annotate(*P, 0);
    visitVariables(Function.getBody(), nullptr, 0);
    if (!Endless.empty())
      replaceEndless(*Function.getBody());
  }

private:
  bool isDependent() const {
    return Decl::castToDeclContext(&Function)->isDependentContext();
  }

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
    if (isa<LambdaExpr>(S)) // another function
      return;
    if (auto *C = dyn_cast<CapturedStmt>(S))
      return findMarkers(C->getCapturedStmt(), Loop);
    llvm::SaveAndRestore Directive(
        InDirective, InDirective || isa<OMPExecutableDirective>(S));
    if (auto *Call = dyn_cast<CallExpr>(S))
      if (FunctionDecl *Callee = Call->getDirectCallee();
          Callee && Callee->getIdentifier()) {
        if (Callee->getName() == BatchMarker && Call->getNumArgs() == 2)
          return marker(*Call, Loop);
        if (Callee->getName() == StartMarker && Loop && !InDirective)
          Starts.push_back({Call, Loop});
      }
    Stmt *Body = bodyOf(S);
    for (Stmt *Child : S->children())
      findMarkers(Child, Child == Body ? S : Loop);
  }

  /// \returns true if \p Loop, which contains a region but no COSY_BATCH, may
  /// be split. Batch.cpp finds out whether it contains further regions.
  bool isCandidate(Stmt *Loop) {
    if (!FE.optimizes() || !stepMarker() || isDependent() ||
        Loops.count(Loop) || isa<CXXForRangeStmt>(Loop) ||
        containsObject(Loop, nullptr))
      return false;
    if (auto *L = dyn_cast<WhileStmt>(Loop))
      return !L->getConditionVariable();
    auto *L = dyn_cast<DoStmt>(Loop);
    return !L || !runsOnce(*L);
  }

  /// \returns true if \p S contains an object without a declaration.
  bool containsObject(const Stmt *S, const Stmt *Parent) {
    return S && (!whyNoObject(*S, Parent).empty() ||
                 llvm::any_of(S->children(), [&](const Stmt *Child) {
                   return containsObject(Child, S);
                 }));
  }

  void marker(CallExpr &Call, Stmt *Loop) {
    if (!stepMarker())
      return error(Call, "COSY_BATCH needs cosy.h to be included outside of "
                         "namespaces and functions");
    if (InDirective)
      return error(Call, "COSY_BATCH in the statement of an OpenMP directive; "
                         "move the loop to a function that it calls");
    if (isDependent())
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
    if (auto *L = dyn_cast<WhileStmt>(Loop); L && L->getConditionVariable())
      return error(Call,
                   "COSY_BATCH in a while loop that declares a variable in "
                   "its condition; declare it before the loop");
    if (auto *L = dyn_cast<DoStmt>(Loop); L && runsOnce(*L))
      return error(Call, "the innermost loop around COSY_BATCH runs only once; "
                         "write COSY_BATCH outside of it");
    markStep(Loop, Call.getBeginLoc(), Id);
    Loops[Loop] = Id;
    for (auto [N, Value] : llvm::enumerate(std::array<uint64_t, 2>{Size, Id}))
      Call.setArg(N, literal(Value, Call.getArg(N)->getType(),
                             Call.getArg(N)->getBeginLoc()));
  }

  bool runsOnce(const DoStmt &L) {
    bool Again;
    return L.getCond()->EvaluateAsBooleanCondition(Again, Ctx) && !Again;
  }

  /// Returns the declaration of the step marker in cosy.h, or null.
  FunctionDecl *stepMarker() {
    auto Found = Ctx.getTranslationUnitDecl()->lookup(
        DeclarationName(&Ctx.Idents.get(BatchStepMarker)));
    return Found.empty() ? nullptr : dyn_cast<FunctionDecl>(Found.front());
  }

  Expr *literal(uint64_t V, QualType Ty, SourceLocation Loc) {
    return IntegerLiteral::Create(Ctx, llvm::APInt(Ctx.getIntWidth(Ty), V), Ty,
                                  Loc);
  }

  /// Inserts the step marker before the step of \p Loop: the third expression
  /// of a for loop, the condition of other loops. \p Loc is the place of a
  /// marker that the loop contains.
  void markStep(Stmt *Loop, SourceLocation Loc, unsigned Id) {
    if (auto *L = dyn_cast<ForStmt>(Loop))
      L->setInc(withMarker(L->getInc(), Loc, Id));
    else if (auto *L = dyn_cast<CXXForRangeStmt>(Loop))
      L->setInc(withMarker(L->getInc(), Loc, Id));
    else if (auto *L = dyn_cast<WhileStmt>(Loop))
      markCondition(*L, L->getWhileLoc(), L->getLParenLoc(), Loc, Id);
    else if (auto *L = dyn_cast<DoStmt>(Loop))
      markCondition(*L, L->getDoLoc(), L->getWhileLoc(), Loc, Id);
  }

  /// Inserts the step marker before the condition of \p L, which begins at
  /// \p Begin and has a parenthesis at or after \p Paren.
  template <class LoopStmt>
  void markCondition(LoopStmt &L, SourceLocation Begin, SourceLocation Paren,
                     SourceLocation Loc, unsigned Id) {
    Expr *Cond = withoutMarker(L.getCond());
    bool Again;
    if (!Ctx.getLangOpts().CPlusPlus && !Cond->HasSideEffects(Ctx) &&
        Cond->EvaluateAsBooleanCondition(Again, Ctx) && Again)
      Endless[&L] = new (Ctx)
          ForStmt(Ctx, nullptr, nullptr, nullptr, withMarker(nullptr, Loc, Id),
                  L.getBody(), Begin, Paren, L.getRParenLoc());
    else
      L.setCond(withMarker(Cond, Loc, Id));
  }

  /// Replaces the loops of \p S that are in Endless.
  void replaceEndless(Stmt &S) {
    for (Stmt *&Child : S.children()) {
      if (!Child)
        continue;
      replaceEndless(*Child);
      if (Stmt *Loop = Endless.lookup(Child))
        Child = Loop;
    }
  }

  /// \returns \p E without a step marker. A precompiled header contains the
  /// markers that were inserted when it was compiled.
  static Expr *withoutMarker(Expr *E) {
    auto *Comma = dyn_cast_or_null<BinaryOperator>(E);
    bool HasStep = Comma && Comma->getOpcode() == BO_Comma;
    auto *Call = dyn_cast_or_null<CallExpr>(HasStep ? Comma->getLHS() : E);
    FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (!Callee || !Callee->getIdentifier() ||
        Callee->getName() != BatchStepMarker)
      return E;
    return HasStep ? Comma->getRHS() : nullptr;
  }

  /// \returns `step marker, E`, or only the marker if \p E is null.
  Expr *withMarker(Expr *E, SourceLocation Loc, unsigned Id) {
    E = withoutMarker(E);
    if (E)
      Loc = E->getExprLoc();
    FunctionDecl *Step = stepMarker();
    Expr *Ref =
        DeclRefExpr::Create(Ctx, NestedNameSpecifierLoc(), SourceLocation(),
                            Step, false, Loc, Step->getType(), VK_LValue);
    Ref = ImplicitCastExpr::Create(Ctx, Ctx.getPointerType(Step->getType()),
                                   CK_FunctionToPointerDecay, Ref, nullptr,
                                   VK_PRValue, FPOptionsOverride());
    Expr *Call = CallExpr::Create(
        Ctx, Ref, {literal(Id, Step->getParamDecl(0)->getType(), Loc)},
        Ctx.VoidTy, VK_PRValue, Loc, FPOptionsOverride());
    if (!E)
      return Call;
    return BinaryOperator::Create(Ctx, Call, E, BO_Comma, E->getType(),
                                  E->getValueKind(), E->getObjectKind(), Loc,
                                  FPOptionsOverride());
  }

  /// Annotates the variables declared in \p S. \p Id is the number of the loop
  /// around it that may be split, or 0.
  void visitVariables(Stmt *S, Stmt *Parent, unsigned Id) {
    if (!S || isa<LambdaExpr>(S))
      return;
    if (auto *D = dyn_cast<DeclStmt>(S))
      for (Decl *Child : D->decls())
        if (auto *V = dyn_cast<VarDecl>(Child); V && V->hasLocalStorage())
          annotate(*V, Id);
    if (StringRef Why = Id ? whyNoObject(*S, Parent) : StringRef();
        !Why.empty())
      error(*S, Why);
    Stmt *Body = bodyOf(S);
    unsigned Inner = Loops.lookup(S);
    for (Stmt *Child : S->children())
      visitVariables(Child, S, Child == Body && Inner ? Inner : Id);
  }

  /// \returns why \p S is an object without a declaration, or an empty string.
  /// In the IR such objects look like variables outside the loop.
  static StringRef whyNoObject(const Stmt &S, const Stmt *Parent) {
    if (auto *L = dyn_cast<CompoundLiteralExpr>(&S)) {
      auto *Cast = dyn_cast_or_null<CastExpr>(Parent);
      if (L->isGLValue() && !(Cast && Cast->getCastKind() == CK_LValueToRValue))
        return "a compound literal whose address is used, in a loop with "
               "COSY_BATCH; declare a variable in the loop's body instead";
    } else if (auto *T = dyn_cast<MaterializeTemporaryExpr>(&S)) {
      if (T->getExtendingDecl())
        return "a reference to a temporary object, in a loop with "
               "COSY_BATCH; declare a variable in the loop's body instead";
    }
    return {};
  }

  void annotate(VarDecl &V, unsigned Id) {
    std::string Text =
        (BatchVariableAnnotation + llvm::Twine(Id) + ":" + V.getNameAsString())
            .str();
    if (V.hasAttrs()) // in a precompiled header
      llvm::erase_if(V.getAttrs(), [](Attr *A) {
        auto *Note = dyn_cast<AnnotateAttr>(A);
        return Note &&
               Note->getAnnotation().starts_with(BatchVariableAnnotation);
      });
    V.addAttr(AnnotateAttr::CreateImplicit(Ctx, Text, nullptr, 0));
  }

  Decl &Function; ///< a function or a block
  Frontend &FE;
  ASTContext &Ctx;
  /// The numbers of loops with a COSY_BATCH, or that may be split without it.
  llvm::DenseMap<Stmt *, unsigned> Loops;
  /// The regions in loops, with the innermost loop around each.
  llvm::SmallVector<std::pair<CallExpr *, Stmt *>, 4> Starts;
  bool InDirective = false; ///< in the statement of an OpenMP directive
  /// Loops that never end by their condition, and the same as for loops. C lets
  /// such a loop spin only if the condition is constant, and with a marker it
  /// would not be.
  llvm::DenseMap<Stmt *, Stmt *> Endless;
  unsigned LastId = 0; ///< the last number of a loop of the function
};

} // namespace

void checkBatches(Decl &Function, ArrayRef<ParmVarDecl *> Parameters,
                  Frontend &FE) {
  BatchCheck(Function, FE).check(Parameters);
}

} // namespace cosy
