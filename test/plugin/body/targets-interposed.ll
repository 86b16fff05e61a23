; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Another object can define @triple, too. Then its address is that of the other definition, and the
; one that is seen here must not be inlined.
; RUN: %opt -S -passes=cosy-inline %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@table = global ptr @triple

define internal void @body(ptr %f, i32 %v) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i32 %f(i32 %v)
; CHECK-NEXT: @cosy.exit
  %r = call i32 %f(i32 %v)
  call void (i32, ...) @cosy.exit(i32 0, i32 %r)
  ret void
}

define i32 @triple(i32 %v) {
  %t = mul i32 %v, 3
  ret i32 %t
}

declare void @cosy.exit(i32, ...)
