; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A free ordinary mutex is locked without the function: its word, its owner, its number of users.
; RUN: %opt -S -passes=cosy-mutexes %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %m) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK: [[KIND:%.*]] = load atomic i32, ptr %{{.*}} monotonic, align 4
; CHECK: [[OTHER:%.*]] = and i32 [[KIND]], -513
; CHECK: br i1 %{{.*}}, label %[[SLOW:.*]], label %[[TRY:.*]], !prof
; CHECK: [[TRY]]:
; CHECK: [[WAS:%.*]] = call i32 @cosy.cmpxchg.i32(ptr %{{.*}}, i32 0, i32 1)
; CHECK: br i1 %{{.*}}, label %[[SLOW]], label %[[TAKE:.*]], !prof
; CHECK: [[TAKE]]:
; CHECK: [[TID:%.*]] = call i32 @cosy_thread_id()
; CHECK: store atomic i64 %{{.*}}, ptr %{{.*}} monotonic, align 8
; CHECK-NEXT: br label %[[END:.*]]
; CHECK: [[SLOW]]:
; CHECK-NEXT: [[RESULT:%.*]] = call i32 @pthread_mutex_lock(ptr %m)
; CHECK: [[END]]:
; CHECK-NEXT: phi i32 [ [[RESULT]], %[[SLOW]] ], [ 0, %[[TAKE]] ]
  %r = call i32 @pthread_mutex_lock(ptr %m)
  call void (i32, ...) @cosy.exit(i32 0, i32 %r)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @pthread_mutex_lock(ptr)
