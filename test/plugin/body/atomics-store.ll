; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A store with sequential consistency is an exchange, because a plain store is no barrier.
; RUN: %opt -S -passes=cosy-atomics %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p, i8 %v) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NOT: store
; CHECK: call i8 @cosy.cmpxchg.i8(ptr %p, i8 %{{.*}}, i8 %v)
; CHECK-NOT: store
; CHECK: @cosy.exit
  store atomic i8 %v, ptr %p seq_cst, align 1
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
