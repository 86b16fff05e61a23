; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The absolute value without a branch: the sign bit of i32 -5 gives the mask -1, and
; (-5 ^ -1) - -1 = 5.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %a) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[SIGN:%.*]] = ashr i32 %a, 31
; CHECK-NEXT: [[FLIP:%.*]] = xor i32 %a, [[SIGN]]
; CHECK-NEXT: [[ABS:%.*]] = sub i32 [[FLIP]], [[SIGN]]
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, i32 [[ABS]])
  %abs = call i32 @llvm.abs.i32(i32 %a, i1 false)
  call void (i32, ...) @cosy.exit(i32 0, i32 %abs)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i32 @llvm.abs.i32(i32, i1)
