; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A compare and exchange of pointers: both parts of the result. The branch on its success is likely.
; RUN: %opt -S -passes=cosy-atomics %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p, ptr %old, ptr %new) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[OLD:%.*]] = ptrtoint ptr %old to i64
; CHECK-NEXT: [[NEW:%.*]] = ptrtoint ptr %new to i64
; CHECK-NEXT: [[INT:%.*]] = call i64 @cosy.cmpxchg.i64(ptr %p, i64 [[OLD]], i64 [[NEW]])
; CHECK-NEXT: [[WAS:%.*]] = inttoptr i64 [[INT]] to ptr
; CHECK-NEXT: [[SAME:%.*]] = icmp eq ptr [[WAS]], %old
; CHECK-NEXT: br i1 [[SAME]], label %yes, label %no, !prof
; CHECK: @cosy.exit(i32 0, ptr [[WAS]])
  %pair = cmpxchg weak ptr %p, ptr %old, ptr %new acquire monotonic
  %was = extractvalue { ptr, i1 } %pair, 0
  %same = extractvalue { ptr, i1 } %pair, 1
  br i1 %same, label %yes, label %no
yes:
  call void (i32, ...) @cosy.exit(i32 0, ptr %was)
  ret void
no:
  call void (i32, ...) @cosy.exit(i32 1, ptr %was)
  ret void
}

declare void @cosy.exit(i32, ...)
