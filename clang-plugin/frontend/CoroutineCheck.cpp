// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CoroutineCheck.cpp - COSY_ASYNC in the source ----------------------===//
//
// Checks on the source the result of COSY_ASYNC functions, their callers, and
// objects whose lifetime would end while the function is suspended.
// Coroutine.cpp checks their code on the IR.
//
//===----------------------------------------------------------------------===//
#include "frontend/CoroutineCheck.h"
#include "frontend/Frontend.h"
#include "support/Names.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using llvm::StringRef;

namespace cosy {

static bool hasAnnotation(const Decl &D, StringRef Text) {
  return llvm::any_of(D.specific_attrs<AnnotateAttr>(),
                      [&](auto *A) { return A->getAnnotation() == Text; });
}

static bool isAsync(const Decl *D) {
  return D && isa<FunctionDecl>(D) && hasAnnotation(*D, AsyncAnnotation);
}

/// Returns the function that \p S calls directly, or null.
static const FunctionDecl *calleeOf(const Stmt *S) {
  auto *Call = dyn_cast_or_null<CallExpr>(S);
  return Call ? Call->getDirectCallee() : nullptr;
}

static bool isNamed(const FunctionDecl *F, StringRef Name) {
  return F && F->getIdentifier() && F->getName() == Name;
}

/// Returns \p S without parentheses and casts.
static const Stmt *withoutCasts(const Stmt *S) {
  auto *E = dyn_cast<Expr>(S);
  return E ? E->IgnoreParenCasts() : S;
}

namespace {

class CoroutineCheck {
public:
  explicit CoroutineCheck(Frontend &FE) : FE(FE), Ctx(FE.context()) {}

  void checkType(FunctionDecl &F) {
    auto Error = [&](SourceRange R, StringRef Text) {
      FE.error(R.getBegin(), R, Text);
    };
    if (F.isVariadic())
      return Error(F.getLocation(),
                   "a COSY_ASYNC function cannot have variable arguments; pass "
                   "an array and its length");
    if (auto *Method = dyn_cast<CXXMethodDecl>(&F);
        F.isMain() || F.hasAttr<ConstructorAttr>() ||
        F.hasAttr<DestructorAttr>() || F.hasAttr<NakedAttr>() ||
        F.hasAttr<AnyX86InterruptAttr>() ||
        (Method && (Method->isVirtual() || isa<CXXConstructorDecl>(Method) ||
                    isa<CXXDestructorDecl>(Method))))
      return Error(
          F.getLocation(),
          "this function cannot be COSY_ASYNC, because code that is "
          "not compiled from the source calls it; let it spawn another "
          "function");
    if (F.isNoReturn())
      return Error(F.getLocation(), "a COSY_ASYNC function returns to its loop "
                                    "when it waits; remove noreturn");
    if (F.getType()->castAs<FunctionType>()->getCallConv() != CC_C)
      return Error(F.getLocation(), "a COSY_ASYNC function has C's calling "
                                    "convention; remove the attribute");
    for (const ParmVarDecl *Param : F.parameters())
      if (auto *Class = Param->getType()->getAsCXXRecordDecl();
          Class && Class->hasDefinition() && !Class->canPassInRegisters())
        return Error(Param->getSourceRange(),
                     "the parameter of a COSY_ASYNC function has a destructor "
                     "or is not copied as memory; pass a pointer");
    QualType Result = F.getReturnType();
    // clang would check or assume the alignment between the call and the code
    // that starts the function, which has no result yet.
    F.dropAttrs<AssumeAlignedAttr, AllocAlignAttr>();
    bool IsInteger = Result->isIntegralOrEnumerationType();
    if (!Result->isVoidType() && !Result->isPointerType() &&
        !Result->isDependentType() && !Result->isUndeducedType() &&
        !(IsInteger && Ctx.getTypeSize(Result) <= 64))
      return Error(F.getReturnTypeSourceRange().isValid()
                       ? F.getReturnTypeSourceRange()
                       : F.getLocation(),
                   "a COSY_ASYNC function returns an integer of at most 64 "
                   "bits, a pointer or nothing; write the result to memory "
                   "that the caller provides");
    if (Ctx.getLangOpts().CXXExceptions)
      annotate(F, AsyncTerminateAnnotation);
    if (IsInteger && Result->isUnsignedIntegerOrEnumerationType())
      annotate(F, AsyncUnsignedAnnotation);
    if (auto *B = Result->getAs<BitIntType>())
      annotate(F, (AsyncBitsAnnotation + llvm::Twine(B->getNumBits())).str());
  }

  /// Checks \p S. \p Allowed is the call of a COSY_ASYNC function that an
  /// enclosing COSY_SPAWN starts.
  void visit(const Stmt *S, const Stmt *Allowed = nullptr) {
    if (!S || isa<RecoveryExpr>(S) || isa<UnaryExprOrTypeTraitExpr>(S) ||
        isa<CXXNoexceptExpr>(S) || isa<CXXTypeidExpr>(S))
      return;
    if (auto *L = dyn_cast<LambdaExpr>(S)) {
      for (const Expr *Init : L->capture_inits())
        visit(Init);
      CXXMethodDecl *Operator = L->getCallOperator();
      bool Outer = InAsync;
      InAsync = isAsync(Operator);
      if (InAsync)
        checkType(*Operator);
      visit(L->getBody());
      InAsync = Outer;
      return;
    }
    if (InAsync)
      checkLifetime(*S);
    if (auto *Block = dyn_cast<CompoundStmt>(S))
      return visitBlock(*Block);
    if (auto *Ref = dyn_cast<DeclRefExpr>(S))
      checkUse(*S, Ref->getDecl());
    else if (auto *Member = dyn_cast<MemberExpr>(S))
      checkUse(*S, Member->getMemberDecl());
    auto *Call = dyn_cast<CallExpr>(S);
    bool MayCall = Call && isAsync(calleeOf(S)) && (InAsync || S == Allowed);
    if (MayCall)
      FE.addRange(Call->getExprLoc(), Call->getSourceRange());
    for (const Stmt *Child : S->children()) {
      if (MayCall && Child == Call->getCallee()) {
        if (auto *Member = dyn_cast<MemberExpr>(Call->getCallee()))
          visit(Member->getBase());
        continue;
      }
      visit(Child);
    }
  }

  bool InAsync = false; ///< in the body of a COSY_ASYNC function

private:
  void annotate(FunctionDecl &F, StringRef Text) {
    if (!hasAnnotation(F, Text))
      F.addAttr(AnnotateAttr::CreateImplicit(Ctx, Text, nullptr, 0));
  }

  void error(const Stmt &S, StringRef Text) {
    FE.error(S.getBeginLoc(), S.getSourceRange(), Text);
  }

  void visitBlock(const CompoundStmt &Block) {
    const Stmt *Before = nullptr;
    for (const Stmt *S : Block.body()) {
      const Stmt *Inner = withoutCasts(S);
      if (isNamed(calleeOf(Inner), SpawnFunction) && Before) {
        const Stmt *Call = withoutCasts(Before);
        if (auto *E = dyn_cast<Expr>(Call);
            !isAsync(calleeOf(Call)) && !(E && E->isTypeDependent()))
          error(*Call, "COSY_SPAWN needs a call of a COSY_ASYNC function");
        visitSpawned(*Before, *Call);
      } else {
        visitBefore(Before);
      }
      Before = S;
    }
    visitBefore(Before);
  }

  void visitBefore(const Stmt *S) {
    if (S)
      visit(S);
  }

  /// Visits \p S, which contains \p Call within parentheses and casts.
  void visitSpawned(const Stmt &S, const Stmt &Call) {
    if (auto *T = dyn_cast<ExprWithCleanups>(&S); T && InAsync)
      checkLifetime(S);
    visit(&Call, &Call);
  }

  void checkUse(const Stmt &S, const ValueDecl *D) {
    if (!isAsync(D))
      return;
    std::string Name = D->getNameAsString();
    error(S, "'" + Name +
                 "' is COSY_ASYNC: only COSY_SPAWN and other COSY_ASYNC "
                 "functions can call it, and it has no address");
  }

  /// Reports objects that a COSY_ASYNC function cannot contain because of their
  /// lifetime.
  void checkLifetime(const Stmt &S) {
    if (auto *D = dyn_cast<DeclStmt>(&S)) {
      for (const Decl *Child : D->decls())
        if (auto *V = dyn_cast<VarDecl>(Child);
            V && V->hasLocalStorage() &&
            (V->hasAttr<CleanupAttr>() ||
             (!V->getType()->isDependentType() &&
              V->needsDestruction(Ctx) != QualType::DK_none)))
          FE.error(V->getLocation(), V->getLocation(),
                   "a COSY_ASYNC function cannot contain the variable '" +
                       V->getNameAsString() +
                       "', which has a destructor or a cleanup; let it be in a "
                       "function that this one calls, or in memory of the "
                       "caller");
      return;
    }
    if (auto *T = dyn_cast<CXXBindTemporaryExpr>(&S))
      return error(*T,
                   "a COSY_ASYNC function cannot contain a temporary object "
                   "with a destructor; let it be in a function that this "
                   "one calls");
    if (isa<CXXTryStmt>(S) || isa<CXXThrowExpr>(S))
      return error(S, "a COSY_ASYNC function cannot throw or catch exceptions; "
                      "return an error number");
    if (isNamed(calleeOf(&S), BatchMarker))
      return error(S, "COSY_BATCH in a COSY_ASYNC function; move the loop to a "
                      "function that this one calls");
  }

  Frontend &FE;
  ASTContext &Ctx;
};

} // namespace

void checkCoroutines(Decl &D, Frontend &FE) {
  CoroutineCheck Check(FE);
  if (auto *V = dyn_cast<VarDecl>(&D))
    return Check.visit(V->getInit());
  if (auto *Field = dyn_cast<FieldDecl>(&D))
    return Check.visit(Field->getInClassInitializer());
  auto *F = dyn_cast<FunctionDecl>(&D);
  if (!F)
    return;
  Check.InAsync = isAsync(F);
  if (Check.InAsync)
    Check.checkType(*F);
  if (auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *Init : Constructor->inits())
      if (Init->isWritten())
        Check.visit(Init->getInit());
  if (F->doesThisDeclarationHaveABody())
    Check.visit(F->getBody());
}

} // namespace cosy
