; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A call that clang would report is never executed, and neither is what leads only to it.
; RUN: %opt -S -passes=cosy-error-calls %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i1 %c) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NOT: br
; CHECK-NOT: store volatile i8 2
; CHECK-NOT: @too_large
; CHECK: store volatile i8 3
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0)
entry:
  br i1 %c, label %wrong, label %right
wrong:
  call void @too_large()
  store volatile i8 2, ptr null
  br label %right
right:
  store volatile i8 3, ptr null
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

; CHECK: declare void @too_large()
declare void @too_large() "dontcall-error"="too large"
declare void @cosy.exit(i32, ...)
