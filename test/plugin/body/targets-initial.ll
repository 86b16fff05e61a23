; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; More functions have the type than the pointer is compared with, but it is loaded from a variable with an
; initial value. The second call is of a callee that was inlined, with its parameter in memory.
; RUN: %opt -S -passes=cosy-inline %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@operations = global [4 x ptr] [ptr @f0, ptr @f1, ptr @f2, ptr @f3]

define internal void @body(i32 %v) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK: icmp eq ptr %f, @f1
; CHECK: mul i32 %v, 12
; CHECK: call i32 %f(i32 %v)
; CHECK: icmp eq ptr %{{.*}}, @f3
; CHECK: mul i32 %{{.*}}, 14
; CHECK: @cosy.exit
  %f = load ptr, ptr getelementptr inbounds (i8, ptr @operations, i64 8)
  %r = call i32 %f(i32 %v)
  %s = call i32 @callee(ptr @operations, i32 %r)
  call void (i32, ...) @cosy.exit(i32 0, i32 %s)
  ret void
}

define internal i32 @callee(ptr %o, i32 %v) {
  %slot = alloca ptr
  store ptr %o, ptr %slot
  %p = load ptr, ptr %slot
  %q = getelementptr inbounds i8, ptr %p, i64 24
  %f = load ptr, ptr %q
  %r = call i32 %f(i32 %v)
  ret i32 %r
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
define dso_local i32 @f3(i32 %v) {
  %t = mul i32 %v, 14
  ret i32 %t
}

declare void @cosy.exit(i32, ...)
