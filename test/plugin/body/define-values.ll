; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Without optimisation an undefined value is some value: 0. A shift by 33 of 32 bits is one
; by 33 & 31, as the processor does it. A sum may overflow.
; RUN: %opt -S -passes=cosy-define-values %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %a, i32 %n) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[SUM:%.*]] = add i32 %a, 0
; CHECK-NEXT: [[AMOUNT:%.*]] = and i32 %n, 31
; CHECK-NEXT: shl i32 [[SUM]], [[AMOUNT]]
  %sum = add nsw i32 %a, undef
  %shifted = shl i32 %sum, %n
  call void (i32, ...) @cosy.exit(i32 0, i32 %shifted)
  ret void
}

declare void @cosy.exit(i32, ...)
