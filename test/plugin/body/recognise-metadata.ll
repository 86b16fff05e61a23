; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The properties of the call are kept: it does not unwind, its reads are borrowed.
; RUN: %opt -S -passes=cosy-recognise %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define internal void @body(i32 %fd, ptr %buf) "cosy-state"="legal" {
; CHECK-LABEL: define internal void @body(
; CHECK-NEXT: call i64 @cosy.sys.read(i32 %fd, ptr %buf, i64 1) #[[CALL:[0-9]+]], !cosy.borrow
; CHECK: attributes #[[CALL]] = { nounwind }
  %n = call i64 @read(i32 %fd, ptr %buf, i64 1) nounwind, !cosy.borrow !{}
  call void (i32, ...) @cosy.exit(i32 0)
  ret void
}

declare void @cosy.exit(i32, ...)
declare i64 @read(i32, ptr, i64)
