; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; An unsigned sum overflows if it is less than one of its parts: 200 + 100 in 8 bits is
; 44, and 44 < 200.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i8 %a, i8 %b) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[SUM:%.*]] = add i8 %a, %b
; CHECK-NEXT: [[OVERFLOW:%.*]] = icmp ult i8 [[SUM]], %a
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, i8 [[SUM]], i1 [[OVERFLOW]])
  %pair = call { i8, i1 } @llvm.uadd.with.overflow.i8(i8 %a, i8 %b)
  %sum = extractvalue { i8, i1 } %pair, 0
  %overflow = extractvalue { i8, i1 } %pair, 1
  call void (i32, ...) @cosy.exit(i32 0, i8 %sum, i1 %overflow)
  ret void
}

declare void @cosy.exit(i32, ...)
declare { i8, i1 } @llvm.uadd.with.overflow.i8(i8, i8)
