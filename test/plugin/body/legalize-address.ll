; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Element i of an array of structures of 24 bytes, and there the field at offset 16: the
; variable part is multiplied, the constant part is added last.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %array, i64 %i) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[BYTES:%.*]] = mul i64 %i, 24
; CHECK-NEXT: [[ELEMENT:%.*]] = getelementptr i8, ptr %array, i64 [[BYTES]]
; CHECK-NEXT: [[FIELD:%.*]] = getelementptr i8, ptr [[ELEMENT]], i64 16
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, ptr [[FIELD]])
  %field = getelementptr { i64, i64, i64 }, ptr %array, i64 %i, i32 2
  call void (i32, ...) @cosy.exit(i32 0, ptr %field)
  ret void
}

declare void @cosy.exit(i32, ...)
