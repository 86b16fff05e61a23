; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Three functions have the type: the pointer is compared with each.
; RUN: %opt -S -passes=cosy-inline %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@table = global [3 x ptr] [ptr @f0, ptr @f1, ptr @f2]

define internal void @body(ptr %f, i32 %v) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK: icmp eq ptr %f, @f0
; CHECK: mul i32 %v, 11
; CHECK: icmp eq ptr %f, @f1
; CHECK: mul i32 %v, 12
; CHECK: icmp eq ptr %f, @f2
; CHECK: mul i32 %v, 13
; CHECK: call i32 %f(i32 %v)
  %r = call i32 %f(i32 %v)
  call void (i32, ...) @cosy.exit(i32 0, i32 %r)
  ret void
}

define dso_local i32 @f0(i32 %v) {
  %t = mul i32 %v, 11
  ret i32 %t
}
define dso_local i32 @f1(i32 %v) {
  %t = mul i32 %v, 12
  ret i32 %t
}
define dso_local i32 @f2(i32 %v) {
  %t = mul i32 %v, 13
  ret i32 %t
}

declare void @cosy.exit(i32, ...)
