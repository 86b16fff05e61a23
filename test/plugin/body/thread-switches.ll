; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A switch that depends on the block before it is replaced by jumps: 1 leads to one, 2 to two.
; RUN: %opt -S -passes=cosy-thread-switches %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i1 %c) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NOT: switch
; CHECK-NOT: phi
; CHECK: call void (i32, ...) @cosy.exit(i32 0)
; CHECK: call void (i32, ...) @cosy.exit(i32 1)
entry:
  br i1 %c, label %a, label %b
a:
  store volatile i8 1, ptr null
  br label %cleanup
b:
  store volatile i8 2, ptr null
  br label %cleanup
cleanup:
  %where = phi i32 [ 1, %a ], [ 2, %b ]
  store volatile i8 3, ptr null
  switch i32 %where, label %two [ i32 1, label %one ]
one:
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
two:
  call void (i32, ...) @cosy.exit(i32 1)
  ret void
}

declare void @cosy.exit(i32, ...)
