; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The counter is incremented after its last use, so that both values can have one register.
; RUN: %opt -S -passes=cosy-sink-increments %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p, i64 %n) "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK: [[I:%.*]] = phi i64
; CHECK-NEXT: getelementptr i8, ptr %p, i64 [[I]]
; CHECK-NEXT: store i8 0
; CHECK-NEXT: [[NEXT:%.*]] = add i64 [[I]], 1
; CHECK-NEXT: icmp ult i64 [[NEXT]], %n
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %next = add i64 %i, 1
  %at = getelementptr i8, ptr %p, i64 %i
  store i8 0, ptr %at
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
