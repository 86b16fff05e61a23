; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The address of array[i + 3] with elements of 8 bytes: i is shifted by 3, and the constant
; 3 * 8 = 24 is added last, where loads and stores take it in.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %array, i64 %i) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK: [[BYTES:%.*]] = shl i64 %i, 3
; CHECK-NEXT: [[ELEMENT:%.*]] = getelementptr i8, ptr %array, i64 [[BYTES]]
; CHECK-NEXT: [[AT:%.*]] = getelementptr i8, ptr [[ELEMENT]], i64 24
; CHECK-NEXT: load i64, ptr [[AT]]
  %next = add i64 %i, 3
  %at = getelementptr i64, ptr %array, i64 %next
  %v = load i64, ptr %at
  call void (i32, ...) @cosy.exit(i32 0, i64 %v)
  ret void
}

declare void @cosy.exit(i32, ...)
