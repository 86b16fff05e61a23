; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A bool is stored as a byte, 0 or 1.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %p, i1 %b) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK: [[WIDE:%.*]] = zext i1 %b to i64
; CHECK: [[BYTE:%.*]] = trunc i64 [[WIDE]] to i8
; CHECK: store i8 [[BYTE]], ptr %p, align 1
  store i1 %b, ptr %p, align 1
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
