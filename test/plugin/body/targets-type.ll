; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The pointer is compared with the only function of its type whose address is used, which is inlined.
; @unused has the type, too, and @other another one.
; RUN: %opt -S -passes=cosy-inline %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@table = global [2 x ptr] [ptr @triple, ptr @other]

define internal void @body(ptr %f, i32 %v) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[SAME:%.*]] = icmp eq ptr %f, @triple
; CHECK-NEXT: br i1 [[SAME]], label %{{.*}}, label %{{.*}}, !prof
; CHECK: mul i32 %v, 3
; CHECK: call i32 %f(i32 %v), !cosy.compared
; CHECK-NOT: icmp
; CHECK: @cosy.exit
  %r = call i32 %f(i32 %v)
  call void (i32, ...) @cosy.exit(i32 0, i32 %r)
  ret void
}

define dso_local i32 @triple(i32 %v) {
  %t = mul i32 %v, 3
  ret i32 %t
}

define dso_local i32 @unused(i32 %v) {
  ret i32 %v
}

define dso_local i32 @other(i64 %v) {
  ret i32 7
}

declare void @cosy.exit(i32, ...)
