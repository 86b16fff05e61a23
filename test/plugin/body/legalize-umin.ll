; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The minimum is a comparison and a selection: 3 and 5 give 3 because 3 < 5.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a, i64 %b) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[LESS:%.*]] = icmp ult i64 %a, %b
; CHECK-NEXT: [[MIN:%.*]] = select i1 [[LESS]], i64 %a, i64 %b
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, i64 [[MIN]])
  %min = call i64 @llvm.umin.i64(i64 %a, i64 %b)
  call void (i32, ...) @cosy.exit(i32 0, i64 %min)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @llvm.umin.i64(i64, i64)
