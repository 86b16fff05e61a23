; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The edge from the entry to the end is critical: it gets a block, where the phi is copied.
; RUN: %opt -S -passes=cosy-split-edges %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i1 %c, i64 %a) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK: br i1 %c, label %[[MORE:.*]], label %[[EDGE:.*]]
; CHECK: [[EDGE]]:
; CHECK-NEXT: br label %[[END:.*]]
; CHECK: [[END]]:
; CHECK-NEXT: phi i64 {{.*}}[ 0, %[[EDGE]] ]
entry:
  br i1 %c, label %more, label %end
more:
  %b = add i64 %a, 1
  br label %end
end:
  %v = phi i64 [ %b, %more ], [ 0, %entry ]
  call void (i32, ...) @cosy.exit(i32 0, i64 %v)
  ret void
}

declare void @cosy.exit(i32, ...)
