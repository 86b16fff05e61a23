; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A call without an operation is an up-call, number 0.
; RUN: %opt -S -passes=cosy-group-upcalls %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[SUM:%.*]] = add i64 %a, 1{{$}}
; CHECK-NEXT: call i64 @f(i64 [[SUM]]), !cosy.upcall ![[ZERO:[0-9]+]]
; CHECK: ![[ZERO]] = !{i32 0}
  %sum = add i64 %a, 1
  %r = call i64 @f(i64 %sum)
  call void (i32, ...) @cosy.exit(i32 0, i64 %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @f(i64)
