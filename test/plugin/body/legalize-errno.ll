; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; So is the address of errno.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i1 %again) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: entry:
; CHECK-NEXT: [[AT:%.*]] = call ptr @__errno_location()
; CHECK-NEXT: br label %next
; CHECK-NOT: @__errno_location
; CHECK: load i32, ptr [[AT]]
entry:
  br label %next
next:
  %p = call ptr @__errno_location()
  %e = load i32, ptr %p
  call void (i32, ...) @cosy.exit(i32 0, i32 %e)
  ret void
}

declare void @cosy.exit(i32, ...)
declare ptr @__errno_location()
