; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Without any system call, nothing is moved, because the region gains nothing.
; RUN: %opt -S -passes=cosy-outline %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p) "cosy-state"="recognised" {
; CHECK-LABEL: define internal void @body(
; CHECK: phi i64
; CHECK-NOT: define
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  store i8 1, ptr %at
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, 1000
  br i1 %again, label %loop, label %done
done:
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
