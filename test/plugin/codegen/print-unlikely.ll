; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A block that is seldom executed comes after the others: there is no jump on the usual path.
; RUN: %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="2" "cosy-outputs"="1" {
; CHECK: .limit
; CHECK-NEXT: br.8.uge r0, 7, [[SELDOM:L[0-9]+]]
; CHECK: add.8 {{.*}}, 5
; CHECK: exit 0
; CHECK: [[SELDOM]]:
; CHECK-NEXT: mul.8
entry:
  %c = icmp ult i64 %a, 7
  br i1 %c, label %usual, label %seldom, !prof !0
seldom:
  %m = mul i64 %a, 3
  br label %usual
usual:
  %v = phi i64 [ %a, %entry ], [ %m, %seldom ]
  %s = add i64 %v, 5
  call void (i32, ...) @cosy.exit(i32 0, i64 %s)
  ret void
}

declare void @cosy.exit(i32, ...)
!0 = !{!"branch_weights", i32 2000, i32 1}
