; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Six bytes of 1 are 0x01010101 = 16843009 and 0x0101 = 257.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %to) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: store i32 16843009, ptr %to, align 1
; CHECK-NEXT: [[T4:%.*]] = getelementptr i8, ptr %to, i64 4
; CHECK-NEXT: store i16 257, ptr [[T4]], align 1
; CHECK-NEXT: call void (i32, ...) @cosy.exit(
  call void @llvm.memset.p0.i64(ptr %to, i8 1, i64 6, i1 false)
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
