; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A value that lives across blocks is stored in memory. The up-calls must be grouped again after
; that: the body is only recognised.
; RUN: %opt -S -passes=cosy-spill %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="grouped" {
; CHECK: define internal void @body({{.*}} #[[STATE:[0-9]+]]
; CHECK: [[SLOT:%.*]] = alloca i64
; CHECK: [[V:%.*]] = mul i64 %a, 3
; CHECK-NEXT: store i64 [[V]], ptr [[SLOT]]
; CHECK: next:
; CHECK-NEXT: [[AGAIN:%.*]] = load i64, ptr [[SLOT]]
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, i64 [[AGAIN]])
; CHECK: attributes #[[STATE]] = { "cosy-state"="recognised" }
entry:
  %v = mul i64 %a, 3
  br label %next
next:
  call void (i32, ...) @cosy.exit(i32 0, i64 %v)
  ret void
}

declare void @cosy.exit(i32, ...)
