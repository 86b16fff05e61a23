; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A rotation of 32 bits by 8 is two shifts, by 8 and by 24.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %a) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-DAG: [[HIGH:%.*]] = shl i32 %a, 8
; CHECK-DAG: [[LOW:%.*]] = lshr i32 %a, 24
; CHECK: [[BOTH:%.*]] = or i32 [[HIGH]], [[LOW]]
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, i32 [[BOTH]])
  %both = call i32 @llvm.fshl.i32(i32 %a, i32 %a, i32 8)
  call void (i32, ...) @cosy.exit(i32 0, i32 %both)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @llvm.fshl.i32(i32, i32, i32)
