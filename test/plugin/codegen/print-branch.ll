; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A comparison with a constant and the branch on it are one operation.
; RUN: %opt -disable-output -passes=cosy-print-compound %s 2>&1 | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="recognised" "cosy-body"="f" "cosy-exits"="2" "cosy-outputs"="0" {
; CHECK: .limit
; CHECK-NEXT: br.8.ult r0, 7, [[X:L[0-9]+]]
; CHECK: exit 1
; CHECK: [[X]]:
; CHECK: exit 0
entry:
  %c = icmp ult i64 %a, 7
  br i1 %c, label %x, label %y
x:
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
y:
  call void (i32, ...) @cosy.exit(i32 1)
  ret void
}

declare void @cosy.exit(i32, ...)
