// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionCheck.cpp - Check the markers of regions ---------------------===//
//
// The markers of a region are statements of one block, so that the region has
// one beginning and one end. This is checked on the source, where a message can
// point at both. Region.cpp checks the control flow on the IR.
//
//===----------------------------------------------------------------------===//
#include "frontend/RegionCheck.h"
#include "frontend/BatchCheck.h"
#include "frontend/CoroutineCheck.h"
#include "frontend/Frontend.h"
#include "frontend/FunctionCheck.h"
#include "support/Names.h"
#include "support/StartOptions.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/Stmt.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;

namespace cosy {

namespace {

/// Checks one function body. Visits statements in the order of the source. A
/// region is everything between its markers in that order.
class BodyCheck {
public:
  explicit BodyCheck(Frontend &FE) : FE(FE) {}

  void check(Stmt *Body) {
    visit(Body, nullptr);
    if (Open) {
      error(
          Open->getBeginLoc(), Open->getSourceRange(),
          "COSY_START without COSY_END in this function; put COSY_END after "
          "the last statement of the region",
          FixItHint::CreateInsertion(OpenBlock->getRBracLoc(), "COSY_END;\n"));
    }
  }

private:
  void error(SourceLocation Loc, SourceRange Range, StringRef Text,
             ArrayRef<FixItHint> Fixes = {}) {
    FE.error(Loc, Range, Text, Fixes);
  }
  void note(SourceLocation Loc, StringRef Text) { FE.note(Loc, Text); }

  static StringRef markerName(Stmt *S) {
    auto *Call = dyn_cast<CallExpr>(S);
    FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
    if (!F || !F->getIdentifier())
      return {};
    StringRef Name = F->getName();
    return llvm::is_contained(
               llvm::map_range(AllMarkers,
                               [](auto *M) { return StringRef(*M); }),
               Name)
               ? Name
               : StringRef();
  }

  /// Visits \p S. \p Block is the block that it is a statement of, or null.
  void visit(Stmt *S, CompoundStmt *Block) {
    if (!S || isa<RecoveryExpr>(S)) // clang has reported an error
      return;
    if (auto *E = dyn_cast<Expr>(S); E && Open)
      FE.addRange(E->getExprLoc(), E->getSourceRange());
    // The body is another function.
    if (auto *L = dyn_cast<LambdaExpr>(S)) {
      for (Expr *Init : L->capture_inits())
        visit(Init, nullptr);
      return;
    }
    if (Open && MayStop)
      checkCleanup(S);
    if (StringRef Name = markerName(S); !Name.empty()) {
      marker(cast<CallExpr>(S), Name != StringRef(EndMarker), Block);
      if (Name == StringRef(StartWithMarker))
        checkOptions(cast<CallExpr>(S));
      return;
    }
    if (auto *C = dyn_cast<CompoundStmt>(S)) {
      for (Stmt *Child : C->body())
        visit(Child, C);
      return;
    }
    if (auto *L = dyn_cast<LabelStmt>(S)) {
      visit(L->getSubStmt(), Block);
      return;
    }
    if (auto *A = dyn_cast<AttributedStmt>(S)) {
      visit(A->getSubStmt(), Block);
      return;
    }
    if (auto *Case = dyn_cast<SwitchCase>(S)) {
      visit(Case->getSubStmt(), Block);
      return;
    }
    if (auto *P = dyn_cast<ParenExpr>(S))
      return visit(P->getSubExpr(), Block);
    // COSY_START(): MarkerCalls has already reported the parentheses.
    if (auto *C = dyn_cast<CallExpr>(S);
        C && !markerName(C->getCallee()).empty())
      return visit(C->getCallee(), Block);
    for (Stmt *Child : S->children())
      visit(Child, nullptr);
  }

  void marker(CallExpr *Call, bool IsStart, CompoundStmt *Block) {
    SourceLocation Loc = Call->getBeginLoc();
    SourceRange Range = Call->getSourceRange();
    if (!Block) {
      error(
          Loc, Range,
          std::string(IsStart ? "COSY_START" : "COSY_END") +
              " has to be a statement of a block; put it on a line of its own "
              "between braces");
      if (!IsStart)
        Open = nullptr;
      return;
    }
    if (IsStart) {
      if (Open) {
        error(Loc, Range,
              "COSY_START inside a region; regions do not nest, end the first "
              "one before this");
        note(Open->getBeginLoc(), "region starts here");
        ++Nested; // its end is not an error
        return;
      }
      Open = Call;
      OpenBlock = Block;
      Nested = 0;
      MayStop = HasLimit = false;
      return;
    }
    if (Nested && (!Open || Block != OpenBlock)) {
      --Nested;
      return;
    }
    if (!Open) {
      error(Loc, Range,
            "COSY_END without COSY_START before it in this function; put "
            "COSY_START before the first statement of the region");
      return;
    }
    if (Block != OpenBlock) {
      error(
          Loc, Range,
          "COSY_END is in another block than its COSY_START; put both into the "
          "same block");
      note(Open->getBeginLoc(), "region starts here");
    } else {
      addRegion(Call);
    }
    Open = nullptr;
  }

  void checkOptions(CallExpr *Start) {
    SmallVector<std::optional<uint64_t>, 8> Args;
    for (Expr *E : Start->arguments()) {
      Expr::EvalResult R;
      if (!E->isValueDependent() && E->EvaluateAsInt(R, FE.context()))
        Args.push_back(R.Val.getInt().getZExtValue());
      else
        Args.push_back(std::nullopt);
    }
    StartOptions Options;
    if (std::string Wrong = readOptions(Args, Options); !Wrong.empty())
      error(Start->getBeginLoc(), Start->getSourceRange(), Wrong);
    MayStop = Options.StopOnError || Options.stopsAtLimit();
    HasLimit = Options.stopsAtLimit();
  }

  /// Reports variables with a destructor or a cleanup, because a region that
  /// stops in the middle omits these.
  void checkCleanup(Stmt *S) {
    auto Report = [&](SourceLocation Loc, SourceRange Range, std::string What) {
      error(Loc, Range,
            "a region that may stop cannot contain " + What +
                ": stopping would leave out what is done at the end of its "
                "life; let it begin before the region, or in a function the "
                "region calls");
      note(Open->getBeginLoc(), "region starts here");
    };
    if (auto *D = dyn_cast<DeclStmt>(S)) {
      for (Decl *Child : D->decls())
        if (auto *V = dyn_cast<VarDecl>(Child);
            V && V->hasLocalStorage() &&
            (V->hasAttr<CleanupAttr>() ||
             (!V->getType()->isDependentType() &&
              V->needsDestruction(FE.context()) != QualType::DK_none)))
          Report(V->getLocation(), V->getLocation(),
                 "the variable '" + V->getNameAsString() + "'");
        // With a limit, the compiler refuses what else moves the stack, too.
        else if (V && V->getType()->isVariableArrayType() && !HasLimit)
          Report(V->getLocation(), V->getLocation(),
                 "the array '" + V->getNameAsString() +
                     "', whose length is not constant");
    } else if (auto *T = dyn_cast<CXXBindTemporaryExpr>(S)) {
      Report(T->getExprLoc(), T->getSourceRange(), "this temporary object");
    }
  }

  /// Adds the region that \p End ends to the Frontend.
  void addRegion(CallExpr *End) {
    MarkedRegion R;
    R.Start = Open->getSourceRange();
    R.End = End->getSourceRange();
    Stmt *Before = nullptr;
    for (Stmt *S : OpenBlock->body()) {
      if (Before == Open)
        R.First = loneCall(S);
      if (S == End && Before)
        R.Last = loneCall(Before);
      Before = S;
    }
    FE.addRegion(R);
  }

  static LoneCall loneCall(Stmt *S) {
    LoneCall L;
    if (!isa<Expr>(S) && !isa<DeclStmt>(S))
      return L;
    unsigned NumCalls = 0;
    SmallVector<Stmt *, 8> Work{S};
    while (!Work.empty()) {
      Stmt *Part = Work.pop_back_val();
      if (isa<StmtExpr>(Part))
        return LoneCall();
      if (auto *Call = dyn_cast<CallExpr>(Part)) {
        ++NumCalls;
        L.Call = Call->getExprLoc();
      }
      for (Stmt *Child : Part->children())
        if (Child)
          Work.push_back(Child);
    }
    if (NumCalls != 1 || L.Call.isMacroID())
      return LoneCall();
    L.Statement = S->getSourceRange();
    return L;
  }

  Frontend &FE;
  CallExpr *Open = nullptr;
  CompoundStmt *OpenBlock = nullptr;
  unsigned Nested = 0;   ///< reported starts in the region, without an end
  bool MayStop = false;  ///< the open region stops at errors or limits
  bool HasLimit = false; ///< and has a limit
};

/// Reports COSY_START(), which clang accepts.
class MarkerCalls : public PPCallbacks {
public:
  explicit MarkerCalls(CompilerInstance &CI) : CI(CI) {}

  void MacroExpands(const Token &Name, const MacroDefinition &, SourceRange,
                    const MacroArgs *) override {
    const IdentifierInfo *II = Name.getIdentifierInfo();
    if (!II || Name.getLocation().isMacroID() ||
        !(II->isStr("COSY_START") || II->isStr("COSY_END") ||
          II->isStr("COSY_START_NATIVE")))
      return;
    std::optional<Token> Next = Lexer::findNextToken(
        Name.getLocation(), CI.getSourceManager(), CI.getLangOpts());
    if (!Next || Next->isNot(tok::l_paren))
      return;
    DiagnosticsEngine &D = CI.getDiagnostics();
    D.Report(Next->getLocation(), D.getCustomDiagID(DiagnosticsEngine::Error,
                                                    "%0 takes no parentheses"))
        << II->getName();
  }

private:
  CompilerInstance &CI;
};

/// Checks all functions of a translation unit, also those within functions and
/// other expressions. Inner functions come first, so that the innermost region
/// around a place is the first one.
class RegionCheck : public ASTConsumer,
                    public RecursiveASTVisitor<RegionCheck> {
public:
  RegionCheck(CompilerInstance &CI, std::unique_ptr<Frontend> FE)
      : CI(CI), FE(std::move(FE)) {
    CI.getPreprocessor().addPPCallbacks(std::make_unique<MarkerCalls>(CI));
  }

  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    HasBatches = HasBatches || isKnown(BatchMarker);
    HasCoroutines = HasCoroutines || isKnown(SpawnFunction);
    HasMarkers = HasMarkers || isKnown("COSY_FUNCTION") ||
                 llvm::any_of(AllMarkers, [&](auto *M) { return isKnown(*M); });
    if (HasBatches || HasCoroutines || HasMarkers)
      for (Decl *D : Group)
        TraverseDecl(D);
    return true;
  }

  bool shouldTraversePostOrder() const { return true; }
  bool shouldWalkTypesOfTypeLocs() const { return false; }

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (HasCoroutines)
      checkCoroutines(*F, *FE);
    checkFunctionDecl(*F);
    if (F->doesThisDeclarationHaveABody() && F->getBody())
      checkFunctionBody(*F);
    return true;
  }
  bool VisitLambdaExpr(LambdaExpr *L) {
    checkFunctionBody(*L->getCallOperator());
    return true;
  }
  bool VisitBlockDecl(BlockDecl *B) {
    checkBody(*B, B->parameters());
    return true;
  }
  bool VisitVarDecl(VarDecl *V) {
    if (HasCoroutines && (V->isFileVarDecl() || hasDefault(*V)))
      checkCoroutines(*V, *FE);
    return true;
  }
  bool VisitFieldDecl(FieldDecl *F) {
    if (HasCoroutines)
      checkCoroutines(*F, *FE);
    return true;
  }

private:
  /// \returns true if \p V is a parameter with an argument by default.
  static bool hasDefault(const VarDecl &V) {
    auto *P = dyn_cast<ParmVarDecl>(&V);
    return P && P->hasDefaultArg() && !P->hasUnparsedDefaultArg() &&
           !P->hasUninstantiatedDefaultArg();
  }
  /// \returns true if the source or a precompiled header contains \p Name.
  bool isKnown(StringRef Name) {
    IdentifierTable &Names = CI.getPreprocessor().getIdentifierTable();
    IdentifierInfoLookup *Precompiled = Names.getExternalIdentifierLookup();
    return Names.find(Name) != Names.end() ||
           (Precompiled && Precompiled->get(Name));
  }

  void checkFunctionBody(FunctionDecl &F) {
    if (checkBody(F, F.parameters()))
      FE->annotateWarnings(F);
  }

  /// \returns false if the body has been checked before: that of a method of a
  /// local class, when the function is instantiated.
  bool checkBody(Decl &Function, ArrayRef<ParmVarDecl *> Parameters) {
    if (!Checked.insert(Function.getBody()).second)
      return false;
    BodyCheck(*FE).check(Function.getBody());
    if (HasBatches)
      checkBatches(Function, Parameters, *FE);
    return true;
  }

  CompilerInstance &CI;
  std::unique_ptr<Frontend> FE;
  llvm::DenseSet<const Stmt *> Checked; ///< bodies
  bool HasBatches = false;              ///< the source may contain a COSY_BATCH
  bool HasCoroutines = false;           ///< and a COSY_ASYNC
  bool HasMarkers = false;              ///< and other markers
};

} // namespace

std::unique_ptr<ASTConsumer> createRegionCheck(CompilerInstance &CI,
                                               std::unique_ptr<Frontend> FE) {
  return std::make_unique<RegionCheck>(CI, std::move(FE));
}

} // namespace cosy
