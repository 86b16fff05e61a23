; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; An atomic addition is a loop that usually ends the first time. It returns what was there.
; RUN: %opt -S -passes=cosy-atomics %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p, i32 %n) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK: [[FIRST:%.*]] = load atomic i32, ptr %p monotonic, align 4
; CHECK-NEXT: br label %[[LOOP:.*]]
; CHECK: [[LOOP]]:
; CHECK-NEXT: [[OLD:%.*]] = phi i32 [ [[FIRST]], %{{.*}} ], [ [[WAS:%.*]], %[[LOOP]] ]
; CHECK-NEXT: [[NEW:%.*]] = add i32 [[OLD]], %n
; CHECK-NEXT: [[WAS]] = call i32 @cosy.cmpxchg.i32(ptr %p, i32 [[OLD]], i32 [[NEW]])
; CHECK-NEXT: [[SAME:%.*]] = icmp eq i32 [[WAS]], [[OLD]]
; CHECK-NEXT: br i1 [[SAME]], label %[[END:.*]], label %[[LOOP]], !prof
; CHECK: [[END]]:
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, i32 [[WAS]])
; CHECK: define internal i32 @cosy.cmpxchg.i32(ptr
; CHECK-NEXT: cmpxchg ptr %{{.*}} seq_cst seq_cst, align 4
  %old = atomicrmw add ptr %p, i32 %n seq_cst, align 4
  call void (i32, ...) @cosy.exit(i32 0, i32 %old)
  ret void
}

declare void @cosy.exit(i32, ...)
