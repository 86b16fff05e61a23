; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A copy of 17 bytes is one operation, and stays.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(ptr %to, ptr %from) "cosy-state"="body" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 17, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 17, i1 false)
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
