; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A call of read() is a call of its system call with the same arguments.
; RUN: %opt -S -passes=cosy-recognise %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %fd, ptr %buf) "cosy-state"="legal" {
; CHECK: define internal void @body({{.*}} #[[STATE:[0-9]+]]
; CHECK-NEXT: [[N:%.*]] = call i64 @cosy.sys.read(i32 %fd, ptr %buf, i64 64)
; CHECK-NEXT: call void (i32, ...) @cosy.exit(i32 0, i64 [[N]])
; CHECK: declare i64 @cosy.sys.read(i32, ptr, i64) #[[CALL:[0-9]+]]
; CHECK-DAG: attributes #[[STATE]] = { "cosy-state"="recognised" }
; CHECK-DAG: attributes #[[CALL]] = { "cosy-system-call"="0" }
  %n = call i64 @read(i32 %fd, ptr %buf, i64 64)
  call void (i32, ...) @cosy.exit(i32 0, i64 %n)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @read(i32, ptr, i64)
