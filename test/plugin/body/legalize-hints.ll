; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Expected values, and the end of a variable's lifetime, have no effect in a compound.
; RUN: %opt -S -passes=cosy-legalize %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i64 %a) "cosy-state"="body" {
; Since LLVM 22 the operand must be a variable, and the size is left out when this text is read.
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: [[V:%.*]] = alloca i64
; CHECK-NEXT: store i64 %a, ptr [[V]]
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, i64 %a)
  %v = alloca i64
  call void @llvm.lifetime.start.p0(i64 8, ptr %v)
  store i64 %a, ptr %v
  call void @llvm.lifetime.end.p0(i64 8, ptr %v)
  %same = call i64 @llvm.expect.i64(i64 %a, i64 0)
  call void (i32, ...) @cosy.exit(i32 0, i64 %same)
  ret void
}

declare void @cosy.exit(i32, ...)
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)
declare i64 @llvm.expect.i64(i64, i64)
