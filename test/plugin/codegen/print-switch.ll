; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; More than three cases are a table.
; RUN: %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %a) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="3" "cosy-outputs"="0" {
; CHECK: switch.4 r0, [[OTHER:L[0-9]+]]
; CHECK-NEXT: .case 1, [[ONE:L[0-9]+]]
; CHECK-NEXT: .case 2, [[TWO:L[0-9]+]]
; CHECK-NEXT: .case 3, [[ONE]]
; CHECK-NEXT: .case 4, [[TWO]]
; CHECK-DAG: [[ONE]]:
; CHECK-DAG: [[TWO]]:
; CHECK-DAG: [[OTHER]]:
entry:
  switch i32 %a, label %other [ i32 1, label %one
                                i32 2, label %two
                                i32 3, label %one
                                i32 4, label %two ]
one:
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
two:
  call void (i32, ...) @cosy.exit(i32 1)
  ret void
other:
  call void (i32, ...) @cosy.exit(i32 2)
  ret void
}

declare void @cosy.exit(i32, ...)
