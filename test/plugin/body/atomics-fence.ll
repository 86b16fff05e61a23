; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A fence is an exchange of a byte, which all fences of the body share.
; RUN: %opt -S -passes=cosy-atomics %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: %[[BYTE:.*]] = alloca i8
; CHECK-NEXT: store atomic i64 1, ptr %p monotonic
; CHECK-NEXT: call i8 @cosy.cmpxchg.i8(ptr %[[BYTE]], i8 0, i8 0)
; CHECK-NEXT: load atomic i64, ptr %p monotonic
; CHECK-NEXT: call i8 @cosy.cmpxchg.i8(ptr %[[BYTE]], i8 0, i8 0)
; CHECK-NEXT: call void {{.*}} @cosy.exit
  store atomic i64 1, ptr %p monotonic, align 8
  fence seq_cst
  %v = load atomic i64, ptr %p monotonic, align 8
  fence seq_cst
  call void (i32, ...) @cosy.exit(i32 0, i64 %v)
  ret void
}

declare void @cosy.exit(i32, ...)
