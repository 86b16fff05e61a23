; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A copy of 13 bytes is three loads and then three stores, of 8, 4 and 1 bytes: all is
; loaded first, as the two may overlap. With a lower threshold the copy stays.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
; RUN: %opt -S -passes=cosy-legalize -cosy-max-expanded-copy=12 %s | FileCheck --check-prefix=STAYS %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %to, ptr %from) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[V8:%.*]] = load i64, ptr %from, align 1
; CHECK-NEXT: [[F8:%.*]] = getelementptr i8, ptr %from, i64 8
; CHECK-NEXT: [[V4:%.*]] = load i32, ptr [[F8]], align 1
; CHECK-NEXT: [[F12:%.*]] = getelementptr i8, ptr %from, i64 12
; CHECK-NEXT: [[V1:%.*]] = load i8, ptr [[F12]], align 1
; CHECK-NEXT: store i64 [[V8]], ptr %to, align 1
; CHECK-NEXT: [[T8:%.*]] = getelementptr i8, ptr %to, i64 8
; CHECK-NEXT: store i32 [[V4]], ptr [[T8]], align 1
; CHECK-NEXT: [[T12:%.*]] = getelementptr i8, ptr %to, i64 12
; CHECK-NEXT: store i8 [[V1]], ptr [[T12]], align 1
; CHECK-NEXT: call void (i32, ...) @cosy.exit(
; STAYS: call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 13, i1 false)
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 13, i1 false)
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
