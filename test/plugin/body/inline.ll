; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A function of the same file becomes a part of the body; a recursive one remains a call.
; RUN: %opt -S -passes=cosy-inline %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NOT: @twice
; CHECK: [[B:%.*]] = mul i64 %a, 2
; CHECK: call i64 @endless(
  %b = call i64 @twice(i64 %a)
  %c = call i64 @endless(i64 %b)
  call void (i32, ...) @cosy.exit(i32 0, i64 %c)
  ret void
}

define internal i64 @twice(i64 %x) {
  %y = mul i64 %x, 2
  ret i64 %y
}
define internal i64 @endless(i64 %x) {
  %y = call i64 @endless(i64 %x)
  ret i64 %y
}
declare void @cosy.exit(i32, ...)
